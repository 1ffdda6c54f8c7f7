"""Element-wise ops: tile with tile, tile with scalar, one tile.

Shared rule: result shape and dtype are those of the first tile operand, and so are its valid extents, which is what the
ISA does: it iterates over the destination's valid region, that codegen takes from the first operand. Whether the other
operands are valid there is the verifier's VALID family; part ops alone are valid where either source is. Mixed dtypes
are refused: no target has such an instruction. All of them want row-major tiles (PTO-ISA asserts it in every header;
PyPTO's table leaves some out).
Source: PyPTO tile_ops/elementwise.cpp and unary.cpp, PTOAS elementwise verifiers.
"""

from __future__ import annotations

from pypto_verified.dtypes import DType
from pypto_verified.errors import NotModelled
from pypto_verified.ir.types import TileType, Type
from pypto_verified.ops.args import Args
from pypto_verified.ops.decl import OpDecl, Rule, op
from pypto_verified.ops.dims import maximum
from pypto_verified.ops.layout import effective_view, make_tile

_ELEMENTWISE = "PyPTO tile_ops/elementwise.cpp"
_UNARY = "PyPTO tile_ops/unary.cpp"


def like(a: Args, t: TileType, dtype: DType | None = None) -> TileType:
    """A fresh tile with the shape, valid extents and block order of `t`; padding and storage do not carry over."""
    view = effective_view(t)
    return make_tile(t.shape, dtype or t.dtype, a.space(), view.valid_shape, layout=view)


def _binary(a: Args) -> Type:
    first, second = (p.name for p in a.decl.params[:2])
    a.same_dtype(first, second)
    a.same_shape(first, second)
    return like(a, a.tile(first))


def _partial(a: Args) -> Type:
    """Valid where either source is: PTO-ISA applies the op where both are, copies where one is, and writes no more than
    the destination's valid region."""
    first, second = (p.name for p in a.decl.params[:2])
    _binary(a)
    one, other = a.tile(first), a.tile(second)
    valid = tuple(map(maximum, one.valid_shape, other.valid_shape))
    return make_tile(one.shape, one.dtype, a.space(), valid, layout=effective_view(one))


def _integer_binary(a: Args) -> Type:
    a.integers("lhs", "rhs")
    return _binary(a)


def _div(a: Args) -> Type:
    a.only_dtypes("lhs", "INT16", "INT32", "FP16", "FP32")
    a.require(
        not a.flag("high_precision") or a.tile("lhs").dtype.is_float, "high_precision needs FP16 or FP32 tiles",
    )
    a.same_valid("lhs", "rhs")
    return _binary(a)


def _shift(a: Args) -> Type:
    a.integers("lhs", "rhs")
    a.same_shape("lhs", "rhs")
    return like(a, a.tile("lhs"))


def _scratch_binary(a: Args) -> Type:
    a.tile("tmp")
    return _binary(a)


def _xor(a: Args) -> Type:
    a.integers("lhs", "rhs")
    return _scratch_binary(a)


def _ternary(a: Args) -> Type:
    a.same_dtype("lhs", "rhs2")
    a.same_shape("lhs", "rhs2")
    return _binary(a)


def _prelu(a: Args) -> Type:
    a.only_dtypes("tile", "FP16", "FP32")
    a.same_dtype("tile", "slope")
    a.same_shape("tile", "slope")
    a.same_valid("tile", "slope")
    a.rank("tmp", 2)
    return like(a, a.tile("tile"))


def _scalar(a: Args) -> Type:
    return like(a, a.tile(a.decl.params[0].name))


def _integer_scalar(a: Args) -> Type:
    a.integers("lhs")
    a.require(a.scalar("rhs").is_integer, f"rhs must be an integer scalar, got {a.scalar('rhs')}")
    return like(a, a.tile("lhs"))


def _subs(a: Args) -> Type:
    a.only_dtypes("lhs", "INT8", "INT16", "INT32", "FP16", "BF16", "FP32")
    return _scalar(a)


def _scratch_scalar(a: Args) -> Type:
    a.tile("tmp")
    return _scalar(a)


def _xors(a: Args) -> Type:
    a.tile("tmp")
    return _integer_scalar(a)


def _scalar_ternary(a: Args) -> Type:
    a.same_dtype("lhs", "rhs2")
    a.same_shape("lhs", "rhs2")
    return _scalar(a)


def _unary(a: Args) -> Type:
    return like(a, a.tile("tile"))


def _of_dtypes(*allowed: str) -> Rule:
    def rule(a: Args) -> Type:
        a.only_dtypes("tile", *allowed)
        return like(a, a.tile("tile"))

    return rule


def _rsqrt(a: Args) -> Type:
    if a.has("tmp"):
        a.same_dtype("tile", "tmp")
        a.same_shape("tile", "tmp")
    return like(a, a.tile("tile"))


def _cast(a: Args) -> Type:
    source, target = a.tile("tile"), a.dtype("target_type")
    a.require(
        source.dtype != target, f"target_type {target} is the tile's own dtype", "remove the cast or name another dtype"
    )
    if source.dtype.bits < 8 or target.bits < 8:
        raise NotModelled(f"{a.decl.name} from {source.dtype} to {target}: 4-bit types change a tile's extents")
    return like(a, source, target)


def _pair(name: str, rule: Rule = _binary, params: str = "lhs rhs", **options: bool) -> OpDecl:
    return op(
        f"tile.{name}", params, rule, "V V > V", row_major=True,
        noalias="*" if options.get("no_inplace") else "", source=_ELEMENTWISE,
    )


def _with_scalar(name: str, rule: Rule = _scalar, **options: bool) -> OpDecl:
    return op(
        f"tile.{name}", "lhs rhs:e", rule, "V . > V", row_major=True,
        noalias="*" if options.get("no_inplace") else "", source=_ELEMENTWISE,
    )


def _one(name: str, rule: Rule = _unary, **options: bool) -> OpDecl:
    return op(
        f"tile.{name}", "tile", rule, "V > V", row_major=True,
        keywords="high_precision:bool=false" if options.get("precise") else "",
        noalias="*" if options.get("no_inplace") else "", source=_UNARY,
    )


OPS: tuple[OpDecl, ...] = (
    _pair("add"),
    _pair("sub"),
    _pair("mul"),
    op(
        "tile.div", "lhs rhs", _div, "V V > V", keywords="high_precision:bool=false", row_major=True,
        source=_ELEMENTWISE,
    ),
    _pair("maximum"),
    _pair("minimum"),
    _pair("fmod", no_inplace=True),
    _pair("and", _integer_binary),
    _pair("or", _integer_binary),
    _pair("shl", _shift),
    _pair("shr", _shift),
    _pair("part_add", _partial, "src0 src1"),
    _pair("part_mul", _partial, "src0 src1"),
    _pair("part_max", _partial, "src0 src1"),
    _pair("part_min", _partial, "src0 src1"),
    op("tile.rem", "lhs rhs tmp", _scratch_binary, "V V V > V", row_major=True, source=_ELEMENTWISE),
    op("tile.xor", "lhs rhs tmp", _xor, "V V V > V", row_major=True, source=_ELEMENTWISE),
    op("tile.prelu", "tile slope tmp", _prelu, "V V V > V", noalias="*", row_major=True, source=_ELEMENTWISE),
    op("tile.addc", "lhs rhs rhs2", _ternary, "V V V > V", source=_ELEMENTWISE),
    op("tile.subc", "lhs rhs rhs2", _ternary, "V V V > V", source=_ELEMENTWISE),
    _with_scalar("adds"),
    _with_scalar("subs", _subs),
    _with_scalar("muls"),
    _with_scalar("divs"),
    _with_scalar("maximums"),
    _with_scalar("minimums"),
    _with_scalar("fmods", no_inplace=True),
    _with_scalar("ands", _integer_scalar, no_inplace=True),
    _with_scalar("ors", _integer_scalar, no_inplace=True),
    op("tile.shls", "lhs rhs:h", _integer_scalar, "V . > V", row_major=True, source=_ELEMENTWISE),
    op("tile.shrs", "lhs rhs:h", _integer_scalar, "V . > V", row_major=True, source=_ELEMENTWISE),
    op("tile.lrelu", "tile slope:e", _scalar, "V . > V", row_major=True, source=_ELEMENTWISE),
    op("tile.rems", "lhs rhs:e tmp", _scratch_scalar, "V . V > V", row_major=True, source=_ELEMENTWISE),
    op("tile.xors", "lhs rhs:e tmp", _xors, "V . V > V", noalias="*", row_major=True, source=_ELEMENTWISE),
    op("tile.addsc", "lhs rhs:e rhs2", _scalar_ternary, "V . V > V", row_major=True, source=_ELEMENTWISE),
    op("tile.subsc", "lhs rhs:e rhs2", _scalar_ternary, "V . V > V", row_major=True, source=_ELEMENTWISE),
    _one("neg"),
    _one("exp"),
    _one("sqrt"),
    _one("abs"),
    _one("relu"),
    _one("recip", precise=True, no_inplace=True),
    _one("log", _of_dtypes("FP16", "FP32"), precise=True),
    _one("not", _of_dtypes("INT16", "UINT16")),
    _one("sin", _of_dtypes("FP32")),
    _one("cos", _of_dtypes("FP32")),
    op("tile.rsqrt", "tile tmp?", _rsqrt, "V V > V", noalias="*", row_major=True, source=_UNARY),
    op(
        "tile.cast", "tile tmp?", _cast, "V V > V", keywords="target_type:dtype! mode:round=round", row_major=True,
        noalias="tmp", signature="tile target_type mode tmp", source=_UNARY,
    ),
)
