"""What generated kernels are made of: one row an op, and one row for whatever is left out.

Operand letters of a row, in the op's order:

    x  a tile, the first operand            y  a tile like x, valid wherever x is      c  a column [M, 1] of x's dtype
    r  a row [1, N] of x's dtype            s  a scalar of x's dtype                    p  a constant that is not 0
    b  a constant shift of 0 .. bits - 1    t  a scratch tile like x                    z  like y, valid just where x is
    d  like c, valid on just the rows of x  u  like t, of two rows and columns at least (PTOAS verifies the scratch of a
                                               remainder)
"""

from __future__ import annotations

from pypto_verified.records import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """How a vector op is called. `device`: its PTO name, by which the target lists its element types; `only`: the
    dtypes that remain of those (empty: all)."""

    op: str
    device: str
    operands: str
    only: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The op with its family, as the registry has it."""
        return f"tile.{self.op}"


def _rows(table: str, only: str = "") -> tuple[Row, ...]:
    """One row a word, `op/device:operands`; the device name is `t` + op if it is not given."""
    found = []
    for word in table.split():
        names, _, operands = word.partition(":")
        op, _, device = names.partition("/")
        found.append(Row(op, device or "t" + op.replace("_", ""), operands, frozenset(only.split())))
    return tuple(found)


ELEMENTWISE = (
    *_rows("add:xy sub:xy mul:xy maximum/tmax:xy minimum/tmin:xy part_add:xy part_mul:xy part_max:xy part_min:xy"),
    *_rows("div:xz fmod:xy divs:xp fmods:xp", "FP32 FP16"),
    *_rows("rem:xyu", "FP32"),
    *_rows("divs:xp rems:xpt", "INT32 INT16"),
    *_rows("adds:xs muls:xs maximums/tmaxs:xs minimums/tmins:xs lrelu:xs"),
    *_rows("subs:xs", "INT8 INT16 INT32 FP16 BF16 FP32"),
    *_rows("and:xy or:xy xor:xyt", "INT8 UINT8 INT16 UINT16 INT32 UINT32"),
    *_rows("ands:xs ors:xs xors:xst", "INT8 UINT8 INT16 UINT16"),
    *_rows("shls:xb shrs:xb", "INT16 UINT16 INT32 UINT32"),
    *_rows("neg:x abs:x relu:x sqrt:x"),
    *_rows("exp:x recip:x rsqrt:x log:x", "FP32 FP16"),
    *_rows("not:x", "INT16 UINT16"),
)
"""Ops whose result is like their first operand."""

EXPANSIONS = (
    *_rows("row_expand:xc col_expand:xr row_expand_add:xd row_expand_sub:xc row_expand_mul:xc"),
    *_rows("row_expand_max:xc row_expand_min:xc col_expand_add:xr col_expand_sub:xr col_expand_mul:xr"),
    *_rows("col_expand_max:xr col_expand_min:xr"),
    *_rows("row_expand_div:xc col_expand_div:xr", "FP32 FP16"),
)
"""Ops of a tile and a column or row that is spread over it."""

REDUCTIONS = (
    *_rows("row_sum:xt row_max:xt row_prod:xt row_argmax:xt row_argmin:xt col_sum:x col_max:x col_min:x col_prod:x"),
    *_rows("col_argmax:xt col_argmin:xt"),
    *_rows("row_min:xt", "INT16 INT32 FP16 FP32"),
)

OTHER_OPS = (
    "tile.load", "tile.store", "tile.create", "tile.full", "tile.tri", "tile.ci", "tile.cast", "tile.cmp", "tile.cmps",
    "tile.sel", "tile.sels", "tile.slice", "tile.reshape", "tile.assemble", "tile.concat", "tile.transpose",
    "tile.set_validshape", "tile.fillpad", "tile.fillpad_expand", "tile.read", "tile.write", "tile.move",
    "tile.extract", "tile.gather", "tile.gather_mask", "tile.scatter", "tile.shl", "tile.shr", "tile.matmul",
    "tile.matmul_acc",
    "tile.matmul_bias", "tile.transpose_view", "tensor.read",
)
"""Ops that the generator calls in a way of their own."""
