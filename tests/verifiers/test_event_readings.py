"""EVENT under the stricter reading: flags of one source and id are one."""

from __future__ import annotations

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.targets import target
from tests.verifiers.event_verdicts import PROVED
from tests.verifiers.examples_event import flag, flags
from tests.verifiers.kernels import finding, verdicts
from verifiers import Options, verify

REFUTED = Verdict.REFUTED


def test_the_stricter_reading_takes_source_and_id_for_the_key() -> None:
    nested = (flag("set", 2, "MTE3 V"), flag("set", 2, "MTE3 MTE2"), flag("wait", 2, "MTE3 MTE2"),
              flag("wait", 2, "MTE3 V"))
    apart = (*nested[:1], nested[3], nested[1], nested[2])

    def strictly(body: tuple[str, ...]) -> set[Verdict]:
        options = Options(families=frozenset({"EVENT"}), strict=True)
        (result,) = verify(read(flags(*body), "k.pto"), target("a2a3"), options)
        return verdicts(result, "EVENT-SET")

    assert strictly(nested) == {Verdict.PROVED, Verdict.REFUTED}
    assert strictly(apart) == PROVED


def test_the_stricter_reading_keeps_the_cores_of_a_function_apart() -> None:
    """MTE2 of the cube and MTE2 of the vector cores have flags of their own."""
    cube = ("pto.section.cube {", flag("set", 0, "MTE2 MTE1"), flag("wait", 0, "MTE2 MTE1"), "}")
    vector = ("pto.section.vector {", flag("set", 0, "MTE2 V"), flag("wait", 0, "MTE2 V"), "}")
    options = Options(families=frozenset({"EVENT"}), strict=True)
    (result,) = verify(read(flags(*cube, *vector), "k.pto"), target("a2a3"), options)
    assert verdicts(result, "EVENT-SET") == PROVED and not result.findings
    inner = ("pto.section.cube {", flag("set", 0, "MTE2 MTE1"), flag("set", 0, "MTE2 M"), flag("wait", 0, "MTE2 M"),
             flag("wait", 0, "MTE2 MTE1"), "}")
    (result,) = verify(read(flags(*inner, *vector), "k.pto"), target("a2a3"), options)
    assert [f.verdict for f in result.findings if f.rule == "EVENT-SET"] == [REFUTED]


def test_the_stricter_reading_names_the_flag_that_it_takes_for_the_same() -> None:
    text = flags(flag("set", 2, "MTE3 V"), flag("set", 2, "MTE3 MTE2"), flag("wait", 2, "MTE3 MTE2"),
                 flag("wait", 2, "MTE3 V"))
    (result,) = verify(read(text, "k.pto"), target("a2a3"), Options(families=frozenset({"EVENT"}), strict=True))
    first, second = (n for n, line in enumerate(text.splitlines(), 1) if "set_flag" in line)
    found = finding(result, "EVENT-SET")
    assert found.text_line == second
    assert found.message == (
        f"set_flag sets flag MTE3 -> MTE2 id 2 while MTE3 -> V of the same id is still set by line {first}: the "
        "stricter reading takes flags of one source and id for one")
