"""All of it for a number of seeds: draw, perhaps spoil, judge, run, compare, shrink what does not fit."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from pypto_verified.errors import NotModelled, PtoError
from pypto_verified.fuzz.limit import Late, limited
from pypto_verified.targets import target
from tests.sync.hunt import blocks, fifo, one_core, rings, turns, two_cores
from tests.sync.hunt.draw import Draw
from tests.sync.hunt.features import features
from tests.sync.hunt.judge import contradictions, fails_at_once, judged, read
from tests.sync.hunt.mutations import mutant
from tests.sync.hunt.notes import wrong_note
from tests.sync.hunt.shrink import shrunk
from tests.sync.hunt.subject import FAMILIES, Subject

CHIPS = ("a2a3", "a5")
SECONDS = 20.0
"""Of processor time for one text; what takes longer is counted, and no failure."""
SPOILT = 55
"""Percent of texts with something wrong."""
PLAIN = 4
"""Of how many texts that fail in the first runs one is judged: a refutation takes long, and most are alike."""
NOTED = 3
"""Of how many proved texts the notes of one are tried."""
Generator = Callable[[Draw, str], Subject]


def _one_core(draw: Draw, chip: str) -> Subject:
    return Subject("one core", chip, one_core.made(draw, chip))


def _rings(draw: Draw, chip: str) -> Subject:
    return Subject("rings", chip, rings.made(draw, chip))


def _two_cores(draw: Draw, chip: str) -> Subject:
    text, function = two_cores.made(draw, chip)
    return Subject("two cores", chip, text, function, target(chip).cubes)


def _turns(draw: Draw, chip: str) -> Subject:
    text, function = turns.made(draw, chip)
    return Subject("turns", chip, text, function)


def _fifo(draw: Draw, chip: str) -> Subject:
    return Subject("fifo", chip, fifo.made(draw, chip), "cube")


def _blocks(draw: Draw, chip: str) -> Subject:
    text = blocks.made(draw, chip)
    return Subject("blocks", chip, text, "k", _vector_cores(chip) if "syncall" in text else 2, (0, 1))


def _group(draw: Draw, chip: str) -> Subject:
    return Subject("group", chip, blocks.group(draw, chip), "k", _vector_cores(chip), (0, 1))


def _vector_cores(chip: str) -> int:
    return target(chip).cubes * target(chip).lanes_per_cube


GENERATORS: tuple[Generator, ...] = (
    _one_core, _rings, _fifo, _one_core, _rings, _blocks, _two_cores, _one_core, _rings, _turns, _fifo, _group)
"""In turn; the common ones more often."""


@dataclass(frozen=True, slots=True)
class Find:
    """A text and what does not fit. `kind`: 'false proof: ' and what a run shows, 'no replay', 'wrong note', or
    'error'."""

    kind: str
    what: str
    subject: Subject
    number: int

    def __str__(self) -> str:
        return f"{self.number} {self.kind} ({self.subject.kind}, {self.subject.chip}): {self.what}"


@dataclass(slots=True)
class Tally:
    """Counts of texts: by verdict, by feature, by the reason that left one open."""

    texts: int = 0
    verdicts: Counter[tuple[str, str]] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    finds: list[Find] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.texts += other.texts
        self.verdicts += other.verdicts
        self.features += other.features
        self.reasons += other.reasons
        self.finds += other.finds


def drawn(seed: int, number: int) -> Subject:
    """The text of a seed and a number; chips and generators take turns."""
    draw, chip = Draw(seed, number), CHIPS[number % 2]
    subject = GENERATORS[number // 2 % len(GENERATORS)](draw, chip)
    return spoilt(draw, subject) if draw.chance(SPOILT) else subject


def spoilt(draw: Draw, subject: Subject) -> Subject:
    text = mutant(draw, subject.text)
    return replace(subject, text=text, right=text == subject.text)


def campaign(seed: int, numbers: range, until: float = float("inf"), small: bool = True) -> Tally:
    """Look at the texts of these numbers, as long as `time.monotonic()` is before `until`. `small`: shrink finds."""
    tally = Tally()
    for number in numbers:
        if time.monotonic() > until:
            break
        examine(drawn(seed, number), number, tally, small)
    return tally


def examine(subject: Subject, number: int, tally: Tally, small: bool) -> None:
    """Look at one text, and note what is found."""
    tally.texts += 1
    tally.features.update(features(subject.text))
    try:
        with limited(SECONDS):
            word, found = ("fails at once", None) if number % PLAIN and fails_at_once(subject) else look(
                subject, tally.reasons, number % NOTED == 0)
    except Late:
        word, found = "late", None
    tally.verdicts[subject.kind, word] += 1
    if found is not None:
        kind, what = found
        text = _smallest(subject, found) if small else subject.text
        tally.finds.append(Find(kind, what, replace(subject, text=text), number))


def look(subject: Subject, reasons: Counter[str], notes: bool) -> tuple[str, tuple[str, str] | None]:
    """The verdict, and the kind and words of what does not fit. `notes`: look at what is called redundant too."""
    try:
        module = read(subject)
        verdict = judged(subject, module)
        reasons.update(dict.fromkeys(map(_reason, verdict.open), 1))
        if verdict.unshown:
            first = verdict.unshown[0]
            return verdict.word, ("no replay", f"{first.rule} line {first.text_line}: {first.message} "
                                               f"{dict(first.witness)}: {first.replay}")
        seen = next(contradictions(subject, module, verdict), None)
        if seen is not None:
            return verdict.word, (f"false proof: {seen.kind}", str(seen))
        wrong = wrong_note(subject, module) if notes and verdict.proved(*FAMILIES) else ""
        return verdict.word, ("wrong note", wrong) if wrong else None
    except NotModelled:
        return "not modelled", None
    except PtoError as error:
        return "error", ("error", str(error))
    except Exception as error:
        return "error", ("error", f"{type(error).__name__}: {error}")


def _reason(text: str) -> str:
    return re.sub(r"%?\b\w*_?\d+\b|\(it fails for .*|line \d+", "#", text)[:110]


def _smallest(subject: Subject, first: tuple[str, str]) -> str:
    """The text shrunk as long as what does not fit is of this kind, and the same words of an error."""
    def fails(text: str) -> bool:
        smaller = replace(subject, text=text)
        try:
            read(smaller)
            with limited(SECONDS):
                _, found = look(smaller, Counter(), first[0] == "wrong note")
        except (Late, PtoError):
            return False
        return found == first if first[0] == "error" else found is not None and found[0] == first[0]

    return shrunk(subject.text, fails)


def lines(tally: Tally, seconds: float) -> Iterator[str]:
    """A report for people."""
    yield f"{tally.texts} texts, {tally.texts / max(seconds, 0.001):.1f} a second"
    for (kind, word), count in sorted(tally.verdicts.items()):
        yield f"  {kind:<12} {word:<14} {count:6}"
    for name, count in tally.features.most_common():
        yield f"  {100 * count / max(tally.texts, 1):5.1f} %  {name}"
    for reason, count in tally.reasons.most_common(25):
        yield f"  open {count:5}  {reason}"
