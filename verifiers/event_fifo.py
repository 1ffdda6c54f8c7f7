"""EVENT: flags between cores beside pipes between cores, which count their tiles with flags too."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Expr
from pypto_verified.pto.legality_context import INITS
from pypto_verified.records import dataclass
from pypto_verified.targets.pipes import LANE_IDS
from verifiers.access import AccessProgram
from verifiers.cross_flags import named_flag
from verifiers.flags import trip_names
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, Site, op_text


@dataclass(frozen=True, slots=True)
class FifoSite(Site):
    """A flag between cores in a function whose pipes between cores count with flags 0 to `taken` - 1. `id`: what both
    cores call it, None where the text computes it in a way that is not expressed; `lane`: it is for one vector core
    alone; `why`: what keeps it from being decided."""

    id: Expr | None
    taken: int
    lane: bool
    why: str


def _beside_pipes(context: Context) -> Iterator[FifoSite]:
    taken = flags_of_pipes(context.program)
    for step in context.program.steps if taken else ():
        flag = named_flag(step, context.target)
        if flag is None:
            continue
        id = flag.id % LANE_IDS if flag.id is not None and flag.of_one_lane else flag.id
        why = "its id is not expressed" if id is None else ""
        if context.target.on_chip_pipe and not flag.of_one_lane:
            why = why or "whether flags of FFTS count together with those within a block is not told"
        label = op_text(step.op) + (f" {flag.id!r}" if flag.id is not None else "")
        yield FifoSite(context, step.op, step.path, label, id, taken, flag.of_one_lane, why)


def flags_of_pipes(program: AccessProgram) -> int:
    """How many flags, from 0 on, the assembler gives to the pipes between cores of a function: two for each direction
    (assumption PIPE-FLAGS)."""
    taken = dict.fromkeys(INITS, 0)
    for step in program.steps:
        if step.op.name in taken:
            taken[step.op.name] += 4 if step.op.attrs.get("dir_mask") == 3 else 2
    return max(taken.values())


EVENT_FIFO: Rule[FifoSite] = Rule(
    id="EVENT-FIFO",
    formula="id >= 2 * directions(pipes of the function)",
    kind=SAFETY, observable=False, requires=("EV-03",), source="PTOAS PTOResolveReservedBuffers; PTO-ISA TPush.hpp",
    claim="a flag between cores is not one by which a pipe between cores counts its tiles",
    unseen="a run gives pipes counters of their own",
    sites=_beside_pipes, applies=always, assumptions=("PIPE-FLAGS", "LANE-OFFSET"),
    unneeded=lambda s: () if s.lane else ("LANE-OFFSET",),
    undecided=lambda s: s.why, given=lambda s: not s.why, chosen=lambda s: trip_names(s.context.program),
    goal=lambda s: s.id >= s.taken if s.id is not None else False,
    explain=lambda s, w: (
        f"{op_text(s.op)} uses flag {w.show(s.id) if s.id is not None else '?'}; the assembler gives flags 0 to "
        f"{s.taken - 1} to the pipes between cores of this function"),
    help=lambda s: f"use flags from {s.taken} on",
    mutant=lambda s: s.id >= s.taken - 1 if s.id is not None else True,
)


RULES = (EVENT_FIFO,)
