"""All op declarations by name."""

from __future__ import annotations

from difflib import get_close_matches

from pypto_verified.errors import NOWHERE, Location, OpError
from pypto_verified.ops import cross, elementwise, events, gather, matmul, memory, reduce, select, tensor, views
from pypto_verified.ops.decl import OpDecl

_MODULES = (memory, views, elementwise, select, reduce, matmul, gather, cross, events, tensor)

OPS: dict[str, OpDecl] = {d.name: d for module in _MODULES for d in module.OPS}


def names() -> frozenset[str]:
    """The names of all registered ops."""
    return frozenset(OPS)


def lookup(name: str, location: Location = NOWHERE) -> OpDecl:
    """The declaration of an op, e.g. "tile.load". Raises OpError for a name that is not registered."""
    found = OPS.get(name)
    if found is None:
        near = get_close_matches(name, OPS, 3)
        raise OpError(f"unknown op {name}", location, f"did you mean {' or '.join(near)}?" if near else "")
    return found
