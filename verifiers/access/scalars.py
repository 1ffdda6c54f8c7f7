"""The value of scalar ops as index expressions and conditions. Integers are mathematical: assumption SCALAR-ROUND-TRIP.

Signed division truncates in `arith`: `a / b = max(a, 0) // b - max(-a, 0) // b` for b > 0, which is plain floor
division once `a` is known not to be negative.
"""

from __future__ import annotations

from collections.abc import Callable

from pypto_verified.errors import Location, ParseError
from pypto_verified.index import Cond, Expr, IntLike, as_expr, const, eq, implies, maximum, minimum, ne
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.index.expr import from_atom
from pypto_verified.pto.module import Op, Value
from pypto_verified.pto.types import ScalarType
from verifiers.access.program import Scalar
from verifiers.access.symbols import SymbolKind, Symbols


def truncated_quotient(a: Expr, b: Expr) -> Expr:
    """`a / b` rounded towards zero, for b > 0."""
    if a.lo is not None and a.lo >= 0:
        return a // b
    return maximum(a, 0) // b - maximum(-a, 0) // b


def ceiling(a: Expr, b: IntLike) -> Expr:
    """`a / b` rounded up, for b > 0."""
    return (a + b - 1) // b


def with_remainders(e: Expr) -> Expr:
    """`e` with each whole `a - k * (a // k)` in it written as `a % k`."""
    for mono, factor in e.terms:
        divisor = mono[0].args[1].value if len(mono) == 1 and mono[0].kind == "floordiv" else None
        if divisor is None or divisor <= 1 or factor % divisor:
            continue
        (atom,), times = mono, -factor // divisor
        dividend = times * atom.args[0]
        terms = dict(e.terms)
        if all(terms.get(m) == c for m, c in dividend.terms):
            return with_remainders(e - dividend - factor * from_atom(atom) + times * (atom.args[0] % divisor))
    return e


def _of_two(cond: Cond, a: Expr, b: Expr) -> Expr | None:
    """`cond ? a : b` where `cond` asks which of its two values one term has and `a` and `b` differ by a constant."""
    inner = cond.parts[0] if cond.kind == "not" else cond
    asked = inner.expr
    if (b - a).value is None or asked is None or len(asked.terms) != 1:
        return None
    ((mono, factor),) = asked.terms
    if len(mono) != 1 or mono[0].lo is None or mono[0].hi != mono[0].lo + 1:
        return None
    low = mono[0].lo

    def at(value: int) -> Expr:
        found = factor * value + asked.constant
        holds = found >= 0 if inner.kind == "nonneg" else found == 0
        return a if holds is (inner is cond) else b

    first, second = at(low), at(low + 1)
    return first + (second - first) * (from_atom(mono[0]) - low)


_BINARY: dict[str, Callable[[Expr, Expr], Expr]] = {
    "arith.addi": lambda a, b: with_remainders(a + b),
    "arith.subi": lambda a, b: with_remainders(a - b),
    "arith.muli": lambda a, b: a * b,
    "arith.minsi": minimum,
    "arith.maxsi": maximum,
}

_DIVISION: dict[str, Callable[[Expr, Expr], Expr]] = {
    "arith.divsi": truncated_quotient,
    "arith.remsi": lambda a, b: a - b * truncated_quotient(a, b) if a.lo is None or a.lo < 0 else a % b,
    "arith.floordivsi": lambda a, b: a // b,
    "arith.ceildivsi": ceiling,
}

def _shift(op: str, a: Expr, b: Expr) -> Expr | None:
    """Shifts by a constant; the arithmetic right shift rounds down."""
    if b.value is None or not 0 <= b.value < 64:
        return None
    return a * (1 << b.value) if op == "arith.shli" else a // (1 << b.value)


def _masked(op: str, a: Expr, b: Expr) -> Expr | None:
    """`&` and `^` with a constant that has its ones side by side, for `^` the lowest among them."""
    if a.value is not None:
        a, b = b, a
    mask = b.value
    if mask is not None and a.value is not None:
        return const(mask & a.value if op == "arith.andi" else mask ^ a.value)
    if mask is None or mask <= 0 or (mask + (low := mask & -mask)) & mask:
        return None
    if op == "arith.andi":
        return a % (mask + low) // low * low
    within = low == 1 and a.lo is not None and a.lo >= 0 and a.hi is not None and a.hi <= mask
    return mask - a if within else None


_SHIFTS = frozenset({"arith.shli", "arith.shrsi"})
_MASKS = frozenset({"arith.andi", "arith.xori"})
_SIGNED = {
    "arith.divui": "arith.divsi", "arith.remui": "arith.remsi", "arith.ceildivui": "arith.ceildivsi",
    "arith.maxui": "arith.maxsi", "arith.minui": "arith.minsi", "arith.shrui": "arith.shrsi"}
"""What an unsigned op is for operands that are not negative."""
_SAME = frozenset({"arith.index_cast", "arith.extsi", "arith.trunci"})

WRAPPING = frozenset({"arith.addi", "arith.subi", "arith.muli", "arith.shli", "arith.trunci", "arith.index_cast"})
"""Ops whose integer may not fit into the type of their result."""

_COMPARE: dict[str, Callable[[Expr, Expr], Cond]] = {
    "eq": eq, "ne": ne,
    "slt": lambda a, b: a < b, "sle": lambda a, b: a <= b, "sgt": lambda a, b: a > b, "sge": lambda a, b: a >= b,
}
_UNSIGNED = {"ult": "slt", "ule": "sle", "ugt": "sgt", "uge": "sge"}

_RING = frozenset({"arith.addi", "arith.subi", "arith.muli", "arith.shli"})
"""Ops whose lowest bits come from those of their operands alone."""

RETYPED = "builtin.unrealized_conversion_cast"
"""Names an integer with a sign for one without, or the other way round; no bits change."""


class Scalars:
    """Evaluates one scalar op at a time; what it can't express becomes an OPAQUE symbol, noted in `symbols`. `path` is
    the condition under which the op runs. Raises ParseError for a division by the constant 0."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.path = TRUE
        self._unsigned: dict[tuple[Expr, int], Expr] = {}  # by their bits: more of them are another number

    def constant(self, op: Op) -> Scalar:
        value = op.attrs.get("value")
        if isinstance(value, bool):
            return TRUE if value else FALSE
        return const(value) if isinstance(value, int) else None

    def evaluate(self, op: Op, args: list[Scalar]) -> Scalar:
        """The value of an `arith` op's result given its operands' values, in operand order."""
        name = op.name
        if name == "arith.constant":
            return self.constant(op)
        if name in ("arith.cmpi", "arith.cmpf"):
            return self._compare(op, args)
        if name == "arith.select":
            return self.select(op.result.name, args[0], args[1], args[2])
        if name in ("arith.andi", "arith.ori", "arith.xori") and all(isinstance(a, Cond) for a in args):
            a, b = (x for x in args if isinstance(x, Cond))
            if name == "arith.xori":
                return (a & ~b) | (~a & b)
            return a & b if name == "arith.andi" else a | b
        if name in _SAME or name == "arith.extui":
            return self._convert(op, args[0])
        if name == RETYPED:
            return self._retyped(op, args[0])
        if len(args) == 2 and isinstance(args[0], Expr) and isinstance(args[1], Expr):
            return self._integer(op, args[0], args[1])
        return self._unknown(op)

    def _integer(self, op: Op, a: Expr, b: Expr) -> Scalar:
        name = _SIGNED.get(op.name, op.name)
        if name != op.name:
            return self._without_sign(op, name, a, b)
        made = self._made(op, name, a, b)
        bits = _width(op.result)
        if isinstance(made, Expr) and name in _RING and not self._unsigned.keys().isdisjoint(((a, bits), (b, bits))):
            self._unsigned[made, bits] = made % (1 << bits)
        return made

    def _without_sign(self, op: Op, name: str, a: Expr, b: Expr) -> Scalar:
        """An unsigned op, by the signed one that it is for operands that are not negative."""
        bare = self._bare(op, a), self._bare(op, b)
        if any(x.lo is None or x.lo < 0 for x in bare):
            return self._unknown(op)
        made = self._made(op, name, *bare)
        same = bare[0] is a and bare[1] is b
        return made if same or not isinstance(made, Expr) else self._signed(made, _width(op.result))

    def _made(self, op: Op, name: str, a: Expr, b: Expr) -> Scalar:
        """`name`: the op, or the signed one that it is for these operands."""
        if name in _BINARY:
            return _wrapped(op, _BINARY[name](a, b))
        if name in _DIVISION:
            return self._divide(op, name, a, b)
        made = _shift(name, a, b) if name in _SHIFTS else _masked(name, a, b) if name in _MASKS else None
        return _wrapped(op, made) if made is not None else self._unknown(op)

    def select(self, name: str, cond: Scalar, a: Scalar, b: Scalar) -> Scalar:
        """`cond ? a : b`, also the result of an `scf.if`; not decided here: a DEFINED symbol or a case split."""
        if isinstance(a, Cond) and isinstance(b, Cond) and isinstance(cond, Cond):
            return implies(cond, a) & implies(~cond, b)
        if not (isinstance(a, Expr) and isinstance(b, Expr)):
            return None
        if a is b or cond is TRUE:
            return a
        if cond is FALSE:
            return b
        if not isinstance(cond, Cond):
            return self.symbols.new(name, SymbolKind.OPAQUE)
        linear = _of_two(cond, a, b)
        if linear is not None:
            return linear
        lo = min(a.lo, b.lo) if a.lo is not None and b.lo is not None else None
        hi = max(a.hi, b.hi) if a.hi is not None and b.hi is not None else None
        made = self.symbols.new(name, SymbolKind.DEFINED, lo, hi)
        self.symbols.require(implies(cond, eq(made, a)) & implies(~cond, eq(made, b)))
        return made

    def opaque_condition(self, name: str) -> Cond:
        """A condition on data: a Boolean of its own."""
        return self.symbols.opaque(name)

    def _compare(self, op: Op, args: list[Scalar]) -> Scalar:
        predicate = op.attrs.get("predicate")
        a, b = args
        if op.name == "arith.cmpi" and isinstance(predicate, str) and isinstance(a, Expr) and isinstance(b, Expr):
            if predicate in _COMPARE:
                return _COMPARE[predicate](a, b)
            if predicate in _UNSIGNED:
                bare = [self._bare(op, x) for x in (a, b)]
                if all(x.lo is not None and x.lo >= 0 for x in bare):
                    return _COMPARE[_UNSIGNED[predicate]](*bare)
        return self.opaque_condition(op.result.name)

    def _retyped(self, op: Op, value: Scalar) -> Scalar:
        """The same bits with a sign, or without."""
        source, result = op.arg("in").type, op.result.type
        if not (isinstance(value, Expr) and isinstance(source, ScalarType) and isinstance(result, ScalarType)):
            return self._unknown(op)
        if source.dtype.bits != result.dtype.bits or not (source.dtype.is_integer and result.dtype.is_integer):
            return self._unknown(op)
        if result.dtype.kind == "uint":
            return self._unsigned.get((value, result.dtype.bits), value % (1 << result.dtype.bits))
        return self._signed(value, result.dtype.bits) if source.dtype.kind == "uint" else value

    def _signed(self, value: Expr, bits: int) -> Expr:
        """What the bits of a number without a sign are with one."""
        half = 1 << (bits - 1)
        signed = value if value.hi is not None and value.hi < half else (value + half) % (2 * half) - half
        self._unsigned[signed, bits] = value
        return signed

    def _bare(self, op: Op, value: Expr) -> Expr:
        """The number that the bits of an operand are without a sign, where that is known."""
        bits = max((_width(v) for v in op.operands()), default=64)
        return self._unsigned.get((value, bits), value) if value.value is None else value % (1 << bits)

    def _convert(self, op: Op, value: Scalar) -> Scalar:
        if isinstance(value, Cond):
            return self.select(op.result.name, value, const(-1 if op.name == "arith.extsi" else 1), const(0))
        if isinstance(value, Expr) and _is_bool(op):
            return ne(value % 2, 0)
        if isinstance(value, Expr) and op.name == "arith.extui" and (value.lo is None or value.lo < 0):
            return self._unknown(op)
        return _wrapped(op, value) if isinstance(value, Expr) else value

    def _divide(self, op: Op, name: str, a: Expr, b: Expr) -> Scalar:
        """`name`: the signed op that `op` is for these operands."""
        if b.value == 0:
            raise ParseError(f"{op.name} divides by zero", op.loc if op.loc.line else Location(line=op.line),
                             "an integer divided by zero has no value")
        if a.value == 0:
            return const(0)  # whatever the divisor is: by zero, the run has no meaning
        if b.value is not None and b.value < 0:
            quotient = truncated_quotient(a, as_expr(-b.value)) * -1
            if name == "arith.divsi":
                return quotient
            return a - b * quotient if name == "arith.remsi" else self._unknown(op)
        if b.lo is None or b.lo < 0:
            return self._unknown(op)
        if b.lo == 0:
            # A run that divides by zero has no meaning: whoever gets here has a positive divisor.
            self.symbols.require(implies(self.path, b >= 1))
        return _DIVISION[name](a, b)

    def _unknown(self, op: Op) -> Scalar:
        type_ = op.result.type
        if not isinstance(type_, ScalarType) or not type_.dtype.is_integer:
            return self.opaque_condition(op.result.name) if _is_bool(op) else None
        return self.symbols.new(op.result.name, SymbolKind.OPAQUE)


def _wrapped(op: Op, value: Expr) -> Expr:
    """What of a signed value remains in 16 bits or fewer. Sizes and offsets do not fit there as they do into 32 bits,
    for which SCALAR-ROUND-TRIP is assumed."""
    type_ = op.result.type
    if op.name not in WRAPPING or not isinstance(type_, ScalarType) or type_.dtype.bits > 16:
        return value
    half = 1 << (type_.dtype.bits - 1)
    if value.lo is not None and value.lo >= -half and value.hi is not None and value.hi < half:
        return value
    return (value + half) % (2 * half) - half


def _width(value: Value) -> int:
    """The bits of an integer."""
    return value.type.dtype.bits if isinstance(value.type, ScalarType) else 64


def _is_bool(op: Op) -> bool:
    return isinstance(op.result.type, ScalarType) and op.result.type.dtype.kind == "bool"
