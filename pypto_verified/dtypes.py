"""Element types: one row each. Foundations that every room may import."""

from __future__ import annotations

from pypto_verified.records import dataclass


@dataclass(frozen=True, slots=True)
class DType:
    """An element type. `bits` is the storage of one element; `kind` is float, int, uint, bool, index or opaque."""

    name: str
    pto: str
    bits: int
    kind: str

    @property
    def bytes(self) -> int:
        """Bytes of one element; sub-byte types count 1 (a packed byte)."""
        return max(1, self.bits // 8)

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        return self.kind in ("int", "uint", "index")

    @property
    def is_signed(self) -> bool:
        return self.kind in ("int", "float", "index")

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name


# Names: PyPTO's `pl.X`; spellings: PTOAS PTOTypeDefs.td and PyPTO's DataTypeToMLIR.
_ROWS = (
    ("FP32", "f32", 32, "float"), ("FP16", "f16", 16, "float"), ("BF16", "bf16", 16, "float"),
    ("FP64", "f64", 64, "float"),
    ("INT8", "i8", 8, "int"), ("INT16", "i16", 16, "int"), ("INT32", "i32", 32, "int"), ("INT64", "i64", 64, "int"),
    ("UINT8", "ui8", 8, "uint"), ("UINT16", "ui16", 16, "uint"), ("UINT32", "ui32", 32, "uint"),
    ("UINT64", "ui64", 64, "uint"),
    ("INT4", "i4", 4, "int"), ("UINT4", "ui4", 4, "uint"),
    ("BOOL", "i1", 8, "bool"), ("INDEX", "index", 64, "index"),
    ("FP8E4M3FN", "f8E4M3FN", 8, "float"), ("FP8E5M2", "f8E5M2", 8, "float"), ("FP8E8M0", "!pto.f8E8M0", 8, "float"),
    ("HF8", "!pto.hif8", 8, "float"), ("FP4", "!pto.f4E2M1x2", 4, "float"), ("HF4", "!pto.f4E1M2x2", 4, "float"),
    ("HF8X2", "!pto.hif8x2", 16, "float"), ("BF16X2", "!pto.bf16x2", 32, "float"),
    ("TASK_ID", "i64", 64, "opaque"),
)

# Spellings that only `.pto` texts know: explicitly signed integers and a second f8 name.
_PTO_ONLY = (
    ("SINT8", "si8", 8, "int"), ("SINT16", "si16", 16, "int"), ("SINT32", "si32", 32, "int"),
    ("SINT64", "si64", 64, "int"), ("FP8E4M3", "f8E4M3", 8, "float"),
)

DTYPES: dict[str, DType] = {name: DType(name, pto, bits, kind) for name, pto, bits, kind in _ROWS}
BY_PTO: dict[str, DType] = {pto: DType(name, pto, bits, kind) for name, pto, bits, kind in _PTO_ONLY}
BY_PTO |= {d.pto: d for d in reversed(DTYPES.values()) if d.kind != "opaque"}

FP32, FP16, BF16 = DTYPES["FP32"], DTYPES["FP16"], DTYPES["BF16"]
INT8, INT16, INT32, INT64 = DTYPES["INT8"], DTYPES["INT16"], DTYPES["INT32"], DTYPES["INT64"]
UINT8, UINT16, UINT32, UINT64 = DTYPES["UINT8"], DTYPES["UINT16"], DTYPES["UINT32"], DTYPES["UINT64"]
BOOL, INDEX = DTYPES["BOOL"], DTYPES["INDEX"]
