"""EVENT: soft barriers of cores. They count in a workspace who has come, and wait for as many cores as they name, or
for those of the launch (PTO-ISA syncall_soft.hpp). Beside runs."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.simulator.schedule import Outcome
from pypto_verified.targets import target
from tests.verifiers.kernels import check, finding, kernel, verdicts

PROVED, REFUTED, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN
WORKSPACES = ("%w: !pto.ptr<i32>, %v: !pto.ptr<i32>", "%w16 = pto.addptr %w, %c16 : !pto.ptr<i32> -> !pto.ptr<i32>")


def meet(used: int | str | None = None, kinds: str = "mix", workspace: str = "w") -> str:
    """A soft barrier; `used`: the cores it names, a number or an argument."""
    given = f", %{used if isinstance(used, str) else 'used'}" if used is not None else ""
    constant = f"%used = arith.constant {used} : i32\n" if isinstance(used, int) else ""
    types = f" : !pto.ptr<i32>{', i32' if given else ''}"
    return (f"{constant}pto.syncall(%{workspace}{given}{types}) mode = #pto.sync_all_mode<soft>, "
            f"core_type = #pto.sync_core_type<{kinds}>")


def both(cube: str, vector: str) -> str:
    body = f"{WORKSPACES[1]}\npto.section.cube {{\n{cube}\n}}\npto.section.vector {{\n{vector}\n}}"
    text = kernel(body, f"{WORKSPACES[0]}, %n: i32")
    return text.replace(" attributes {pto.kernel_kind = #pto.kernel_kind<vector>}", "")


def run_of(text: str, blocks: int = 1) -> Outcome:
    nothing = np.zeros(64, np.int32)
    given = dict.fromkeys("pqwv", nothing)
    return schedule.run(read(text, "k.pto"), target("a2a3"), given, {"n": 0}, blocks=blocks)


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("blocks", [1, 2])
@pytest.mark.parametrize("used", [None, 0, 1, 2, 3, 6, 7])
def test_a_soft_barrier_waits_for_all_that_come_to_it(used: int | None, blocks: int) -> None:
    """A block is a cube with two vector cores. One of fewer lets some go on before others come, one of more waits for
    ever."""
    text = both(meet(used), meet(used))
    result = check(text, families="EVENT", assume=(f"block_num == {blocks}",))
    right = not used or used == 3 * blocks
    assert verdicts(result, "EVENT-LAUNCH") == {PROVED if right else REFUTED}
    run = run_of(text, blocks)
    assert (run.deadlock is not None) is bool(used and used > 3 * blocks)


def test_what_a_caller_passes_as_their_number_is_needed() -> None:
    result = check(both(meet("n"), meet("n")), families="EVENT", assume=("block_num == 2",))
    assert verdicts(result, "EVENT-LAUNCH") == {UNKNOWN}
    held = check(both(meet("n"), meet("n")), families="EVENT", assume=("block_num == 2", "n == 6"))
    assert verdicts(held, "EVENT-LAUNCH") == {PROVED}


def test_some_blocks_alone_may_meet() -> None:
    """Whether as many come as are named, their own index says: that is open."""
    some = ("%b = pto.get_block_idx", "%i = arith.index_cast %b : i64 to index",
            "%few = arith.cmpi slt, %i, %c2 : index", "scf.if %few {", meet(2, "aiv_only"), "}")
    result = check(kernel("\n".join(some), WORKSPACES[0]), families="EVENT", assume=("block_num == 48",))
    assert verdicts(result, "EVENT-LAUNCH") == {UNKNOWN}


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("blocks", "expected"), [(24, PROVED), (25, REFUTED)])
def test_blocks_that_begin_when_others_have_ended_never_come(blocks: int, expected: Verdict) -> None:
    text = both(meet(), meet())
    result = check(text, families="EVENT", assume=(f"block_num == {blocks}",))
    assert verdicts(result, "EVENT-LAUNCH") == {expected}
    run = run_of(text, blocks)
    assert (run.deadlock is not None) is (expected is REFUTED)
    assert PROVED in verdicts(check(text, families="EVENT"), "EVENT-LAUNCH")


def test_a_soft_barrier_of_cores_that_do_not_run_the_kernel_waits_for_ever() -> None:
    result = check(kernel(meet(), WORKSPACES[0]), families="EVENT")
    assert "waits for cube cores too, and the kernel runs on none" in finding(result, "EVENT-LAUNCH").message


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize(("cube", "vector", "expected"), [
    (("w",), ("w",), {PROVED}), (("w",), ("v",), {REFUTED}), (("w",), ("w16",), {REFUTED}),
    (("w", "v"), ("w", "v"), {PROVED}), (("w", "v"), ("v", "w"), {PROVED, REFUTED}), (("w16",), ("w16",), {PROVED}),
])
def test_cores_that_count_in_different_places_do_not_meet(
    cube: tuple[str, ...], vector: tuple[str, ...], expected: set[Verdict]
) -> None:
    text = both(*("\n".join(meet(workspace=place) for place in places) for places in (cube, vector)))
    assert verdicts(check(text, families="EVENT"), "EVENT-CORES") == expected
    run = run_of(text)
    assert (run.deadlock is not None) is (REFUTED in expected)


@pytest.mark.parametrize(("other", "expected"), [("w", PROVED), ("v", UNKNOWN)])
def test_lanes_that_count_in_different_places_are_not_known_to_meet(other: str, expected: Verdict) -> None:
    branch = ("%l = pto.get_subblock_idx", "%lane = arith.index_cast %l : i64 to index",
              "%first = arith.cmpi eq, %lane, %c0 : index", "scf.if %first {", meet(kinds="aiv_only"), "} else {",
              meet(kinds="aiv_only", workspace=other), "}")
    result = check(kernel("\n".join(branch), WORKSPACES[0]), families="EVENT")
    assert verdicts(result, "EVENT-LAUNCH") == {expected}
