"""A write that may spoil a read, as conditions."""

from __future__ import annotations

from dataclasses import replace

from pypto_verified.index import Cond, Expr, substitute, substitute_cond, symbol, symbols_of
from pypto_verified.index.cond import FALSE
from pypto_verified.records import dataclass
from verifiers.access import Loop, Step, TileUse
from verifiers.access.overlap import disjoint
from verifiers.write_state import Source, Write


@dataclass(frozen=True, slots=True, eq=False)
class Clobber:
    """`write` may destroy what a read expects: it does when both are reached, `path`, and the bytes are not `apart`."""

    write: Write
    path: Cond
    apart: Cond


def clobber_of(step: Step, tile: TileUse, source: Source) -> Clobber:
    """The clobber as conditions over the read's symbols; a write that came around a common loop has older counters."""
    write = source.write
    first = next((i for i, x in enumerate(write.step.loops) if id(x) in source.around and x in step.loops), None)
    if first is None:
        return Clobber(write, write.step.path, disjoint(tile, write.tile))
    earlier: dict[str, Expr] = {}
    for loop in write.step.loops[first:]:
        for term in (loop.counter, loop.var):
            if term is not None:
                for name, atom in symbols_of(term).items():
                    if name not in earlier and not _outer(name, write.step.loops[:first]):
                        earlier[name] = symbol(f"{name} earlier", atom.lo, atom.hi)
    path = substitute_cond(write.step.path, earlier)
    counter = write.step.loops[first].counter
    if counter is not None:
        path = path & (substitute(counter, earlier) < counter)
    return Clobber(write, path, _earlier_apart(tile, write.tile, earlier))


def _outer(name: str, loops: tuple[Loop, ...]) -> bool:
    return any(name in symbols_of(t) for x in loops for t in (x.counter, x.var) if t is not None)


def _earlier_apart(tile: TileUse, other: TileUse, earlier: dict[str, Expr]) -> Cond:
    address = other.root.address
    if address is None:
        return FALSE
    root = replace(other.root, address=substitute(address, earlier))
    rect = replace(other.rect, base=substitute(other.rect.base, earlier))
    return disjoint(tile, replace(other, root=root, rect=rect))
