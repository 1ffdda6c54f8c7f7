"""Faults of passes and code generation: both meanings stay right, and the campaign compares them."""

from __future__ import annotations

from pypto_verified.fuzz.faults.fault import Edit, Fault, always, other, without

_PASSES, _CODEGEN = "pypto_verified.passes", "pypto_verified.codegen"
_FLOW = f"{_PASSES}.interference"


def _no_interference(right: object) -> object:
    from pypto_verified.passes.interference import Interference

    return lambda *args, **kwargs: Interference()


def _concat_in_place(right: object) -> object:
    assert callable(right)
    return lambda call, position, result: call.op == "tile.concat" or right(call, position, result)


FAULTS = (
    Fault("reuse-all", f"{_PASSES}.memory_reuse", "interference", "all buffers of a space share bytes",
          _no_interference),
    Fault("reuse-loop-once", _FLOW, "_Flow.loop", "what a later trip reads is not live at the end of a trip",
          Edit("head |= turn(head, False)", "turn(head, False)"), "pypto#585, tilelang-ascend#1156"),
    Fault("reuse-at-yield", _FLOW, "_Flow.transfer", "a merged value ends where its branch yields it",
          Edit("self.write(dst, live - ({dst, src} if self.copies_may_share else {dst}), span)", "pass"),
          "pypto#1821"),
    Fault("in-place-always", _FLOW, "may_stand_on", "every result may stand on every operand", always(True),
          "pypto#557"),
    Fault("in-place-other-pitch", _FLOW, "may_stand_on",
          "tiles side by side may stand on the first of them, whose rows are shorter", _concat_in_place, "pypto#2007"),
    Fault("swap-in-order", f"{_PASSES}.materialize_semantic_aliases", "_Copies.parallel",
          "copies at the end of a loop overwrite each other",
          Edit("if not any(o.source == t.target for o in waiting if o is not t)", "if t")),
    Fault("join-in-conflict", f"{_PASSES}.materialize_semantic_aliases", "_join",
          "carried values share a buffer although both are live",
          Edit("any(graph.conflict(x, y) for x in members[a] for y in members[b])", "False")),
    Fault("branch-without-copy", f"{_PASSES}.materialize_semantic_aliases", "_Copies.statement",
          "a branch leaves its value in another buffer than the one that is read",
          Edit('self._with_yield(self.block(s.then), s.results, "after the branch")', "self.block(s.then)"),
          "pypto#1995"),
    Fault("no-copy-before-write", f"{_PASSES}.pipeline", "PASSES",
          "a tile that is read again is overwritten in place", without("CopyOverwrittenTiles")),
    Fault("copy-of-live-names-only", f"{_PASSES}.copy_overwritten_tiles", "_Pass._read_later",
          "a view that is read later does not keep its tile from being overwritten",
          Edit("self.root.get(name, name) == root", "name == root")),
    Fault("view-left-behind", f"{_PASSES}.rebase", "_Mapper.assign",
          "the buffer of a tile moves and its transposed view stays",
          Edit("t = self._mapped(old)",
               "t = old if getattr(value, 'op', '') == 'tile.transpose_view' else self._mapped(old)"),
          "pypto#1835, pypto#1723"),
    Fault("no-layout-repair", f"{_PASSES}.pipeline", "PASSES", "ops of columns take them as they lie",
          without("ResolveBackendOpLayouts"), "pypto#581"),
    Fault("no-scratch", f"{_PASSES}.pipeline", "PASSES", "ops that need scratch of their own get none",
          without("AddScratch"), "tilelang-ascend#1523"),
    Fault("not-compact", f"{_PASSES}.stamp_compact", "_Pass._mode",
          "the accumulator of a narrowed product is not marked compact",
          Edit("declared if same_dim(t.valid_shape[0], t.shape[0]) else Compact.NORMAL", "Compact.NULL"), "pypto#2470"),
    Fault("operand-not-compact", f"{_PASSES}.stamp_compact", "_Pass._mode",
          "a narrowed operand of a product is not marked compact",
          Edit("declared if same_dims(t.valid_shape, t.shape) else Compact.NORMAL", "declared")),
    Fault("fold-minus", f"{_PASSES}.fold", "_ARITHMETIC[MUL]", "constant products fold as sums",
          other(f"{_PASSES}.fold", "_ARITHMETIC", "ADD")),
    Fault("unroll-drops-last", f"{_PASSES}.unroll_loops", "_stmt", "an unrolled loop loses its last trip",
          Edit("for i in trips:", "for i in trips[:-1]:")),
    Fault("ssa-keeps-old", f"{_PASSES}.convert_to_ssa", "_Builder.loop",
          "what a loop reassigns and only a later trip reads is not carried",
          Edit("(n in head or n in after)", "n in after")),
    Fault("slice-offset-lost", f"{_CODEGEN}.emit_views", "_subview", "a window loses its column offset",
          Edit("kernel.indices(offsets)", "kernel.indices((offsets[0], 0))"), "PTOAS#101"),
    Fault("moving-slice-at-base", f"{_CODEGEN}.emit_views", "_subview",
          "a window at a place known at run time starts at its tile's first row",
          Edit("kernel.indices(offsets)",
               "kernel.indices((offsets[0] if static_dim(offsets[0]) is not None else 0, offsets[1]))"),
          "pypto#1622, pypto#1640"),
    Fault("reshaped-slice-at-base", f"{_CODEGEN}.emit_views", "emit_reshape",
          "a relabelled slice starts where its tile does", Edit("kernel.addresses and source.owns and",
                                                                 "kernel.addresses and"), "pypto#1510"),
    Fault("slice-wholly-valid", f"{_CODEGEN}.emit_views", "emit_slice", "a window is valid on all of itself",
          Edit("tile.shape, tile.valid_shape, valid, var.name", "tile.shape, tile.shape, None, var.name"),
          "pypto#2380"),
    Fault("tile-wholly-valid", f"{_CODEGEN}.kernel", "Kernel.alloc", "a tile is allocated as if all of it were valid",
          Edit("tile.valid_shape if len(tile.valid_shape) == 2", "tile.shape if len(tile.valid_shape) == 2"),
          "pypto#382"),
    Fault("narrowing-is-lost", f"{_CODEGEN}.kernel", "Kernel.narrow", "a tile keeps its extents when it is narrowed",
          Edit('self.emit("pto.set_validshape", {"source": (handle.value,), "valid_row": (rows,), "valid_col": '
               '(cols,)})', "pass")),
    Fault("load-whole-window", f"{_CODEGEN}.emit_memory", "emit_load",
          "a load reads its whole window, not what is valid",
          Edit("if len(call.args) > 3 and call.args[3] != NO_ARG:", "if False:"), "fla#1251, pypto-lib#1111"),
    Fault("store-whole-tile", f"{_CODEGEN}.emit_memory", "emit_store",
          "a store writes the whole tile, not what is valid",
          Edit("sizes = tile.type.valid_shape", "sizes = tile.type.shape"), "flash-attention#2790"),
    Fault("column-as-rows", f"{_CODEGEN}.types", "tile_buf_type", "a column is emitted row-major",
          Edit("view.blayout, view.slayout", "type(view.blayout).ROW, view.slayout"), "PTOAS#137, PTOAS#345"),
    Fault("tensor-as-rows", f"{_CODEGEN}.tensors", "_packed", "a tensor in column order gets the strides of rows",
          Edit("if layout is TensorLayout.DN and len(shape) >= 2", "if False"), "pypto#739, pypto#1241"),
    Fault("store-without-offset", f"{_CODEGEN}.emit_memory", "emit_store", "stores in a loop all go to the first row",
          Edit("kernel.window(tensor, offsets, sizes)", "kernel.window(tensor, (0, *offsets[1:]), sizes)")),
    Fault("sub-is-add", f"{_CODEGEN}.emit_dps", "ROWS[tile.sub]", "a subtraction is emitted as an addition",
          other(f"{_CODEGEN}.emit_dps", "ROWS", "tile.add")),
    Fault("wrong-registration", f"{_CODEGEN}.emit_dps", "ROWS[tile.col_max]",
          "an op is registered under the name of another", other(f"{_CODEGEN}.emit_dps", "ROWS", "tile.col_min"),
          "pypto#357"),
    Fault("mul-is-add", f"{_CODEGEN}.emit_dps", "ROWS[tile.muls]", "a product with a scalar is emitted as a sum",
          other(f"{_CODEGEN}.emit_dps", "ROWS", "tile.adds")),
    Fault("row-sum-is-max", f"{_CODEGEN}.emit_dps", "ROWS[tile.row_sum]", "a row sum is emitted as a row maximum",
          other(f"{_CODEGEN}.emit_dps", "ROWS", "tile.row_max")),
    Fault("round-mode-dropped", f"{_CODEGEN}.emit_dps", "_mode_name", "a cast loses its rounding mode",
          Edit("return names[mode]", "return names[min(mode, 1)] if names is ROUND_MODES else names[mode]"),
          "pto-isa#318, PTOAS PR#1232"),
    Fault("less-or-equal", f"{_CODEGEN}.expr", "_COMPARE[LE]", "<= is emitted as <",
          other(f"{_CODEGEN}.expr", "_COMPARE", "LT")),
    Fault("equal-is-less", f"{_CODEGEN}.expr", "_COMPARE[EQ]", "== is emitted as <",
          other(f"{_CODEGEN}.expr", "_COMPARE", "LT")),
    Fault("min-is-max", f"{_CODEGEN}.expr", "_ARITH[MIN]", "the last, shorter step of a loop is as long as the others",
          other(f"{_CODEGEN}.expr", "_ARITH", "MAX"), "pypto-lib#1111, triton#630"),
    Fault("loop-from-zero", f"{_CODEGEN}.function", "_for", "a loop that starts at 1 starts at 0",
          Edit('"lower": (bounds[0],)', '"lower": (kernel.index(0),)')),
    Fault("read-first-element", f"{_CODEGEN}.emit_memory", "_tensor_offset", "a scalar read takes the first element",
          Edit("kernel.index(_dot(indices, strides))", "kernel.index(0)")),
)
