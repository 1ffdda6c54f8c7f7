"""Verdicts on all theorems: from the record where it still matches, else by proof."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from proofs.result import Record, Result, fingerprint, load

if TYPE_CHECKING:
    from proofs.theorem import AnyTheorem


def run(
    *, cold: bool = False, cross: bool = False, seeds: int = 1, theorems: Sequence[AnyTheorem] | None = None,
    record: Record | None = None, disputes: Path = Path("disagreements"),
) -> list[Result]:
    """One result a theorem, in order. A recorded verdict counts while its formula is the recorded one. `cold`: prove
    although it is; `seeds`: prove with that many solver seeds (more than one is always cold); `cross`: let cvc5 answer
    each claim too (needs the package cvc5; ImportError without it) and keep the questions of both solvers in `disputes`
    where they differ."""
    known = load() if record is None else record
    cold = cold or seeds > 1
    if not cold and not cross and theorems is None and known.results and known.fingerprint == fingerprint():
        return list(known.results.values())
    from proofs.decide import decide_all
    from proofs.registry import THEOREMS

    return decide_all(THEOREMS if theorems is None else theorems, known, cold, cross, seeds, disputes)
