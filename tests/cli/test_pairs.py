"""Kernels of one program that a cross-core pipe joins are checked with each other in sight."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_verified.check import CheckOptions, check_file
from pypto_verified.report.model import FunctionResult, Verdict

PAIR = """\
import pypto.language as pl


@pl.program
class Pair:
    @pl.function(type=pl.FunctionType.AIC)
    def cube(self, a: pl.Tensor[[16, 64], pl.FP16], b: pl.Tensor[[64, 32], pl.FP16]):
        peer = pl.import_peer_buffer(name="ring", peer_func="vector")
        pl.aic_initialize_pipe(peer, pl.const(0, pl.INT32), dir_mask=1, slot_size=2048)
        left = pl.move(pl.load(a, [0, 0], [16, 64], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Left)
        right = pl.move(pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Right)
        pl.tpush_to_aiv(pl.matmul(left, right), split=0)

    @pl.function(type=pl.FunctionType.AIV)
    def vector(self, out: pl.Out[pl.Tensor[[16, 32], pl.FP32]]) -> pl.Tensor[[16, 32], pl.FP32]:
        ring = pl.reserve_buffer(name="ring", size=16384, base=pl.AUTO)
        pl.aiv_initialize_pipe(ring, pl.const(0, pl.INT32), dir_mask=1, slot_size=2048)
        v: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(split=0)
        y = pl.mul(v, 0.5)
        pl.tfree_to_aic(v)
        return pl.store(y, [0, 0], out)

    @pl.function(type=pl.FunctionType.Group)
    def both(self, a: pl.Tensor[[16, 64], pl.FP16], b: pl.Tensor[[64, 32], pl.FP16]):
        self.cube(a, b)
"""


def _checked(text: str, tmp_path: Path) -> dict[str, FunctionResult]:
    path = tmp_path / "pair.py"
    path.write_text(text)
    return {f.name: f for f in check_file(str(path), CheckOptions(target="a5")).functions}


def test_both_ends_of_a_pipe_are_proved_together_and_the_launcher_is_no_kernel(tmp_path: Path) -> None:
    found = _checked(PAIR, tmp_path)
    assert {name: f.verdict for name, f in found.items()} == {"cube": Verdict.PROVED, "vector": Verdict.PROVED}


def test_ends_that_disagree_about_the_slot_are_refuted(tmp_path: Path) -> None:
    found = _checked(PAIR.replace("slot_size=2048)\n        v:", "slot_size=4096)\n        v:"), tmp_path)
    refuted = {f.rule for r in found.values() for f in r.findings if f.verdict is Verdict.REFUTED}
    assert refuted == {"LEGAL-PIPE-PEER"}


def test_an_end_whose_peer_does_not_compile_is_left_open(tmp_path: Path) -> None:
    found = _checked(PAIR.replace("y = pl.mul(v, 0.5)", "y = self.cube(v)"), tmp_path)
    assert found["cube"].verdict is Verdict.UNKNOWN
    assert "one end is missing" in "".join(f.message for f in found["cube"].findings)


@pytest.mark.requirement("VF-02")
def test_what_is_not_modelled_is_told_at_its_own_line(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text("import pypto.language as pl\n@pl.program\nclass P:\n    @pl.function\n"
                    "    def f(self, a: pl.Tensor[[16, 16], pl.FP32]):\n        b = pl.matmul(a, a)\n")
    (finding,) = check_file(str(path)).functions[0].findings
    assert (finding.line, finding.message) == (6, "not modelled: op tensor.matmul")


TURNS = """\
import pypto.language as pl


@pl.program
class Pair:
    @pl.function(type=pl.FunctionType.AIC)
    def cube(self, a: pl.Tensor[[pl.dynamic("M"), 64], pl.FP16], b: pl.Tensor[[64, 32], pl.FP16]):
        peer = pl.import_peer_buffer(name="ring", peer_func="vector")
        pl.aic_initialize_pipe(peer, pl.const(0, pl.INT32), dir_mask=1, slot_size=2048)
        right = pl.move(pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Right)
        for i in pl.range(pl.tensor.dim(a, 0) // 16):
            t = pl.load(a, [i * 16, 0], [16, 64], target_memory=pl.Mem.Mat)
            pl.tpush_to_aiv(pl.matmul(pl.move(t, target_memory=pl.Mem.Left), right), split=0)

    @pl.function(type=pl.FunctionType.AIV)
    def vector(self, out: pl.Out[pl.Tensor[[pl.dynamic("M"), 32], pl.FP32]]):
        ring = pl.reserve_buffer(name="ring", size=16384, base=pl.AUTO)
        pl.aiv_initialize_pipe(ring, pl.const(0, pl.INT32), dir_mask=1, slot_size=2048)
        for i in pl.range(TIMES):
            v: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(split=0)
            y = pl.mul(v, 0.5)
            pl.tfree_to_aic(v)
            out = pl.store(y, [i * 16, 0], out)
        return out
"""


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize(("times", "rules"), [
    ("pl.tensor.dim(out, 0) // 16", set()), ("pl.tensor.dim(out, 0) // 16 + 1", {"FIFO-POP"}),
    ("pl.tensor.dim(out, 0) // 16 - 1", {"FIFO-DRAIN"})])
def test_what_two_kernels_of_a_pair_call_alike_is_the_same(times: str, rules: set[str], tmp_path: Path) -> None:
    """M is the third argument of one and the second of the other; `b` and `out` are both second, and not one tensor."""
    found = _checked(TURNS.replace("TIMES", times), tmp_path)
    assert {f.rule for r in found.values() for f in r.findings if f.rule.startswith("FIFO")} == rules
    assert {o.rule for r in found.values() for o in r.obligations} >= {"FIFO-POP", "FIFO-DRAIN"}
    assert not any(f.rule.startswith("RACE") for r in found.values() for f in r.findings)


def test_two_sizes_of_different_names_may_differ(tmp_path: Path) -> None:
    found = _checked(TURNS.replace("TIMES", "pl.tensor.dim(out, 0) // 16").replace(
        'pl.Tensor[[pl.dynamic("M"), 32]', 'pl.Tensor[[pl.dynamic("N"), 32]'), tmp_path)
    told = {f.rule: f for r in found.values() for f in r.findings if f.rule.startswith("FIFO")}
    assert {f.verdict for f in told.values()} == {Verdict.UNKNOWN}
    assert told["FIFO-POP"].needs == "M // 16 >= N // 16" and told["FIFO-DRAIN"].needs == "N // 16 >= M // 16"


def test_an_argument_of_two_types_leaves_each_kernel_its_own(tmp_path: Path) -> None:
    text = TURNS.replace("TIMES", "pl.tensor.dim(out, 0) // 16").replace("out:", "a:").replace("(out", "(a").replace(
        "out = pl.store(y, [i * 16, 0], out)\n        return out", "a = pl.store(y, [i * 16, 0], a)\n        return a")
    found = _checked(text, tmp_path)
    told = [f for r in found.values() for f in r.findings if f.rule.startswith("FIFO")]
    assert told and all("the ends count by values of their own" in f.message for f in told)


FLAGS = """\
import pypto.language as pl


@pl.program
class Pair:
    @pl.function(type=pl.FunctionType.AIC)
    def multiply(self, a: pl.Tensor[[16, 64], pl.FP16], b: pl.Tensor[[64, 32], pl.FP16],
                 mid: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
        left = pl.move(pl.load(a, [0, 0], [16, 64], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Left)
        right = pl.move(pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Right)
        mid = pl.store(pl.matmul(left, right), [0, 0], mid)
        pl.system.sync_set(2, pipe=pl.PipeType.FIX, ffts_mode=2)
        return mid

    @pl.function(type=pl.FunctionType.AIV)
    def halve(self, mid: pl.Tensor[[16, 32], pl.FP32], out: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
        pl.system.sync_wait(2, pipe=pl.PipeType.MTE2)
        v = pl.load(mid, [0, 0], [16, 32])
        return pl.store(pl.mul(v, 0.5), [0, 0], out)
"""
WAIT = "        pl.system.sync_wait(2, pipe=pl.PipeType.MTE2)\n"
LOAD = "        v = pl.load(mid, [0, 0], [16, 32])\n"


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("text", "rule"), [
    (FLAGS, ""),
    (FLAGS.replace("sync_wait(2", "sync_wait(3"), "EVENT-CORES"),
    (FLAGS.replace(WAIT + LOAD, LOAD + WAIT), "RACE-CORE"),
], ids=["right", "another flag", "a load before the wait"])
def test_kernels_that_flags_alone_join_are_judged_together(text: str, rule: str, tmp_path: Path) -> None:
    """Neither is taken to get what it waits for: the other one is in the same file."""
    path = tmp_path / "pair.py"
    path.write_text(text, encoding="utf-8")
    results = check_file(str(path), CheckOptions(timeout=0, target="a5")).functions
    refuted = {(f.rule, f.replay.startswith("confirmed")) for r in results for f in r.findings
               if f.verdict is Verdict.REFUTED}
    assert refuted == ({(rule, True)} if rule else set())
    assert rule or all(r.verdict is Verdict.PROVED for r in results)
    assert not any("ABSENT-CORE" in o.assumptions for r in results for o in r.obligations)


SET = "        pl.system.sync_set(2, pipe=pl.PipeType.FIX, ffts_mode=2)\n"
MEET = '        pl.system.syncall(core_type="mix")\n'
MEETING = FLAGS.replace(SET, f"        pl.system.bar_all()\n{MEET}").replace(WAIT, MEET)


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("text", "rules"), [
    (MEETING, set()), (MEETING.replace(MEET + LOAD, MEET + MEET + LOAD), {"EVENT-CORES"}),
    (MEETING.replace(MEET + LOAD, LOAD + MEET), {"RACE-CORE"}),
], ids=["right", "once more on one side", "a load before the barrier"])
def test_kernels_that_a_barrier_of_all_cores_joins_are_judged_together(
    text: str, rules: set[str], tmp_path: Path
) -> None:
    """Alone, each of them would wait for cores that do not run."""
    path = tmp_path / "pair.py"
    path.write_text(text, encoding="utf-8")
    options = CheckOptions(timeout=0, target="a5", assume=("block_num == 36",))
    results = check_file(str(path), options).functions
    assert {f.rule for r in results for f in r.findings if f.verdict is Verdict.REFUTED} == rules
    assert rules or all(r.verdict is Verdict.PROVED for r in results)


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("gone", "rules"), [("", set()), (WAIT, {"EVENT-CORES", "RACE-CORE"}), (SET, {"EVENT-CORES"})],
                         ids=["right", "no wait", "no set"])
def test_a_kernel_without_any_flag_is_judged_with_the_one_of_its_name_that_has_them(
    gone: str, rules: set[str], tmp_path: Path
) -> None:
    """The flag that was forgotten may be the only one."""
    path = tmp_path / "pair.py"
    named = FLAGS.replace("def multiply", "def mix_aic").replace("def halve", "def mix_aiv").replace(gone or "?", "")
    alone = FLAGS[FLAGS.index("    @pl.function(type=pl.FunctionType.AIV)"):].replace(WAIT, "")
    path.write_text(f"{named}\n{alone}", encoding="utf-8")
    results = check_file(str(path), CheckOptions(timeout=0, target="a5")).functions
    assert [r.name for r in results] == ["mix_aic", "mix_aiv", "halve"]
    assert {f.rule for r in results for f in r.findings if f.verdict is Verdict.REFUTED} == rules
    assert results[-1].verdict is Verdict.PROVED and (rules or all(r.verdict is Verdict.PROVED for r in results))


def test_kernels_with_flags_of_which_it_is_not_told_who_belongs_to_whom_stay_alone(tmp_path: Path) -> None:
    """A third one with flags: each is judged as if the text of the other end were not at hand."""
    other = FLAGS[FLAGS.index("    @pl.function(type=pl.FunctionType.AIV)"):].replace("def halve", "def again")
    path = tmp_path / "pair.py"
    path.write_text(FLAGS + "\n" + other, encoding="utf-8")
    results = check_file(str(path), CheckOptions(timeout=0, target="a5")).functions
    assert [r.verdict for r in results] == [Verdict.PROVED] * 3
    assert all(any("ABSENT-CORE" in o.assumptions for o in r.obligations) for r in results)
