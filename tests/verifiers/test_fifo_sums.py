"""FIFO: in how many turns of loops a condition holds, as an expression of sizes: beside turns that are counted."""

from __future__ import annotations

from itertools import product

import pytest

from pypto_verified.index import Cond, Expr, const, eq, maximum, symbol
from pypto_verified.index.walk import evaluate, holds
from pypto_verified.report.model import Verdict
from tests.verifiers.examples_fifo import FREE, PUSH, pair_of_cores, pop, turns
from tests.verifiers.test_fifo import verdicts
from verifiers.fifo_sums import turns_that_hold

M, N = symbol("M"), symbol("N")
K, J = symbol("i", 0), symbol("j", 0)
SOME, MORE = maximum(M, 0), maximum(N, 0)
ALONE = [
    (K < 3,), (K >= 3,), (K + 1 < M,), (K > 0, K + 2 < N), (eq(K % 2, 0),), (eq(K % 3, 1), K >= 2),
    (~eq(K % 3, 0),), (eq(K, 2),), (~eq(K, 0),), (~eq(K, M - 1), eq(K % 2, 1)), (2 * K < N,), (N - 3 * K <= 2,),
    (K * 2 >= M - 1, K % 4 <= 1), (K >= 5, K < 2),
]
IN_NEST = [(K * M + J < 3,), (eq((K * M + J) % 2, 1),), (K * M + J + 1 < M * N,), (K < 2,), (J >= 1,), (eq(J % 2, 0),)]


def counted(loops: tuple[Expr, ...], held: tuple[Cond, ...], sizes: dict[str, int]) -> int:
    names = ("i", "j")
    ranges = (range(evaluate(number, sizes)) for number in loops)
    return sum(all(holds(c, {**sizes, **dict(zip(names, at, strict=False))}) for c in held) for at in product(*ranges))


@pytest.mark.parametrize(("loops", "held"), [
    *(((SOME,), held) for held in ALONE), *(((MORE, SOME), held) for held in IN_NEST),
    ((const(5), SOME), (K * M + J >= 2,)), ((SOME, const(4)), (K * 4 + J >= 2,)),
], ids=str)
def test_the_expression_says_what_is_counted(loops: tuple[Expr, ...], held: tuple[Cond, ...]) -> None:
    named = tuple(zip(loops, ("i", "j"), strict=False))
    found = turns_that_hold(named, frozenset(held))
    assert found is not None
    for m, n in product(range(-2, 8), repeat=2):
        sizes = {"M": m, "N": n}
        assert evaluate(found, sizes) == counted(loops, held, sizes)


@pytest.mark.parametrize(("loops", "held"), [
    ((SOME,), (K * K < N,)), ((SOME,), (K * M < N,)), ((MORE, SOME), (K < J,)), ((SOME, K + 1), (J < 2,)),
    ((MORE, const(3)), (K * 4 + J < 5,)), ((SOME,), (eq(2 * K, N),)),
], ids=str)
def test_other_conditions_have_none(loops: tuple[Expr, ...], held: tuple[Cond, ...]) -> None:
    assert turns_that_hold(tuple(zip(loops, ("i", "j"), strict=False)), frozenset(held)) is None


def _first(end: int) -> str:
    return f"%q = arith.cmpi slt, %i, %c{end} : index\nscf.if %q {{"


HALF = "%half = arith.divsi %n, %c2 : index\n" + turns("%half", PUSH)
ODD = "%r = arith.remsi %i, %c2 : index\n%q = arith.cmpi eq, %r, %c1 : index\nscf.if %q {"
BOTH = pop() + "\n" + FREE
LEAST = "%least = arith.minsi %n, %c5 : index\n" + turns("%least", BOTH)


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize(("pushes", "pops", "popped", "drained"), [
    (turns("%n", _first(5), PUSH, "}"), LEAST, Verdict.PROVED, Verdict.PROVED),
    (turns("%n", _first(2), PUSH, "}"), LEAST, Verdict.UNKNOWN, Verdict.PROVED),
    (turns("%n", _first(8), PUSH, "}"), LEAST, Verdict.PROVED, Verdict.UNKNOWN),
    (HALF, turns("%n", ODD, BOTH, "}"), Verdict.PROVED, Verdict.PROVED),
    (HALF, turns("%n", ODD.replace("%c1 ", "%c0 "), BOTH, "}"), Verdict.UNKNOWN, Verdict.PROVED),
])
def test_ends_that_count_in_different_forms_are_compared(
    pushes: str, pops: str, popped: Verdict, drained: Verdict
) -> None:
    """Of n turns the first five, and the odd ones. What is wrong for some n is open, with an n that shows it."""
    text = pair_of_cores(pushes, pops)
    assert (verdicts(text, "FIFO-POP"), verdicts(text, "FIFO-DRAIN")) == ({popped}, {drained})
