"""The hunt: no text of it is proved and races; it has what such texts need, and it finds planted faults."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.sync.hunt.campaign import Tally, campaign, until_found
from tests.sync.hunt.draw import Draw
from tests.sync.hunt.faults import PLANTED
from tests.sync.hunt.features import FEATURES, features
from tests.sync.hunt.judge import judged, read, runs
from tests.sync.hunt.kinds import GENERATORS, drawn
from tests.sync.hunt.mutations import mutant
from tests.sync.hunt.shrink import shrunk

FEW = 48
MANY = 1500


def _told(tally: Tally) -> list[str]:
    return [f"{find}\n{find.subject.text}" for find in tally.finds]


@pytest.fixture(scope="module")
def few() -> Tally:
    return campaign(0, range(FEW), small=False)


@pytest.mark.requirement("EV-02")
def test_what_is_proved_runs_clean_and_what_is_refuted_is_replayed(few: Tally) -> None:
    assert _told(few) == []


@pytest.mark.parametrize(("word", "least", "most"), [
    ("PROVED", 30, 80), ("REFUTED", 5, 40), ("UNKNOWN", 0, 30), ("fails at once", 0, 40), ("late", 0, 2)])
def test_texts_are_of_every_verdict(few: Tally, word: str, least: int, most: int) -> None:
    """In percent: a hunt in texts that are not decided would find nothing, and so would one in wrong ones alone."""
    found = sum(count for (_, each), count in few.verdicts.items() if each == word)
    assert least <= 100 * found / few.texts <= most


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(1, 9))
def test_no_text_of_a_night_contradicts_the_rules(seed: int) -> None:
    assert _told(campaign(seed, range(MANY))) == []


def test_equal_seeds_give_equal_texts() -> None:
    assert [drawn(3, n).text for n in range(24)] == [drawn(3, n).text for n in range(24)]


LEAST = {
    "loop": 40, "loop in a loop": 14, "while loop": 10, "carried number": 10, "carried tiles": 0.5,
    "first turn of the caller": 5, "steps of the caller": 4, "select of numbers": 4, "branch": 30, "other arm": 9,
    "select of tiles": 0.5, "id in a value": 12, "buffer id in a value": 1.5, "events": 4.5, "buffer ids": 3.5,
    "barrier of one pipe": 18, "subview": 10, "ring of tiles": 20, "several tiles": 0.9, "product": 3,
    "scalar pipe on data": 2, "written and read back": 16, "call": 0.5, "sections": 6, "functions": 10, "FFTS flag": 10,
    "intra-block flag": 1, "group flag": 3.5, "meeting": 1.3, "lane": 15, "push to vector": 5, "push to cube": 2.5,
    "split": 5, "several blocks": 4, "stride of blocks": 1.5}
"""Percent of texts that have a feature at least: half of what was measured."""


def test_texts_have_every_feature() -> None:
    found: Counter[str] = Counter()
    for number in range(1000):
        found.update(features(drawn(7, number).text))
    assert LEAST.keys() == FEATURES.keys()
    assert {name: found[name] / 10 for name in FEATURES if found[name] / 10 < LEAST[name]} == {}


QUICK = {"race-begun-is-done": 40, "event-group-free": 60, "fifo-one-case": 40, "note-all-spare": 10}
"""Texts after which a planted fault is found, at most."""


@pytest.mark.parametrize("name", QUICK)
def test_planted_faults_are_found(name: str) -> None:
    number, kind = until_found(5, PLANTED[name], QUICK[name])
    assert kind, f"not in {number} texts"


@pytest.mark.nightly
@pytest.mark.parametrize("name", PLANTED.keys() - QUICK.keys())
def test_each_planted_fault_is_found_in_a_night(name: str) -> None:
    number, kind = until_found(1, PLANTED[name], MANY)
    assert kind, f"not in {number} texts"


def test_a_mutant_differs_and_reads() -> None:
    draw, subject = Draw(1, 2), drawn(1, 2)
    changed = {mutant(draw, subject.text) for _ in range(20)} - {subject.text}
    assert len(changed) > 10


def test_a_failure_stays_while_a_text_shrinks() -> None:
    subject = next(s for s in (drawn(2, n) for n in range(40)) if "scf.if" in s.text and "pto.tstore" in s.text)
    small = shrunk(subject.text, lambda text: "pto.tstore" in text)
    assert small.count("pto.tstore") == 1 and "scf.if" not in small


@pytest.mark.parametrize("kind", GENERATORS)
def test_each_generator_makes_texts_that_are_judged_and_run(kind: str) -> None:
    subject = GENERATORS[kind](Draw(4, 1), "a2a3")
    module = read(subject)
    assert judged(subject, module).by_family
    assert all(seen.schedule for seen in runs(subject, module))
