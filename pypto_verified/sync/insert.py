"""The pass: dependences, then flags and barriers, then ids, then the text."""

from __future__ import annotations

from pypto_verified.errors import Location, NotModelled
from pypto_verified.pto.module import Func, Module
from pypto_verified.sync.build import build
from pypto_verified.sync.choose import Chooser
from pypto_verified.sync.depend import dependences
from pypto_verified.sync.emit import emit
from pypto_verified.sync.ids import assign, one_key
from pypto_verified.sync.plan import Barrier, Flag, Plan
from pypto_verified.sync.program import Branch, Loop, Sequence, where
from pypto_verified.sync.strip import strip_sync
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import ALL, pipes_of_core

_MOVE = "move it to a function of the other kind of core"
_BY_HAND = "order its pipes by hand (--sync explicit judges that), or leave it to the assembler"


def insert_sync(
    module: Module, target: Target, strict: bool = False, remarks: list[str] | None = None
) -> Module:
    """A module with the flags and barriers that its ops need; those that it had are ignored (EV-07).

    `strict`: under the stricter reading of each assumption of the target. Without it nothing is inserted for those
    readings alone; `remarks` is then told of each function for which they ask more. The given module is not changed.
    Raises NotModelled, at the op, for what can't be followed: tiles whose addresses the assembler chooses, calls,
    branches between blocks, memory that the condition of a while loop reads, ops that the kind of core can't run.
    """
    made = strip_sync(module)
    for unit in made.units():
        for func in unit.funcs:
            if func.body is not None:
                try:
                    _synchronise(func, target, strict, remarks)
                except NotModelled as refused:
                    place = refused.location
                    raise NotModelled(
                        refused.what, place if place.file else Location(made.file, place.line or func.line),
                        refused.help or _BY_HAND) from None
    return made


def _synchronise(func: Func, target: Target, strict: bool, remarks: list[str] | None) -> None:
    program = build(func, target)
    pipes = pipes_of_core(target, func.kernel_kind)
    for access in program.accesses:
        if not set(access.pipes) & set(pipes):
            raise NotModelled(f"{access.op.name} on a {func.kernel_kind} core, which has no pipe "
                              f"{' or '.join(access.pipes)}", where(access.op), _MOVE)
        access.pipes = tuple(p for p in access.pipes if p in pipes)
    needs = dependences(program, target, strict)
    chooser = Chooser(program, needs, target, pipes)
    plan = chooser.choose()
    while left := assign(plan, chooser.walk().trace, func, target, strict):
        for flag in left:
            if flag in plan.chosen:
                _replace(plan, flag)
        chooser.complete()
        chooser.reduce()
    if remarks is not None and not strict:
        remarks += _open(chooser, func)
    emit(plan, func, _homes(program.body))


def _open(chooser: Chooser, func: Func) -> list[str]:
    """What the stricter readings ask for beyond a plan."""
    needs = dependences(chooser.program, chooser.target, True)
    stricter = Chooser(chooser.program, needs, chooser.target, chooser.pipes)
    stricter.plan = chooser.plan
    why = [f"the ids of {src} do not suffice, so flags to {' and '.join(others)} share one"
           for src, others in one_key(chooser.plan, chooser.walk().trace).items()]
    why += [] if stricter.holds() else ["some ops that need no order else"]
    return [f"{func.name}: the stricter readings may ask for more than is inserted (--strict inserts it): "
            f"{'; '.join(why)}"] if why else []


def _replace(plan: Plan, flag: Flag) -> None:
    """Instead of a flag that gets no id. In a loop the setting pipe is told at the end of each turn that the wait is
    over, so that the id is free; where that does not help, a barrier of all pipes stands where the wait would."""
    given = [f for f in plan.flags() if f.answers is flag or f is flag.answers]
    if flag.answers is None and not given and not flag.turns and flag.at.loop is not None and (
            flag.wait_at < flag.at.end):
        plan.add(Flag(flag.dst, flag.src, flag.at, flag.wait_at + 1, flag.at.end, answers=flag))
        return
    for gone in (flag, *given):
        plan.drop(gone)
    first = flag.answers or flag
    plan.add(Barrier(ALL, first.at, first.wait_at))


def _homes(s: Sequence, around: tuple[Sequence, int] | None = None) -> dict[Loop, tuple[Sequence, int]]:
    """The block and position of the outermost loop around each loop."""
    found: dict[Loop, tuple[Sequence, int]] = {}
    for position, item in s.items:
        if isinstance(item, Loop):
            found[item] = around or (s, position)
            found |= _homes(item.body, found[item])
        elif isinstance(item, Branch):
            for arm in item.arms:
                found |= _homes(arm, around)
    return found
