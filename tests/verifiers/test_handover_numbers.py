"""RACE: the numbers that a refutation tells are of a run that nothing else decides, on one core and on two."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read as read_text
from pypto_verified.report.model import Verdict
from pypto_verified.simulator.schedule.confirm import confirm_order
from pypto_verified.targets import target
from tests.verifiers.examples_event import branch
from tests.verifiers.examples_fifo import pair_of_cores, turns
from tests.verifiers.examples_race import both, exp, pipes, read
from tests.verifiers.kernels import alloc, kernel, load, store, tile, view, window
from tests.verifiers.race_verdicts import judge
from tests.verifiers.test_cores_wait import heard, told
from verifiers import Options, verify

ACC, VEC = tile(16, 16, "f32", "acc", "col_major", "row_major", 1024), tile(16, 16)


def _handed_over(*asked: str) -> str:
    """The cube stores a product to `%p`; the vector core does this and loads it, and no flag comes between. `%q` has
    `%M` rows."""
    return kernel("\n".join((
        view("pv", "p", "c64", "c16"), view("qv", "q", "M", "c16"), "pto.section.cube {",
        alloc("acc", ACC, 0, "c16", "c16"),
        window("cw", "pv", "%c0, %c0", "%c16, %c16", "16x16"), store("acc", "cw", ACC, "16x16"), "}",
        "pto.section.vector {", alloc("t", VEC, 0, "c16", "c16"), alloc("u", VEC, 4096, "c16", "c16"),
        window("vw", "pv", "%c0, %c0", "%c16, %c16", "16x16"), *asked, load("vw", "t", VEC, "16x16"), "}",
    )), "%M: index").replace(" attributes {pto.kernel_kind = #pto.kernel_kind<vector>}", "")


def _data(*body: str) -> tuple[str, ...]:
    """`body` if what memory holds is 2."""
    return ("%word = pto.load_scalar %q[%c1] : !pto.ptr<f32> -> f32", "%n = arith.fptosi %word : f32 to index",
            branch("eq, %n, %c2", *body))


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("asks", "sizes"), [("slt", range(2, 99)), ("sge", range(2))])
def test_a_run_that_depends_on_no_data_is_preferred(asks: str, sizes: range) -> None:
    """For some sizes the vector core looks at its data first; for others nobody needs to know them."""
    result = judge(_handed_over(branch(f"{asks}, %M, %c2", *_data(load("vw", "u", VEC, "16x16")))), explicit=True)
    (finding,) = (f for f in result.findings if f.rule == "RACE-CORE" and f.verdict is Verdict.REFUTED)
    assert dict(finding.witness)["M"] in sizes


@pytest.mark.parametrize(("asks", "sizes"), [("slt", range(2, 99)), ("sge", range(2))])
def test_on_one_core_too(asks: str, sizes: range) -> None:
    """A load and an op that reads it with no flag between: for some sizes of `%p`, `%q` is looked at first."""
    text = pipes(
        view("sized", "p", "M"), branch(f"{asks}, %M, %c2", *_data(both("V MTE2"))), read("a"), exp("a", "b"),
        args="%M: index")
    (finding,) = (f for f in judge(text).findings if f.rule == "RACE-RAW")
    assert finding.verdict is Verdict.REFUTED and dict(finding.witness)["M"] in sizes


@pytest.mark.requirement("EV-06")
def test_a_size_that_the_other_core_alone_goes_by_is_told() -> None:
    """The cube takes a flag that nobody gives in each turn of its loop, before it gives the one that the vector core
    waits for: for a size of 0 both end."""
    text = pair_of_cores(f"{turns('%n', heard(5, 'FIX'))}\n{told(3)}", heard(3))
    module = read_text(text, "k.pto")
    options = Options(families=frozenset({"EVENT"}), assume=("n >= 0",))
    found = {r.name: [f for f in r.findings if f.rule == "EVENT-CORES" and f.verdict is Verdict.REFUTED]
             for r in verify(module, target("a2a3"), options)}
    for name in ("cube", "vector"):
        (finding,) = found[name]
        assert dict(finding.witness)["n"] > 0
        assert confirm_order(module, name, finding.rule, dict(finding.witness), target("a2a3"),
                             line=finding.text_line or 0).startswith("confirmed: ")
