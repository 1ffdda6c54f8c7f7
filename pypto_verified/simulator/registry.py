"""The meaning of each op, by name. A handler declares the operand groups that it takes, in the order it takes them.

An absent optional group is None; of a variadic group (written `name*`) it gets a tuple. Tiles come as `Tile`, tensor
views as `Tensor`, pointers as `Pointer`, scalars as Python numbers. A handler returns the op's result, or None.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any, TypeVar

from pypto_verified.pto.module import EnumAttr, Op
from pypto_verified.records import dataclass
from pypto_verified.simulator.errors import Place, ShapeError, SimError
from pypto_verified.simulator.machine import Machine
from pypto_verified.simulator.memory import NOTED
from pypto_verified.targets import Target

Handler = Callable[..., Any]
"""Operands are checked by the op table, not by Python's types: each handler has its own signature."""
H = TypeVar("H", bound=Handler)


@dataclass(frozen=True, slots=True)
class Meaning:
    """A handler and the operand groups it takes, in the order of its parameters after `site`; `taken` has each group's
    name, and whether it is variadic."""

    handler: Handler
    groups: tuple[str, ...]
    taken: tuple[tuple[str, bool], ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "taken", tuple((g.rstrip("*"), g.endswith("*")) for g in self.groups))


MEANINGS: dict[str, Meaning] = {}
_REMEMBERED = 4096


def op(names: str, groups: str) -> Callable[[H], H]:
    """Register a handler for the ops `pto.NAME` (space separated) over the operand groups `groups`."""

    def register(handler: H) -> H:
        for name in names.split():
            MEANINGS[f"pto.{name}"] = Meaning(handler, tuple(groups.split()))
        return handler

    return register


class Site:
    """One op of the program as its handler sees it.

    `private` is the address of an allocation's own storage, if any; `memo` keeps handles that the op made before,
    `plan` how it ran last.
    """

    __slots__ = ("machine", "memo", "op", "plan", "private", "target")

    def __init__(self, op: Op, target: Target, machine: Machine) -> None:
        self.op = op
        self.target = target
        self.machine = machine
        self.private: int | None = None
        self.plan: object = None
        self.memo: dict[tuple[object, ...], Any] = {}

    @property
    def a5(self) -> bool:
        return self.target.name == "a5"

    def remember(self, key: tuple[object, ...], made: Any) -> None:
        """Keep a handle; a long loop over ever new operands does not keep them all."""
        if len(self.memo) >= _REMEMBERED:
            self.memo.clear()
        self.memo[key] = made

    @property
    def declared(self) -> bool:
        """Whether operands are addressed as their types say, not as the device does."""
        return self.machine.declared

    def enum(self, name: str, default: str = "") -> str:
        """The member of an enum attribute, `default` when it is absent."""
        found = self.op.attrs.get(name)
        return found.member if isinstance(found, EnumAttr) else default

    def expect(self, holds: bool, message: str, place: Place) -> None:
        """Note, in a replay, what the ISA's library asserts in debug builds alone."""
        if not holds and self.machine.replaying and len(self.machine.suspicions) < NOTED:
            self.machine.suspicions.append(ShapeError(message, place))

    def report(self, error: SimError) -> None:
        """Record `error` and go on."""
        error.at(self.op)
        self.machine.errors.append(error)
