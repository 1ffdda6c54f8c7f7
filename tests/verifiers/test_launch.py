"""EVENT-LAUNCH: a barrier of all cores of the chip, by what is known of the launch; what the launch says to the other
rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from pypto_verified.check import CheckOptions, check_file
from pypto_verified.report.model import FunctionResult, Verdict
from tests.corpus.test_corpus import HERE
from tests.verifiers.kernels import check, finding, kernel, verdicts

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN
FULL = (HERE / "accept" / "hang_launch_of_part.py").read_text(encoding="utf-8")
LAUNCH = "with pl.spmd(48, sync_start=True):"


def barrier(kinds: str, kind: str = "cube") -> str:
    """A kernel for cores of a kind, with a barrier of all of some kinds."""
    return kernel(
        f"pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<{kinds}>", kind=kind)


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("kind", "blocks", "expected"), [
    ("cube", 24, PROVED), ("cube", 20, REFUTED), ("cube", 48, REFUTED), ("vector", 48, PROVED), ("vector", 24, REFUTED),
])
def test_a_hard_barrier_needs_the_whole_chip(kind: str, blocks: int, expected: Verdict) -> None:
    """pypto#1940: a launch of 20 blocks on 24 cube cores waits for ever. A cube has two vector cores."""
    kinds = {"cube": "aic_only", "vector": "aiv_only"}[kind]
    result = check(barrier(kinds, kind), families="EVENT", assume=(f"block_num == {blocks}",))
    assert verdicts(result, "EVENT-LAUNCH") == {expected}


def test_both_kinds_of_cores_take_one_block_for_a_cube_and_its_vectors() -> None:
    call = "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<mix>"
    sections = "\n".join(f"pto.section.{kind} {{\n{call}\n}}" for kind in ("cube", "vector"))
    text = kernel(sections).replace(" attributes {pto.kernel_kind = #pto.kernel_kind<vector>}", "")
    for blocks, expected in ((24, PROVED), (48, REFUTED)):
        result = check(text, families="EVENT", assume=(f"block_num == {blocks}",))
        assert verdicts(result, "EVENT-LAUNCH") == {expected}


@pytest.mark.parametrize(("kinds", "blocks"), [("aiv_only", 48), ("aic_only", 24), ("mix", 24)])
def test_a_kernel_that_does_not_say_its_cores_is_for_those_of_the_barrier(kinds: str, blocks: int) -> None:
    text = barrier(kinds).replace(" attributes {pto.kernel_kind = #pto.kernel_kind<cube>}", "")
    assert check(text, families="EVENT").needs == (f"block_num == {blocks}",)


def test_of_a_text_alone_the_number_of_blocks_is_needed() -> None:
    result = check(barrier("aic_only"), families="EVENT")
    assert verdicts(result, "EVENT-LAUNCH") == {UNKNOWN}
    assert result.needs == ("block_num == 24",)


@pytest.mark.parametrize(("kinds", "said"), [
    ("mix", "vector cores too, and the kernel runs on none: it waits for ever"),
    ("aiv_only", "of vector cores, and the kernel runs on none: nobody meets there")])
def test_cores_that_do_not_run_the_kernel_never_come(kinds: str, said: str) -> None:
    """A core of another kind than the barrier is for does not wait there at all (PTO-ISA SyncAll.hpp)."""
    result = check(barrier(kinds), families="EVENT")
    assert verdicts(result, "EVENT-LAUNCH") == {REFUTED}
    assert said in finding(result, "EVENT-LAUNCH").message


def _authored(tmp_path: Path, launch: str, before: str = "") -> FunctionResult:
    file = tmp_path / "k.py"
    file.write_text(FULL.replace(LAUNCH, f"{before}\n        {launch}" if before else launch), encoding="utf-8")
    (result,) = check_file(str(file), CheckOptions(timeout=0)).functions
    return result


@pytest.mark.parametrize(("before", "launch", "expected"), [
    ("", LAUNCH, PROVED),
    ("", "with pl.spmd(core_num=48, sync_start=True):", PROVED),
    ("", "with pl.spmd(24 * 2, sync_start=True):", PROVED),
    ("", "with pl.spmd(48):", REFUTED),
    ("", "with pl.spmd(20, sync_start=True):", REFUTED),
    ("n = pl.system.available_aiv_count()", "with pl.spmd(n, sync_start=True):", PROVED),
    ("n = pl.system.available_cluster_count()", "with pl.spmd(n, sync_start=True):", REFUTED),
    ("n = a.shape[0]", "with pl.spmd(n, sync_start=True):", UNKNOWN),
    ("", "with pl.cluster(), pl.spmd(48, sync_start=True):", PROVED),
])
def test_a_launch_in_the_kernels_own_file_is_known(
    tmp_path: Path, before: str, launch: str, expected: Verdict
) -> None:
    assert verdicts(_authored(tmp_path, launch, before), "EVENT-LAUNCH") == {expected}


def test_each_launch_counts(tmp_path: Path) -> None:
    twice = "with pl.spmd(20, sync_start=True):\n            out = self.exchange(a, out)\n        " + LAUNCH
    assert verdicts(_authored(tmp_path, twice), "EVENT-LAUNCH") == {PROVED, REFUTED}


def test_a_submitted_launch_and_its_line_are_told(tmp_path: Path) -> None:
    text = FULL.replace(LAUNCH, "if True:").replace(
        "out = self.exchange(a, out)", "out, t = pl.spmd_submit(self.exchange, a, out, core_num=20, sync_start=True)")
    file = tmp_path / "k.py"
    file.write_text(text, encoding="utf-8")
    (result,) = check_file(str(file), CheckOptions(timeout=0)).functions
    line = next(n for n, x in enumerate(text.splitlines(), 1) if "spmd_submit" in x)
    assert f"20 blocks run (line {line})" in finding(result, "EVENT-LAUNCH").message


def test_windows_of_blocks_are_judged_for_the_blocks_that_are_launched(tmp_path: Path) -> None:
    """48 windows of 16 rows fill the tensor; of an unknown number of blocks the last may lie outside."""
    launched, alone = _authored(tmp_path, LAUNCH), _authored(tmp_path, "if True:")
    assert verdicts(launched, "BOUND-UPPER") == {PROVED}
    assert UNKNOWN in verdicts(alone, "BOUND-UPPER")
    more = _authored(tmp_path, "with pl.spmd(49, sync_start=True):")
    assert REFUTED in verdicts(more, "BOUND-UPPER")
