"""`coverage.tsv`: which pair recreates which public report, and why the others have none."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from pypto_verified.fuzz.faults import FAULTS
from tests.corpus.test_corpus import HERE, REJECT, reports

PUBLIC_REPORTS = 177


def _rows() -> list[dict[str, str]]:
    with (HERE / "coverage.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_every_report_has_one_row_with_pairs_or_a_reason() -> None:
    rows = _rows()
    assert len({r["id"] for r in rows}) == len(rows) == PUBLIC_REPORTS
    assert [r["id"] for r in rows if bool(r["pairs"]) == bool(r["why there is none"])] == []


def test_the_pairs_of_a_report_exist_and_name_it() -> None:
    named = {p.stem: reports(p) for p in REJECT}
    wrong = [
        (r["id"], pair) for r in _rows() for pair in r["pairs"].split()
        if not {r["id"], r["id"].split(" ")[0]} & set(named.get(pair, ()))]
    assert wrong == []


def test_planted_faults_that_stand_in_for_a_pair_exist() -> None:
    named = [r["why there is none"].partition("planted fault ")[2].split(", ") for r in _rows()]
    assert {fault for faults in named for fault in faults if fault} <= FAULTS.keys()


@pytest.mark.parametrize("path", REJECT, ids=lambda p: p.stem)
def test_every_pair_names_a_report(path: Path) -> None:
    assert reports(path)


def test_at_least_sixty_pairs_recreate_a_report() -> None:
    assert len({pair for r in _rows() for pair in r["pairs"].split()}) >= 60
