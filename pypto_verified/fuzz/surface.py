"""What a kernel can be written with, one name a construct, read off the tables and classes of the language itself.

    op tile.add                   a registered op           tile.cast mode=rint     a value of one of its keywords
    tile.slice valid_shape        an operand or keyword that may be left out
    element INT8                  of a tile or tensor       argument INT8           a parameter that is a scalar
    scalar <=, scalar cast        what scalars are computed with
    statement If, loop unroll     of a body                 function InCore, parameter Out, pl.Event
    space mat, tile blayout col_major, tensor layout dn, tensor stride, storage slots

Each is drawn with a measured share (`coverage.FLOORS`) or has a row in `exclusions`: a test compares them, so that
nothing new in the language goes ungenerated in silence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import get_args

from pypto_verified.dtypes import DTYPES
from pypto_verified.ir.expr import Attr, BinaryOp, UnaryOp
from pypto_verified.ir.stmt import Direction, FunctionKind, LoopKind, Stmt
from pypto_verified.ir.types import MemRef, TensorView
from pypto_verified.language.markers import Recorder
from pypto_verified.language.namespace import language_module
from pypto_verified.layouts import BLayout, Compact, Pad, SLayout, Space, TensorLayout
from pypto_verified.ops.decl import Keyword, OpDecl
from pypto_verified.ops.keywords import CODES
from pypto_verified.ops.registry import OPS

UNARY = {UnaryOp.NEG: "negated", UnaryOp.NOT: "not", UnaryOp.BITNOT: "inverted", UnaryOp.ABS: "abs"}
"""Unary operators by a name that no binary operator has."""
_ENUMERATED: dict[str, tuple[str, ...]] = {
    **CODES,
    "bool": ("false", "true"),
    "pad": ("zero", "max", "min"),
    "space": tuple(s.value for s in Space if s is not Space.GM),
    "blayout": tuple(m.value for m in BLayout),
    "slayout": tuple(m.value for m in SLayout),
}


def constructs() -> frozenset[str]:
    """The names of all constructs."""
    return frozenset(_constructs())


def _constructs() -> Iterator[str]:
    for decl in OPS.values():
        yield f"op {decl.name}"
        if decl.deduce is not None:
            yield from _parameters(decl)
    for name in DTYPES:
        yield f"element {name}"
        yield f"argument {name}"
    yield from (f"scalar {op.value}" for op in BinaryOp)
    yield from (f"scalar {name}" for name in UNARY.values())
    yield "scalar cast"
    yield from (f"statement {c.__name__}" for c in get_args(Stmt))
    yield from (f"loop {kind.value}" for kind in LoopKind)
    yield from (f"function {kind.value}" for kind in FunctionKind)
    yield from (f"parameter {d.value}" for d in Direction)
    yield from (f"space {s.value}" for s in Space if s is not Space.GM)
    yield from (f"tile blayout {m.value}" for m in BLayout)
    yield from (f"tile slayout {m.value}" for m in SLayout)
    yield from (f"tile pad {m.name.lower()}" for m in Pad)
    yield from (f"tile compact {m.name.lower()}" for m in Compact)
    yield from (f"tensor layout {m.value}" for m in TensorLayout)
    yield from (f"tensor {f.name}" for f in fields(TensorView) if f.name != "layout")
    yield from (f"storage {f.name}" for f in fields(MemRef) if f.name not in ("base", "size"))
    yield from (f"pl.{name}" for name in vars(language_module(Recorder())) if _is_public(name))


def keyword_name(keyword: Keyword, value: Attr) -> str:
    """How a keyword with that value is named."""
    values = _ENUMERATED.get(keyword.kind)
    if values is None:
        return keyword.name
    if isinstance(value, Pad):
        return f"{keyword.name}={value.name.lower()}"
    if isinstance(value, Space | BLayout | SLayout):
        return f"{keyword.name}={value.value}"
    assert isinstance(value, int)
    return f"{keyword.name}={values[value]}"


def _is_public(name: str) -> bool:
    """Element types and layouts have names of their own here."""
    return not name.startswith("_") and name not in DTYPES and name not in TensorLayout.__members__


def _parameters(decl: OpDecl) -> Iterator[str]:
    yield from (f"{decl.name} {p.name}" for p in decl.params if p.optional)
    for keyword in decl.keywords:
        yield from _values(decl, keyword)


def _values(decl: OpDecl, keyword: Keyword) -> Iterator[str]:
    """What a keyword may be, for one with few values; else that it is given."""
    values = _ENUMERATED.get(keyword.kind)
    if values is None:
        yield f"{decl.name} {keyword.name}"
    else:
        yield from (f"{decl.name} {keyword.name}={value}" for value in values)
