"""The language as a whole against what is drawn and what is left out: nothing goes ungenerated in silence."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import cache

import pytest

from pypto_verified.dtypes import DTYPES, DType
from pypto_verified.fuzz.coverage import FLOORS
from pypto_verified.fuzz.draw import Seeded
from pypto_verified.fuzz.exclusions import EXCLUDED, Excluded, excluded
from pypto_verified.fuzz.generator import kernel
from pypto_verified.fuzz.surface import constructs
from pypto_verified.ir.printer import print_program
from pypto_verified.ir.stmt import Program
from pypto_verified.ops.decl import op
from pypto_verified.ops.registry import OPS

PRINTED = 300


@cache
def _names_in_texts() -> frozenset[str]:
    """Members of `pl` that the texts of generated kernels use."""
    texts = (print_program(Program("P", (kernel(Seeded(17, e)).function,))) for e in range(PRINTED))
    return frozenset(f"pl.{name}" for text in texts for name in re.findall(r"\bpl\.(\w+)", text))


def _unaccounted() -> set[str]:
    return {c for c in constructs() if c not in FLOORS and c not in _names_in_texts() and not excluded(c)}


def test_every_construct_of_the_language_is_drawn_or_has_a_row() -> None:
    """That each feature has its share is `test_generator.test_every_feature_has_its_share`."""
    assert _unaccounted() == set()


def test_a_new_op_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OPS, "tile.cube_root", op("tile.cube_root", "tile", lambda a: a.tile("tile")))
    assert _unaccounted() == {"op tile.cube_root"}


def test_a_new_keyword_and_a_new_operand_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    wider = op("tile.abs", "tile tmp2?", lambda a: a.tile("tile"), keywords="saturated:bool=false")
    monkeypatch.setitem(OPS, "tile.abs", wider)
    assert _unaccounted() == {"tile.abs tmp2", "tile.abs saturated=false", "tile.abs saturated=true"}


def test_a_new_element_type_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DTYPES, "FP24", DType("FP24", "f24", 24, "float"))
    assert _unaccounted() == {"element FP24", "argument FP24"}


def test_no_row_is_about_what_is_drawn() -> None:
    assert not {name for name in FLOORS if excluded(name)}
    assert not {name for name in _names_in_texts() if excluded(name)}


@pytest.mark.parametrize("row", EXCLUDED, ids=lambda row: row.what[:40])
def test_every_pattern_of_a_row_covers_something(row: Excluded) -> None:
    names = constructs()
    assert not [p for p in row.covers if not any(fnmatchcase(name, p) for name in names)]
