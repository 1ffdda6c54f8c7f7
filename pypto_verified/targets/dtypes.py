"""Element types that each tile op has an implementation for, per target: the type of its first source (of its
destination where it has none). A row names the ops that share one pair of sets.

Source: static asserts of PTO-ISA's npu/a2a3 and npu/a5 headers, one header an op.
"""

from __future__ import annotations

from pypto_verified.dtypes import DTYPES, DType
from pypto_verified.targets.model import Target

_CLASSES = {
    "b8": "INT8 UINT8",
    "b16": "FP16 BF16 INT16 UINT16",
    "b32": "FP32 INT32 UINT32",
    "b64": "INT64 UINT64",
    "int": "INT8 UINT8 INT16 UINT16 INT32 UINT32",
    "half": "FP16 FP32",
    "wide": "FP16 FP32 INT16 UINT16 INT32 UINT32 INT64 UINT64",
    "common": "FP16 FP32 INT16 INT32",
    "words": "INT16 UINT16 INT32 UINT32",
}
_UP_TO_32 = "b8 b16 b32"
_ALL = "b8 b16 b32 b64"

# (ops, types on a2a3, types on a5); '' = no implementation.
_ROWS: tuple[tuple[str, str, str], ...] = (
    ("tadd tsub tmax tmin tadds tsubs tmaxs tmins tpartadd tpartmax tpartmin", "common", _ALL),
    ("tcolsum tcolmax tcolmin tcolprod", "common", _ALL),
    ("tpartmul", "common", _UP_TO_32),
    ("trowexpandadd trowexpandsub trowexpandmul trowexpandmax trowexpandmin", "common", _UP_TO_32),
    ("tcolexpandadd tcolexpandsub tcolexpandmul tcolexpandmax tcolexpandmin", "common", _UP_TO_32),
    ("trowexpanddiv tcolexpanddiv", "half", _UP_TO_32),
    ("trowexpandexpdif tcolexpandexpdif", "half", "half"),
    ("trowexpand tcolexpand texpands", _UP_TO_32, _ALL),
    ("tmul tmuls tneg", "common", "wide BF16"),
    ("tdiv", "half", "wide"),
    ("tdivs", "common", "wide"),
    ("texp tlog tsqrt trsqrt trecip tlrelu tprelu", "half", "half"),
    ("tabs", "half", "common INT8"),
    ("trelu", "half INT32", "half INT32"),
    ("tnot", "INT16 UINT16", "int"),
    ("tand tor", "int", _UP_TO_32),
    ("txor", "int", "int"),
    ("tands tors txors", _UP_TO_32, _UP_TO_32),
    ("tshl tshr", "int", "int b64"),
    ("tshls tshrs", "words", "int b64"),
    ("tfmod", "FP32", "half words"),
    ("tfmods", "FP32", "b16 b32"),
    ("trem", "FP32 INT32", "wide"),
    ("trems", "FP32 INT32", "b16 b32 b64"),
    ("taddc tsubc taddsc tsubsc", "", ""),
    ("tcmp", "half INT32", _ALL),
    ("tcmps", "common UINT16", _ALL),
    ("tsel", "b16 b32", _ALL),
    ("tsels", "b16 b32", "half int b64"),
    ("trowmax trowmin", "common", "common b8 b64"),
    ("trowsum", "common", "common b64"),
    ("trowprod", "common", "common"),
    ("trowargmax trowargmin", "common", "b16 b32"),
    ("tcolargmax tcolargmin", "half UINT16 INT32 UINT32", _UP_TO_32),
    ("tfillpad tfillpad_expand ttrans tconcat", _UP_TO_32, _UP_TO_32),
    ("tci", "words", "words"),
    ("ttri", "half words", _ALL),
    ("tgather", "b16 b32", _ALL),
    ("tgatherb", _UP_TO_32, _UP_TO_32),
    ("tscatter", _UP_TO_32, _ALL),
    ("tsort32 tmrgsort", "half", "half"),
    ("trandom", "", "INT32 UINT32"),
)


def _types(text: str) -> frozenset[DType]:
    return frozenset(DTYPES[name] for word in text.split() for name in _CLASSES.get(word, word).split())


_BY_OP: dict[str, dict[str, frozenset[DType]]] = {
    name: {"a2a3": _types(a2a3), "a5": _types(a5)} for ops, a2a3, a5 in _ROWS for name in ops.split()
}


def device_dtypes(op: str, target: Target) -> frozenset[DType] | None:
    """Element types that `op` (without `pto.`) is implemented for on `target`, empty when the op has no implementation
    there; None for an op without a row, of which nothing is known."""
    row = _BY_OP.get(op)
    return row[target.name] if row is not None else None
