"""The benchmark that mutates kernels: what it changes, and that a run of a wrong kernel shows."""

from __future__ import annotations

from benchmarks.kernel_mutants import fault, judged, mutants
from pypto_verified.pto.reader import read
from pypto_verified.targets import A2A3
from tests.corpus.test_corpus import HERE


def _text(folder: str) -> str:
    return (HERE / folder / "reciprocal_in_place.pto").read_text(encoding="utf-8")


def test_mutants_differ_from_the_text_and_change_constants_types_and_lines() -> None:
    made = dict(mutants(_text("accept")))
    assert _text("accept") not in made.values()
    kinds = {"constant": "arith.constant", "type": "=>", "line": "line "}
    assert {kind for kind, word in kinds.items() if any(word in what for what in made)} == set(kinds)


def test_a_mutant_that_becomes_the_known_defect_is_not_proved() -> None:
    moved = next(text for what, text in mutants(_text("accept")) if "constant 8192" in what and what.endswith(": 4096"))
    assert judged(_text("accept"), A2A3) == ("proved", "")
    assert judged(moved, A2A3)[0] == "not proved"


def test_a_run_of_the_known_defect_shows_it() -> None:
    (func,) = read(_text("reject"), "k.pto").funcs
    assert "is 1.0 instead of" in fault(func, A2A3)


def test_what_does_not_parse_is_counted_apart() -> None:
    assert judged("module {", A2A3) == ("unread", "")
