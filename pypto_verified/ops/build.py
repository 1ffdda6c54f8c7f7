"""Building calls: operands and keywords are checked against the declaration, then the type rule runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from pypto_verified.dtypes import INDEX, INT32, DType
from pypto_verified.errors import NotModelled
from pypto_verified.ir.expr import NO_SPAN, Attr, Call, Cast, Const, Expr, Span, Var
from pypto_verified.ir.types import ScalarType, TensorType, TileType
from pypto_verified.ops.args import Args, describe, fail, is_omitted, type_of
from pypto_verified.ops.decl import OpDecl, Param
from pypto_verified.ops.keywords import coerce
from pypto_verified.ops.keywords import describe as describe_keyword
from pypto_verified.ops.registry import OPS, lookup

_ADOPTING = frozenset({"element", "int32", "keyword"})
"""Kinds of scalar operands that take a dtype that the op says."""
_WORDS = {"tile": "a tile", "tensor": "a tensor", "value": "a tensor or a tile"}


def make_call(name: str, args: Sequence[Expr], kwargs: Mapping[str, Attr], span: Span = NO_SPAN) -> Call:
    """The typed call of an op: `make_call("tile.add", (x, y), {}, span)`.

    Operands come in declared order, NO_ARG for an omitted one in the middle. The call's kwargs are complete: a keyword
    with a default is filled in, names like 'rint' become codes. A constant where a scalar of the tile's dtype is due
    takes that dtype; another scalar of the same kind (float or integer) gets an explicit Cast.
    Raises OpError if the call contradicts the declaration, NotModelled if the op has no rule in this version.
    """
    decl = OPS.get(name) or lookup(name, span.location)
    if decl.deduce is None:
        raise NotModelled(f"op {name}", span.location)
    given = _filled(decl, tuple(args)) if decl.fills else tuple(args)
    keywords = _keywords(decl, kwargs, span)
    checked = Args(decl, given, keywords, span)
    _check_operands(checked)
    if not _ADOPTING.isdisjoint([p.kind for p in decl.params]):
        adopted = tuple([
            _adopted(checked, p, e) if p.kind in _ADOPTING else e for p, e in zip(decl.params, given, strict=False)
        ])
        checked = Args(decl, adopted, keywords, span)
    return Call(name, checked.values, tuple(sorted(keywords.items())), decl.deduce(checked), span)


def _filled(decl: OpDecl, args: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The operands with omitted ones that take another's value in place."""
    values = list(args)
    for omitted, source in decl.fills:
        i, j = decl.index(omitted), decl.index(source)
        if i > len(values) or j >= len(values):
            continue
        if i == len(values):
            values.append(values[j])
        elif is_omitted(values[i]):
            values[i] = values[j]
    return tuple(values)


def _keywords(decl: OpDecl, kwargs: Mapping[str, Attr], span: Span) -> dict[str, Attr]:
    if not decl.keywords and not kwargs:
        return {}
    for name in kwargs:
        if decl.keyword(name) is None:
            allowed = [k.name for k in decl.keywords]
            near = get_close_matches(name, allowed, 1)
            fail(
                decl, span, f"unknown keyword {name!r}",
                f"did you mean {near[0]!r}?" if near else f"keywords: {', '.join(allowed) or 'none'}",
            )
    complete: dict[str, Attr] = {}
    for k in decl.keywords:
        value = kwargs.get(k.name)
        if value is None:
            if k.required:
                fail(decl, span, f"keyword {k.name} is required", f"{k.name} is {describe_keyword(k.kind)}")
            if k.default is not None:
                complete[k.name] = k.default
            continue
        try:
            complete[k.name] = coerce(k.kind, value)
        except ValueError:
            fail(decl, span, f"{k.name} is {value!r}, not {describe_keyword(k.kind)}")
    return complete


def _check_operands(a: Args) -> None:
    required, most = sum([not p.optional for p in a.decl.params]), len(a.decl.params)
    if not required <= len(a.values) <= most:
        expected = f"{required} to {most}" if required < most else str(required)
        a.fail(f"{len(a.values)} operands given, {expected} expected", _declared(a.decl))
    for p, e in zip(a.decl.params, a.values, strict=False):
        if p.kind == "tile" and isinstance(e, Var) and isinstance(e.type, TileType):
            # Its space is not judged here: InferTileMemorySpace moves a tile to where an op takes it.
            continue
        if is_omitted(e):
            if p.optional:
                continue
            if p.kind != "tuple":
                a.fail(f"operand {p.name} is missing", _declared(a.decl))
        if p.kind == "tile":
            a.tile(p.name)
        elif p.kind == "tensor":
            a.tensor(p.name)
        elif p.kind == "value":
            t = type_of(e)
            if not isinstance(t, TileType | TensorType):
                a.fail(f"{p.name} must be {_WORDS[p.kind]}, got {describe(t)}")
        elif p.kind == "tuple":
            a.dims(p.name)
        else:
            a.scalar(p.name)


def _declared(decl: OpDecl) -> str:
    return f"operands: {', '.join(p.name + '?' * p.optional for p in decl.params) or 'none'}"


def _adopted(a: Args, p: Param, e: Expr) -> Expr:
    """A scalar operand in the dtype that the op needs: constants are retyped, variables cast within their kind."""
    if is_omitted(e):
        return e
    if p.kind == "int32":
        wanted = INT32
    elif p.kind == "keyword":
        wanted = a.dtype("dtype")
    else:
        tiles = a.decl.tile_params
        wanted = a.tile(a.decl.params[_source_of_dtype(a.decl, tiles)].name).dtype
    got = type_of(e)
    assert isinstance(got, ScalarType)
    if got.dtype == wanted:
        return e
    if isinstance(e, Const):
        return _retyped(a, p, e, wanted)
    a.require(
        got.dtype != INDEX and got.dtype.is_float == wanted.is_float and got.dtype.kind != "bool",
        f"{p.name} is {got.dtype} but the op needs {wanted}",
        f"convert it: pl.cast({p.name}, pl.{wanted})",
    )
    return Cast(e, wanted)


def _source_of_dtype(decl: OpDecl, tiles: tuple[int, ...]) -> int:
    """The tile operand whose dtype a scalar adopts: the first that is not a mask."""
    return next(i for i in tiles if decl.params[i].name != "mask")


def _retyped(a: Args, p: Param, e: Const, wanted: DType) -> Const:
    if wanted.is_float:
        return Const(float(e.value), wanted)
    value = int(e.value)
    a.require(
        value == e.value, f"{p.name} is {e.value}, which {wanted} can't hold",
        "cast the tile to a float dtype or use a whole number",
    )
    low = -(1 << (wanted.bits - 1)) if wanted.is_signed else 0
    high = (1 << (wanted.bits - 1 if wanted.is_signed else wanted.bits)) - 1
    a.require(low <= value <= high, f"{p.name} is {value}, outside {wanted}'s {low}..{high}")
    return Const(value, wanted)
