"""The hunt: no text of it is proved and races; it has what such texts need, and it finds planted faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from tests.sync.hunt.campaign import GENERATORS, Tally, campaign, drawn
from tests.sync.hunt.draw import Draw
from tests.sync.hunt.features import FEATURES, features
from tests.sync.hunt.judge import judged, read, runs
from tests.sync.hunt.mutations import mutant
from tests.sync.hunt.shrink import shrunk

FEW = 60
MANY = 1500


def _told(tally: Tally) -> list[str]:
    return [f"{find}\n{find.subject.text}" for find in tally.finds]


@pytest.mark.requirement("EV-02")
def test_what_is_proved_runs_clean_and_what_is_refuted_is_replayed() -> None:
    assert _told(campaign(0, range(FEW), small=False)) == []


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(1, 9))
def test_no_text_of_a_night_contradicts_the_rules(seed: int) -> None:
    assert _told(campaign(seed, range(MANY))) == []


def test_equal_seeds_give_equal_texts() -> None:
    assert [drawn(3, n).text for n in range(24)] == [drawn(3, n).text for n in range(24)]


def _texts(count: int) -> Iterator[str]:
    for number in range(count):
        yield drawn(7, number).text


def test_texts_have_every_feature() -> None:
    """A share of each in a thousand texts, so that none is lost unseen."""
    found: Counter[str] = Counter()
    for text in _texts(1000):
        found.update(features(text))
    assert {name for name in FEATURES if found[name] < 8} == set()


def test_a_mutant_differs_and_reads() -> None:
    draw, subject = Draw(1, 2), drawn(1, 2)
    changed = {mutant(draw, subject.text) for _ in range(20)} - {subject.text}
    assert len(changed) > 10


def test_a_failure_stays_while_a_text_shrinks() -> None:
    subject = next(s for s in (drawn(2, n) for n in range(40)) if "scf.if" in s.text and "pto.tstore" in s.text)
    small = shrunk(subject.text, lambda text: "pto.tstore" in text)
    assert small.count("pto.tstore") == 1 and "scf.if" not in small


@pytest.mark.parametrize("number", range(len(GENERATORS)))
def test_each_generator_makes_texts_that_are_judged_and_run(number: int) -> None:
    subject = GENERATORS[number](Draw(4, number), "a2a3")
    module = read(subject)
    assert judged(subject, module).by_family
    assert all(seen.schedule for seen in runs(subject, module))
