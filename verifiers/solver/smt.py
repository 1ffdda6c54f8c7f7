"""z3 behind one long-lived solver: conditions to terms, satisfiability, small models.

Division is written as digits, `x = q*d + r` with `0 <= r < d`, so that a constant divisor stays linear and a symbolic
one needs one product. Budgets are `rlimit` units (reproducible), with a wall clock only as a backstop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field

import z3

from pypto_verified.index import Cond, Expr, symbols_of
from pypto_verified.index.expr import Atom
from pypto_verified.records import dataclass
from verifiers.solver.answer import Answer, rung_of
from verifiers.solver.cone import booleans_of

BUDGET = 4_000_000
_SLICES = (40, 40, 40, 20, 10)
"""Parts of the budget (the whole divided by each) that are tried before the rest of it, each with a seed of its own.
Products of symbols are settled in 3,000 units under one seed and not in millions under the next, so that several
short tries find more than one long."""
_BUDGET_QUANTIFIED = 200_000
"""For what a caller may choose: what it finds it finds soon, and without it the answer is a condition all the same."""

_BACKSTOP_MS = 10_000
_SEEDS_APART = 1_000
"""So that neighbouring seeds, which `prove --seeds` compares, try nothing twice."""


@dataclass(slots=True)
class Encoding:
    """Terms of one query. `sides` define the digits; they can always be satisfied for non-zero divisors."""

    ints: dict[str, z3.ArithRef] = field(default_factory=dict)
    bools: dict[str, z3.BoolRef] = field(default_factory=dict)
    digits: list[z3.ArithRef] = field(default_factory=list)
    sides: list[z3.BoolRef] = field(default_factory=list)
    _atoms: dict[int, z3.ArithRef] = field(default_factory=dict)
    _conds: dict[int, z3.BoolRef] = field(default_factory=dict)
    _digit_pairs: dict[tuple[int, int], tuple[z3.ArithRef, z3.ArithRef]] = field(default_factory=dict)

    def cond(self, c: Cond) -> z3.BoolRef:
        """The term of a condition; parts that occur more than once are made once."""
        found = self._conds.get(c.uid)
        if found is None:
            found = self._condition(c)
            self._conds[c.uid] = found
        return found

    def _condition(self, c: Cond) -> z3.BoolRef:
        if c.kind in ("true", "false"):
            return z3.BoolVal(c.kind == "true")
        if c.kind == "var":
            return self.bools.setdefault(c.name, z3.Bool(c.name))
        if c.expr is not None:
            term = self.expr(c.expr)
            return term >= 0 if c.kind == "nonneg" else term == 0
        parts = [self.cond(p) for p in c.parts]
        if c.kind == "not":
            return z3.Not(parts[0])
        return z3.And(parts) if c.kind == "and" else z3.Or(parts)

    def expr(self, e: Expr) -> z3.ArithRef:
        total: z3.ArithRef = z3.IntVal(e.constant)
        for mono, coefficient in e.terms:
            product: z3.ArithRef = z3.IntVal(coefficient)
            for atom in mono:
                product = product * self.atom(atom)
            total = total + product
        return total

    def atom(self, a: Atom) -> z3.ArithRef:
        found = self._atoms.get(a.uid)
        if found is None:
            found = self._make(a)
            self._atoms[a.uid] = found
        return found

    def _make(self, a: Atom) -> z3.ArithRef:
        if a.kind == "sym":
            term = z3.Int(a.name)
            self.ints[a.name] = term
            if a.lo is not None:
                self.sides.append(term >= a.lo)
            if a.hi is not None:
                self.sides.append(term <= a.hi)
            return term
        args = [self.expr(x) for x in a.args]
        if a.kind in ("min", "max"):
            best = args[0]
            for other in args[1:]:
                best = z3.If(best <= other if a.kind == "min" else best >= other, best, other)
            return best
        # floordiv and mod of the same operands share their digits.
        key = (a.args[0].uid, a.args[1].uid)
        known = self._digit_pairs.get(key)
        if known is None:
            known = (z3.Int(f"q!{a.uid}"), z3.Int(f"r!{a.uid}"))
            self._digit_pairs[key] = known
            self.digits.extend(known)
            self._define_digits(args[0], args[1], a.args[1], known)
        return known[0] if a.kind == "floordiv" else known[1]

    def _define_digits(
        self, x: z3.ArithRef, d: z3.ArithRef, divisor: Expr, pair: tuple[z3.ArithRef, z3.ArithRef]
    ) -> None:
        quotient, remainder = pair
        self.sides.append(x == quotient * d + remainder)
        positive = z3.And([remainder >= 0, remainder < d])
        if divisor.lo is not None and divisor.lo > 0:
            self.sides.append(positive)
            return
        negative = z3.And([remainder <= 0, remainder > d])
        self.sides.append(z3.Or([z3.And([d > 0, positive]), z3.And([d < 0, negative])]))


class Smt:
    """One z3 solver for a whole run."""

    def __init__(self, seed: int = 0, budget: int = BUDGET) -> None:
        self._budget = budget
        self._seed = seed
        self._tries = tuple(budget // part for part in _SLICES)
        self._solver = z3.Solver()
        self._solver.set("timeout", _BACKSTOP_MS)
        self._aim(0, self._tries[0])

    def _aim(self, tried: int, budget: int) -> None:
        """The next question's seed and resource units."""
        self._solver.set("random_seed", self._seed + tried * _SEEDS_APART)
        self._solver.set("rlimit", budget)

    @contextmanager
    def _scope(self) -> Iterator[None]:
        self._solver.push()
        try:
            yield
        finally:
            self._solver.pop()

    @property
    def _spent(self) -> int:
        """Resource units since the solver was made. It is looked for from the end, where it stands: a solver that has
        been asked much gives thousands of figures."""
        found = self._solver.statistics()
        places = reversed(range(len(found)))
        return next((value for name, value in (found[i] for i in places) if name == "rlimit count"), 0)

    def _check(self, brief: bool = False) -> str:
        status = self._once()
        if status == "unknown" and not brief:
            for tried, budget in enumerate((*self._tries[1:], self._budget - sum(self._tries)), 1):
                self._aim(tried, budget)
                status = self._once()
                if status != "unknown":
                    break
            self._aim(0, self._tries[0])
        return status

    def _once(self) -> str:
        result = self._solver.check()
        return "sat" if result == z3.sat else "unsat" if result == z3.unsat else "unknown"

    def solve(
        self, c: Cond, small: Sequence[str] = (), sizes: Sequence[str] = (), brief: bool = False
    ) -> Answer:
        """A model of `c`; values of the symbols in `small` are made as small as they can be, in that order. `sizes` are
        made positive where that is possible: an empty tensor convinces nobody. `brief`: the first try alone."""
        before, rung = self._spent, rung_of(c)
        encoding = Encoding()
        term = encoding.cond(c)
        with self._scope():
            self._solver.add(*encoding.sides, term)
            status = self._check(brief)
            if status != "sat":
                return Answer(status, decider=rung, rlimit=self._spent - before)
            ints, bools = self._read(encoding, c)
            for name in sizes:
                if name in encoding.ints and self._holds_with(encoding.ints[name] >= 1):
                    self._solver.add(encoding.ints[name] >= 1)
            for name in small:
                if name in encoding.ints:
                    self._shrink(encoding.ints[name])
            if self._check() == "sat":  # else as it was known before
                ints, bools = self._read(encoding, c)
            return Answer("sat", ints, bools, rung, self._spent - before)

    def script(self, c: Cond) -> str:
        """What z3 is asked about `c`, as an SMT-LIB script."""
        encoding = Encoding()
        term = encoding.cond(c)
        with self._scope():
            self._solver.add(*encoding.sides, term)
            return self._solver.to_smt2()

    def _read(self, encoding: Encoding, c: Cond) -> tuple[dict[str, int], dict[str, bool]]:
        model = self._solver.model()
        ints: dict[str, int] = {}
        for name in symbols_of(c):
            value = model.eval(encoding.ints[name], model_completion=True) if name in encoding.ints else z3.IntVal(0)
            assert isinstance(value, z3.IntNumRef)
            ints[name] = value.as_long()
        bools = {n: z3.is_true(model.eval(encoding.bools[n], model_completion=True)) for n in set(booleans_of(c))}
        return ints, bools

    def _value(self, term: z3.ArithRef) -> int:
        value = self._solver.model().eval(term, model_completion=True)
        assert isinstance(value, z3.IntNumRef)
        return value.as_long()

    def _holds_with(self, extra: z3.BoolRef) -> bool:
        with self._scope():
            self._solver.add(extra)
            return self._check() == "sat"

    def _shrink(self, term: z3.ArithRef) -> None:
        """Fix `term` at its value of least magnitude (the search is a bisection; a budget overrun keeps what is
        known)."""
        if self._check() != "sat":
            return
        high = self._value(term)
        if high < 0:
            if self._holds_with(term >= 0):
                self._solver.add(term >= 0)
                self._shrink(term)
                return
            low = high
            while low < -1 and self._holds_with(term >= (low + 1) // 2):
                low = (low + 1) // 2
            self._solver.add(term >= low)
            return
        low = 0
        while low < high:
            middle = (low + high) // 2
            if self._holds_with(z3.And([term >= 0, term <= middle])):
                high = middle
            else:
                low = middle + 1
        if self._holds_with(term == high):
            self._solver.add(term == high)

    def exists_forall(self, hypotheses: Cond, goal: Cond, outer: Sequence[str]) -> Answer:
        """'sat' if some values of the `outer` symbols reach the hypotheses and then make the goal hold for all others;
        without a model."""
        before = self._spent
        encoding = Encoding()
        reach = encoding.cond(hypotheses)
        holds = encoding.cond(goal)
        inner: list[z3.ExprRef] = [t for n, t in encoding.ints.items() if n not in outer]
        inner += [t for n, t in encoding.bools.items() if n not in outer]
        inner += encoding.digits
        sides = z3.And(encoding.sides) if encoding.sides else z3.BoolVal(True)
        every = z3.Implies(z3.And([sides, reach]), holds)
        with self._scope():
            self._solver.add(sides, reach, z3.ForAll(inner, every) if inner else every)
            self._aim(0, min(self._budget, _BUDGET_QUANTIFIED))
            status = self._once()
            self._aim(0, self._tries[0])
            return Answer(status, decider=rung_of(hypotheses, goal), rlimit=self._spent - before)
