"""What automatic mode inserts is proved by the rules, stands before a judge of its own, and no part of it is idle."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from pypto_verified.pto.module import Block, Func, Op
from pypto_verified.simulator import schedule
from pypto_verified.sync import insert_sync
from pypto_verified.targets import TARGETS, target
from tests.sync.happens_before import Judge
from tests.sync.judged import verdicts
from tests.sync.programs import Program, only, random_program

SEEDS = range(40)


@pytest.mark.requirement("EV-07")
@pytest.mark.parametrize("chip", TARGETS)
@pytest.mark.parametrize("seed", SEEDS)
def test_inserted_flags_are_proved(seed: int, chip: str) -> None:
    made = insert_sync(random_program(seed, chip), target(chip))
    assert verdicts(made, chip) <= {"PROVED"}


@pytest.mark.requirement("EV-07")
@pytest.mark.parametrize("chip", TARGETS)
def test_inserted_flags_are_proved_under_the_stricter_readings(chip: str) -> None:
    """All that is inserted for these, and what is inserted without them where no remark says otherwise. Few remarks are
    made in vain."""
    vain = 0
    for seed in range(8):
        plain, remarks = random_program(seed, chip), list[str]()
        made = insert_sync(plain, target(chip), remarks=remarks)
        strict = insert_sync(plain, target(chip), strict=True)
        assert verdicts(strict, chip, strict=True) | verdicts(strict, chip) <= {"PROVED"}, seed
        proved = verdicts(made, chip, strict=True) <= {"PROVED"}
        assert remarks or proved, seed
        vain += bool(remarks) and proved
    assert vain <= 1


@pytest.mark.parametrize("chip", TARGETS)
def test_rings_that_come_round_together_too_late_are_followed_as_far_as_their_flags_go(chip: str) -> None:
    """Rings of 3, 4 and 5 tiles are all where they were after 60 turns, two of them after 12."""
    p = Program(chip)
    i = p.loop()
    a, b, c = p.slot(0, 3, i), p.slot(3, 4, i), p.slot(7, 5, i)
    p.load(a, p.row(i))
    p.exp(a, b)
    p.exp(b, c)
    p.store(c, p.row(i))
    p.close()
    assert verdicts(insert_sync(p.module(), target(chip)), chip) <= {"PROVED"}


@pytest.mark.requirement("EV-07")
@pytest.mark.parametrize("chip", TARGETS)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_pair_of_conflicting_accesses_is_ordered_in_runs_of_any_length(seed: int, chip: str) -> None:
    func = only(insert_sync(random_program(seed, chip), target(chip)))
    judge = Judge(target(chip))
    for n, m, c in ((0, 2, 0), (1, 3, 5), (2, 0, 1023), (3, 2, 682)):
        assert judge.run(func, {"n": n, "m": m, "c": c}) == []


@pytest.mark.requirement("EV-03")
@pytest.mark.parametrize("seed", range(24))
def test_no_schedule_finds_a_flag_occupied(seed: int) -> None:
    """The strict simulator reports a set that nothing orders after the last wait for that flag."""
    module = insert_sync(random_program(seed, "a2a3"), target("a2a3"), strict=True)
    inputs = {n: np.zeros((64, 8), np.float32) for n in ("a", "b", "out")}
    got = schedule.run(module, target("a2a3"), inputs, {"n": 3, "m": 2, "c": 5}, schedule="late", strict=True)
    assert not got.races and got.deadlock is None and not [e for e in got.errors if e.kind == "event"]


def test_the_strict_simulator_sees_a_set_that_overtakes_a_wait() -> None:
    """What is set on every path though one arm alone needs it, as assemblers do: where the arm is not taken, MTE3 may
    run ahead and set the flag twice."""
    p = Program()
    p.line("pto.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]")
    i = p.loop()
    x = p.tile(0)
    p.line("pto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]")
    p.load(x, p.row(i))
    p.branch()
    p.line("pto.set_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]")
    p.line("pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]")
    p.store(x, p.row(i))
    p.close()
    p.line("pto.set_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]")
    p.close()
    p.line("pto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>, <EVENT_ID0>]")
    inputs = {n: np.zeros((64, 8), np.float32) for n in ("a", "b", "out")}
    got = schedule.run(p.module(), target("a2a3"), inputs, {"n": 3, "m": 1, "c": 0}, schedule="late", strict=True)
    assert any("MTE3 -> MTE2 id 0 is set while nothing orders it" in str(e) for e in got.errors)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("order", ["eager", "late", "random"])
def test_every_schedule_gives_what_program_order_gives(seed: int, order: str) -> None:
    module = insert_sync(random_program(seed, "a2a3"), target("a2a3"))
    inputs = {n: np.arange(512, dtype=np.float32).reshape(64, 8) % 7 / 8 for n in ("a", "b", "out")}
    runs = [schedule.run(module, target("a2a3"), inputs, {"n": 3, "m": 2, "c": 2}, schedule=s, seed=seed)
            for s in ("program", order)]
    plain, other = runs
    assert not other.races and other.deadlock is None
    assert not [e for e in other.errors if e.kind == "event"]
    if not plain.errors and not other.errors:
        assert np.array_equal(plain.outputs["out"], other.outputs["out"], equal_nan=True)


def test_most_parts_are_needed() -> None:
    """A barrier, or a flag with its set and its wait: without it some run has a race. Others are there because any loop
    may be passed by, whatever the others of the same count do."""
    needed = total = 0
    for seed in range(24):
        func = only(insert_sync(random_program(seed, "a2a3", branches=False), target("a2a3")))
        assert func.body is not None
        for part in list(_parts(func.body)):
            kept = [(block, list(block.ops)) for block, _ in part]
            for block, op in part:
                block.ops = [o for o in block.ops if o is not op]
            judge = Judge(target("a2a3"))
            total += 1
            needed += any(judge.run(func, {"n": n, "m": m}) for n, m in ((2, 3), (3, 0), (0, 2), (1, 1), (0, 0)))
            for block, ops in reversed(kept):
                block.ops = ops
    assert needed >= 0.9 * total, f"{total - needed} of {total} parts are idle"


def _parts(block: Block) -> Iterator[list[tuple[Block, Op]]]:
    pending: dict[str, tuple[Block, Op]] = {}
    for op in block.ops:
        key = str(sorted((name, repr(value)) for name, value in op.attrs.items()))
        if op.name == "pto.barrier":
            yield [(block, op)]
        elif op.name.startswith("pto.set_flag"):
            pending[key] = (block, op)
        elif op.name.startswith("pto.wait_flag") and key in pending:
            yield [pending.pop(key), (block, op)]
        for region in op.regions:
            yield from _parts(region)


@pytest.mark.parametrize("name", ["set_flag", "wait_flag", "barrier"])
def test_the_judge_sees_what_is_missing(name: str) -> None:
    func = only(insert_sync(random_program(7, "a2a3"), target("a2a3")))
    assert _without(func, name)


def _without(func: Func, name: str) -> list[str]:
    """The faults when all ops of a name are gone."""
    kept: list[tuple[Block, list[Op]]] = []

    def strip(block: Block) -> None:
        kept.append((block, block.ops))
        block.ops = [op for op in block.ops if name not in op.name]
        for op in block.ops:
            for region in op.regions:
                strip(region)

    assert func.body is not None
    strip(func.body)
    faults = Judge(target("a2a3")).run(func, {"n": 2, "m": 2, "c": 3})
    for block, ops in kept:
        block.ops = ops
    return faults
