"""The PTO dialect: types, module, table-driven reader and writer, one row an op, the assembler's legality conditions.

`reader.read(text)` and `writer.write(module)` are inverses on everything that is read. A row (`rows*.py`) says how its
op is spelled, in the little language of `asmformat.py` that reader and writer both run; ops with regions have a reader
in `regions.py` and a printer in `writer.py`; `generic*.py` read the generic form. Ops below the tile level raise
NotModelled. `Module.units()` gives the modules within a module one by one.
`legality.check_legality(module, target, level)` is what the assembler would reject.

Conventions of `Op.args` and `Op.attrs`:

- A `pto` op's operand groups and attributes have the names of its row. What the text leaves out is absent, also
  where the assembler has a default. Results are typed in `results` only. `pto.tdivs` of a tile by a scalar has `src`
  and `scalar`, of a scalar by a tile `scalar` and `divisor`. `satmode` is read as `sat_mode`.
- `arith.constant`: attrs value (int, float or bool; of a vector an int for all elements, or an IntArray).
  Two-operand `arith.*`: args lhs, rhs; `arith.cmpi/cmpf`: attrs predicate ('slt', 'eq', ...); `arith.select`: args
  cond, true_value, false_value; conversions: args in.
- `scf.for`: args lower, upper, step, init*; one region, block args (induction variable, carried...).
  `scf.if`: args cond; one or two regions.
- `scf.while`: args init*; regions before (ends in `scf.condition`: args cond, values*) and after.
  A block that hands values on ends in `scf.yield`: args values*; an empty `scf.yield` is not stored.
- `func.return`: args values*; stored as the last op of a function body. `func.call`: attrs callee, args operands*.
- `cf.br`: attrs dest, args operands*. `cf.cond_br`: attrs true_dest, false_dest, args cond, true_operands*,
  false_operands*. Labels have no `^`; the blocks are `followers` of the region's first.
- Sections and `pto.fusion_region` have one region without arguments.
- A unit attribute (`pto.entry`) is None; a number of an uncommon type in an unknown attribute is paired with its type.
  `sym_name` of a module and `sym_visibility` of a function are attributes.
"""
