"""A case that one of PTO-ISA's own generators wrote, and its way into the conformance frame."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.conformance.arithmetic import KINDS, Array
from tests.conformance.case import Case
from tests.conformance.lanes import BINARIES
from tests.conformance.single import Ir, Pto, Source, single

_NAMES = {"float32": "FP32", "float16": "FP16", "bfloat16": "BF16",
          **{f"int{n}": f"INT{n}" for n in (8, 16, 32, 64)}, **{f"uint{n}": f"UINT{n}" for n in (8, 16, 32, 64)}}
SHORT = {"fp32": "FP32", "fp16": "FP16", **{k: v for k, v in _NAMES.items() if "int" in k}}
_TYPE = ("dtype", "data_type", "datatype", "src_dtype", "src_type", "srctype", "val_dtype", "atype")
CLOSE = 1e-3
VECTOR_BYTES = {"a2a3": 184 * 1024, "a5": 240 * 1024}


@dataclass(frozen=True, slots=True)
class Golden:
    """One case that a generator wrote: its folder and the parameters it was written with. `packs`: its script
    writes scalars as f32 whatever their type."""

    suite: str
    testcase: str
    name: str
    folder: Path
    params: dict[str, Any]
    packs: bool

    def get(self, *names: str) -> int | None:
        """The first of these parameters that the case has."""
        return next((self.params[n] for n in names if isinstance(self.params.get(n), int)), None)

    def need(self, *names: str) -> int:
        found = self.get(*names)
        if found is None:
            raise Unbound(f"no parameter {names[0]}")
        return found

    def dtype(self, *names: str) -> str:
        """The element type that one of these parameters names."""
        for name in names or _TYPE:
            value = str(self.params.get(name, ""))
            if value.removeprefix("np:") in _NAMES:
                return _NAMES[value.removeprefix("np:")]
        raise Unbound("no element type")

    def raw(self, *names: str) -> bytes:
        for name in names:
            if (self.folder / f"{name}.bin").exists():
                return (self.folder / f"{name}.bin").read_bytes()
        raise Unbound(f"no file {names[0]}.bin")

    def matrix(self, dtype: str, least: int, pitches: tuple[str, ...], *names: str) -> Array:
        """A file as rows; the row's length is the first of `pitches` that divides it and holds `least` columns."""
        flat = np.frombuffer(self.raw(*names), KINDS[dtype])
        for pitch in [p for p in (self.get(n) for n in pitches) if p is not None] + [least]:
            if pitch >= least and pitch and len(flat) % pitch == 0:
                return flat.reshape(-1, pitch)
        raise Unbound(f"{len(flat)} elements are no rows")


class Unbound(Exception):
    """The case does not fit its row's form."""


_ROWS_VALID = ("valid_row", "valid_rows", "src_valid_row", "vr", "dst_valid_row", "rows", "row", "src_row", "tile_row",
               "dst_row")
_COLS_VALID = ("valid_col", "valid_cols", "src_valid_col", "src_validcol", "vc", "dst_valid_col", "cols", "col",
               "src_col", "tile_col", "dst_col")
PITCH_A = ("src0_tile_col", "src_tile_col", "src0_col", "tile_col", "col", "cols", "src_col", "global_col")
PITCH_B = ("src1_tile_col", "src1_col", "tile_col", "col", "cols", "global_col")
PITCH_OUT = ("dst_tile_col", "dst_col", "tile_col", "col", "cols", "global_col")
FIRST = ("input1", "input0", "input", "x1_gm", "src_input", "input_arr")
IR_NAMES = {row.pto: row.ir for row in BINARIES}


def valid_of(g: Golden) -> tuple[int, int]:
    """Valid rows and columns, by whatever name."""
    return g.need(*_ROWS_VALID), g.need(*_COLS_VALID)


def filled(data: Array, rows: int) -> Array:
    """At least `rows` rows, zeros behind what the file holds."""
    if len(data) >= rows:
        return data
    return np.concatenate([data, np.zeros((rows - len(data), data.shape[1]), data.dtype)])


def judged(
    g: Golden, sources: dict[str, Source], values: Array, valid: tuple[int, int], pto: Pto, ir_op: Ir | None,
    close: float = 0.0, **more: Any,
) -> Case:
    """The conformance case whose expected values are the golden; `close` is relative, and absolute near zero. Unbound
    when the tiles together exceed UB, where the test itself reuses storage."""
    if sum(-(-s.data.nbytes // 1024) * 1024 for s in sources.values()) + values.nbytes > VECTOR_BYTES[g.suite]:
        raise Unbound("its tiles do not fit side by side")
    more.setdefault("scratch", Source(np.zeros((1, 32), next(iter(sources.values())).data.dtype)))
    return single(g.name, "the golden that the test's generator computed", sources, values, valid, pto, ir_op,
                  targets=(g.suite,), close=close, within=close, **more)
