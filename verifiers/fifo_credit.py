"""FIFO: tiles that are popped while others are not freed yet.

A free goes by the tile that was popped last: where that one ends a period it posts a credit, whatever tile it is meant
for. With two tiles popped before any is freed one credit is posted twice, or none. And a pop that waits for a tile for
which there is no slot, as those before it are not freed, waits for ever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field

from pypto_verified.index import all_of, eq
from pypto_verified.index.cond import FALSE, TRUE, Cond, as_cond
from pypto_verified.pto.legality_context import pipe_id
from pypto_verified.records import dataclass
from pypto_verified.targets.fifo import first_wait, period, posts, waited
from verifiers.access import AccessProgram, Branch, Loop, Node, Sequence, Step
from verifiers.fifo_counts import compared, in_functions, runs, why_not
from verifiers.fifo_few import Moved, Transfers, numbers
from verifiers.fifo_slots import slots_of
from verifiers.pipes import LANE, LANES, used
from verifiers.race.copied import copied
from verifiers.race.rings import FREES, frees_before, pops_before
from verifiers.race.walker import Core
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text


@dataclass(frozen=True, slots=True)
class Wrong:
    """A run of sizes `given` in which the credits are wrong, and `how`."""

    how: str
    given: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CreditSite(Site):
    """The frees of a pipe. `holds`: that each posts what is due to the tile it gives back; `wrong`: a run in which that
    matters, if one was looked for and found."""

    holds: Cond
    wrong: Wrong | None

    @property
    def why(self) -> str:
        return "" if self.wrong is not None or self.holds is TRUE else (
            "which tiles the credits of its frees stand for is not told: more than one is popped before a free")


def _sites(context: Context) -> Iterator[CreditSite]:
    program, chip = context.program, context.target
    for op, free in FREES.items():
        for pipe in used(program, free):
            first = next((s for s in program.steps if s.op.name == op and pipe_id(s.op) == pipe), None)
            called = in_functions(program, op) or in_functions(program, free)
            if first is None or called or copied(program, op, pipe, chip) or _uneven(program, op, pipe):
                continue
            slots = slots_of(context, first)
            holds = TRUE if _in_turn(program, op, pipe) else _due(program, op, pipe, slots)
            if holds is not TRUE and context.ladder.entails(program.symbols.facts & context.assumed, holds):
                holds = TRUE
            wrong = _wrong(context, op, pipe, slots) if holds is not TRUE else None
            yield CreditSite(context, first.op, TRUE, f"{op_text(first.op)} pipe {pipe} credits", holds, wrong)


def _uneven(program: AccessProgram, op: str, pipe: int) -> bool:
    """Whether frees are not as many as pops, which FIFO-FREE speaks of."""
    counts = [(runs(program, op, pipe, lane), runs(program, FREES[op], pipe, lane)) for lane in LANES]
    return any(not why_not(a, b) and a.turns == b.turns and compared(a, b, eq) is FALSE for a, b in counts)


def _due(program: AccessProgram, op: str, pipe: int, slots: int) -> Cond:
    """That each free posts a credit where the tile that it gives back ends a period, and nowhere else, and that no pop
    waits for a tile whose push waits for a later free."""
    popped, freed = pops_before(program), frees_before(program)
    goals: list[Cond] = []
    for step in program.steps:
        if step.op.name in (op, FREES[op]) and pipe_id(step.op) == pipe:
            tiles, before = popped[step.index], freed[step.index]
            if tiles is None or before is None:
                return FALSE
            if step.op.name == op:
                goals.append(as_cond(waited(slots, tiles + 1) <= before // period(slots)))
            else:
                last, own = (as_cond(posts(slots, n)) for n in (tiles - 1, before))
                goals.append(eq(tiles, before + 1) | (last & own) | (~last & ~own))
    return all_of(goals)


def _in_turn(program: AccessProgram, op: str, pipe: int) -> bool:
    """Whether the text frees each tile before it pops the next one: in each block pops and frees take turns."""
    return _turns(program.body, op, pipe) is not None


def _turns(node: Node, op: str, pipe: int) -> bool | None:
    """Whether a tile is popped and not yet freed after a node, where there was none before it; None where a second one
    may be."""
    if isinstance(node, Step):
        return node.op.name == op and pipe_id(node.op) == pipe
    if not isinstance(node, Sequence):
        inner = [node.then, node.orelse] if isinstance(node, Branch) else [
            node.body, Sequence(node.body.items[:node.head])]  # what a while loop does before its last test
        return False if all(_turns(n, op, pipe) is False for n in inner) else None
    out = False
    for item in node.items:
        if not _concerns(item, op, pipe):
            continue
        if out:
            if not isinstance(item, Step) or item.op.name != FREES[op]:
                return None
            out = False
        else:
            after = None if isinstance(item, Step) and item.op.name != op else _turns(item, op, pipe)
            if after is None:
                return None
            out = after
    return out


def _concerns(node: Node, op: str, pipe: int) -> bool:
    if isinstance(node, Step):
        return node.op.name in (op, FREES[op]) and pipe_id(node.op) == pipe
    if isinstance(node, Sequence):
        return any(_concerns(item, op, pipe) for item in node.items)
    if isinstance(node, Branch):
        return _concerns(node.then, op, pipe) or _concerns(node.orelse, op, pipe)
    assert isinstance(node, Loop)
    return _concerns(node.body, op, pipe)


class _Ledger(Transfers):
    """One run, with the credits that its frees post."""

    def __init__(self, core: Core, given: dict[str, int], op: str, pipe: int, slots: int) -> None:
        self.op, self.pipe, self.slots = op, pipe, slots
        self.tiles = self.frees = self.credits = self.reached = 0
        self.ahead, self.hang = "", ""
        super().__init__(core, given)

    def fails(self) -> str:
        """How the producer writes over a tile or both ends wait for ever; '' if they do not, or not all is freed."""
        if not self.ended or self.frees != self.tiles:
            return ""
        return self.hang or (self.ahead if self.tiles > self.reached else "")

    def left(self) -> str:
        """How more or fewer credits are posted in the end than the pipe takes."""
        due = self.tiles // period(self.slots)
        if not self.ended or self.frees != self.tiles or self.credits == due:
            return ""
        end = "the next kernel takes the rest" if self.credits > due else "the pipe waits for the rest when it ends"
        return f"{self._posted()}, and {due} are due: {end}"

    def _posted(self) -> str:
        """What is posted by now."""
        every = "one tile" if period(self.slots) == 1 else f"{period(self.slots)} tiles"
        return f"after {self.tiles} tiles they have posted {self.credits} credits of {every} each"

    def _step(self, step: Step) -> None:
        name = step.op.name
        if name not in (self.op, FREES[self.op]) or pipe_id(step.op) != self.pipe:
            return
        self._spend()
        if name == self.op:
            due = waited(self.slots, self.tiles + 1).value
            if due is not None and due > self.credits and not self.hang:
                self.hang = (f"{self._posted()}, and the push of the next tile, which is waited for, needs {due}: "
                             "both ends wait for ever")
            self.tiles += 1
            return
        self.frees += 1
        self.credits += posts(self.slots, self.tiles - 1) is True
        if self.credits > self.tiles // period(self.slots) and not self.ahead:
            self.ahead = f"{self._posted()}: the producer writes over tiles that are not popped yet"
            self.reached = first_wait(self.slots) + self.tiles


def _wrong(context: Context, op: str, pipe: int, slots: int) -> Wrong | None:
    """A run that fails, or else one that leaves a wrong number of credits."""
    program = context.program
    core = Core(program, context.target, kept=frozenset())
    background = program.symbols.facts & context.assumed
    left: Wrong | None = None
    for lane in LANES:
        for given in numbers(Moved(program, op, pipe, lane), slots, background):
            run = _Ledger(core, {**given, LANE: lane}, op, pipe, slots)
            how = "" if run.values.asked else run.fails() or run.left()
            if how:
                found = Wrong(how, {n: v for n, v in given.items() if n in run.given_ones})
                if run.fails():
                    return found
                left = left or found
    return left


def _explain(s: CreditSite, w: Witness) -> str:
    how = s.wrong.how if s.wrong is not None else "they post credits of other tiles"
    return f"more than one tile of {op_text(s.op)} is out, and its frees go by the one that was popped last: {how}"


FIFO_CREDIT: Rule[CreditSite] = Rule(
    id="FIFO-CREDIT",
    formula="pops(pipe) mod period = 0 <=> (frees(pipe) + 1) mod period = 0 before each free, and "
            "waits(pops(pipe) + 1) <= frees(pipe) / period before each pop",
    kind=SAFETY, observable=False, requires=("XC-09",), source="PTO-ISA npu/*/TFree.hpp",
    claim="a free posts a credit where one is due to the tile it gives back, and no pop waits for a slot freed later",
    unseen="the producer may not come to a slot that is in use, and what is left the next kernel takes",
    sites=_sites, applies=always,
    given=lambda s: not s.why, undecided=lambda s: s.why, goal=lambda s: s.holds if s.wrong is None else FALSE,
    shown=lambda s: dict(s.wrong.given) if s.wrong is not None else {}, explain=_explain,
    help=lambda s: "free each tile before the next one is popped",
    mutant=lambda s: TRUE,
)


RULES = (FIFO_CREDIT,)
