"""Event ids taken in turn, and loops that pass flags on, as the verifier reads them in a kernel's text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from proofs.symbolic import as_int, iff, program_of
from proofs.theorem import Claim, Mutant, Theorem, claim
from pypto_verified.index import FALSE, TRUE, Cond, Expr, all_of, const, eq, ne, substitute, symbol
from pypto_verified.records import dataclass
from pypto_verified.targets import TARGETS
from verifiers import flags
from verifiers.access.program import AccessProgram, Loop
from verifiers.flags import Action
from verifiers.recurrence import Transfer, trips

IDS = tuple(range(1, max(t.event_ids for t in TARGETS.values()) + 1))
FLAGS = tuple(range(2, max(t.flag_ids for t in TARGETS.values()) + 1))

_PAIR = "<PIPE_V>, <PIPE_MTE2>"


@dataclass(frozen=True, slots=True)
class Reading:
    """What the verifier makes of a kernel's text: its access program, and the sets and waits in it."""

    program: Callable[[str], AccessProgram]
    actions: Callable[[AccessProgram], dict[int, Action]]

    def actions_of(self, text: str) -> list[Action]:
        """The sets and waits of a kernel in program order."""
        return list(self.actions(self.program(text)).values())


def _product() -> Reading:
    return Reading(program_of, flags.actions_of)


def _kernel(lines: Iterable[str], ids: int) -> str:
    constants = [f"%c{n} = arith.constant {n} : index" for n in sorted({0, 1, ids, *range(ids)})]
    body = "\n".join((*constants, *lines))
    return (
        "module {\nfunc.func @ring(%n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n"
        f"{body}\nreturn\n}}\n}}\n")


def _loop(ids: int, *body: str) -> list[str]:
    """`for i in 0 .. n` with `id = i % ids`."""
    return [
        "scf.for %i = %c0 to %n step %c1 {", f"%id = arith.remsi %i, %c{ids} : index", *body, "}"]


def _taken(what: str) -> str:
    return f"pto.{what}_flag_dyn[{_PAIR.replace('<', '#pto.pipe<')}, %id]"


def _fixed(what: str, id: int) -> str:
    return f"pto.{what}_flag[{_PAIR}, <EVENT_ID{id}>]"


def _guarded(name: str, test: str, line: str) -> list[str]:
    return [f"%{name} = arith.cmpi {test} : index", f"scf.if %{name} {{", line, "}"]


def _cyclic(reading: Reading) -> Iterator[Claim]:
    step, later, found = symbol("step", 0), symbol("later_step", 0), symbol("id")
    for ids in FLAGS:
        (action,) = reading.actions_of(_kernel(_loop(ids, _taken("set")), ids))
        assert action.id is not None
        first, second = (substitute(action.id, {"i": x}) for x in (step, later))
        yield claim(f"{ids} ids, range", eq(found, first), (found >= 0) & (found < ids))
        yield claim(f"{ids} ids, {ids} steps", (step < later) & (later < step + ids), ne(first, second))
        yield claim(f"{ids} ids, {ids + 1} steps", eq(later, step + ids), eq(first, second))


CYCLIC: Theorem[Reading] = Theorem(
    id="EVENT-CYCLIC",
    statement="Ids taken in turn from k never collide while at most k steps are outstanding; with k + 1 outstanding "
    "the oldest and the newest always collide.",
    formula="i < j < i + k  =>  id(i) != id(j);   j = i + k  =>  id(i) = id(j);   0 <= id(i) < k",
    ranges=f"any steps; k = 2 to {FLAGS[-1]}: a target has {IDS[-1]} events a pipe pair and {FLAGS[-1]} cross-core "
    "flags (a single id is always the same)",
    rests=("EVENT-SET", "EVENT-WAIT", "EVENT-ID"),
    subject=_product,
    claims=_cyclic,
    mutants=(
        Mutant("the id of twice the iteration", lambda s: replace(s, program=lambda text: s.program(
            text.replace("%id = arith.remsi %i,", "%twice = arith.addi %i, %i : index\n%id = arith.remsi %twice,")))),
        Mutant("ids begin at 1", lambda s: replace(s, program=lambda text: s.program(
            text.replace("%id = arith.remsi", "%turn = arith.remsi").replace(
                "pto.set", "%id = arith.addi %turn, %c1 : index\npto.set")))),
    ),
)


Held = Callable[[Expr], Cond]
"""Whether the flag is set before an iteration: the invariant by which the loop is proved."""


def _primed(ids: int) -> str:
    """All flags are set before the loop and waited for after it; each iteration waits for its own and sets it again."""
    return _kernel([
        *(_fixed("set", k) for k in range(ids)), *_loop(ids, _taken("wait"), _taken("set")),
        *(_fixed("wait", k) for k in range(ids))], ids)


def _skipping(ids: int) -> str:
    """The first iterations do not wait, and only the flags of iterations that ran are waited for after the loop."""
    drained = (_guarded(f"ran{k}", f"slt, %c{k}, %n", _fixed("wait", k)) for k in range(ids))
    waits = _guarded("late", f"sge, %i, %c{ids}", _taken("wait"))
    return _kernel([*_loop(ids, *waits, _taken("set")), *(line for lines in drained for line in lines)], ids)


def _ring(reading: Reading) -> Iterator[Claim]:
    for ids in IDS:
        flag = symbol("flag", 0, ids - 1)
        primed, skipping = f"{ids} ids, set before the loop", f"{ids} ids, first waits left out"
        yield from _balanced(primed, reading, _primed(ids), flag, lambda i: TRUE)
        yield from _balanced(skipping, reading, _skipping(ids), flag, _earlier(flag))


def _earlier(flag: Expr) -> Held:
    return lambda step: flag < step


def _balanced(name: str, reading: Reading, text: str, flag: Expr, held: Held) -> Iterator[Claim]:
    """For any one flag: it starts as `held` says, each iteration keeps it so, and after the loop it ends free."""
    program = reading.program(text)
    actions = list(reading.actions(program).values())
    (loop,) = (node for node in program.body.items if isinstance(node, Loop))
    count, step = trips(loop), loop.counter
    assert count is not None and step is not None
    inside = [a for a in actions if a.step.loops]
    before = [a for a in actions if not a.step.loops and a.step.index < inside[0].step.index]
    after = [a for a in actions if not a.step.loops and a.step.index > inside[0].step.index]
    made = _Walk(name, flag, FALSE)
    yield from made.through(before, TRUE)
    yield claim(f"{name}: at the loop", TRUE, iff(made.state, held(const(0))))
    made = _Walk(f"{name}, iteration", flag, held(step))
    yield from made.through(inside, loop.inside)
    yield claim(f"{name}: the next iteration", loop.inside, iff(made.state, held(step + 1)))
    made = _Walk(f"{name}, after", flag, held(count))
    yield from made.through(after, TRUE)
    yield claim(f"{name}: free in the end", TRUE, ~made.state)


@dataclass(slots=True)
class _Walk:
    """A flag's state along straight code."""

    name: str
    flag: Expr
    state: Cond

    def through(self, actions: list[Action], given: Cond) -> Iterator[Claim]:
        """Claims that no wait hangs and no set is lost; leaves the state after the last action."""
        for number, action in enumerate(actions):
            when = all_of((given, action.step.path, action.on(as_int(self.flag))))
            what = f"{self.name}: {'set' if action.sets else 'wait'} {number}"
            yield claim(what, when, ~self.state if action.sets else self.state)
            self.state = (Transfer(TRUE, when) if action.sets else Transfer(~when, FALSE))(self.state)


RING: Theorem[Reading] = Theorem(
    id="EVENT-RING",
    statement="A loop that passes k flags on, set before it and waited for after it, or with the waits of its first k "
    "iterations left out, never waits for a flag that nobody sets, never sets a set one and leaves all free: for every "
    "trip count, 0 and those below k included.",
    formula="before iteration i flag f is set iff primed or f < i; each set finds it free, each wait set; it ends free",
    ranges=f"any trip count; k = 1 to {IDS[-1]}, all event ids of a pipe pair",
    rests=("EVENT-SET", "EVENT-WAIT", "EVENT-EXIT"),
    subject=_product,
    claims=_ring,
    mutants=(
        Mutant("nothing is set before the loop", lambda s: replace(s, program=lambda text: s.program(
            "\n".join(x for x in text.splitlines() if not x.startswith("pto.set_flag["))))),
        Mutant("all flags are waited for after the loop, however short it was", lambda s: replace(
            s, program=lambda text: s.program(text.replace("slt, %c", "sge, %c").replace(", %n :", ", %c0 :")))),
        Mutant("the id does not go round", lambda s: replace(
            s, program=lambda text: s.program(text.replace("arith.remsi %i,", "arith.remsi %n,")))),
    ),
)

THEOREMS = (CYCLIC, RING)
