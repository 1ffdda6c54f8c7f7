"""Where a flag is set: its 0/1 state before each op, for every path and trip count.

A flag is one bit of a core, named by (source pipe, destination pipe, id). Ops count in program order: a set makes it 1,
a wait makes it 0. After an op that fails, the state goes on as if it had not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from pypto_verified.index import Cond, Expr, const, eq, symbols_of
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.pto.module import EnumAttr, Op
from pypto_verified.pto.op_pipes import names_pipes
from pypto_verified.pto.walk import walk_ops
from pypto_verified.records import dataclass
from pypto_verified.targets.events import pipe_of
from pypto_verified.targets.model import Pair
from verifiers.access import AccessProgram, Branch, Loop, Node, Sequence, Step, SymbolKind
from verifiers.recurrence import IDLE, UNSOLVED, Solution, Solver, Transfer, choice, trips
from verifiers.solver import Ladder

_SETS = frozenset({"pto.set_flag", "pto.set_flag_dyn", "pto.record_event"})
_WAITS = frozenset({"pto.wait_flag", "pto.wait_flag_dyn", "pto.wait_event"})


@dataclass(frozen=True, slots=True, eq=False)
class Action:
    """A set or a wait. `id` is None where the text computes it in a way that is not expressed."""

    step: Step
    sets: bool
    pair: Pair
    id: Expr | None

    def on(self, id: int) -> Cond:
        """When the action is about the flag of that id."""
        return eq(self.id, id) if self.id is not None else FALSE


def action_of(step: Step) -> Action | None:
    """The set or wait that a step is; None for other ops and for pipes that no flag connects."""
    op = step.op
    if op.name not in _SETS | _WAITS:
        return None
    ends = (("src_op", "dst_op") if "src_op" in op.attrs else ("src_pipe", "dst_pipe"))
    pipes = tuple(pipe_of(a.member) for a in (op.attrs.get(e) for e in ends) if isinstance(a, EnumAttr))
    if len(pipes) != 2 or "" in pipes or not names_pipes(op):
        return None
    return Action(step, op.name in _SETS, (pipes[0], pipes[1]), _id(step))


def _id(step: Step) -> Expr | None:
    given = step.op.attrs.get("event_id")
    if isinstance(given, EnumAttr):
        return const(int(given.member.removeprefix("EVENT_ID")))
    operands = step.operands.get("event_id", ())
    found = operands[0] if operands else None
    return found if isinstance(found, Expr) else None


def actions_of(program: AccessProgram) -> dict[int, Action]:
    """The sets and waits of a function, by step."""
    found = {step.index: action_of(step) for step in program.steps}
    return {i: a for i, a in found.items() if a is not None}


@dataclass(frozen=True, slots=True)
class Moment:
    """A flag at one place of the program. `occupied`: when it is set there, as far as `within` holds; `why` says what
    stopped the analysis before that place, '' if nothing did."""

    occupied: Cond
    within: Cond = TRUE
    why: str = ""


class Trace:
    """One flag along the whole function, as one core sees it. `before`: its state before each of its own sets and waits
    and before the other steps that are `asked` for."""

    def __init__(
        self, program: AccessProgram, actions: dict[int, Action], pair: Pair, id: int, ladder: Ladder,
        asked: Iterable[int] = (),
    ) -> None:
        self.pair = pair
        self.id = id
        self.before: dict[int, Moment] = {}
        self._own = {i: a for i, a in actions.items() if a.pair == pair and a.on(id) is not FALSE}
        self._program = program
        self._items = _skeleton(program).around((*self._own, *asked))
        self._transfers: dict[int, Transfer | None] = {}
        self._solver = Solver(program.symbols, ladder)
        self._why = _not_followed(program, actions, pair)
        self._within = FALSE if self._why else TRUE
        end = self._run(program.body, FALSE)
        self.at_exit = Moment(end, self._within, self._why)

    @property
    def actions(self) -> list[Action]:
        """What happens to the flag, in program order."""
        return list(self._own.values())

    def _run(self, node: Node, before: Cond) -> Cond:
        """The state after `node`; notes the state before each step in it."""
        if isinstance(node, Step):
            self.before[node.index] = Moment(before, self._within, self._why)
            return self._step(node)(before)
        if isinstance(node, Sequence):
            for item in self._items.get(id(node), ()):
                before = self._run(item, before)
            return before
        if isinstance(node, Branch):
            then, orelse = self._run(node.then, before), self._run(node.orelse, before)
            return choice(node.cond, Transfer(FALSE, then), Transfer(FALSE, orelse)).gain
        return self._loop(node, before)

    def _loop(self, loop: Loop, before: Cond) -> Cond:
        if loop.inside is FALSE:
            tested = loop.body.items[:loop.head]
            for item in self._items.get(id(loop.body), ()):
                left = self._run(item, before)
                before = left if any(item is t for t in tested) else before
            return before
        solution, outer = self._solution(loop, before), self._within
        if solution.known is not None:
            line = self._program.location(loop.op).line
            self._why = self._why or f"the loop at line {line} has no pattern that is recognised"
        now = loop.counter if loop.counter is not None else const(0)
        self._within = outer & solution.within(now)
        self._run(loop.body, solution.form(now))
        count = trips(loop)
        after = count if count is not None else const(0)
        self._within = outer & solution.within(after)
        return solution.form(after)

    def _solution(self, loop: Loop, before: Cond) -> Solution:
        if self._acts_at_exit(loop):
            return UNSOLVED
        body = self._transfer(loop.body)
        if body is not None:
            return self._solver.solve(loop, body, before)
        # What an iteration makes of any state is not known, but it may leave this one as it is.
        return Solution(lambda k: before) if self._after(loop.body, before) is before else UNSOLVED

    def _after(self, node: Node, before: Cond) -> Cond | None:
        """The state after `node` where it is `before` in front of it; None if that is not known."""
        if isinstance(node, Step):
            return self._step(node)(before)
        if isinstance(node, Sequence):
            after: Cond | None = before
            for item in self._items.get(id(node), ()):
                after = self._after(item, after) if after is not None else None
            return after
        if isinstance(node, Branch):
            then, orelse = self._after(node.then, before), self._after(node.orelse, before)
            if then is None or orelse is None:
                return None
            return choice(node.cond, Transfer(FALSE, then), Transfer(FALSE, orelse)).gain
        solution, count = self._solution(node, before), trips(node)
        return solution.form(count if count is not None else 0) if solution.known is None else None

    def _step(self, step: Step) -> Transfer:
        action = self._own.get(step.index)
        if action is None:
            return IDLE
        when = action.on(self.id)
        return Transfer(TRUE, when) if action.sets else Transfer(~when, FALSE)

    def _transfer(self, node: Node) -> Transfer | None:
        """What a node does to the flag, whatever its state; None if that is not known."""
        if isinstance(node, Step):
            return self._step(node)
        if id(node) not in self._transfers:
            self._transfers[id(node)] = self._whole(node)
        return self._transfers[id(node)]

    def _whole(self, node: Sequence | Branch | Loop) -> Transfer | None:
        if isinstance(node, Sequence):
            done: Transfer | None = IDLE
            for item in self._items.get(id(node), ()):
                after = self._transfer(item)
                if done is None or after is None:
                    return None
                done = done.then(after)
            return done
        if isinstance(node, Branch):
            a, b = self._transfer(node.then), self._transfer(node.orelse)
            return choice(node.cond, a, b) if a is not None and b is not None else None
        return self._whole_loop(node)

    def _whole_loop(self, loop: Loop) -> Transfer | None:
        body = self._transfer(loop.body)
        if body is None or self._acts_at_exit(loop):
            return None
        if loop.inside is FALSE or body.idle:
            return IDLE
        ends: list[Cond] = []
        for start in (TRUE, FALSE):
            solution, count = self._solver.solve(loop, body, start), trips(loop)
            if solution.known is not None:
                return None
            ends.append(solution.form(count if count is not None else 0))
        return Transfer(ends[0], ends[1])

    def _acts_at_exit(self, loop: Loop) -> bool:
        """Whether the flag is used where a while loop computes its condition: that runs once more than the body."""
        return any(
            s.index in self._own and loop not in s.loops for s in _steps(loop.body)) if loop.var is None else False


class _Skeleton:
    """Where each step stands: the sequences around it, with its place in each."""

    def __init__(self, program: AccessProgram) -> None:
        self._chains: dict[int, list[tuple[Sequence, int]]] = {}
        self._enter(program.body, [])

    def _enter(self, node: Node, chain: list[tuple[Sequence, int]]) -> None:
        if isinstance(node, Step):
            self._chains[node.index] = chain
        elif isinstance(node, Sequence):
            for place, item in enumerate(node.items):
                self._enter(item, [*chain, (node, place)])
        elif isinstance(node, Branch):
            self._enter(node.then, chain)
            self._enter(node.orelse, chain)
        else:
            self._enter(node.body, chain)

    def around(self, steps: Iterable[int]) -> dict[int, list[Node]]:
        """The items of each sequence (by identity) that hold one of the steps, in program order."""
        places: dict[int, tuple[Sequence, set[int]]] = {}
        for step in steps:
            for sequence, place in self._chains.get(step, ()):
                places.setdefault(id(sequence), (sequence, set()))[1].add(place)
        return {key: [sequence.items[p] for p in sorted(found)] for key, (sequence, found) in places.items()}


@lru_cache(maxsize=1)
def _skeleton(program: AccessProgram) -> _Skeleton:
    return _Skeleton(program)


def _not_followed(program: AccessProgram, actions: dict[int, Action], pair: Pair) -> str:
    """Why the flags of a pair can't be followed at all."""
    for action in actions.values():
        if action.pair == pair and action.id is None:
            return f"the id at line {program.location(action.step.op).line} is not expressed"
    called = next((s.op for s in program.steps if s.op.name == "func.call"), None)
    return f"the function called at line {program.location(called).line} may use flags" if called is not None else ""


def _steps(node: Node) -> Iterator[Step]:
    if isinstance(node, Step):
        yield node
    elif isinstance(node, Sequence):
        for item in node.items:
            yield from _steps(item)
    elif isinstance(node, Branch):
        yield from _steps(node.then)
        yield from _steps(node.orelse)
    else:
        yield from _steps(node.body)


def sections_of(program: AccessProgram) -> dict[str, frozenset[Op]]:
    """The ops that stand in sections, by the kind of core that runs them."""
    sections: dict[str, set[Op]] = {}
    for op in walk_ops(program.func):
        if op.name.startswith("pto.section."):
            sections.setdefault(op.name.removeprefix("pto.section."), set()).update(_inside(op))
    return {name: frozenset(ops) for name, ops in sections.items()}


def kinds_of(program: AccessProgram) -> Callable[[Step], str]:
    """The kind of core that runs a step: its section's, else the function's; '' if neither says."""
    named = {op: name for name, ops in sections_of(program).items() for op in ops}
    return lambda step: named.get(step.op, program.func.kernel_kind)


def run_by(program: AccessProgram) -> Callable[[Step], tuple[str, ...]]:
    """The kinds of cores that run a step: what stands outside of sections runs on all that there are sections for."""
    kind_of, every = kinds_of(program), tuple(sections_of(program))
    return lambda step: (kind,) if (kind := kind_of(step)) else every


def cores_of(program: AccessProgram) -> dict[str, frozenset[Op]]:
    """The cores a function runs on, by name: the ops that are not theirs because they stand in another core's section.
    One nameless core where there are no sections."""
    sections = sections_of(program)
    if not sections:
        return {"": frozenset()}
    return {
        name: frozenset(op for other, ops in sections.items() if other != name for op in ops) for name in sections}


def _inside(op: Op) -> Iterator[Op]:
    for region in op.regions:
        for inner in region.ops:
            yield inner
            yield from _inside(inner)


@lru_cache(maxsize=4)
def trip_names(program: AccessProgram) -> frozenset[str]:
    """Parameters that bounds of loops are computed from: they count iterations."""
    bounds = (b for step in program.steps for loop in step.loops for b in (loop.lower, loop.upper) if b is not None)
    names = {n for b in bounds for n in symbols_of(b)}
    return frozenset(n for n in names if program.symbols.kinds.get(n) in (SymbolKind.PARAM, SymbolKind.SIZE))
