"""What a pass gets besides the function: the target, the planner, fresh names, and where errors point."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

from pypto_verified.ir.stmt import Function, Stmt
from pypto_verified.ir.walk import definitions, walk_stmts
from pypto_verified.layouts import Member
from pypto_verified.passes.scan import Scanner
from pypto_verified.records import dataclass
from pypto_verified.targets import Target


class Planner(Member):
    """Who decides addresses (MP-01): PYPTO shares buffers by lifetime and writes addresses; DSA_RP places every buffer
    of its own and writes addresses; PTOAS leaves both to the assembler."""

    PYPTO = "PYPTO"
    DSA_RP = "DSA_RP"
    PTOAS = "PTOAS"


@dataclass(frozen=True, slots=True)
class PassContext:
    """The fixed surroundings of one pipeline run. `scan(function)` is what the function has in it."""

    target: Target
    planner: Planner = Planner.PYPTO
    scan: Scanner = field(default_factory=Scanner, compare=False, repr=False)


class Names:
    """Hands out variable names that no variable of a function has."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._tried: dict[tuple[str, int], int] = {}

    @classmethod
    def of(cls, function: Function) -> Names:
        """All names defined in `function` are taken: parameters, dynamic dims, every definition at any depth."""
        return cls({*function.dynamic, *(p.var.name for p in function.params), *defined_names(function.body)})

    def fresh(self, base: str) -> str:
        """`base` itself if free, else `base__1`, `base__2`, ...; the name is taken from then on."""
        name = base if base not in self._taken else self._first_free(f"{base}__", 1)
        self._taken.add(name)
        return name

    def numbered(self, prefix: str) -> str:
        """`prefix_0`, `prefix_1`, ...: the first that is free; the name is taken from then on."""
        name = self._first_free(f"{prefix}_", 0)
        self._taken.add(name)
        return name

    def _first_free(self, stem: str, start: int) -> str:
        """The search goes on where the last one for this stem ended: names never become free again."""
        k = self._tried.get((stem, start), start)
        while f"{stem}{k}" in self._taken:
            k += 1
        self._tried[stem, start] = k
        return f"{stem}{k}"


def defined_names(body: Sequence[Stmt]) -> dict[str, None]:
    """Names that a block defines at any depth, in first-seen order."""
    return {v.name: None for s in walk_stmts(body) for v in definitions(s)}
