"""Both cores walked with numbers: which sets of flags may find their counter full, whoever of the pipes goes first."""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable, Iterator
from itertools import islice, takewhile

from pypto_verified.targets import Target
from verifiers.access import Step
from verifiers.cross_flags import named_flag
from verifiers.race.cluster import Cluster
from verifiers.race.members import POPS, Member, meets_both
from verifiers.race.parts import Part
from verifiers.race.rings import FREES
from verifiers.race.room import ALLOCATES, PUSHES
from verifiers.race.sync import Kind, sync_of

_SLOTS = frozenset({*PUSHES, *POPS, *FREES, *FREES.values(), *ALLOCATES})

_MOST_STEPS = 4_000
"""Steps of a walk: enough for as many turns of a loop as fill a counter."""


class Overrun(Cluster):
    """A walk in which each wait has a bit of its own in what a pipe need not know to be over. Where all order is seen
    (`all_seen`), what comes before a set may have run, and nothing else: `over` has the sets that find their counter
    full then."""

    def __init__(self, members: list[Member], target: Target, lane: int, strict: bool) -> None:
        super().__init__(members, target, False, False, lane, "", strict, False)
        self._left = _MOST_STEPS
        self._waits = 0
        self._of_flag: dict[Hashable, list[int]] = {}

    def _wait(self, member: Member, step: Step, key: Hashable, pipe: str) -> Generator[None]:
        yield from super()._wait(member, step, key, pipe)
        bit = 1 << self._waits
        self._waits += 1
        self._of_flag.setdefault(key, []).append(bit)
        self._on_pipe[member.kind, pipe] |= bit
        for m in self.members:
            m.order.issue(bit, 0)
        member.order.learn(pipe, ~bit)

    def _give(self, member: Member, key: Hashable, pipe: str) -> None:
        super()._give(member, key, pipe)
        signals = self._tokens[key]
        signals[-1] |= -1 << self._waits  # nor does it tell of waits to come
        pending = member.order.waits_for(pipe)
        most = self.target.flag_count_max
        last = islice(reversed(self._of_flag.get(key, [])), most)
        if len(signals) + sum(1 for _ in takewhile(pending.__and__, last)) > most:
            step = self._sets[key][-1]
            self.over[step.index] = step


def all_seen(parts: Iterable[Part], target: Target) -> bool:
    """Whether flags, barriers and meetings of both kinds are all that orders the pipes of the cores."""
    return all(_seen(s, target) for s in _steps(parts))


def holds_pipes(parts: Iterable[Part], target: Target) -> bool:
    """Whether a wait for another core holds back one pipe and not its core."""
    flags = (named_flag(s, target) for s in _steps(parts))
    return any(f is not None and not f.row.stalls_core for f in flags)


def _steps(parts: Iterable[Part]) -> Iterator[Step]:
    return (s for p in parts for s in p.program.steps if s.op not in p.foreign)


def _seen(step: Step, target: Target) -> bool:
    flag, sync = named_flag(step, target), sync_of(step, target)
    if flag is not None:
        return flag.between_kinds
    if step.op.name == "pto.syncall":
        return meets_both(step)
    plain = sync is None or (sync.kind in (Kind.BARRIER, Kind.DRAIN)) or (
        sync.kind in (Kind.SET, Kind.WAIT) and sync.id is not None)
    return plain and step.op.name not in _SLOTS
