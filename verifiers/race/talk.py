"""What one core of a kernel says to the other, in its own order: the text of the core cut down to flags between cores,
pushes and pops, meetings, its own sync around them, and its accesses to global memory."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cached_property
from typing import TypeAlias, Union

from pypto_verified.index import (
    Cond,
    Expr,
    IntLike,
    all_of,
    any_of,
    const,
    substitute,
    substitute_cond,
    symbol,
    symbols_of,
)
from pypto_verified.index.cond import FALSE, variable
from pypto_verified.index.expr import Atom
from pypto_verified.pto.legality_context import pipe_id
from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from pypto_verified.targets.fifo import period
from pypto_verified.targets.pipes import SCALAR
from verifiers.access import Branch, Node, Sequence, Step
from verifiers.cross_flags import NamedFlag, named_flag
from verifiers.race.accesses import Access, accesses_of, held_by_pop, is_global
from verifiers.race.cycles import stepped_variable
from verifiers.race.members import LANE, POPS, lane_of, meeting_of
from verifiers.race.order import PIPES
from verifiers.race.parts import Part
from verifiers.race.places import Place
from verifiers.race.room import PUSHES, gives_slot, ledger_of, slots_of, takes_slot
from verifiers.race.sync import Sync, sync_of
from verifiers.recurrence import counted
from verifiers.solver.cone import names_of


class NotFollowedError(Exception):
    """The reason, for the user."""


@dataclass(frozen=True, slots=True, eq=False)
class Act:
    """An op. `gives`, `takes`: what its signal is called, without the id; `id` of a flag; `flag` where a lane calls it
    otherwise, or has no part in it, as its id in an iteration says; `pipe` on which it gives, or
    which it holds back until it takes (SCALAR: the whole core); `meets`: the mode of a meeting of all cores; `sync`:
    what it does within its core; `needs`, `frees`: the name of a pipe's slot that it takes or gives back; `touched`:
    its accesses to global memory."""

    step: Step
    gives: Hashable = None
    takes: Hashable = None
    id: Expr | None = None
    flag: NamedFlag | None = None
    pipe: str = ""
    meets: str = ""
    sync: Sync | None = None
    touched: tuple[Access, ...] = ()
    needs: Hashable = None
    frees: Hashable = None


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A branch."""

    cond: Cond
    then: tuple[Said, ...]
    orelse: tuple[Said, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Turns:
    """A counted loop: iteration k, from 0, takes place where `goes(k)` holds. `name` = `base` + k in it; `stepped`:
    another name of its variable, and its value; `lasts`: whether what a name stands for is the same in all
    iterations."""

    name: str
    base: Expr
    lower: Expr
    upper: Expr
    step: Expr
    stepped: tuple[str, Expr] | None
    lasts: Callable[[str], bool]
    body: tuple[Said, ...]

    def goes(self, k: Expr, values: Mapping[str, IntLike]) -> Cond:
        return substitute_cond(self.lower + self.step * k < self.upper, values)

    def last(self, values: Mapping[str, IntLike]) -> Expr | None:
        """The last iteration, where there is one; None where the step is no number."""
        step = substitute(self.step, values).value
        return substitute(self.upper - self.lower - 1, values) // step if step is not None and step > 0 else None

    def within(self, k: Expr, values: Mapping[str, IntLike]) -> dict[str, IntLike]:
        """What stands for names in iteration `k`."""
        inner = {**values, self.name: substitute(self.base, values) + k}
        if self.stepped is not None:
            name, value = self.stepped
            inner[name] = substitute(value, inner)
        return inner


Said: TypeAlias = Union[Act, Choice, Turns]


class Talk:
    """The core's side. Names that need not stand for the same on both cores are marked with the core's kind. `sizes`:
    what to put for some that do."""

    def __init__(
        self, part: Part, lane: int, shared: frozenset[str], target: Target, sizes: Mapping[str, IntLike] | None = None
    ) -> None:
        self.kind = part.kind
        self.program = part.program
        self.foreign = part.foreign_to(lane)
        self._pipes = part.pipe_names()
        self._target = target
        self._lane = lane
        self._shared = shared
        self._accesses = accesses_of(part.program, target)
        self._marked: dict[str, IntLike] = {LANE: lane_of(part.kind, lane), **(sizes or {})}

    @cached_property
    def said(self) -> tuple[Said, ...]:
        """In its order. NotFollowedError where it can't be told."""
        return self._node(self.program.body)

    def names(self) -> frozenset[str]:
        """What branches and loops go by, as it is marked."""
        return frozenset(_names(self.said))

    def slots(self, least: bool) -> dict[Hashable, int]:
        """Tiles that it can push into each pipe that it has slots of before any is given back; `least`: and into a pipe
        of which some are in use, so that this core waits no less often than it does."""
        found: dict[Hashable, int] = {}
        for act in self.acts():
            if act.needs is not None:
                slots = slots_of(self.program, pipe_id(act.step.op))
                found[act.needs] = ledger_of(self._target).outstanding(slots) - (period(slots) - 1 if least else 0)
        return found

    def acts(self) -> Iterator[Act]:
        """All of its ops."""
        return _acts(self.said)

    def line(self, step: Step) -> int:
        return self.program.location(step.op).line

    def mark_place(self, place: Place) -> Place:
        return place.at(self._marks(symbols_of(*place.exprs())))

    def earlier(self, place: Place) -> Place:
        """A place of this core, marked, at another time: what need not be the same then has another name."""
        marked = {n: a for n, a in symbols_of(*place.exprs()).items() if n.endswith(self._mark(""))}
        return place.at({n: symbol(f"{n}, earlier", a.lo, a.hi) for n, a in marked.items()})

    def mark(self, e: Expr) -> Expr:
        return substitute(e, self._marks(symbols_of(e)))

    def mark_cond(self, c: Cond) -> Cond:
        if c.expr is not None:
            return substitute_cond(c, self._marks(symbols_of(c.expr)))
        if c.kind == "not":
            return ~self.mark_cond(c.parts[0])
        if c.kind in ("and", "or"):
            parts = [self.mark_cond(p) for p in c.parts]
            return all_of(parts) if c.kind == "and" else any_of(parts)
        return variable(self._mark(c.name)) if c.kind == "var" else c

    def _mark(self, name: str) -> str:
        return f"{name} of the {self.kind} core"

    def _marks(self, named: Mapping[str, Atom]) -> Mapping[str, IntLike]:
        for name, atom in named.items():
            if name not in self._marked and name not in self._shared:
                self._marked[name] = symbol(self._mark(name), atom.lo, atom.hi)
        return self._marked

    # Nodes

    def _node(self, node: Node) -> tuple[Said, ...]:
        if isinstance(node, Sequence):
            return tuple(said for item in node.items for said in self._node(item))
        if isinstance(node, Step):
            act = self._act(node) if node.op not in self.foreign else None
            return (act,) if act is not None else ()
        if isinstance(node, Branch):
            return self._choice(node.cond, self._node(node.then), self._node(node.orelse))
        if node.inside is FALSE:  # what a while loop does before its test it does all the same
            return self._node(Sequence(node.body.items[:node.head]))
        body = self._node(node.body)
        if not body:
            return ()
        if not any(map(_tells, body)):
            return (*_quiet(body), *_quiet(body))  # in its next iteration they meet those of this one
        own = counted(node)
        if node.counter is not None and node.counter.value == 0:
            return self._choice(node.inside, body, ())
        if own is None or node.lower is None or node.upper is None or node.step is None:
            raise NotFollowedError(f"the loop at line {self.program.location(node.op).line} is not counted")
        stepped = stepped_variable(node, own.name, own.base)
        return (Turns(
            self._mark(own.name), self.mark(own.base), self.mark(node.lower), self.mark(node.upper),
            self.mark(node.step), (self._mark(stepped[0]), self.mark(stepped[1])) if stepped is not None else None,
            self._lasting(own.name), body),)

    def _choice(self, cond: Cond, then: tuple[Said, ...], orelse: tuple[Said, ...]) -> tuple[Said, ...]:
        if not then and not orelse:
            return ()
        if not any(map(_tells, (*then, *orelse))):
            return tuple(_quiet((*then, *orelse)))
        return (Choice(self.mark_cond(cond), then, orelse),)

    def _lasting(self, counter: str) -> Callable[[str], bool]:
        """Whether a name is older than a loop; that of the other core is."""
        suffix = self._mark("")

        def lasts(name: str) -> bool:
            return not name.endswith(suffix) or self.program.symbols.is_older(name.removesuffix(suffix), counter)

        return lasts

    def _act(self, step: Step) -> Act | None:
        name, target = step.op.name, self._target
        flag = named_flag(step, target)
        if flag is not None:
            return self._flag(flag)
        if name == "pto.syncall":
            return Act(step, meets=meeting_of(step, self.program.func), sync=sync_of(step, target))
        touched = tuple(a for a in self._accesses.get(step.index, ()) if is_global(a))
        number = self._pipes.get(pipe_id(step.op), pipe_id(step.op))
        slot = ("slot", number)
        needs = slot if takes_slot(step) else None
        frees = slot if gives_slot(step, self.program, target) else None
        if name in POPS:
            pipe = held_by_pop(step, self.program, target)
            return Act(step, takes=("fifo", number), pipe=pipe, touched=touched, frees=frees)
        if name in PUSHES:
            return Act(
                step, gives=("fifo", number), pipe=step.phases[0].pipe, touched=touched, needs=needs)
        sync = sync_of(step, target)
        if sync is None and not touched and needs is None and frees is None:
            return None
        return Act(step, sync=sync, touched=touched, needs=needs, frees=frees)

    def _flag(self, flag: NamedFlag) -> Act | None:
        step, asked, pipe = flag.step, flag.id, flag.pipe
        if asked is None or not flag.between_kinds or pipe not in PIPES:
            raise NotFollowedError(f"the flag at line {self.line(step)} is not followed")
        id = self.mark(asked)
        if id.value is not None:
            own = flag.for_lane(id.value, self.kind, self._lane)
            if own is None:
                return None
            id = const(own)
        later = flag if id.value is None and flag.of_one_lane else None
        if flag.sets:
            return Act(step, gives="flag", id=id, flag=later, pipe=pipe)
        return Act(step, takes="flag", id=id, flag=later, pipe=SCALAR if flag.row.stalls_core else pipe)

    def own_id(self, act: Act, id: int) -> int | None:
        """What the lane calls the flag that an op calls `id`; None where it is for the other one."""
        return act.flag.for_lane(id, self.kind, self._lane) if act.flag is not None else id


def _names(said: tuple[Said, ...]) -> Iterator[str]:
    for one in said:
        if isinstance(one, Choice):
            yield from names_of(one.cond)
            yield from _names((*one.then, *one.orelse))
        elif isinstance(one, Turns):
            yield from symbols_of(one.lower, one.upper, one.step)
            yield from _names(one.body)


def _acts(said: tuple[Said, ...]) -> Iterator[Act]:
    for one in said:
        if isinstance(one, Act):
            yield one
        else:
            yield from _acts(one.body if isinstance(one, Turns) else (*one.then, *one.orelse))


def _tells(said: Said) -> bool:
    """Whether the other core sees any of it."""
    if isinstance(said, Act):
        named = (said.gives, said.takes, said.needs, said.frees)
        return bool(said.meets) or any(name is not None for name in named)
    parts = said.body if isinstance(said, Turns) else (*said.then, *said.orelse)
    return any(map(_tells, parts))


def _quiet(said: tuple[Said, ...]) -> list[Act]:
    """What takes place where it is not asked whether, and how often: its accesses. What it orders is not counted on."""
    return [Act(act.step, touched=act.touched) for act in _acts(said) if act.touched]
