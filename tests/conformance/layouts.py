"""Where transfers put elements: the bytes of a space after a load or a move, against an address formula by hand.

Formula (PTO-ISA pto_tile.hpp): with a box of IR x IC elements, br, ir = divmod(row, IR) and bc, ic = divmod(col, IC).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

import numpy as np

from tests.conformance.arithmetic import KINDS, Array, samples
from tests.conformance.case import Case, Memory, Region
from tests.conformance.ir_kernel import IrKernel
from tests.conformance.pto_kernel import DN, PtoKernel

Address = Callable[[int, int, int, int, int, int], int]
"""(row, col, R, C, IR, IC) -> element offset; R x C is the extent that gives the pitch."""


def _boxed(columns_of_boxes: bool, rows_first: bool) -> Address:
    def address(r: int, c: int, rows: int, cols: int, box_rows: int, box_cols: int) -> int:
        br, ir = divmod(r, box_rows)
        bc, ic = divmod(c, box_cols)
        box = bc * (rows * box_cols) + br * (box_rows * box_cols) if columns_of_boxes else (
            br * (cols * box_rows) + bc * (box_rows * box_cols))
        return box + (ir * box_cols + ic if rows_first else ic * box_rows + ir)

    return address


ADDRESS: dict[str, Address] = {
    "ND": lambda r, c, rows, cols, _, __: r * cols + c, "DN": lambda r, c, rows, cols, _, __: c * rows + r,
    "Nz": _boxed(True, True), "Zn": _boxed(False, False), "Zz": _boxed(False, True), "Nn": _boxed(True, False),
}
SPELLING: dict[str, tuple[str, str, int]] = {
    "ND": ("row_major", "none_box", 512), "DN": DN, "Nz": ("col_major", "row_major", 512),
    "Zn": ("row_major", "col_major", 512), "Zz": ("row_major", "row_major", 512),
    "Nn": ("col_major", "col_major", 512),
}
LEFT = {"a2a3": "Zz", "a5": "Nz"}
"""What the hardware makes of a LEFT tile (PTO-ISA TileLeft), whatever its type says."""


def box(layout: str, dtype: str) -> tuple[int, int]:
    """Rows and columns of a 512-byte box: 32 bytes along the inner order, 16 across."""
    if layout in ("ND", "DN"):
        return 1, 1
    short = 32 // KINDS[dtype].itemsize
    return (16, short) if layout in ("Nz", "Zz") else (short, 16)


def image(
    layout: str, values: Array, extent: tuple[int, int], dtype: str, size: int, at: tuple[int, int] = (0, 0)
) -> tuple[Array, Array]:
    """`size` elements of memory with `values` placed from element `at` at the pitch of `extent`, and which are set."""
    data, known = np.zeros(size, KINDS[dtype]), np.zeros(size, np.bool_)
    inner = box(layout, dtype)
    for r in range(values.shape[0]):
        for c in range(values.shape[1]):
            place = ADDRESS[layout](at[0] + r, at[1] + c, *extent, *inner)
            data[place], known[place] = values[r, c], True
    return data, known


def ramp(shape: tuple[int, int], dtype: str) -> Array:
    """Elements that tell where they come from, as far as the type can."""
    values = np.arange(prod(shape)).reshape(shape)
    return (values % 2048 if dtype in ("FP16",) else values % 251).astype(KINDS[dtype])


SHAPE = (32, 64)
REGIONS: dict[str, Region] = {"full": SHAPE, "partial": (19, 37), "one": (1, 1), "no-rows": (0, 64), "no-cols": (32, 0)}
_LOADS = (("vec", "ND", "nd"), ("vec", "DN", "dn"), ("mat", "Nz", "nd"), ("mat", "Zn", "dn"), ("mat", "ND", "nd"),
          ("mat", "Nz", "dn"))


def load_cases() -> Iterator[Case]:
    """TLOAD from a row-major or a column-major tensor into each layout."""
    for space, layout, tensor in _LOADS:
        for dtype in ("FP32", "FP16", "INT8", "BF16"):
            for region, valid in REGIONS.items():
                if region.startswith("no") and dtype != "FP16":
                    continue
                yield _load(space, layout, tensor, dtype, region, valid)


def _load(space: str, layout: str, tensor: str, dtype: str, region: str, valid: Region) -> Case:
    values = ramp(SHAPE, dtype)[: valid[0], : valid[1]]
    whole = ramp(SHAPE, dtype)
    data, known = image(layout, values, SHAPE, dtype, prod(SHAPE))
    block = 32 // KINDS[dtype].itemsize
    tail = -valid[1] % block
    if space == "mat" and layout == "Nz" and values.size and tail:
        zeros = np.zeros((valid[0], tail), KINDS[dtype])
        more, set_ = image(layout, zeros, SHAPE, dtype, prod(SHAPE), (0, valid[1]))
        data, known = np.where(set_, more, data), known | set_

    def write(k: PtoKernel) -> None:
        strides = (SHAPE[1], 1) if tensor == "nd" else (1, SHAPE[0])
        x = k.tile("x", dtype, SHAPE, valid, space, layout=SPELLING[layout])
        k.op("tload", k.view("a", (0, 0, *valid), tensor, SHAPE, strides), x)

    # A column-major tensor holds the transposed array.
    stored = whole if tensor == "nd" else np.ascontiguousarray(whole.T)
    part = Memory(space, 0, data, known, untouched=not (layout in ("ND", "DN") and space == "mat"))
    return Case(
        f"tload-{space}-{layout}-{tensor}-{dtype}-{region}", "tload",
        f"element (r, c) at the {layout} address by hand" + ("; L1 zeroes the rest of the last block" if tail else ""),
        {"a": stored}, {}, None, write, memory=dict.fromkeys(("a2a3", "a5"), (part,)),
    )


def pad_cases() -> Iterator[Case]:
    """TLOAD into UB pads the rest of the last 32-byte block of each row, and nothing else."""
    for dtype in ("FP32", "FP16", "INT8", "UINT16", "INT32"):
        for code, name in ((1, "zero"), (2, "max"), (3, "min")):
            shape = (4, 64)
            a = samples(dtype, shape, 91)
            width = -(-37 * KINDS[dtype].itemsize // 32) * 32 // KINDS[dtype].itemsize
            filler = _pad(name, dtype)
            data, known = np.zeros(shape, KINDS[dtype]), np.zeros(shape, np.bool_)
            data[:3, :width], known[:3, :width] = filler, True
            data[:3, :37] = a[:3, :37]

            def write(k: PtoKernel, dtype: str = dtype, code: int = code) -> None:
                x = k.tile("x", dtype, (4, 64), (3, 37), pad=code)
                k.op("tload", k.view("a", (0, 0, 3, 37)), x)

            yield Case(
                f"tload-pad-{dtype}-{name}", "tload", f"columns 37..{width - 1} are the pad: the block that 36 lies in",
                {"a": a}, {}, None, write, memory={on: (Memory("vec", 0, data, known),) for on in ("a2a3", "a5")},
            )


def _pad(name: str, dtype: str) -> Array:
    bits = {"FP32": (0x7F800000, 0xFF800000), "FP16": (0x7C00, 0xFC00), "INT8": (0x7F, 0x80), "UINT16": (0xFFFF, 0),
            "INT32": (0x7FFFFFFF, 0x80000000)}[dtype]
    word = 0 if name == "zero" else bits[name == "min"]
    return np.asarray(word, np.dtype(f"u{KINDS[dtype].itemsize}")).view(KINDS[dtype])


def tensor_cases() -> Iterator[Case]:
    """Tensors of five dims: rows count through the outer four (ND), or boxes tile the matrix (NZ)."""
    dims, strides = (2, 1, 3, 2, 32), (500, 500, 130, 40, 1)
    a = samples("FP32", (1, 1000), 92)
    values = np.array([[a[0, i0 * 500 + i2 * 130 + i3 * 40 + c] for c in range(32)]
                       for i0 in range(2) for i2 in range(3) for i3 in range(2)], np.float32)

    def load(k: PtoKernel) -> None:
        x = k.tile("x", "FP32", (12, 32))
        k.op("tload", k.view("a", None, "nd", dims, strides), x)
        k.store(x, "out")

    yield Case("tload-5d-strided", "tload", "row i0 * 6 + i2 * 2 + i3 from i0 * 500 + i2 * 130 + i3 * 40",
               {"a": a, "out": np.zeros((12, 32), np.float32)}, {"out": values}, None, load)

    after = np.zeros((1, 1000), np.float32)
    for row, (i0, i2, i3) in enumerate((i0, i2, i3) for i0 in range(2) for i2 in range(3) for i3 in range(2)):
        after[0, i0 * 500 + i2 * 130 + i3 * 40 :][:32] = values[row]

    def store(k: PtoKernel) -> None:
        x = k.tile("x", "FP32", (12, 32))
        k.load("b", x)
        k.op("tstore", x, k.view("out", None, "nd", dims, strides))

    yield Case("tstore-5d-strided", "tstore", "row i0 * 6 + i2 * 2 + i3 to i0 * 500 + i2 * 130 + i3 * 40, holes kept",
               {"b": values, "out": np.zeros((1, 1000), np.float32)}, {"out": after}, None, store)

    for dtype in ("FP16", "INT8", "FP32"):
        wide = 32 // KINDS[dtype].itemsize
        matrix = ramp((32, 2 * wide), dtype)
        boxes = np.array([matrix[i2 * 16 + i3, i1 * wide + i4] for i1 in range(2) for i2 in range(2)
                          for i3 in range(16) for i4 in range(wide)], KINDS[dtype]).reshape(1, -1)

        def nz(k: PtoKernel, dtype: str = dtype, wide: int = wide) -> None:
            m = k.tile("m", dtype, (32, 2 * wide), space="mat")
            shape = (1, 2, 2, 16, wide)
            k.op("tload", k.view("a", None, "nz", shape, tuple(prod(shape[i + 1 :]) for i in range(5))), m)
            k.store(m, "out")

        yield Case(f"tload-nz-{dtype}", "tload", "row i2 * 16 + i3 and column i1 * (box width) + i4 of a boxed tensor",
                   {"a": boxes, "out": np.zeros_like(matrix)}, {"out": matrix}, None, nz)


def store_cases() -> Iterator[Case]:
    """TSTORE writes the valid region and nothing else, from any layout, as often as it is told to add."""
    for dtype in ("FP32", "FP16", "BF16", "INT8", "INT32", "UINT16", "INT64"):
        for region, valid in REGIONS.items():
            a, before = samples(dtype, SHAPE, 93), samples(dtype, SHAPE, 94)
            after = before.copy()
            after[: valid[0], : valid[1]] = a[: valid[0], : valid[1]]

            def write_pto(k: PtoKernel, dtype: str = dtype, valid: Region = valid) -> None:
                x = k.tile("x", dtype, SHAPE, valid)
                k.op("tload", k.view("a", (0, 0, *valid)), x)
                k.store(x, "out", valid)

            def write_ir(k: IrKernel, valid: Region = valid) -> None:
                k.store(k.load("a", SHAPE, valid), "out")

            yield Case(f"tstore-{dtype}-{region}", "tstore", "a's valid region over what was there, by slicing",
                       {"a": a, "out": before}, {"out": after}, write_ir, write_pto)
    for layout, space in (("DN", "vec"), ("Nz", "mat")):
        a, before = ramp(SHAPE, "FP16"), samples("FP16", SHAPE, 94)
        after = before.copy()
        after[:19, :37] = a[:19, :37]

        def round_trip(k: PtoKernel, layout: str = layout, space: str = space) -> None:
            x = k.tile("x", "FP16", SHAPE, (19, 37), space, layout=SPELLING[layout])
            k.op("tload", k.view("a", (0, 0, 19, 37)), x)
            k.store(x, "out", (19, 37))

        yield Case(f"tstore-{layout}", "tstore", "through another layout and back: a's valid region, by slicing",
                   {"a": a, "out": before}, {"out": after}, None, round_trip)
    yield from _atomic()


def _atomic() -> Iterator[Case]:
    a, before = ramp((4, 32), "FP32"), ramp((4, 32), "FP32") * 2

    def write_pto(k: PtoKernel) -> None:
        x = k.tile("x", "FP32", (4, 32))
        k.load("a", x)
        k.store(x, "out", attrs="{atomicType = #pto<atomic_type atomic_add>}")

    def write_ir(k: IrKernel) -> None:
        k.call("store", k.load("a", (4, 32)), (0, 0), k.tensor("out"), atomic=1)

    yield Case("tstore-atomic", "tstore", "small whole numbers, n + 2 n = 3 n", {"a": a, "out": before},
               {"out": a * 3}, write_ir, write_pto)


def l0_cases() -> Iterator[Case]:
    """TMOV and TEXTRACT into L0A and L0B: whole tiles at their own pitch, or compact at the valid extents' pitch."""
    for dtype in ("FP16", "FP32", "INT8"):
        wide = 32 // KINDS[dtype].itemsize
        big = (64, 128)
        a = ramp(big, dtype)
        for space in ("left", "right"):
            for op, at in (("tmov", (0, 0)), ("textract", (32, 64)), ("textract", (16, 32))):
                for compact, valid in ((0, (32, 64)), (1, (20, 37)), (1, (1, 1))):
                    yield _to_l0(dtype, wide, space, op, at, compact, valid, a)


def _to_l0(
    dtype: str, wide: int, space: str, op: str, at: tuple[int, int], compact: int, valid: Region, a: Array
) -> Case:
    shape = (32, 64)
    across, along = (16, wide) if space == "left" else (wide, 16)
    extent = (-(-valid[0] // across) * across, -(-valid[1] // along) * along) if compact else shape
    values = a[at[0] : at[0] + extent[0], at[1] : at[1] + extent[1]]
    source = a if op == "textract" else np.ascontiguousarray(a[:32, :64])
    parts = {}
    for on in ("a2a3", "a5"):
        layout = LEFT[on] if space == "left" else "Zn"
        data, known = image(layout, values, extent, dtype, prod(shape))
        parts[on] = (Memory(space, 0, data, known),)

    def write(k: PtoKernel) -> None:
        m = k.tile("m", dtype, (source.shape[0], source.shape[1]), space="mat")
        k.load("a", m)
        x = k.tile("x", dtype, shape, valid, space, compact=compact)
        k.op(op, m if op == "tmov" else f"m c:{at[0]}:index c:{at[1]}:index", x)

    return Case(
        f"{op}-{space}-{dtype}-{at[0]}-{at[1]}-{valid[0]}x{valid[1]}", op,
        f"element (r, c) of the window at the L0 address by hand, pitch of {extent}", {"a": source}, {}, None, write,
        memory=parts,
    )


def l1_fills() -> Iterator[Case]:
    """In L1, TFILLPAD zeroes the rows behind the destination's valid ones and the unused column blocks, whatever the
    source is (PTO-ISA TFillPad.hpp); TEXPANDS fills the tile."""
    for dtype in ("FP16", "FP32", "INT8"):
        for region, valid in (("partial", (19, 37)), ("one", (1, 1)), ("full", SHAPE)):
            whole = np.zeros(SHAPE, KINDS[dtype])
            whole[: valid[0], : valid[1]] = ramp(SHAPE, dtype)[: valid[0], : valid[1]]
            data, known = image("Nz", whole, SHAPE, dtype, prod(SHAPE))

            def fill(k: PtoKernel, dtype: str = dtype, valid: Region = valid) -> None:
                m = k.tile("m", dtype, SHAPE, valid, "mat")
                k.op("tload", k.view("a", (0, 0, *valid)), m)
                k.op("tfillpad", m, k.tile("z", dtype, SHAPE, valid, "mat", addr=k.addresses["m"]))

            yield Case(f"tfillpad-mat-{dtype}-{region}", "tfillpad", "the valid elements, zeros everywhere else",
                       {"a": ramp(SHAPE, dtype)}, {}, None, fill,
                       memory={on: (Memory("mat", 0, data, known),) for on in ("a2a3", "a5")})
        kept = ramp(SHAPE, dtype)
        used = -(-37 // (32 // kept.itemsize)) * (32 // kept.itemsize)
        kept[19:, :used] = 0
        kept[:, used:] = 0
        data, known = image("Nz", kept, SHAPE, dtype, prod(SHAPE))

        def shrink(k: PtoKernel, dtype: str = dtype) -> None:
            m = k.tile("m", dtype, SHAPE, space="mat")
            k.op("tload", k.view("a", (0, 0, *SHAPE)), m)
            k.op("tfillpad", m, k.tile("z", dtype, SHAPE, (19, 37), "mat", addr=k.addresses["m"]))

        yield Case(f"tfillpad-mat-{dtype}-of-dst", "tfillpad",
                   "zeros behind the destination's valid rows and used columns, although all of the source is valid",
                   {"a": ramp(SHAPE, dtype)}, {}, None, shrink,
                   memory={on: (Memory("mat", 0, data, known),) for on in ("a2a3", "a5")})
        everywhere = np.full(prod(SHAPE), 3).astype(KINDS[dtype])

        def expand(k: PtoKernel, dtype: str = dtype) -> None:
            k.op("texpands", "c:3:i32", k.tile("m", dtype, SHAPE, (19, 37), "mat"))

        yield Case(f"texpands-mat-{dtype}", "texpands", "3 in every physical element, valid or not: a block fill",
                   {}, {}, None, expand, memory={on: (Memory("mat", 0, everywhere, np.ones(prod(SHAPE), np.bool_)),)
                                                 for on in ("a2a3", "a5")})


def cases() -> Iterator[Case]:
    yield from l1_fills()
    yield from load_cases()
    yield from pad_cases()
    yield from tensor_cases()
    yield from store_cases()
    yield from l0_cases()
