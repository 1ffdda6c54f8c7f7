"""All of it for a number of seeds: draw, perhaps spoil, judge, run, compare, shrink what does not fit."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from pypto_verified.errors import NotModelled, PtoError
from pypto_verified.fuzz.limit import Late, limited
from tests.sync.hunt.faults import PROOF, Planted
from tests.sync.hunt.features import features
from tests.sync.hunt.judge import contradictions, fails_at_once, judged, read, runs
from tests.sync.hunt.kinds import drawn
from tests.sync.hunt.notes import wrong_note
from tests.sync.hunt.shrink import shrunk
from tests.sync.hunt.subject import FAMILIES, Subject

SECONDS = 20.0
"""Of processor time for one text; what takes longer is counted, and no failure."""
PLAIN = 2
"""Of how many texts that fail in the first runs one is judged: a refutation takes long, and most are alike."""
NOTED = 3
"""Of how many proved texts the notes of one are tried."""


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
            plain = number // 2 % PLAIN != 0 and fails_at_once(subject)
            word, found = ("fails at once", None) if plain else look(subject, tally.reasons, number % NOTED == 0)
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
            return verdict.word, (f"{PROOF}: {seen.kind}", str(seen))
        noted = notes and verdict.proved(*FAMILIES) and "BLOCKS-DATA" not in verdict.assumptions
        wrong = wrong_note(subject, module) if noted else ""
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


def until_found(seed: int, planted: Planted, most: int) -> tuple[int, str]:
    """How many texts are looked at until a planted fault shows in a proof, or in a note where it is one of notes, and
    in which; `most` and '' if it does not."""
    with planted.planted():
        for number in range(most):
            tally = Tally()
            subject = drawn(seed, number, planted.kinds)
            if planted.shows != PROOF or next(runs(subject, read(subject)), None) is not None:
                examine(subject, 0, tally, small=False)
            if tally.finds and tally.finds[0].kind.startswith(planted.shows):
                return number + 1, tally.finds[0].kind
    return most, ""


def lines(tally: Tally, seconds: float) -> Iterator[str]:
    """A report for people."""
    yield f"{tally.texts} texts, {tally.texts / max(seconds, 0.001):.1f} a second"
    for (kind, word), count in sorted(tally.verdicts.items()):
        yield f"  {kind:<12} {word:<14} {count:6}"
    for name, count in tally.features.most_common():
        yield f"  {100 * count / max(tally.texts, 1):5.1f} %  {name}"
    for reason, count in tally.reasons.most_common(25):
        yield f"  open {count:5}  {reason}"
