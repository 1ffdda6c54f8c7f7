"""Legality of operands one at a time and in pairs, for all tile ops: memory, layout, element types, what must agree.

Each requirement is one row; the tables beneath say which operands of which ops it asks about, op by op as the
assembler's verifier does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pypto_verified.dtypes import DType
from pypto_verified.pto.legality import TARGETS, Legal, Site
from pypto_verified.pto.legality_words import A3, A5, is_row_major, is_vec, same_shape, same_valid
from pypto_verified.pto.types import ScalarType, TileBufType
from pypto_verified.pto.typetext import type_text

_BINARY = "tadd tsub tmul tmax tmin tdiv tand tor txor tfmod taddrelu"
_BY_SCALAR = "tadds tsubs tmaxs tmins"
_FUNCTIONS = "texp tlog tsqrt trsqrt trecip"
_BIT_SCALARS = "tands tors txors"
_ROW_SUMS = "trowsum trowmax trowmin trowprod"
_ROW_ARGS = "trowargmax trowargmin"
_COL_SUMS = "tcolsum tcolmax tcolmin tcolprod"
_COL_ARGS = "tcolargmax tcolargmin"
_ROW_BINARY = "trowexpandadd trowexpandsub trowexpandmul trowexpanddiv trowexpandmax trowexpandmin trowexpandexpdif"
_COL_BINARY = "tcolexpandadd tcolexpandsub tcolexpandmul tcolexpanddiv tcolexpandmax tcolexpandmin tcolexpandexpdif"
_PARTS, _PART_EXTREMES = "tpartadd tpartmul", "tpartmax tpartmin"
_PART_ARGS = "tpartargmax tpartargmin"
_GEMV = "tgemv tgemv.acc tgemv.bias"

_PLACES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    (_BINARY, "src0 src1 dst", "plain row", TARGETS),
    ("tshl tshr trem tprelu", "src0 src1 dst", "plain row", TARGETS),
    (f"{_BY_SCALAR} tdivs tcmps tneg tlrelu", "src dst", "plain vec", TARGETS),
    ("tmuls", "src0 dst", "plain vec", TARGETS),
    ("tdivs", "divisor", "plain vec", TARGETS),
    (f"tabs trelu taxpy tnot tshrs {_FUNCTIONS}", "src dst", "plain vec row", TARGETS),
    (f"{_BIT_SCALARS} trems tfmods tpows", "src dst", "plain row", TARGETS),
    ("tpow", "base exp dst", "plain row", TARGETS),
    ("tshls", "src dst", "plain", TARGETS),
    ("trem trems trsqrt tprelu tsel tsort32 tcvt tcolargmax tcolargmin", "tmp", "vec row", TARGETS),
    ("tpow tpows", "tmp", "row", TARGETS),
    ("tconcat", "src0 src1 dst", "plain vec", TARGETS),
    ("tconcat", "src0 src1 dst", "row", A5),
    ("tconcatidx", "src0 src1 src0Idx src1Idx dst", "plain vec", TARGETS),
    ("tconcatidx", "src0 src1 src0Idx src1Idx dst", "row", A5),
    ("tci", "dst tmp", "plain", TARGETS),
    ("tci", "tmp", "vec row flat", A3),
    ("ttri", "dst", "plain vec row", TARGETS),
    ("tcmp", "src0 src1 dst", "plain", TARGETS),
    ("tcmp", "src0 src1 dst", "vec", A3),
    (f"tcolexpand {_COL_SUMS} {_COL_ARGS}", "src dst", "plain vec row flat", TARGETS),
    ("tcolsum", "tmp", "vec row flat", TARGETS),
    (f"{_ROW_SUMS} {_ROW_ARGS}", "src", "plain vec row flat", TARGETS),
    (f"{_ROW_SUMS} {_ROW_ARGS}", "dst", "plain vec flat", TARGETS),
    (f"{_ROW_SUMS} {_ROW_ARGS}", "tmp", "plain vec", TARGETS),
    (_ROW_ARGS, "tmp", "row", A5),
    ("trowexpand", "src", "plain vec flat", TARGETS),
    ("trowexpand", "dst", "plain vec row flat", TARGETS),
    (_ROW_BINARY, "src0 src1 tmp", "plain", TARGETS),
    (_ROW_BINARY, "dst", "plain row", TARGETS),
    (_COL_BINARY, "src0 src1 dst", "row", TARGETS),
    ("texpands", "dst", "plain", TARGETS),
    ("tgatherb", "src offsets dst", "plain", TARGETS),
    ("tgatherb", "dst", "row", A3),
    ("trandom", "dst", "plain row", A5),
    ("tquant", "src fp offset tmp dst", "plain", TARGETS),
    ("tquant", "src tmp dst", "row", A3),
    ("tdequant", "src scale offset dst", "plain", TARGETS),
    ("tdequant", "src dst", "row", A3),
    ("tquant.mx", "src exp max scaling exp_zz", "plain vec row flat", A5),
    ("tquant.mx", "dst", "vec row flat", A5),
    ("tscatter", "src indexes dst", "plain vec row", TARGETS),
    ("tsel", "src0 src1 dst", "plain row", TARGETS),
    ("txor txors", "tmp", "row", A3),
    ("trowexpandadd", "src0", "row", TARGETS),
    ("tsels", "mask src tmp dst", "plain", TARGETS),
    ("tsels", "src tmp dst", "row", A3),
    ("tsels", "mask src dst", "row", A5),
    ("tsort32", "src idx dst", "plain vec row", TARGETS),
    ("ttrans", "src tmp dst", "plain", TARGETS),
    ("ttrans", "src", "row", A3),
    ("thistogram", "src dst", "plain vec row flat", A5),
    ("thistogram", "idx", "plain vec flat", A5),
    (_GEMV, "lhs rhs a b dst", "plain", TARGETS),
    ("tmatmul.bias tgemv.bias tmatmul.mx.bias tgemv.mx.bias", "bias", "plain", TARGETS),
    ("tmatmul.acc", "lhs rhs acc_in dst", "plain", A3),
    ("tmov", "src dst", "plain", A3),
    ("treshape", "src @", "plain", TARGETS),
    ("mgather mscatter", "idx", "plain", TARGETS),
)
"""Ops, their operands, what is asked of each ('plain': no low precision; 'vec'; 'row': row-major; 'flat': not boxed),
and the targets that ask."""

_AGREE: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    (f"{_BINARY} trem", "dtype valid", "src0=src1 src0=dst", TARGETS),
    ("tshl tshr tprelu", "dtype valid", "src0=dst src1=dst", TARGETS),
    ("tprelu", "shape", "src0=src1 src0=dst", TARGETS),
    (f"{_BY_SCALAR} tdivs", "dtype valid", "src=dst", TARGETS),
    ("tmuls", "dtype valid", "src0=dst", TARGETS),
    ("tdivs", "dtype valid", "divisor=dst", TARGETS),
    (f"tabs trelu tlrelu tnot tshrs {_BIT_SCALARS} trems tfmods tpows {_FUNCTIONS}", "dtype valid", "src=dst", TARGETS),
    ("tneg", "dtype", "src=dst", TARGETS),
    ("tneg", "valid", "src=dst", A3),
    ("taxpy", "valid shape", "src=dst", TARGETS),
    ("tpow", "dtype valid", "base=exp base=dst", TARGETS),
    ("tpow tpows", "dtype valid", "tmp=dst", TARGETS),
    ("tshls", "dtype", "src=dst", TARGETS),
    ("trem trems", "dtype", "tmp=dst", A3),
    ("tconcat tconcatidx", "dtype", "src0=src1 src0=dst", TARGETS),
    ("tconcatidx", "dtype", "src0Idx=src1Idx", TARGETS),
    ("tcmp", "dtype", "src0=src1", TARGETS),
    ("tcmp", "valid", "src0=src1", A3),
    ("tcmp", "shape", "src0=src1 src0=dst", A5),
    (f"tcolexpand {_COL_SUMS} {_ROW_SUMS} trowexpand", "dtype", "src=dst", TARGETS),
    ("tcolsum", "dtype", "src=tmp", TARGETS),
    (f"{_ROW_SUMS} {_ROW_ARGS} {_COL_ARGS}", "dtype", "src=tmp", A3),
    (_ROW_BINARY, "dtype", "src0=dst src0=src1", TARGETS),
    (_ROW_BINARY, "dtype", "tmp=dst", A3),
    ("trowexpandmax trowexpandmin trowexpandexpdif", "dtype", "tmp=dst", A5),
    ("trowexpandadd", "valid", "src0=dst", TARGETS),
    (_COL_BINARY, "shape valid", "src0=dst", TARGETS),
    (f"{_PARTS} {_PART_EXTREMES} {_PART_ARGS}", "dtype", "src0=src1 src0=dst", TARGETS),
    (f"{_PART_EXTREMES} {_PART_ARGS}", "shape", "src0=src1 src0=dst", TARGETS),
    (_PART_ARGS, "dtype", "src0Idx=src1Idx src0Idx=dstIdx", TARGETS),
    (_PART_ARGS, "shape", "src0=src0Idx src0=src1Idx src0=dstIdx", TARGETS),
    ("tquant", "valid", "src=dst", TARGETS),
    ("tquant", "shape valid", "src=tmp", A3),
    ("tquant.mx", "dtype", "src=max src=scaling", A5),
    ("tscatter", "dtype", "src=dst", TARGETS),
    ("tsel", "dtype", "src0=src1 src0=dst", TARGETS),
    ("tsels", "dtype valid", "src=dst", TARGETS),
    ("tsels", "dtype", "tmp=src", A3),
    ("tsort32", "dtype", "src=dst", TARGETS),
    ("ttrans", "dtype", "src=dst src=tmp", TARGETS),
    ("txor", "dtype valid", "tmp=dst", A3),
    ("txors", "dtype", "tmp=dst", A3),
    ("taddc", "shape", "src0=src1 src0=src2 src0=dst", TARGETS),
    ("taddsc", "shape", "src0=src1 src0=dst", TARGETS),
    ("tmatmul.bias tgemv.bias", "dtype", "bias=dst", TARGETS),
    ("tmatmul.mx.acc tgemv.mx.acc", "dtype valid", "c_in=dst", A5),
    ("tgemv.mx.bias", "valid", "bias=dst", A5),
    ("tmrgsort", "dtype", "dsts=tmp", TARGETS),
)
"""Ops, what agrees (an extent that is `?` agrees with all), the pairs of operands, and the targets that ask."""

_W, _INTS = "i16 i32 f16 f32", "i8 i16 i32"
_ALL = f"{_INTS} f16 bf16 f32"
_TYPES: tuple[tuple[str, str, str, str], ...] = (
    ("tadd tmin", "src0", _W, _ALL),
    ("tsub tmax", "src0", _W, f"{_INTS} f16 f32"),
    ("tmul tfmod", "src0", _W, _W),
    ("tdiv", "src0", "f16 f32", _W),
    ("taddrelu", "src0", "i16 f16 f32", ""),
    ("tand tor txor tshl tshr", "src0", _INTS, _INTS),
    (_BY_SCALAR, "src", _W, _ALL),
    ("tmuls", "src0", _W, _ALL),
    ("tdivs", "dst", _W, f"{_INTS} f16 f32"),
    (f"tabs tlrelu {_FUNCTIONS}", "src", "f16 f32", "f16 f32"),
    ("tprelu", "src0", "f16 f32", "f16 f32"),
    ("trelu", "src", "i32 f16 f32", "i32 f16 f32"),
    ("tneg", "src", _W, _ALL),
    ("tnot", "src", "i16", _INTS),
    ("taxpy", "src dst", "f16 f32", "f16 bf16 f32"),
    (_BIT_SCALARS, "src", "i8 i16", _INTS),
    ("tshls", "src", "i1 i4 i8 i16 i32 i64", "i1 i4 i8 i16 i32 i64"),
    ("tshrs", "src", "i16 i32", _INTS),
    ("trem", "src0", "i32 f32", _W),
    ("trems", "src", "i32 f32", _W),
    ("tfmods", "src", _W, _W),
    ("tconcat", "src0", _ALL, _ALL),
    ("tconcatidx", "src0", _ALL, _ALL),
    ("tconcatidx", "src0Idx", _INTS, _INTS),
    ("tci", "dst", "i16 i32", "i16 i32"),
    ("tci", "tmp", "i32 f32", ""),
    ("ttri", "dst", _W, _ALL),
    ("tcmp", "src0", "i32 f16 f32", _ALL),
    ("tcmp", "dst", "i8", "i8"),
    ("tcmps", "src", _W, f"{_INTS} f16 f32"),
    ("tcolexpand trowexpand", "src", _ALL, _ALL),
    ("tcolsum tcolmax tcolmin", "src", _W, _ALL),
    ("tcolprod", "src", _W, f"{_W} bf16"),
    (_COL_ARGS, "src", _ALL, _ALL),
    (_COL_ARGS, "dst", "i32", "i32"),
    (f"{_ROW_SUMS} {_ROW_ARGS}", "src", _W, _W),
    (_ROW_ARGS, "dst", "i32", "i32"),
    ("trowexpandadd trowexpandsub trowexpandmul trowexpandmax trowexpandmin", "dst", _W, f"i8 {_W}"),
    ("trowexpanddiv", "dst", "f16 f32", f"i8 {_W}"),
    ("trowexpandexpdif", "dst", "f16 f32", "f16 f32"),
    ("tcolexpandadd tcolexpandsub tcolexpandmul tcolexpandmax tcolexpandmin", "src0 src1 dst", _W, f"i8 {_W}"),
    ("tcolexpanddiv", "src0 src1 dst", "f16 f32", f"i8 {_W}"),
    ("tcolexpandexpdif", "src0 src1 dst", "f16 f32", "f16 f32"),
    ("texpands", "dst", f"{_W} bf16", _ALL),
    (f"{_PARTS} {_PART_EXTREMES} {_PART_ARGS}", "src0", _W, _ALL),
    (_PART_ARGS, "src0Idx", "i32", "i32"),
    ("trandom", "dst", "", "i32"),
    ("tquant", "src offset tmp", "f32", "f32"),
    ("tquant", "dst", "i8", "i8"),
    ("tdequant", "src", "i8 i16", "i8 i16"),
    ("tdequant", "scale offset dst", "f32", "f32"),
    ("tquant.mx", "src", "", "f16 bf16 f32"),
    ("tquant.mx", "exp exp_zz", "", "i8"),
    ("tscatter", "src", _ALL, _ALL),
    ("tscatter", "indexes", "i16 i32", "i16 i32"),
    ("tsel", "src0", f"{_W} bf16", _ALL),
    ("tsels", "src", _W, f"i8 {_W}"),
    ("tsort32", "src", "f16 f32", "f16 f32"),
    ("tsort32", "idx", "i32", "i32"),
    ("ttrans", "src", _ALL, _ALL),
    ("thistogram", "src", "", "i16 i32"),
    ("thistogram", "idx", "", "i8"),
    ("thistogram", "dst", "", "i32"),
    ("tprelu", "tmp", "i8", ""),
    ("mscatter", "src", _ALL, f"{_ALL} f8 hif8"),
    ("mgather", "dst", _ALL, f"{_ALL} f8 hif8"),
    ("mscatter mgather", "idx", "i32", "i32"),
    ("tmatmul.mx.bias tgemv.mx.bias", "bias", "", "f32"),
    ("tprint", "src", f"{_INTS} f16 f32", f"{_INTS} f16 f32"),
)
"""Ops, operands, their element types on a2a3 and on a5 ('': not asked). An integer stands for all signs of its width,
'f8' and 'f4' for all their formats."""

_NUMBERS: tuple[tuple[str, str, str], ...] = (
    ("texpands", "scalar", "dst"),
    ("taxpy trems tfmods tpows", "scalar", "src"),
    ("tci", "start", "dst"),
    ("tgather", "kValue", "src"),
)
"""Ops, a scalar operand (or the result), and the tile whose element type it has."""

_LOW = ("f8", "hif8", "f4", "hif8x2", "bf16x2")


def family(tile: TileBufType) -> str:
    """A tile's element type as `_TYPES` names it."""
    return family_of(tile.dtype)


def family_of(dtype: DType) -> str:
    name = dtype.pto.removeprefix("!pto.")
    if name.startswith(("ui", "si")):
        return name[1:]
    return name[:2] if name.startswith(("f8", "f4")) else name


def _spread(ops: str) -> list[str]:
    return [f"pto.{op}" for op in ops.split()]


_Table = dict[str, list[tuple[str, ...]]]


def _places(word: str, targets: tuple[str, ...]) -> _Table:
    """Op -> the operands of which `word` is asked on these targets."""
    found: _Table = {}
    for ops, operands, words, asked in _PLACES:
        if word in words.split() and asked == targets:
            for op in _spread(ops):
                found.setdefault(op, []).extend((name,) for name in operands.split())
    return found


def _pairs(word: str, targets: tuple[str, ...]) -> _Table:
    """Op -> the pairs of operands that agree in `word` on these targets."""
    found: _Table = {}
    for ops, words, pairs, asked in _AGREE:
        if word in words.split() and asked == targets:
            for op in _spread(ops):
                found.setdefault(op, []).extend(tuple(pair.split("=")) for pair in pairs.split())
    return found


def _allowed(column: int) -> _Table:
    """Op -> operand and allowed element types, of one target."""
    found: _Table = {}
    for line in _TYPES:
        if line[column]:
            for op in _spread(line[0]):
                found.setdefault(op, []).extend((name, line[column]) for name in line[1].split())
    return found


def _tiles(s: Site, names: tuple[str, ...]) -> list[TileBufType]:
    return [t for name in names if (t := s.tile(name)) is not None]


def _each(id_: str, claim: str, table: _Table, targets: tuple[str, ...], test: Callable[[TileBufType], bool]) -> Legal:
    """A row that asks something of single operands; absent ones and those that are no tiles are not asked."""
    def broken(s: Site) -> Iterator[str]:
        for names in table[s.op.name]:
            for tile in _tiles(s, names):
                if not test(tile):
                    yield f"{_called(names[0])} is {_spelled(tile)}"

    return Legal(id_, " ".join(table), "", claim, targets=targets, when=lambda s: _asks(s, table, 1),
                 holds=lambda s: next(broken(s), None) is None, found=lambda s: next(broken(s)))


def _agree(
    id_: str, claim: str, table: _Table, targets: tuple[str, ...], test: Callable[[TileBufType, TileBufType], bool]
) -> Legal:
    """A row that asks two operands to agree; a pair of which one is absent is not asked."""
    def broken(s: Site) -> Iterator[str]:
        for names in table[s.op.name]:
            tiles = _tiles(s, names)
            if len(tiles) == 2 and not test(*tiles):
                yield " and ".join(f"{_called(n)} {_spelled(t)}" for n, t in zip(names, tiles, strict=True))

    return Legal(id_, " ".join(table), "", claim, targets=targets, when=lambda s: _asks(s, table, 2),
                 holds=lambda s: next(broken(s), None) is None, found=lambda s: next(broken(s)))


def _typed(id_: str, claim: str, table: _Table, targets: tuple[str, ...]) -> Legal:
    def broken(s: Site) -> Iterator[str]:
        for name, types in table[s.op.name]:
            tile = s.tile(name)
            if tile is not None and family(tile) not in types.split():
                yield f"{name} is of {tile.dtype.pto}, there are {types.replace(' ', ', ')}"

    return Legal(id_, " ".join(table), "", claim, targets=targets, when=lambda s: _asks(s, table, 1),
                 holds=lambda s: next(broken(s), None) is None, found=lambda s: next(broken(s)))


def _asks(s: Site, table: _Table, count: int) -> bool:
    """Whether the op has operands that the row asks about."""
    return any(len(_tiles(s, names[:count])) == count for names in table[s.op.name])


def _called(name: str) -> str:
    return "the result" if name == "@" else name


def _spelled(tile: TileBufType) -> str:
    return type_text(tile, True).removeprefix("!pto.tile_buf")


_SCALARS = {op: line[1:] for line in _NUMBERS for op in _spread(line[0])}


def _scalar(s: Site) -> str:
    type_ = s.type(_SCALARS[s.op.name][0])
    return type_.dtype.pto if isinstance(type_, ScalarType) else ""


def _element(s: Site) -> str:
    tile = s.tile(_SCALARS[s.op.name][1])
    return tile.dtype.pto if tile is not None else ""


def _rows() -> Iterator[Legal]:
    for suffix, targets in (("", TARGETS), ("-A3", A3), ("-A5", A5)):
        where = "" if not suffix else f" on {targets[0]}"
        for id_, claim, word, asked in (
            ("LOW-PRECISION", f"the op{where} has no low-precision elements", "plain",
             lambda t: family(t) not in _LOW),
            ("OPERAND-SPACE", f"operands{where} are in vec", "vec", is_vec),
            ("OPERAND-LAYOUT", f"operands{where} are row-major", "row", is_row_major),
            ("OPERAND-BOXED", f"operands{where} are not boxed", "flat", lambda t: not t.boxed),
        ):
            if table := _places(word, targets):
                yield _each(id_ + suffix, claim, table, targets, asked)
        for id_, claim, word, agree in (
            ("OPERAND-DTYPE", f"operands{where} have one element type", "dtype", lambda a, b: a.dtype == b.dtype),
            ("OPERAND-VALID", f"operands{where} have one valid shape", "valid", same_valid),
            ("OPERAND-SHAPE", f"operands{where} have one shape", "shape", same_shape),
        ):
            if table := _pairs(word, targets):
                yield _agree(id_ + suffix, claim, table, targets, agree)
    yield _typed("OPERAND-TYPES-A3", "a2a3 has the op for the element types", _allowed(2), A3)
    yield _typed("OPERAND-TYPES-A5", "a5 has the op for the element types", _allowed(3), A5)
    yield Legal("SCALAR-TYPE", " ".join(_SCALARS), "", "a scalar has the element type of its tile",
                when=lambda s: bool(_scalar(s) and _element(s)), holds=lambda s: _scalar(s) == _element(s),
                found=lambda s: f"{_scalar(s)} and {_element(s)}")


ROWS: tuple[Legal, ...] = tuple(_rows())
