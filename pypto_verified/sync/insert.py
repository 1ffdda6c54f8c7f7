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
from pypto_verified.sync.program import Branch, Loop, Sequence
from pypto_verified.sync.strip import strip_sync
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import ALL, pipes_of_core

_BY_HAND = "order its pipes by hand (--sync explicit judges that), or leave it to the assembler"


def insert_sync(
    module: Module, target: Target, strict: bool = False, remarks: list[str] | None = None
) -> Module:
    """A module with the flags and barriers that its ops need; those that it had are ignored (EV-07).

    `strict`: under the stricter reading of each assumption of the target. Without it nothing is inserted for those
    readings alone; `remarks` is then told of each function for which they ask more. The given module is not changed.
    Raises NotModelled, at the op, for what can't be followed: tiles whose addresses the assembler chooses, calls,
    branches between blocks, memory that the condition of a while loop reads.
    """
    made = strip_sync(module)
    for unit in made.units():
        for func in unit.funcs:
            if func.body is not None:
                try:
                    _synchronise(func, target, strict, remarks)
                except NotModelled as refused:
                    where = refused.location
                    raise NotModelled(
                        refused.what, where if where.file else Location(made.file, where.line or func.line),
                        refused.help or _BY_HAND) from None
    return made


def _synchronise(func: Func, target: Target, strict: bool, remarks: list[str] | None) -> None:
    program = build(func, target)
    needs = dependences(program, target, strict)
    chooser = Chooser(program, needs, target, pipes_of_core(target, func.kernel_kind))
    plan = chooser.choose()
    while left := assign(plan, chooser.walk().trace, func, target, strict):
        for flag in left:
            _replace(plan, flag)
        if not chooser.holds():
            raise NotModelled("an order that neither flags nor barriers give", func.loc)
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
    """A barrier of all pipes where a flag without an id would be waited for."""
    plan.drop(flag)
    plan.add(Barrier(ALL, flag.at, flag.wait_at))


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
