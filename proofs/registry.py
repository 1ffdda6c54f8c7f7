"""All theorems, in the order in which they are proved: lemmas first."""

from __future__ import annotations

from proofs import boxes, digits, events, fifos, grids, lemmas, nests, normal_form, pitches, placement, splits, views
from proofs.theorem import AnyTheorem

THEOREMS: tuple[AnyTheorem, ...] = (
    *lemmas.THEOREMS, *normal_form.THEOREMS, *boxes.THEOREMS, *views.THEOREMS, *placement.THEOREMS, *splits.THEOREMS,
    *pitches.THEOREMS, *events.THEOREMS, *fifos.THEOREMS, *grids.THEOREMS,
    *nests.THEOREMS, *digits.THEOREMS,
)
