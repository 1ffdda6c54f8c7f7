"""INIT against the simulator: programs of fills, windows, loops and branches meet an element that was never written
exactly where a rule refutes them, and never where all is proved."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from random import Random

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import confirm
from pypto_verified.targets import target
from tests.verifiers.kernels import alloc, check, fill, kernel, store, tile, unary, view, window

VEC = tile()
PROGRAMS = 150
SIZES = (0, 1, 2, 4)
"""Values of M that a program is run with."""


@dataclass(slots=True)
class _Writer:
    """Writes statements on the tiles %x and %y."""

    random: Random
    names: int = 0

    def name(self) -> str:
        self.names += 1
        return f"n{self.names}"

    def statement(self, counters: tuple[str, ...], depth: int) -> list[str]:
        kind = self.random.choice(("window", "window", "fill", "narrow", "read", "loop", "loop", "branch"))
        on = self.random.choice("xy")
        if kind == "window":
            return self.window(on, counters)
        if kind == "narrow":
            return [f"pto.set_validshape %{on}, %{self.random.choice(('c32', 'c16', 'c8'))}, %c64 : {VEC}"]
        if kind == "read":
            return [unary("texp", on, on, VEC)]
        if kind == "loop" and depth < 3:
            counter = self.name()
            trips = self.random.choice(("c2", "c3", "c4", "M"))
            head = f"scf.for %{counter} = %c0 to %{trips} step %c1 {{"
            return [head, *self.statement((*counters, counter), depth + 1), "}"]
        if kind == "branch" and depth < 3:
            held, left = self.name(), self.random.choice((*counters, "M"))
            right = self.random.choice(("c0", "c1", "c2"))
            then = [f"%{held} = arith.cmpi {self.random.choice(('eq', 'slt', 'ne'))}, %{left}, %{right} : index",
                    f"scf.if %{held} {{", *self.statement(counters, depth + 1)]
            other = ["} else {", *self.statement(counters, depth + 1)] if self.random.random() < 0.6 else []
            return [*then, *other, "}"]
        return [fill(on, VEC)]

    def window(self, on: str, counters: tuple[str, ...]) -> list[str]:
        """Fills 4, 8 or 16 rows of a tile from a constant row on, or from a multiple of a counter on."""
        rows, made = self.random.choice((4, 8, 16)), self.name()
        type_ = tile(rows, 64, valid=(str(self.random.choice((rows, rows // 2))), "64"))
        start = self.random.choice(("c0", "c8", "c16"))
        at: list[str] = []
        if counters:
            start = self.name()
            pace = self.random.choice(("c4", "c8"))
            at = [f"%{start} = arith.muli %{self.random.choice(counters)}, %{pace} : index"]
        return [*at, f"%{made} = pto.subview %{on}[%{start}, %c0] sizes [{rows}, 64] : {VEC} -> {type_}",
                fill(made, type_)]


def _program(random: Random) -> str:
    writer, rows = _Writer(random), random.choice(("c16", "c32"))
    body = [fill("x", VEC)] if random.random() < 0.3 else []
    body += [line for _ in range(random.randint(1, 4)) for line in writer.statement((), 0)]
    return kernel("\n".join((
        view("a", "p", "M"), view("o", "q", "c32"), alloc("x", VEC), alloc("y", VEC, 8192), *body,
        f"pto.set_validshape %x, %{rows}, %c64 : {VEC}",
        window("w", "o", "%c0, %c0", f"%{rows}, %c64"), store("x", "w", VEC))), "%M: index")


def _outcome(text: str) -> Verdict:
    found = {o.verdict for o in check(text, families="INIT").obligations}
    return next(v for v in (Verdict.REFUTED, Verdict.UNKNOWN, Verdict.PROVED) if v in found)


def _meets(text: str) -> bool:
    """Whether a run reads what was never written."""
    (func,) = read(text, "k.pto").funcs
    return any(
        confirm(func, "INIT-READ", {"M": size}, target("a2a3")).startswith("confirmed: uninitialised")
        for size in SIZES)


@pytest.mark.requirement("VF-01")
def test_a_run_reads_what_was_never_written_exactly_where_a_rule_refutes() -> None:
    counts: Counter[tuple[Verdict, bool]] = Counter()
    for seed in range(PROGRAMS):
        text = _program(Random(seed))
        if any(o.verdict is not Verdict.PROVED for o in check(text, families="VIEW").obligations):
            continue
        met = _meets(text)
        verdict = _outcome(text)
        assert verdict is Verdict.UNKNOWN or (verdict is Verdict.REFUTED) == met, f"seed {seed}"
        counts[verdict, met] += 1
    assert counts[Verdict.PROVED, False] > 20
    assert counts[Verdict.REFUTED, True] > 20
    assert sum(n for (verdict, _), n in counts.items() if verdict is Verdict.UNKNOWN) < sum(counts.values()) / 10
