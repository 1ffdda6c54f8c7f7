"""Moves between tiles: TMOV, TEXTRACT, TINSERT, TFILLPAD, TTRANS, TCONCAT. Source: PTO-ISA headers.

Into L0A/L0B whole physical tiles are copied (or, compact, what the valid shape rounds up to); out of the accumulator
columns are rounded up to a block and a boxed destination takes all physical rows.
"""

from __future__ import annotations

import numpy as np

from pypto_verified.layouts import BLayout, Pad, SLayout, Space
from pypto_verified.simulator.casts import convert
from pypto_verified.simulator.errors import Place, UnmodelledError
from pypto_verified.simulator.fixpipe import convert_out, read_layout, scales
from pypto_verified.simulator.layout import Layout, ceil_to, layout_of
from pypto_verified.simulator.memory import View
from pypto_verified.simulator.ops_memory import report_uninitialised
from pypto_verified.simulator.registry import Site, op
from pypto_verified.simulator.tile import Tile
from pypto_verified.simulator.values import Scalar, pad_value


def _copy(site: Site, source: View, out: View) -> None:
    """Bits are moved as they are; elements of another type, of the same size, get them."""
    bad, values = source.bad(), source.get()
    if source.kind != out.kind:
        values = values.astype(out.kind) if site.declared else np.ascontiguousarray(values).view(out.kind)
    out.put(values)
    out.mark(bad)


def _to_l0(site: Site, dst: Tile, src: Tile, row: int, col: int) -> None:
    """L1 to L0A, L0B in whole fractals: the physical tile, or with Compact what is valid, at that pitch."""
    box_rows, box_cols = dst.layout.box
    rows, cols, layout = ceil_to(dst.type.rows, box_rows), ceil_to(dst.type.cols, box_cols), dst.layout
    if dst.compact and not site.declared:
        if dst.space is Space.LEFT:
            rows, cols = ceil_to(dst.rows, box_rows), ceil_to(dst.cols, dst.block)
        else:
            rows, cols = ceil_to(dst.rows, dst.block), ceil_to(dst.cols, 16)
        layout = dst.pitched(rows, cols)
    _require_size(dst, src)
    _copy(site, src.reads(rows, cols, row, col), dst.writes(rows, cols, layout=layout))


def _require_kind(dst: Tile, src: Tile) -> None:
    if dst.kind != src.kind:
        raise UnmodelledError(f"a move from {src.kind} to {dst.kind}", Place(dst.name))


def _require_size(dst: Tile, src: Tile) -> None:
    """The static assert of a move: elements of one size."""
    if dst.kind.itemsize != src.kind.itemsize:
        raise UnmodelledError(f"a move from {src.kind} to {dst.kind}", Place(dst.name))


def _to_table(dst: Tile, src: Tile, row: int, col: int) -> None:
    """L1 to the bias or scaling table; f16 and bf16 biases become f32."""
    view = src.reads(dst.rows, dst.cols, row, col)
    out = dst.writes(dst.rows, dst.cols)
    bad = view.bad()
    out.put(view.get() if dst.kind == src.kind else convert(view.get(), dst.kind, "RINT", False))
    out.mark(bad)


def _from_acc(
    site: Site, src: Tile, dst: Tile, layout: Layout, shape: tuple[int, int], at: tuple[int, int], to: tuple[int, int],
    fp: Tile | None, quant: Scalar | None,
) -> None:
    """`shape` elements from (row, col) `at` of the accumulator to `to` of dst, through the fixpipe."""
    mode = site.enum("accToVecMode", "single_mode_vec0")
    elsewhere = dst.space is Space.VEC and dst.memory is not site.machine.memories[Space.VEC]
    if mode != "single_mode_vec0" and not elsewhere:
        raise UnmodelledError(f"accumulator to vector in {mode}", Place(dst.name))
    if dst.space is Space.VEC and not site.a5:
        raise UnmodelledError("a2a3 has no way from the accumulator to UB", Place(dst.name))
    rows, cols = shape
    view = src.reads(rows, cols, *at, layout=layout)
    bad = view.bad()
    word = None if quant is None else int(quant)
    values = convert_out(site, view.get(), dst.kind, scales(fp, cols, at[1]), word, src.name)
    out = dst.writes(rows, cols, *to)
    out.put(values)
    out.mark(bad)


def _rounded(dst: Tile, cols: int) -> int:
    return ceil_to(cols, dst.block) if dst.space is Space.MAT else cols


@op("tmov", "dst src fp preQuantScalar")
def tmov(site: Site, dst: Tile, src: Tile, fp: Tile | None, quant: Scalar | None) -> None:
    """A whole tile from one space to another."""
    pair = (src.space, dst.space)
    if pair in ((Space.MAT, Space.LEFT), (Space.MAT, Space.RIGHT)):
        _to_l0(site, dst, src, 0, 0)
    elif pair in ((Space.MAT, Space.BIAS), (Space.MAT, Space.SCALING)):
        _to_table(dst, src, 0, 0)
    elif pair == (Space.VEC, Space.VEC):
        _between_vectors(site, dst, src)
    elif src.space is Space.ACC:
        boxed = dst.type.boxed
        rows = src.type.rows if boxed and dst.space is Space.MAT else src.rows
        shape = (rows, _rounded(dst, src.cols))
        _from_acc(site, src, dst, read_layout(site, src, dst.space, boxed), shape, (0, 0), (0, 0), fp, quant)
    elif pair == (Space.VEC, Space.MAT) and site.a5:
        _require_size(dst, src)
        _copy(site, src.reads(src.rows, src.cols), dst.writes(src.rows, src.cols))
    else:
        way = f"{src.space.value} to {dst.space.value}"
        raise UnmodelledError(f"tmov from {way} on {site.target.name}", Place(dst.name))


def _between_vectors(site: Site, dst: Tile, src: Tile) -> None:
    """UB to UB over dst's valid region; a2a3 moves whole 32-byte blocks: up to 31 bytes behind it are overwritten, and
    what lies in one layout stays in it. Where another layout is made of the same bytes, row by row."""
    _require_size(dst, src)
    rows, cols = dst.rows, dst.cols
    layouts = [(t.blayout, t.slayout) for t in (src.type, dst.type)]
    relaid = layouts[0] != layouts[1] and min(dst.type.rows, dst.type.cols) > 1
    if relaid and not site.a5 and not site.declared:
        _copy_blocks(site, dst, src)
        return
    if not site.a5 and dst.type.blayout is BLayout.ROW and dst.type.slayout is SLayout.NONE:
        cols = min(ceil_to(cols, dst.block), max(dst.type.cols, cols))
    step = 1 if relaid and dst.shares(src) else max(rows, 1)
    for row in range(0, rows, step):
        _copy(site, src.reads(step, cols, row), dst.writes(step, cols, row))


def _copy_blocks(site: Site, dst: Tile, src: Tile) -> None:
    """The bytes of whole tiles as they lie, whatever the layouts say (TMov.hpp of a2a3)."""
    if (dst.rows, dst.cols) != (dst.type.rows, dst.type.cols):
        raise UnmodelledError("a move between layouts of a partly valid tile", Place(dst.name))
    rows, cols = src.type.rows, src.type.cols
    plain = layout_of(BLayout.ROW, SLayout.NONE, 512, rows, cols, src.kind.itemsize)
    _copy(site, src.reads(rows, cols, layout=plain), dst.writes(rows, cols, layout=plain))


@op("textract", "dst src indexRow indexCol fp preQuantScalar")
def textract(
    site: Site, dst: Tile, src: Tile, row: int, col: int, fp: Tile | None, quant: Scalar | None
) -> None:
    """A window of src, from (row, col), as the whole of dst."""
    if src.space is Space.MAT and dst.space in (Space.LEFT, Space.RIGHT):
        _to_l0(site, dst, src, *((row, col) if site.declared else _on_fractal(src, row, col)))
    elif src.space is Space.MAT and dst.space in (Space.BIAS, Space.SCALING):
        _to_table(dst, src, row, col)
    elif src.space is Space.ACC:
        layout = read_layout(site, src, dst.space, dst.type.boxed)
        _from_acc(site, src, dst, layout, (dst.rows, ceil_to(dst.cols, dst.block)), (row, col), (0, 0), fp, quant)
    elif src.space is Space.VEC and (dst.space is Space.VEC or (dst.space is Space.MAT and site.a5)):
        _require_size(dst, src)
        _copy(site, src.reads(dst.rows, dst.cols, row, col), dst.writes(dst.rows, dst.cols))
    else:
        raise UnmodelledError(f"textract from {src.space.value} to {dst.space.value}", Place(dst.name))


def _on_fractal(src: Tile, row: int, col: int) -> tuple[int, int]:
    """Where the unit starts: it counts in fractals, those of a dense row as long as 512 bytes."""
    rows, cols = src.layout.box if src.type.boxed else (1, 512 // src.kind.itemsize)
    return row - row % rows, col - col % cols


@op("tinsert", "dst src indexRow indexCol fp preQuantScalar")
def tinsert(
    site: Site, dst: Tile, src: Tile, row: int, col: int, fp: Tile | None, quant: Scalar | None
) -> None:
    """src as a window of dst, from (row, col)."""
    if site.enum("tinsertMode"):
        raise UnmodelledError(f"tinsert mode {site.enum('tinsertMode')}", Place(dst.name))
    if src.space is Space.ACC:
        rows = src.type.rows if dst.type.boxed else src.rows
        layout = read_layout(site, src, dst.space, dst.type.boxed)
        _from_acc(site, src, dst, layout, (rows, _rounded(dst, src.cols)), (0, 0), (row, col), fp, quant)
    elif src.space is Space.VEC and (dst.space is Space.VEC or (dst.space is Space.MAT and site.a5)):
        _require_size(dst, src)
        _copy(site, src.reads(src.rows, src.cols), dst.writes(src.rows, src.cols, row, col))
    else:
        raise UnmodelledError(f"tinsert from {src.space.value} to {dst.space.value}", Place(dst.name))


@op("tfillpad tfillpad_inplace tfillpad_expand", "dst src")
def tfillpad(site: Site, dst: Tile, src: Tile) -> None:
    """Fill what lies around src's valid region.

    UB: rows of src are copied, then padded to dst's width; rows up to dst's valid rows are pad. The rest of the last
    valid block is trusted to be padded already when both tiles have the same pad. What the copy takes from behind that
    is padded over: nothing depends on it, so it counts as not read. L1: zeros.
    """
    _require_kind(dst, src)
    if dst.space is Space.MAT:
        _fill_l1(dst)
        return
    if dst.pad is Pad.NULL:
        raise UnmodelledError("tfillpad into a tile without a pad", Place(dst.name))
    site.expect(dst.rows >= src.rows and dst.cols >= src.cols,
                f"{src.rows} x {src.cols} valid elements are padded to {dst.rows} x {dst.cols}", Place(dst.name))
    rows, width = src.rows, dst.type.cols
    first = src.cols if src.pad is not dst.pad else ceil_to(src.cols, dst.block)
    copied = min(src.type.cols, width, first)
    if (src.addr, src.memory) != (dst.addr, dst.memory):
        _copy(site, src.reads(rows, copied), dst.writes(rows, copied))
    elif src.memory.bytes.suspicions is not None:
        src.reads(rows, src.cols).bad()  # it stays where it is: no access, but what was never written is no data
    for window in ((rows, width - first, 0, first), (dst.rows - rows, width, rows, 0)):
        if min(window[:2]) > 0:
            out = dst.writes(*window)
            out.put(pad_value(dst.pad, dst.type.dtype))
            out.mark()


def _fill_l1(dst: Tile) -> None:
    """Zeros in the rows behind the valid ones of each used column block, and in the unused blocks. Nothing is moved."""
    if dst.pad not in (Pad.NULL, Pad.ZERO) or not dst.type.boxed:
        raise UnmodelledError("tfillpad in L1 with anything but zeros in NZ", Place(dst.name))
    used = ceil_to(dst.cols, dst.block)
    for window in ((dst.type.rows - dst.rows, used, dst.rows, 0), (dst.type.rows, dst.type.cols - used, 0, used)):
        if min(window[:2]) > 0:
            out = dst.writes(*window)
            out.put(np.zeros((), dst.kind))
            out.mark()


@op("ttrans", "dst src tmp")
def ttrans(site: Site, dst: Tile, src: Tile, tmp: Tile | None) -> None:
    """dst[c, r] = src[r, c]; where both share bytes, row by row of src."""
    if tmp is not None:
        tmp.clobber()
    _require_kind(dst, src)
    rows, cols = src.rows, src.cols
    step = 1 if dst.shares(src) else max(rows, 1)
    for row in range(0, rows, step):
        source, out = src.reads(step, cols, row), dst.writes(cols, step, 0, row)
        bad = source.bad()
        out.put(source.get().T)
        out.mark(None if bad is None else bad.T)


@op("tconcat", "dst src0 src1")
def tconcat(site: Site, dst: Tile, src0: Tile, src1: Tile) -> None:
    """Rows of src0 with the rows of src1 behind them; where operands share bytes with dst, row by row."""
    _require_size(dst, src0)
    _require_size(dst, src1)
    rows = dst.rows
    step = 1 if dst.shares(src0) or dst.shares(src1) else max(rows, 1)
    for row in range(0, rows, step):
        _copy(site, src0.reads(step, src0.cols, row), dst.writes(step, src0.cols, row))
        _copy(site, src1.reads(step, src1.cols, row), dst.writes(step, src1.cols, row, src0.cols))


@op("tconcatidx", "dst src0 src1 src0Idx src1Idx")
def tconcatidx(site: Site, dst: Tile, src0: Tile, src1: Tile, index0: Tile, index1: Tile) -> None:
    """Row by row the first elements of src0, then the first of src1, no more than dst holds. How many stands in the
    index tiles' column 0, in bytes of an index element."""
    if dst.kind != src0.kind or dst.kind != src1.kind:
        raise UnmodelledError(f"tconcatidx of {src0.kind} and {src1.kind} to {dst.kind}", Place(dst.name))
    counts = []
    for index in (index0, index1):
        view = index.reads(dst.rows, 1)
        report_uninitialised(site, view, index.name)
        counts.append(np.maximum(view.get()[:, 0].astype(np.int64), 0) // index.kind.itemsize)
    for row, (count0, count1) in enumerate(zip(*counts, strict=True)):
        first = min(int(count0), dst.cols)
        second = min(int(count1), dst.cols - first)
        _copy(site, src0.reads(1, first, row), dst.writes(1, first, row))
        _copy(site, src1.reads(1, second, row), dst.writes(1, second, row, first))
