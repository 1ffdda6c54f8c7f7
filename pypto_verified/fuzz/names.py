"""Which names statements have to do with, and whether two parts of a kernel have nothing to do with each other."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_verified.ir.stmt import Eval, Stmt
from pypto_verified.ir.walk import definitions, names_in, operands, type_exprs, walk_stmts

Block = tuple[Stmt, ...]


def assigned(block: Sequence[Stmt]) -> frozenset[str]:
    """The names that a block defines at any depth."""
    return frozenset(v.name for s in walk_stmts(block) for v in definitions(s))


def mentioned(block: Sequence[Stmt]) -> frozenset[str]:
    """The names that a block reads, defines or has in a type."""
    found: set[str] = set()
    for s in walk_stmts(block):
        for e in operands(s):
            found |= names_in(e)
        for v in definitions(s):
            found.add(v.name)
            for dim in type_exprs(v.type):
                found |= names_in(dim)
    return frozenset(found)


def apart(a: Block, b: Block) -> bool:
    """Whether it makes no difference in which order two blocks run, or parts of them: neither mentions what the other
    assigns. A call made for its effect changes a tile in place, so what it must stay behind is not told by names."""
    if any(isinstance(s, Eval) for s in walk_stmts((*a, *b))):
        return False
    return not (assigned(a) & mentioned(b) or assigned(b) & mentioned(a))
