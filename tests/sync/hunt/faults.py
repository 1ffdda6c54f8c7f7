"""Faults of the rules about order, planted one at a time, to see that the hunt finds what they let through."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from pypto_verified.fuzz.faults import FAULTS as ALL
from pypto_verified.fuzz.faults import Fault
from pypto_verified.fuzz.faults.fault import Edit

ONE, CUBE, PIPES, BLOCKS = ("one core", "rings"), ("two cores", "turns"), ("fifo",), ("blocks",)

PROOF = "false proof"


@dataclass(frozen=True, slots=True)
class Planted:
    """A fault, the kinds of texts that show it, and what does not fit then."""

    fault: Fault
    kinds: tuple[str, ...]
    shows: str = PROOF

    def planted(self) -> AbstractContextManager[None]:
        return self.fault.planted()


_OWN = (
    Planted(Fault(
        "event-arm-taken", "verifiers.flags", "Trace._run", "EVENT takes each branch to be taken",
        Edit("return choice(node.cond, Transfer(FALSE, then), Transfer(FALSE, orelse)).gain", "return then")), ONE),
    Planted(Fault(
        "event-first-turn", "verifiers.flags", "Trace._loop", "EVENT looks at the first turn of a loop alone",
        Edit("now = loop.counter if loop.counter is not None else const(0)", "now = const(0)")), ONE),
    Planted(Fault(
        "event-free-at-exit", "verifiers.flags", "Trace.__init__", "EVENT takes each flag to be free in the end",
        Edit("Moment(end, self._within, self._why)", "Moment(FALSE, self._within, self._why)")), ONE),
    Planted(Fault(
        "event-group-free", "verifiers.event_group", "_fine", "EVENT-GROUP takes each flag to be as it has to",
        Edit("~occupied if action.sets else occupied", "action.on(trace.id)")), ("group",)),
    Planted(Fault(
        "event-cores-one-path", "verifiers.race.together", "Together._on", "EVENT-CORES follows one path",
        Edit("todo.append(other)", "pass")), CUBE),
    Planted(Fault(
        "race-core-knows-all", "verifiers.race.exchange", "Exchange.act", "RACE-CORE takes a wait to tell of all",
        Edit("else act.pipe, tokens[0]", "else act.pipe, 0")), CUBE),
    Planted(Fault(
        "race-core-begun", "verifiers.race.exchange", "Exchange._begin", "RACE-CORE takes what has begun for complete",
        Edit("order.issue(bits, 0)", "pass")), CUBE),
    Planted(Fault(
        "race-block-reads", "verifiers.race.block_pairs", "_meet", "RACE-BLOCK looks at writes alone",
        Edit("not (a.writes or b.writes)", "not (a.writes and b.writes)")), BLOCKS),
    Planted(Fault(
        "fifo-one-case", "verifiers.fifo_counts", "compared", "FIFO compares its ends in one case of all branches",
        Edit("return all_of(goals)", "return goals[0]")), PIPES),
    Planted(Fault(
        "fifo-one-turn", "verifiers.fifo_counts", "_turns", "FIFO takes each loop to turn once",
        Edit("times = times * within", "pass")), PIPES),
    Planted(Fault(
        "fifo-free-lost", "verifiers.fifo_credit", "_due", "FIFO-CREDIT takes each free for due",
        Edit("return all_of(goals)", "return TRUE")), PIPES),
    Planted(Fault(
        "note-all-spare", "verifiers.race.redundant", "_may_go", "notes call all sync redundant",
        Edit("return False", "return True")), ONE, "wrong note"),
)
PLANTED: dict[str, Planted] = {p.fault.id: p for p in (
    *(Planted(f, ONE) for f in ALL.values() if f.module.startswith("verifiers.race")), *_OWN)}
"""Those of the audit that are of the order of ops, and more of what it does not look at."""
