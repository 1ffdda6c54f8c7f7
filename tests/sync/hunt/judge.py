"""What the rules say of a text, and what runs show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

from pypto_verified.pto import reader
from pypto_verified.pto.legality import checks
from pypto_verified.pto.module import Module
from pypto_verified.report.model import Finding, Verdict
from pypto_verified.simulator import schedule
from pypto_verified.simulator.schedule.confirm import ORDER_RULES
from pypto_verified.simulator.schedule.outcome import Outcome, Race, first_difference
from pypto_verified.targets import fifo, target
from pypto_verified.witness import replayed
from tests.sync.hunt.subject import FAMILIES, Subject
from verifiers import Options, verify

SIZES = ((3, 2), (0, 0), (1, 1), (2, 1), (5, 3), (0, 2), (1, 0), (2, 4), (4, 5), (7, 1))
"""M and N of runs; the first ones under all schedules, about half of the others under two."""
ORDERS = ("program", "late", "random", "eager")
MAX_STEPS = 4000
_ENDED = "not run: the run stops before"
_SHOWN = ("confirmed", "not run: another race of the two ", "not run: another core writes over it in between")


@dataclass(frozen=True, slots=True)
class Seen:
    """What a run shows. `kind`: 'race', 'unseen', 'hang', 'misuse' or 'differs'."""

    kind: str
    text: str
    sizes: tuple[int, int]
    schedule: str

    def __str__(self) -> str:
        m, n = self.sizes
        return f"{self.kind} for M = {m}, N = {n} under --schedule {self.schedule}: {self.text}"


@dataclass(slots=True)
class Judged:
    """The verdicts of the rules by family, with the refutations replayed, and why what is open is open."""

    by_family: dict[str, set[Verdict]] = field(default_factory=dict)
    assumptions: set[str] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)

    def proved(self, *families: str) -> bool:
        """Whether all that these families ask for is proved."""
        return not any(f.rule.startswith("MODEL") for f in self.findings) and all(
            self.by_family.get(family, set()) <= {Verdict.PROVED} for family in families)

    @property
    def word(self) -> str:
        verdicts = {f.verdict for f in self.findings}.union(*self.by_family.values())
        return next((v.value for v in (Verdict.ERROR, Verdict.REFUTED, Verdict.UNKNOWN) if v in verdicts), "PROVED")

    @property
    def open(self) -> list[str]:
        """The reasons of what is UNKNOWN, numbers left out."""
        return [f"{f.rule}: {f.message}" for f in self.findings if f.verdict is Verdict.UNKNOWN]

    @property
    def unshown(self) -> list[Finding]:
        """Faults of the tool itself, and refutations of an order that no run shows though no other fault comes before
        them."""
        refuted = [f for f in self.findings if f.verdict is Verdict.REFUTED]
        shown = any(f.rule not in ORDER_RULES or f.replay.startswith(_SHOWN) for f in refuted)
        return [f for f in self.findings if f.verdict is Verdict.ERROR] + [
            f for f in refuted if f.rule in ORDER_RULES and not f.replay.startswith(_SHOWN)
            and not (shown and f.replay.startswith("not run")) and not f.replay.startswith(_ENDED)]


def read(subject: Subject) -> Module:
    return reader.read(subject.text, "k.pto")


def judged(subject: Subject, module: Module) -> Judged:
    """Ask EVENT, RACE and FIFO. May raise PtoError."""
    chip, found = target(subject.chip), Judged()
    options = Options(subject.assumed, subject.strict, families=FAMILIES, explicit_sync=True)
    for result in verify(module, chip, options):
        result = replayed(result, module, chip, 0, {}, strict=subject.strict)
        for each in result.obligations:
            found.by_family.setdefault(each.rule.split("-")[0], set()).add(each.verdict)
            found.assumptions.update(each.assumptions)
        found.findings += result.findings
    return found


def runs(subject: Subject, module: Module, all_sizes: Sequence[tuple[int, int]] = SIZES) -> Iterator[Seen]:
    """What runs of these sizes show, under schedules that differ from size to size; nothing of a run that another fault
    ends."""
    with nullcontext() if subject.strict else _library_as_documented():
        for turn, sizes in enumerate(all_sizes):
            first: Outcome | None = None
            for name in ORDERS if turn == 0 else (ORDERS[0], *ORDERS[1 + turn % 6:2 + turn % 6]):
                shown = f"{name} --seed {turn}"
                outcome = schedule.replay(
                    module, subject.function, _witness(subject, sizes), target(subject.chip), schedule=name, seed=turn,
                    max_steps=MAX_STEPS, blocks=subject.blocks, strict=subject.strict)
                seen = [Seen(kind, text, sizes, shown) for kind, text in _faults(subject, outcome)]
                yield from seen
                if outcome.stopped or seen:
                    break
                first = first or outcome
                if first is not outcome and (difference := first_difference(first, outcome)) is not None:
                    yield Seen("differs", f"%{difference.argument} element {difference.element}", sizes, shown)


def _assembles(subject: Subject, module: Module) -> bool:
    """Whether every pipe is made before its ops: what the assembler rejects EVENT and FIFO do not judge."""
    return all(c.holds for c in checks(module, subject.chip, "level3") if c.rule.id == "PIPE-FIRST")


def fails_at_once(subject: Subject) -> bool:
    """Whether the first sizes show a fault. May raise PtoError."""
    return next(runs(subject, read(subject), SIZES[:2]), None) is not None


def _witness(subject: Subject, sizes: tuple[int, int]) -> dict[str, int]:
    m, n = sizes
    return {"M": m, "N": n} | ({"block_num": subject.launched} if subject.launched else {})


def _faults(subject: Subject, outcome: Outcome) -> Iterator[tuple[str, str]]:
    """The kind and words of each; not of lanes or blocks that write by one op, which WRITE-TWICE speaks of."""
    if outcome.deadlock is not None:
        yield "hang", str(outcome.deadlock)
    for error in outcome.errors:
        if error.kind in ("event", "pipe"):
            yield "misuse", str(error)
    for race in (*outcome.races, *outcome.also):
        if not _of_lanes(race) and not (subject.blocks and race.first.op is race.second.op):
            yield "race", str(race)
    for unseen in outcome.unseen:
        yield "unseen", str(unseen)


def _of_lanes(race: Race) -> bool:
    """Whether only the two vector cores of a cube meet, which WRITE-TWICE speaks of: what they store to one place is
    taken to be the same."""
    one, other = race.first.core, race.second.core
    return one != other and "lane" in one and "lane" in other and one.split("lane")[0] == other.split("lane")[0]


@contextmanager
def _library_as_documented() -> Iterator[None]:
    """Runs without the credits that the library of a5 posts when it makes a pipe (assumption FIFO-CREDITS)."""
    library = fifo.LEDGERS["a5"]
    fifo.LEDGERS["a5"] = fifo.Ledger("a5", False)
    try:
        yield
    finally:
        fifo.LEDGERS["a5"] = library


def contradictions(subject: Subject, module: Module, verdict: Judged) -> Iterator[Seen]:
    """What runs show though it is proved that none does."""
    if not verdict.proved("EVENT", "FIFO") or not _assembles(subject, module):
        return
    ordered = verdict.proved("RACE")
    for seen in runs(subject, module):
        if "BLOCKS-DATA" in verdict.assumptions and seen.kind in ("race", "differs", "unseen") and subject.blocks:
            continue
        if ordered or seen.kind in ("hang", "misuse"):
            yield seen
