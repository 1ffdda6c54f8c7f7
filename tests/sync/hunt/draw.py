"""Choices that all generators make: how often a loop turns, when a branch is taken, and the same in other words."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tests.sync.hunt.nodes import Body, Carried, Cond, Expr, For, Statement, While

SIZES: tuple[str, ...] = ("M", "N")
"""Index arguments of every text."""


class Draw(Random):
    """The source of all choices; equal seeds give equal texts."""

    def __init__(self, seed: int, number: int) -> None:
        super().__init__(f"{seed}:{number}")
        self.count = 0

    def chance(self, percent: int) -> bool:
        return self.randrange(100) < percent

    def name(self, word: str) -> str:
        """A name that no other statement has."""
        self.count += 1
        return f"{word}{self.count}"

    def trips(self, variables: Sequence[str]) -> Expr:
        """How often a loop turns."""
        base: Expr = self.choice((*SIZES, "M", *variables))
        return self.choice((base, base, base, base, ("/", base, 2), ("/", ("+", base, 1), 2), ("max", base, 1),
                            ("min", "M", "N"), ("+", base, 1), ("-", base, 1), ("%", base, 3), ("ceil", base, 2), 2, 3))

    def condition(self, variables: Sequence[str]) -> Cond:
        a: Expr = self.choice((*SIZES, *variables, *variables, *variables))
        return self.choice((
            ("sgt", a, 0), ("sge", a, 1), ("eq", ("%", a, 2), 0), ("ne", ("%", a, 2), 1), ("slt", ("+", a, 1), "M"),
            ("slt", a, "N"), ("eq", a, 0), ("eq", a, ("-", "M", 1)), ("sgt", a, 1), ("ne", ("%", a, 3), 1)))

    def same(self, expr: Expr) -> Expr:
        """The same number, perhaps in other words, for numbers that are not negative."""
        if self.chance(55):
            return expr
        return self.choice((
            ("+", expr, 0), ("max", expr, 0), ("-", ("+", expr, 2), 2), ("-", ("*", 2, expr), expr),
            ("+", ("/", expr, 2), ("-", expr, ("/", expr, 2))), ("min", expr, ("*", expr, 2)),
            ("+", ("/", expr, 2), ("/", ("+", expr, 1), 2)), ("/", ("*", expr, 3), 3),
            ("+", ("*", ("/", expr, 3), 3), ("%", expr, 3))))

    def same_condition(self, condition: Cond) -> Cond:
        relation, a, b = condition
        if self.chance(50):
            return condition
        words: dict[str, tuple[Cond, ...]] = {
            "sgt": (("sge", a, ("+", b, 1)), ("slt", b, a)), "sge": (("sgt", a, ("-", b, 1)), ("sle", b, a)),
            "eq": (("eq", b, a),), "ne": (("ne", b, a),), "slt": (("sgt", b, a), ("sle", ("+", a, 1), b))}
        return self.choice(words[relation])

    def turn(self, number: Expr, slots: int) -> Expr:
        """`number % slots`, perhaps in other words."""
        plain: Expr = ("%", number, slots)
        others: list[Expr] = [
            plain, plain, plain, ("-", number, ("*", ("/", number, slots), slots)), ("%", ("+", number, slots), slots),
            ("-", slots - 1, ("-", slots - 1, plain))]
        if slots == 2:
            others += [("and", number, 1), ("-", 1, ("%", ("+", number, 1), 2)), ("xor", ("%", ("+", number, 1), 2), 1),
                       ("odd", number, 2)]
        return self.choice(others)

    def loop(
        self, variable: str, low: Expr, high: Expr, body: Body, step: Expr = 1, carried: tuple[Carried, ...] = ()
    ) -> Statement:
        """A loop, now and then as a while loop."""
        if self.chance(18):
            return While(variable, low, high, body, step, carried)
        return For(variable, low, high, body, step, carried)
