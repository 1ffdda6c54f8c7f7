"""Whether a run shows what a refutation claims. Rules are known by the prefix of their id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pypto_verified.pto.module import Func
from pypto_verified.simulator.errors import GlobalBoundsError, StepLimitError
from pypto_verified.simulator.program import walk
from pypto_verified.simulator.replay import (
    Difference,
    replay,
    replay_layout,
    replay_overlap,
    replay_peer,
    written_elements,
)
from pypto_verified.simulator.run import MAX_STEPS, OTHER_BLOCK, Outcome
from pypto_verified.simulator.values import Array
from pypto_verified.targets import Target

OBSERVED_AS: dict[str, tuple[str, ...]] = {
    "BOUND-ELEMENT": ("local bounds",), "BOUND-INDEX": ("local bounds", "global bounds"),
    "BOUND-SIZE": ("shape",), "BOUND-": ("global bounds",),
    "VIEW-": ("local bounds",),
    "INIT-": ("uninitialised",),
    "PITCH-": ("uninitialised", "local bounds"), "PLAN-CAPACITY": ("capacity", "local bounds"),
    "PLAN-ACCUMULATOR": ("uninitialised",),
    "PLAN-ALIGN": ("alignment",), "PLAN-INPLACE": ("uninitialised",),
    "VALID-": ("shape", "local bounds", "global bounds", "uninitialised", "invalid read"),
}
"""How a failure of a rule shows in a run: the kinds of faults. A rule without a row shows otherwise, or not at all."""
AT_THEIR_OP = ("BOUND-ELEMENT", "BOUND-INDEX", "BOUND-LOWER", "BOUND-SCALAR", "BOUND-UPPER", "VIEW-")
"""Rules whose failure shows at the op itself; what others let through shows where the bytes are used, and a window
without a size where it is made."""
COMPARED_WITH_OWN_STORAGE = ("PLAN-OVERLAP", "PLAN-INPLACE", "LAYOUT-MOVE")
"""Rules whose failure shows as a result that changes when allocations do not share bytes."""
COMPARED_WITH_DECLARED = ("LAYOUT-", "PITCH-", "DTYPE-", "VIEW-EXTRACT", "PLAN-ACCUMULATOR")
"""Rules whose failure shows as a result that differs from what the types say."""
BESIDE_THE_PEER = ("PLAN-RESERVE",)
"""Rules whose failure shows as a result that changes when the peer core writes into its rings."""
WRITTEN_TWICE = ("WRITE-TWICE",)
"""Rules whose failure shows as elements that two blocks, or two lanes, both write."""
LEFT_UNWRITTEN = ("WRITE-",)
"""Rules whose failure shows as elements of an output that keep what they held before the run."""
BY_BOTH_LANES = ("WRITE-LANES",)
"""Rules of the former kind for which both lanes run."""
UNDONE_BY_ITSELF = ("DTYPE-", "LAYOUT-COPY", "LAYOUT-BURST")
"""Rules whose failure, twice, may give a right result again: bits are taken for another type and back."""
UNCHANGED = "not observed: the bytes held the same values in this run"
"""What is said of a run whose result is right by its data: equal bytes were written over one another, or what went
wrong once was undone by the same again."""

_STORES = frozenset({"pto.tstore", "pto.store_scalar", "pto.mscatter"})
"""Ops whose results a run can be asked for; what is pushed to another core is gone."""


def shows(rule: str) -> bool:
    """Whether this module knows how a failure of `rule` shows in a run."""
    return rule.startswith(
        (*OBSERVED_AS, *COMPARED_WITH_OWN_STORAGE, *COMPARED_WITH_DECLARED, *BESIDE_THE_PEER, *LEFT_UNWRITTEN))


def confirm(
    func: Func, rule: str, witness: Mapping[str, int], target: Target, seed: int = 0, *, line: int = 0,
    max_steps: int = MAX_STEPS, outputs: tuple[str, ...] = (),
) -> str:
    """Replay a refutation of `rule` and say in one line what was seen.

    "confirmed: ..."; "not observed: ..."; or "not run: ..." when something that is not modelled, another fault or the
    step limit ended the run first. UNCHANGED where this run's data hides it. `line`: where the rule was refuted (the
    user's line, or the `.pto` line), 0 if unknown. `outputs`: arguments declared as outputs.
    """
    if rule.startswith(WRITTEN_TWICE):
        return _twice(func, witness, target, seed, max_steps)
    if rule.startswith(LEFT_UNWRITTEN):
        return _left(rule, func, witness, target, seed, outputs, max_steps)
    found: Difference | None = None
    if rule.startswith(COMPARED_WITH_OWN_STORAGE):
        found = replay_overlap(func, witness, target, None, seed, max_steps=max_steps)
    elif rule.startswith(COMPARED_WITH_DECLARED):
        found = replay_layout(func, witness, target, seed, max_steps=max_steps)
    elif rule.startswith(BESIDE_THE_PEER):
        found = replay_peer(func, witness, target, seed, max_steps=max_steps)
    if found is not None:
        return f"confirmed: wrong result: {found}"
    seen = judged(rule, replay(func, witness, target, seed, max_steps=max_steps), line)
    if seen.startswith("not observed") and rule.startswith("PLAN-CAPACITY") and not _placed(func, line):
        return "not run: a tile without an address has memory of its own in a run"
    compared = (*COMPARED_WITH_OWN_STORAGE, *COMPARED_WITH_DECLARED, *BESIDE_THE_PEER)
    if seen.startswith("not observed") and rule.startswith(compared) and not _hands_out(func):
        return "not run: nothing leaves the core in a run of this function alone"
    by_data = (*COMPARED_WITH_OWN_STORAGE, *BESIDE_THE_PEER, *UNDONE_BY_ITSELF)
    return UNCHANGED if seen.startswith("not observed") and rule.startswith(by_data) else seen


def _left(
    rule: str, func: Func, witness: Mapping[str, int], target: Target, seed: int, outputs: tuple[str, ...],
    max_steps: int,
) -> str:
    """What a run leaves unwritten of the declared outputs; without any, of whatever the function stores to."""
    asked = outputs or _stored(func)
    if not asked:
        return "confirmed: never written: the run stores to no tensor"
    written: dict[str, Array] = {}
    lanes = range(target.lanes_per_cube) if rule.startswith(BY_BOTH_LANES) else ()
    runs = [{**witness, "subblock_idx": lane} for lane in lanes] or [dict(witness)]
    for at in runs:
        found = written_elements(func, at, target, seed, max_steps=max_steps)
        if isinstance(found, str):
            return f"not run: the run stops before: {found}"
        written = {name: marks | written.get(name, marks) for name, marks in found.items()}
    left = min(asked, key=lambda name: int(written[name].sum()))
    missed = np.flatnonzero(~written[left])
    if not missed.size:
        return "not observed: the run writes every element"
    off = _off_its_tensor(func, runs, target, seed, max_steps)
    if off:
        return off
    return f"confirmed: never written: {missed.size} elements of %{left}, the first is element {missed[0]}"


def _twice(func: Func, witness: Mapping[str, int], target: Target, seed: int, max_steps: int) -> str:
    """What two blocks both write, or the two lanes of a block."""
    index = "block_idx" if "block_idx" in witness else "subblock_idx"
    two = (witness.get(index, 0), witness.get(OTHER_BLOCK, 1)) if index == "block_idx" else (0, 1)
    count = max(*two, witness.get("block_num", 0) - 1) + 1
    both = [{**witness, "block_num": count, index: i} for i in two]
    first, second = (written_elements(func, one, target, seed, max_steps=max_steps) for one in both)
    if isinstance(first, str) or isinstance(second, str):
        return f"not run: the run stops before: {first if isinstance(first, str) else second}"
    for name in first:
        shared = np.flatnonzero(first[name] & second[name])
        if shared.size:
            return f"confirmed: written twice: {shared.size} elements of %{name}, the first is element {shared[0]}"
    off = _off_its_tensor(func, both, target, seed, max_steps)
    return off or "not observed: the two write different elements"


def _off_its_tensor(
    func: Func, runs: Sequence[Mapping[str, int]], target: Target, seed: int, max_steps: int
) -> str:
    """'not run: ...' where a window leaves its tensor: a run leaves such a transfer out, so what it would have written
    is not seen."""
    for one in runs:
        for error in replay(func, one, target, seed, max_steps=max_steps).errors:
            if isinstance(error, GlobalBoundsError):
                return f"not run: a window leaves its tensor before: {error}"
    return ""


def _stored(func: Func) -> tuple[str, ...]:
    """The pointer arguments that the text stores to."""
    ops = tuple(walk(func.body)) if func.body is not None else ()
    made = {id(result): op for op in ops for result in op.results}
    found: dict[str, None] = {}
    for op in ops:
        value = (op.opt("dst") or op.opt("ptr") or op.opt("mem")) if op.name in _STORES else None
        while value is not None and id(value) in made:
            view = made[id(value)]
            value = view.opt("source") or view.opt("ptr")
        if value is not None:
            found[value.name] = None
    return tuple(found)


def _placed(func: Func, line: int) -> bool:
    """Whether the text gives an address to what it allocates there."""
    ops = tuple(walk(func.body)) if func.body is not None else ()
    return any(op.opt("addr") is not None for op in ops if line in (0, op.line, op.loc.line))


def _hands_out(func: Func) -> bool:
    """Whether a run of the function has results that another one can be compared with."""
    return any(op.name in _STORES for op in (walk(func.body) if func.body is not None else ()))


def judged(rule: str, outcome: Outcome, line: int = 0) -> str:
    """What a replay says about a refutation of `rule`; the words are those of `confirm`."""
    kinds = next((k for prefix, k in OBSERVED_AS.items() if rule.startswith(prefix)), ())
    seen = [e for e in (*outcome.errors, *outcome.suspicions) if e.kind in kinds]
    here = [e for e in seen if line in (0, e.line, e.location.line)]
    if here or (seen and not rule.startswith(AT_THEIR_OP)):
        shown = (here or seen)[0]
        return f"confirmed: {shown.kind}: {shown}"
    if outcome.stopped:
        last = outcome.errors[-1]
        return f"not run: the run stops before: {'step limit' if isinstance(last, StepLimitError) else last}"
    first = next((e for e in outcome.errors if line and line in (e.line, e.location.line)), None)
    if first is not None:
        return f"not run: another fault of this op comes first: {first}"
    if line and line not in outcome.visited:
        return "not run: the inputs of this run do not lead there"
    return "not observed: the run ended without such a fault"
