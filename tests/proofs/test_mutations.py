"""The theorems speak about what the product runs: a change of the product's own declaration refutes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from proofs import lemmas
from proofs.decide import decide_all
from proofs.registry import THEOREMS
from proofs.result import Record
from pypto_verified.index import Expr, any_of, as_expr, cond, division, implies, walk
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import layout
from pypto_verified.targets import fifo, pitch, split
from verifiers import box, flags, recurrence, view, write_digits, write_grid, write_nest
from verifiers.access import overlap, scalars, tiles

Patch = Callable[[pytest.MonkeyPatch], None]


def swap(owner: object, name: str, make: Callable[[Any], object]) -> Patch:
    """Replaces an attribute by what `make` makes of it."""
    return lambda patch: patch.setattr(owner, name, make(getattr(owner, name)))


def wrong_split(original: Callable[[Expr, int], tuple[Expr, Expr]]) -> Callable[[Expr, int], tuple[Expr, Expr]]:
    def split_multiple(e: Expr, k: int) -> tuple[Expr, Expr]:
        quotient, rest = original(e, k)
        return quotient + 1, rest
    return split_multiple


def transposed(original: Callable[[layout.Layout, int, int], int]) -> Callable[[layout.Layout, int, int], int]:
    return lambda self, row, col: original(replace(self, inner_row=self.inner_col, inner_col=self.inner_row), row, col)


def ignoring_rests(e: Expr, d: Expr) -> Expr:
    return e // d


MUTATIONS: dict[str, Patch] = {
    "LEMMA-PRODUCTS": swap(lemmas, "product_bound", lambda _: lambda a, b: implies(b >= 1, a * b >= b)),
    "INDEX-DIVISION": swap(division, "_split_multiple", wrong_split),
    "INDEX-TERMS": swap(walk, "substitute", lambda f: lambda e, env: f(e, env) + 1),
    "INDEX-CONDITIONS": swap(cond, "eq", lambda f: lambda a, b: f(a, b + 1)),
    "BOX-BIJECTION": swap(layout.Layout, "offset", transposed),
    "BOX-EXACT": swap(box, "BOX_ROWS", lambda rule: replace(rule, goal=rule.mutant)),
    "BOX-LINE-START": swap(box, "BOX_LINE", lambda rule: replace(rule, goal=rule.mutant)),
    "VIEW-ADDRESS": swap(tiles, "rect_of", lambda f: lambda *a: replace(f(*a), row_bytes=f(*a).row_bytes - 32)),
    "VIEW-EXACT": swap(view, "VIEW_BOX", lambda rule: replace(rule, goal=rule.mutant)),
    "PLAN-DISJOINT": swap(overlap, "disjoint_rects", lambda f: lambda p, a, q, b: any_of((f(p, a, q, b), p < q))),
    "PLAN-TRAILS": swap(overlap, "trails", lambda f: lambda a, b: f(b, a)),
    "SPLIT-COVER": swap(split, "popped", lambda f: lambda code, rows, cols, lane: f(code, rows, cols, 1 - lane)),
    "SPLIT-PARITY-EXACT": swap(split, "lane_extents", lambda f: lambda code, rows, cols, lane: (rows, cols)),
    "PITCH-EQUAL": swap(pitch, "written_pitch", lambda f: lambda m: f(m) + pitch.FRACTAL_ROWS),
    "EVENT-CYCLIC": swap(flags, "_id", lambda f: lambda step: f(step) + 1),
    "EVENT-RING": swap(recurrence.Transfer, "__call__", lambda _: lambda self, before: before),
    "FIFO-COUNT": swap(fifo, "posts", lambda f: lambda slots, tile: f(slots, as_expr(tile) + 1)),
    "FIFO-OVERRUN": swap(fifo, "posted", lambda f: lambda slots, tiles: f(slots, as_expr(tiles) + 1)),
    "FIFO-DRAIN": swap(fifo, "waited", lambda f: lambda slots, tiles: f(slots, tiles + 1)),
    "GRID-COVER": swap(scalars, "ceiling", lambda _: ignoring_rests),
    "GRID-TURNS": swap(write_grid, "_in_turns", lambda f: lambda *a: (w := f(*a)) and replace(w, count=w.count - 1)),
    "GRID-DIGITS": swap(write_digits, "Digits", lambda f: lambda over, within, rounds, rest: f(
        over, within, rounds + 1, rest)),
    "GRID-NEST": swap(write_nest, "Gap", lambda f: lambda count, pace, length, room: f(count, pace, length + 1, room)),
}


@pytest.mark.requirement("VF-06")
@pytest.mark.parametrize("theorem", THEOREMS, ids=lambda t: t.id)
def test_a_change_of_the_products_declaration_refutes_the_theorem(
    theorem: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        MUTATIONS[theorem.id](patch)
        (result,) = decide_all((theorem,), Record("", {}), cold=True, cross=False, seeds=1)
    assert result.verdict is Verdict.REFUTED
    assert result.key != "", "the formula is another one"


def test_a_changed_declaration_makes_the_recorded_verdict_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    (theorem,) = (t for t in THEOREMS if t.id == "EVENT-CYCLIC")
    (right,) = decide_all((theorem,), Record("", {}), cold=True, cross=False, seeds=1)
    record = Record("", {right.id: right})
    assert not decide_all((theorem,), record, cold=False, cross=False, seeds=1)[0].stale
    monkeypatch.setattr(scalars, "_DIVISION", {**scalars._DIVISION, "arith.remsi": lambda a, b: (a + 1) % b})
    (again,) = decide_all((theorem,), record, cold=False, cross=False, seeds=1)
    assert (again.stale, again.verdict) == (True, Verdict.PROVED)
