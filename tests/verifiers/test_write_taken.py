"""WRITE-TAKEN: whether stores to an output take place, where an argument, a block, a lane, data or a loop decide it;
and random stores under conditions against plain execution."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import pytest

from pypto_verified.report.model import FunctionResult, Verdict
from tests.verifiers.kernels import check, finding, kernel, load, obligations, store, verdicts, view, window
from tests.verifiers.stores import VEC, output, rows

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN
ARGS = "%n: index, %m: index, %g: i1, %block_idx: i32, %block_num: i32"
WHOLE = rows("c0", "c32")
MORE = "%more = arith.cmpi sgt, %n, %c3 : index"
ON_MORE = (MORE, "scf.if %more {")


def to(*body: str, extent: str = "c32", strict: bool = False, assume: tuple[str, ...] = ()) -> FunctionResult:
    """A kernel whose output %o of the pointer %q has `extent` rows of 64."""
    text = kernel("\n".join((
        output(extent), "%b = arith.index_cast %block_idx : i32 to index", *body)), ARGS)
    return check(text, families="WRITE", outputs=("q",), strict=strict, assume=assume)


def again(text: str, name: str = "v") -> str:
    """A store with another name for its window."""
    return text.replace("%w", f"%{name}")


def four(*inner: str) -> tuple[str, ...]:
    """`inner` for the rows 0, 32, 64 and 96 from %i on."""
    return ("scf.for %i = %c0 to %c128 step %c32 {", *inner, "}")


ROWS = rows("i", "c32")


@pytest.mark.parametrize(("body", "numbers", "missing"), [
    ((*ON_MORE, WHOLE, "}"), {"n": 1}, "o[:, :]"),
    (("scf.if %g {", WHOLE, "}"), {"g": 0}, "o[:, :]"),
    ((*ON_MORE, WHOLE, "}", window("v", "o", "%c0, %c0", "%c16, %c64"), store("t", "v", VEC)), {"n": 1}, "o[16, :]"),
])
def test_an_argument_that_alone_decides_a_store_is_taken_to_lead_both_ways(
    body: tuple[str, ...], numbers: dict[str, int], missing: str
) -> None:
    result = to(*body)
    found = finding(result, "WRITE-TAKEN")
    assert (found.verdict, dict(found.witness)) == (REFUTED, numbers)
    assert found.message.startswith(f"no store writes {missing}: ")
    assert found.help.endswith(f"--assume what {next(iter(numbers))} is")
    (own,) = obligations(result, "WRITE-TAKEN")
    assert "BRANCH-TAKEN" in own.assumptions


def test_what_callers_keep_to_is_not_asked_for() -> None:
    result = to(*ON_MORE, WHOLE, "}", assume=("n >= 4",))
    assert verdicts(result, "WRITE-TAKEN") <= {PROVED}
    assert all("BRANCH-TAKEN" not in o.assumptions for o in result.obligations)


def test_a_turn_that_an_argument_leaves_out_is_not_written() -> None:
    """`if i != n`, and what the other arm, or a loop of its own, writes of it."""
    skipping = ("%in = arith.cmpi ne, %i, %n : index", "scf.if %in {", ROWS)
    found = finding(to(*four(*skipping, "}"), extent="c128"), "WRITE-TAKEN")
    assert found.verdict is REFUTED
    assert dict(found.witness)["n"] in (0, 32, 64, 96)
    assert verdicts(to(*four(*skipping, "} else {", again(ROWS), "}"), extent="c128"), "WRITE-TAKEN") == {PROVED}
    alone = (line.replace("%i", "%j") for line in (
        "%it = arith.cmpi eq, %i, %n : index", "scf.if %it {", again(ROWS, "v"), "}"))
    other = ("scf.for %j = %c0 to %c128 step %c32 {", *alone, "}")
    assert verdicts(to(*four(*skipping, "}"), *other, extent="c128"), "WRITE-TAKEN") == {PROVED}


@pytest.mark.parametrize("body", [
    (*ON_MORE, WHOLE, "} else {", again(WHOLE), "}"),
    (*ON_MORE, WHOLE, "}", again(WHOLE)),
    (*ON_MORE, WHOLE, "}", "%less = arith.cmpi sle, %n, %c3 : index", "scf.if %less {", again(WHOLE), "}"),
    ("%first = arith.cmpi eq, %b, %c0 : index", "scf.if %first {", WHOLE, "}"),
    ("%lane = pto.get_subblock_idx", "%l = arith.index_cast %lane : i64 to index",
     "%second = arith.cmpi eq, %l, %c1 : index", "scf.if %second {", WHOLE, "}"),
], ids=["both arms", "a store behind", "two branches", "the first block", "the second lane"])
def test_what_some_store_writes_in_every_run_is_written(body: tuple[str, ...]) -> None:
    result = to(*body)
    assert verdicts(result, "WRITE-TAKEN") == {PROVED}
    assert not result.findings


LOADED = "%x = pto.load_scalar %p[%c0] : !pto.ptr<f32> -> f32"


@pytest.mark.parametrize(("body", "why"), [
    (("%second = arith.cmpi eq, %b, %c1 : index", "scf.if %second {", WHOLE, "}"), "some block of a launch"),
    ((LOADED, "%z = arith.cmpf ogt, %x, %one : f32", "scf.if %z {", WHOLE, "}"), "which %z may lead to"),
    (("scf.for %k = %c0 to %n step %c1 {", WHOLE, "}"), "no store writes"),
    ((MORE, "scf.if %more {", "scf.if %g {", WHOLE, "}", "}"), "callers decide it by g, n"),
    (("%both = arith.cmpi sgt, %n, %m : index", "scf.if %both {", WHOLE, "}"), "no store writes"),
    (("%e = scf.while (%h = %c0) : (index) -> index {", "%go = arith.cmpi slt, %h, %n : index",
      "scf.condition(%go) %h : index", "} do {", "^bb0(%k: index):", WHOLE, "%next = arith.addi %k, %c1 : index",
      "scf.yield %next : index", "}"), "how often a while loop runs"),
    ((view("e", "q", "c16"), *ON_MORE, WHOLE, "}", window("v", "e", "%c0, %c0", "%c16, %c64"), store("t", "v", VEC)),
     "several views"),
    (("pto.store_scalar %one, %q[%c0] : !pto.ptr<f32>, f32",), "one by one"),
    (("%y = pto.load_scalar %p[%c0] : !pto.ptr<f32> -> i32", "%r = arith.index_cast %y : i32 to index",
      rows("r", "c32")), "data decide where a store goes"),
], ids=["block", "data", "loop", "two arguments", "two in one", "while", "views", "elements", "place"])
def test_what_is_not_followed_is_open(body: tuple[str, ...], why: str) -> None:
    result = to(*body)
    assert verdicts(result, "WRITE-TAKEN") == {UNKNOWN}
    assert why in finding(result, "WRITE-TAKEN").message


@pytest.mark.parametrize(("body", "needs"), [
    (("scf.for %k = %c0 to %n step %c1 {", WHOLE, "}"), "n >= 1"),
    ((*ON_MORE, "%both = arith.cmpi sgt, %m, %c3 : index", "scf.if %both {", WHOLE, "}", "}"), "m >= 4 and n >= 4"),
])
def test_what_callers_have_to_keep_to_is_told(body: tuple[str, ...], needs: str) -> None:
    assert finding(to(*body), "WRITE-TAKEN").needs == needs


def test_data_of_different_turns_are_not_taken_for_the_same() -> None:
    """In each turn one of two rows is written by data: if all say the second one, row 0 is never written."""
    row = rows("i", "c1")
    after = "\n".join(("%at = arith.addi %i, %c1 : index", again(rows("at", "c1"))))
    loop = ("scf.for %i = %c0 to %c16 step %c1 {", "%x = pto.load_scalar %p[%i] : !pto.ptr<f32> -> f32",
            "%z = arith.cmpf ogt, %x, %one : f32", "scf.if %z {")
    assert verdicts(to(*loop, row, "} else {", after, "}", "}", extent="c17"), "WRITE-TAKEN") == {UNKNOWN}
    assert verdicts(to(*loop, row, "} else {", again(row), "}", "}", extent="c16"), "WRITE-TAKEN") == {PROVED}


def test_a_window_of_a_window_is_one_of_the_tensor() -> None:
    """The inner window leaves out the last 16 rows of each 32, or none of them."""
    def parts(size: str) -> set[Verdict]:
        inner = (f"%w = pto.partition_view %u, offsets = [%c0, %c0], sizes = [%{size}, %c64] : "
                 "!pto.partition_tensor_view<?x?xf32> -> !pto.partition_tensor_view<?x?xf32>")
        body = four(window("u", "o", "%i, %c0", "%c32, %c64"), inner, store("t", "w", VEC))
        return verdicts(to(*body, extent="c128"), "WRITE-NEST")

    assert parts("c32") == {PROVED}
    assert parts("c16") == {REFUTED}


@pytest.mark.parametrize(("step", "verdict"), [("c32", PROVED), ("c64", REFUTED)])
def test_an_output_that_is_read_too_is_written_wholly(step: str, verdict: Verdict) -> None:
    """Only that which is not declared as written only may be written in part."""
    body = ("scf.for %i = %c0 to %c128 step %" + step + " {", window("r", "o", "%i, %c0", "%c32, %c64"),
            load("r", "t", VEC), ROWS, "}")
    assert verdicts(to(*body, extent="c128"), "WRITE-NEST") == {verdict}


def test_a_store_of_nothing_is_none() -> None:
    assert verdicts(to(rows("c0", "c0")), "WRITE-OUT") == {REFUTED}
    assert verdicts(to(rows("c0", "c1")), "WRITE-OUT") == {PROVED}


@dataclass(frozen=True)
class Rows:
    """A store of `size` rows, in a loop over all rows by `step`, or of the first ones if that is 0; it runs where
    `relation` holds for `left` ('n', 'i' or 'M') and a number or another of those; always if there is none."""

    size: int
    step: int
    relation: str = ""
    left: str = ""
    right: str = ""


_RELATIONS = {"slt": "__lt__", "sge": "__ge__", "eq": "__eq__", "ne": "__ne__"}
_SIZES, _PASSED = range(7), range(-1, 9)


def _some(random: Random) -> Rows:
    step = random.choice((0, 1, 1, 2, 2, 3))
    left = random.choice("nnnM" if not step else "nnnMiii")
    right = random.choice(("c0", "c1", "c2", "c3", "c4", *(("n",) * 3 if left == "i" else ())))
    relation = random.choice(("", *sorted(_RELATIONS) * 2))
    return Rows(random.choice((1, 2, 3)), step, relation, left, right)


def _text(stores: list[Rows]) -> str:
    lines: list[str] = []
    for k, s in enumerate(stores):
        i = f"i{k}" if s.step else "c0"
        lines += [f"scf.for %i{k} = %c0 to %M step %c{s.step} {{"] if s.step else []
        names = {"n": "n", "M": "M", "i": i}
        if s.relation:
            right = names.get(s.right, s.right)
            lines += [f"%if{k} = arith.cmpi {s.relation}, %{names[s.left]}, %{right} : index", f"scf.if %if{k} {{"]
        lines += [f"%left{k} = arith.subi %M, %{i} : index", f"%rows{k} = arith.minsi %left{k}, %c{s.size} : index",
                  again(rows(i, f"rows{k}"), f"w{k}")]
        lines += ["}"] * (bool(s.step) + bool(s.relation))
    return kernel("\n".join((output("M"), *lines)), "%M: index, %n: index")


def _dead(s: Rows) -> bool:
    """Whether no turn of any run comes to the store."""
    return s.relation != "" and (s.left, s.right[:1]) == ("i", "c") and not any(
        getattr(i, _RELATIONS[s.relation])(int(s.right[1:])) for i in range(0, 30, s.step))


def _written(stores: list[Rows], m: int, n: int, always: bool) -> set[int]:
    """The rows that a run writes; `always`: those it would, if each condition held, but for one that never does."""
    found: set[int] = set()
    for s in stores:
        if always and _dead(s):
            continue
        for i in range(0, m, s.step) if s.step else (0,):
            values = {"n": n, "M": m, "i": i, **{f"c{k}": k for k in range(5)}}
            held = not s.relation or getattr(values[s.left], _RELATIONS[s.relation])(values[s.right])
            if held or always:
                found.update(range(i, min(i + s.size, m)))
    return found


def _runs(stores: list[Rows]) -> Iterator[tuple[int, int]]:
    """The sizes and arguments for which a row is left out that some store would write."""
    for m in _SIZES:
        for n in _PASSED:
            if _written(stores, m, n, always=True) - _written(stores, m, n, always=False):
                yield m, n


def _agree(seed: int) -> Verdict:
    random = Random(seed)
    stores = [_some(random) for _ in range(random.randint(1, 3))]
    result = check(_text(stores), families="WRITE", outputs=("q",))
    found = {o.verdict for o in result.obligations}
    leaving = list(_runs(stores))
    if found == {PROVED}:
        assert not leaving, f"seed {seed}: proved, but {stores} leaves rows out for M, n = {leaving[0]}"
    for f in result.findings:
        if f.rule == "WRITE-TAKEN" and f.verdict is REFUTED:
            numbers = dict(f.witness)
            m, n = numbers.get("M", 6), numbers.get("n", 0)
            left = set(range(m)) - _written(stores, m, n, always=False)
            assert left, f"seed {seed}: {stores} writes all for {numbers}"
    return max(found, key=(PROVED, UNKNOWN, REFUTED).index)


@pytest.mark.parametrize("start", [0, 30])
@pytest.mark.requirement("VF-01")
def test_verdicts_agree_with_runs(start: int) -> None:
    outcomes = [_agree(seed) for seed in range(start, start + 30)]
    assert {PROVED, REFUTED, UNKNOWN} == set(outcomes)
