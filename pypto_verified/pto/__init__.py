"""The PTO dialect: types, module, table-driven reader and writer, one row an op.

Conventions of `Op.args` and `Op.attrs` for the ops around the tile ops (rows in `rows_std.py`):

- `arith.constant`: attrs value (int, float or bool). Two-operand `arith.*`: args lhs, rhs; `arith.cmpi/cmpf`: attrs
  predicate ('slt', 'eq', ...); `arith.select`: args cond, true_value, false_value; conversions: args in.
- `scf.for`: args lower, upper, step, init*; one region, block args (induction variable, carried...).
  `scf.if`: args cond; one or two regions.
- `scf.while`: args init*; regions before (ends in `scf.condition`: args cond, values*) and after.
  A block that hands values on ends in `scf.yield`: args values*; an empty `scf.yield` is not stored.
- `func.return`: args values*; stored as the last op of a function body. `func.call`: attrs callee, args operands*.
"""
