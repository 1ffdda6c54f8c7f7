"""Integer SSA values as index expressions, and which loop each unknown varies with."""

from __future__ import annotations

from collections.abc import Callable

from pypto_verified.index import Expr, const, maximum, minimum, symbol
from pypto_verified.pto.module import Op, Value

_ARITHMETIC: dict[str, Callable[[Expr, Expr], Expr]] = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.minsi": minimum,
    "arith.maxsi": maximum,
}
_DIVISION: dict[str, Callable[[Expr, Expr], Expr]] = {
    "arith.divsi": lambda a, b: a // b,
    "arith.remsi": lambda a, b: a % b,
}
_SAME = frozenset({"arith.index_cast", "arith.extsi", "arith.trunci"})


class Values:
    """What integers are known to be. `owner` gives the loop (by its number, 0 outside of loops) in whose turns an
    unknown takes new values."""

    def __init__(self) -> None:
        self.owner: dict[str, int] = {}
        self._known: dict[Value, Expr] = {}

    def bind(self, value: Value, meaning: Expr) -> None:
        """Say what a value is."""
        self._known[value] = meaning

    def unknown(self, name: str, loop: int, lo: int | None = None) -> Expr:
        """A fresh unknown that varies with a loop."""
        made = f"{name}#{len(self.owner)}"
        self.owner[made] = loop
        return symbol(made, lo)

    def of(self, value: Value) -> Expr:
        """The meaning of a value; one that nothing bound is an argument: the same in all turns."""
        found = self._known.get(value)
        if found is None:
            found = self._known[value] = self.unknown(value.name, 0)
        return found

    def define(self, op: Op, loop: int) -> None:
        """Bind the results of a scalar op; what is not arithmetic on integers is unknown."""
        meaning = self._meaning(op)
        for result in op.results:
            self._known[result] = meaning if meaning is not None else self.unknown(result.name, loop)

    def _meaning(self, op: Op) -> Expr | None:
        if op.name == "arith.constant":
            value = op.attrs.get("value")
            return const(value) if isinstance(value, int) else None
        if op.name in _SAME:
            return self.of(op.arg("in"))
        if op.name in _ARITHMETIC:
            return _ARITHMETIC[op.name](self.of(op.arg("lhs")), self.of(op.arg("rhs")))
        if op.name in _DIVISION:
            lhs, rhs = self.of(op.arg("lhs")), self.of(op.arg("rhs"))
            # `arith` truncates; that is floor division only where nothing is negative.
            if lhs.lo is not None and lhs.lo >= 0 and rhs.value is not None and rhs.value > 0:
                return _DIVISION[op.name](lhs, rhs)
        return None
