"""The op table, part 3: MLIR's scalar and control ops around the tile ops (arith, math, scf, cf, func)."""

from __future__ import annotations

from pypto_verified.pto.spec import OpRow, row

_SOURCE = "MLIR 19 dialect documentation"
_BINARY = "$lhs , $rhs <? #overflow ?> <? #fastmath ?> {} : :lhs,rhs =>:lhs"
_FLAGS = {"overflow": "flags:overflow", "fastmath": "flags:fastmath"}
_COMPARE = "#predicate , $lhs , $rhs <? #fastmath ?> {} : :lhs,rhs =>i1"
_CAST = "$in <? #fastmath ?> {} : :in to @"
_UNARY = "$in <? #fastmath ?> {} : :in =>:in"

_INT_PREDICATES = "word:eq ne slt sle sgt sge ult ule ugt uge"
_FLOAT_PREDICATES = "word:false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true"

_BINARY_OPS = (
    "addi subi muli divsi divui ceildivsi ceildivui floordivsi remsi remui andi ori xori shli shrsi shrui "
    "maxsi maxui minsi minui addf subf mulf divf remf maximumf minimumf maxnumf minnumf"
)
_CAST_OPS = (
    "extsi extui extf trunci truncf sitofp uitofp fptosi fptoui index_cast index_castui bitcast"
)
_MATH_OPS = "absf absi exp exp2 log log2 log10 sqrt rsqrt sin cos tanh floor ceil round trunc erf"

_ARITH = (
    row("arith.constant", form="constant", pipe="", effect="pure", source=_SOURCE),
    *(row(f"arith.{n}", "lhs:s rhs:s", form=_BINARY, pipe="", effect="pure", attrs=_FLAGS, source=_SOURCE)
      for n in _BINARY_OPS.split()),
    row("arith.cmpi", "lhs:s rhs:s", form=_COMPARE.replace(" <? #fastmath ?>", ""), pipe="", effect="pure",
        attrs={"predicate": _INT_PREDICATES}, source=_SOURCE),
    row("arith.cmpf", "lhs:s rhs:s", form=_COMPARE, pipe="", effect="pure",
        attrs={"predicate": _FLOAT_PREDICATES, "fastmath": "flags:fastmath"}, source=_SOURCE),
    row("arith.select", "cond:s true_value:t false_value:t", pipe="", effect="pure", source=_SOURCE,
        form="$cond , $true_value , $false_value {} : :true_value,false_value =>:true_value"),
    row("arith.negf", "in:s", form=_UNARY, pipe="", effect="pure", attrs=_FLAGS, source=_SOURCE),
    *(row(f"arith.{n}", "in:s", form=_CAST, pipe="", effect="pure", attrs=_FLAGS, source=_SOURCE)
      for n in _CAST_OPS.split()),
    *(row(f"math.{n}", "in:s", form=_UNARY, pipe="", effect="pure", attrs=_FLAGS, source=_SOURCE)
      for n in _MATH_OPS.split()),
)

_BUILTIN = (
    # Re-types an unsigned integer for `arith`, which knows signless ones only; no bits change.
    row("builtin.unrealized_conversion_cast", "in:t", form="$in {} : :in to @", pipe="", effect="pure", source=_SOURCE),
)

_CONTROL = (
    row("scf.for", "lower:s upper:s step:s init:t*", form="scf.for", pipe="", effect="control", source=_SOURCE),
    row("scf.if", "cond:s", form="scf.if", pipe="", effect="control", source=_SOURCE),
    row("scf.while", "init:t*", form="scf.while", pipe="", effect="control", source=_SOURCE),
    row("scf.condition", "cond:s values:t*", form="( $cond ) {} <? $values : :values ?>", pipe="", effect="control",
        source=_SOURCE),
    row("scf.yield", "values:t*", form="{} <? $values : :values ?>", pipe="", effect="control", source=_SOURCE),
    row("scf.execute_region", form="scf.execute_region", pipe="", effect="control", modelled=False, source=_SOURCE),
    row("cf.br", "operands:t*", form="cf.br", pipe="", effect="control", modelled=False, attrs={"dest": "str"},
        source=_SOURCE),
    row("cf.cond_br", "cond:s true_operands:t* false_operands:t*", form="cf.cond_br", pipe="", effect="control",
        modelled=False, attrs={"true_dest": "str", "false_dest": "str"}, source=_SOURCE),
    row("func.return", "values:t*", form="{} <? $values : :values ?>", pipe="", effect="control", source=_SOURCE),
    row("func.call", "operands:t*", form="func.call", pipe="", effect="control", attrs={"callee": "symbol"},
        source=_SOURCE),
)

ROWS: tuple[OpRow, ...] = _ARITH + _BUILTIN + _CONTROL
