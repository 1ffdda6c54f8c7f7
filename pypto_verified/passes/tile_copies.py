"""Copies of tiles within one memory space, where values must not share a buffer."""

from __future__ import annotations

from pypto_verified.errors import PassError
from pypto_verified.ir.changed import replace
from pypto_verified.ir.expr import Attr, Call, Expr, Span, Var
from pypto_verified.ir.stmt import Assign
from pypto_verified.ir.types import TileType, Type
from pypto_verified.passes.context import Names
from pypto_verified.targets import Target


class Copier:
    """Makes copy statements. It knows which variables `tile.create` made: their contents mean nothing, so a copy of one
    is another `tile.create` (which also exists in spaces that have no copy instruction)."""

    def __init__(self, target: Target, names: Names) -> None:
        self.target = target
        self.names = names
        self._created: dict[str, Call] = {}

    def note(self, name: str, value: Expr) -> None:
        """Remember how a variable is defined."""
        if isinstance(value, Call) and value.op == "tile.create":
            self._created[name] = value

    def copy(self, source: Var, t: TileType, why: str, span: Span) -> Assign:
        """`source_copy = tile.move(source)` with result type `t` (in the space of `source`).

        Raises PassError with `why` where the space has no move within itself.
        """
        var = Var(self.names.fresh(f"{source.name}_copy"), t)
        bare = replace(t, memref=None)
        created = self._created.get(source.name)
        if created is not None:
            return Assign(var, replace(created, type=bare), span)
        space = t.space
        assert space is not None, "spaces are inferred before copies are made"
        if self.target.move(space, space) is None:
            raise PassError(
                f"{why}: that needs a copy within {space.value}, and {self.target.name} has no such move",
                span.location,
                help="let one value die before the other is made, or keep the second in Vec",
            )
        return Assign(var, Call("tile.move", (source,), _keywords(source.type, t), bare, span), span)


def _keywords(source: Type, t: TileType) -> tuple[tuple[str, Attr], ...]:
    """Where the copy lives, and its layout if that is not the source's."""
    found: dict[str, Attr] = {"target_memory": t.space}
    if isinstance(source, TileType) and source.view is not None and t.view is not None:
        found |= {"blayout": t.view.blayout} if source.view.blayout is not t.view.blayout else {}
        found |= {"slayout": t.view.slayout} if source.view.slayout is not t.view.slayout else {}
    return tuple(sorted(found.items()))
