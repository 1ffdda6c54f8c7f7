"""Faults of rooms that both meanings stand on: index, ir, ops, targets, pto.

Where the two share the mistake, comparing them can't show it, and another layer has to.
"""

from __future__ import annotations

from pypto_verified.fuzz.faults.fault import Edit, Fault, having, other

_INDEX, _IR, _OPS = "pypto_verified.index", "pypto_verified.ir", "pypto_verified.ops"
_TARGETS, _PTO = "pypto_verified.targets", "pypto_verified.pto"
_DECLARED = f"{_OPS}.registry"

_ROWS = (
    Fault("minimum-is-first", f"{_INDEX}.extremes", "minimum", "the minimum of two sizes is the first",
          Edit('_extreme("min", values)', "as_expr(values[0])")),
    Fault("maximum-is-first", f"{_INDEX}.extremes", "maximum", "the maximum of two sizes is the first",
          Edit('_extreme("max", values)', "as_expr(values[0])")),
    Fault("coefficient-lost", f"{_INDEX}.expr", "Expr.__sub__", "the difference of sizes is their sum",
          Edit("- c\n    return polynomial(total, self.constant - right.constant)",
               "+ c\n    return polynomial(total, self.constant + right.constant)")),
    Fault("factor-lost", f"{_INDEX}.expr", "Expr.__mul__", "a multiple of a size is the size",
          Edit("{m: c * k for m, c in self.terms}", "{m: c for m, c in self.terms}")),
    Fault("equal-turned", f"{_INDEX}.cond", "eq", "constants are equal where they differ",
          Edit("TRUE if e.value == 0 else FALSE", "FALSE if e.value == 0 else TRUE")),
    Fault("floor-of-a-quotient", f"{_INDEX}.division", "floordiv", "a quotient of constants rounds up",
          Edit("const(e.value // k)", "const(-(-e.value // k))"), "tilelang#2433"),
    Fault("dominated", f"{_INDEX}.extremes", "_dominates", "the greater of two sizes is dropped as the lesser",
          Edit('kind == "min"', 'kind == "max"')),
    Fault("print-without-brackets", f"{_IR}.printer", "expr_text", "a sum in a product is printed without brackets",
          Edit('f"({expr_text(e.lhs)} {e.op.value} {expr_text(e.rhs)})"',
               'f"{expr_text(e.lhs)} {e.op.value} {expr_text(e.rhs)}"')),
    Fault("print-without-type", f"{_IR}.printer", "_const", "a constant is printed without its type",
          Edit("value if e.dtype in (INDEX, FP32) else", "value if True else"), "pypto#2132"),
    Fault("print-without-pad", f"{_IR}.printer", "_call", "the last keyword of a call is not printed",
          Edit("in e.kwargs if value is not None", "in e.kwargs[:-1] if value is not None")),
    Fault("print-other-arm", f"{_IR}.printer", "_statement", "an empty else is printed as a copy of the first arm",
          Edit("yield from _block(s.orelse, s.results)", "yield from _block(s.then, s.results)")),
    Fault("renamed-left-only", f"{_IR}.rewrite", "map_expr", "names on the right of an operator are not renamed",
          Edit("map_expr(e.rhs, fn)", "e.rhs")),
    Fault("index-min-is-max", f"{_IR}.index_form", "_ARITHMETIC[MIN]", "the lesser of two sizes counts as the greater",
          other(f"{_IR}.index_form", "_ARITHMETIC", "MAX")),
    Fault("reciprocal-in-place", _DECLARED, "OPS[tile.recip]", "a reciprocal is declared safe in place",
          having(noalias=()), "pypto#557"),
    Fault("transpose-in-place", _DECLARED, "OPS[tile.transpose]", "a transpose is declared safe in place",
          having(noalias=()), "pypto#1825"),
    Fault("product-elsewhere", _DECLARED, "OPS[tile.matmul_acc]",
          "the sum of a product and its accumulator gets storage of its own", having(inplace=None), "pypto#537"),
    Fault("unary-drops-extents", f"{_OPS}.elementwise", "_unary", "ops of one tile forget its valid extents",
          Edit('return like(a, a.tile("tile"))', 't = a.tile("tile")\n'
               '    return make_tile(t.shape, t.dtype, a.space(), layout=effective_view(t))'),
          "pypto#1370"),
    Fault("cast-drops-extents", f"{_OPS}.elementwise", "_cast", "a cast forgets its tile's valid extents",
          Edit("like(a, source, target)", "make_tile(source.shape, target, a.space(), layout=effective_view(source))"),
          "pypto#1401"),
    Fault("reduction-drops-extents", f"{_OPS}.reduce", "_row", "a column of sums forgets the valid rows",
          Edit("(*t.valid_shape[:-1], 1), layout=layout", "shape, layout=layout"), "pypto#1412"),
    Fault("broadcast-drops-extents", f"{_OPS}.reduce", "_col_expand", "a broadcast forgets the valid extents",
          Edit("return like(a, t)", "return make_tile(t.shape, t.dtype, a.space(), layout=effective_view(t))"),
          "pypto#1450"),
    Fault("transpose-keeps-extents", f"{_OPS}.views", "_transpose_view", "a transposed view has its source's extents",
          Edit("_swapped(view.valid_shape, -1, -2)", "view.valid_shape")),
    Fault("part-of-part-moved", f"{_OPS}.windows", "read_window", "windows of a part are as valid as one at its start",
          Edit("valid if equal(offset, 0) is True else maximum(sub(valid, offset), 0)", "valid")),
    Fault("reshape-all-valid", f"{_OPS}.views", "_reshape", "a partial tile is wholly valid in another shape",
          Edit("reshaped_valid(source.valid_shape, source.shape, shape) if ordered else None", "shape")),
    Fault("union-to-the-end", f"{_OPS}.windows", "write_union", "a tile that is written further is valid to its end",
          Edit("maximum(have, ends[i]) if i == axis", "target[i] if i == axis")),
    Fault("transpose-all-valid", f"{_OPS}.views", "_transpose", "a partial tile is wholly valid when it is transposed",
          Edit("_swapped(source.valid_shape, i, j))", "shape)")),
    Fault("window-all-valid", f"{_OPS}.windows", "read_window", "a slice of a partial tile is wholly valid",
          Edit("if clamp or equal(valid, size) is not True:", "if clamp:")),
    Fault("accumulator-boxes", f"{_OPS}.layout", "_BOXED[ACC]", "accumulators lie in boxes of 512 bytes",
          having(fractal=512), "pypto-lib#858"),
    Fault("pitch-of-half-a-box", f"{_TARGETS}.pitch", "read_pitch", "a narrowed accumulator is read at its valid rows",
          Edit("whole_fractals(acc.valid_rows)", "acc.valid_rows"), "PTOAS#903, PTOAS#924"),
    Fault("compact-unheeded", f"{_TARGETS}.pitch", "dense", "a store takes a compact accumulator for a plain one",
          Edit("acc.compact is Compact.NORMAL", "False"), "pto-isa#253"),
    Fault("no-way-to-left", f"{_TARGETS}.model", "Target.move", "the target has no move into the left operand's memory",
          Edit("row.src is src and row.dst is dst", "row.src is src and row.dst is dst and dst is not Space.LEFT")),
    Fault("tile-size-in-elements", f"{_PTO}.types", "TileBufType.bytes", "a tile's size counts elements, not bytes",
          Edit("self.cols * self.dtype.bytes", "self.cols")),
    Fault("text-short-floats", f"{_PTO}.attrtext", "float_text", "floats are written with three digits",
          Edit("{value:.17e}", "{value:.0e}")),
    Fault("text-without-loop-bounds", f"{_PTO}.writer", "_Writer._for", "the step of a loop is written as its end",
          Edit("step {op.arg('step')!r}", "step {op.arg('upper')!r}")),
    Fault("text-arms-swapped", f"{_PTO}.writer", "_Writer._if", "the arms of a branch are written in the other order",
          Edit("self._block(op.regions[0]", "self._block(op.regions[-1]")),
)

FAULTS = tuple(Fault(f.id, f.module, f.name, f.what, f.change, f.recreates, shared=True) for f in _ROWS)
