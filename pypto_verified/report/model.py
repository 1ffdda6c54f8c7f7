"""What a check found, as plain data; the renderers and the JSON contract stand on it. Sorted and deterministic."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from enum import Enum

from pypto_verified.records import dataclass

SCHEMA_VERSION = 1


class Verdict(Enum):
    """How an obligation, function, file or run ended."""

    PROVED = "PROVED"
    REFUTED = "REFUTED"
    VACUOUS = "VACUOUS"
    UNKNOWN = "UNKNOWN"
    ERROR = "ERROR"


# Worst first: the verdict of a whole is that of its worst part (VF-05 orders ERROR over REFUTED over UNKNOWN, VACUOUS).
SEVERITY = (Verdict.ERROR, Verdict.REFUTED, Verdict.UNKNOWN, Verdict.VACUOUS, Verdict.PROVED)


def worst(verdicts: list[Verdict], empty: Verdict = Verdict.PROVED) -> Verdict:
    """The verdict of a whole with these parts."""
    return min(verdicts, key=SEVERITY.index, default=empty)


class Kind(Enum):
    """Legality: would the real assembler reject this? Safety: is it wrong on the device?"""

    LEGALITY = "legality"
    SAFETY = "safety"


@dataclass(frozen=True, slots=True)
class Obligation:
    """One rule at one site, decided. `decider`: 'normal-form', 'enumeration', 'z3-linear', 'z3-digits', 'cvc5' or ''.
    `rlimit`: resource units that z3 spent on it. `second`: what a second solver said, if asked: 'agrees', 'z3 alone',
    'cvc5 alone', 'neither' or 'differs: ...'."""

    rule: str
    kind: Kind
    verdict: Verdict
    site: str
    decider: str = ""
    milliseconds: float = 0.0
    assumptions: tuple[str, ...] = ()
    rlimit: int = 0
    second: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """An obligation that is not PROVED, explained. `message` says what and the numbers, `help` what to do, `needs` the
    weakest condition as an `--assume` text (UNKNOWN only), `witness` the values that show it, `replay` what the
    simulator saw ('confirmed: ...', 'not observable', 'not run: ...'). `site` is that of its obligation, `text_line`
    the line of the `.pto` text (0 if it has none)."""

    rule: str
    kind: Kind
    verdict: Verdict
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    witness: tuple[tuple[str, int], ...] = ()
    needs: str = ""
    replay: str = ""
    help: str = ""
    source_line: str = ""
    site: str = ""
    text_line: int = 0


ALLOWED = "ALLOWED"
"""Stands for PROVED in reports for people where findings were accepted."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """A finding that somebody has accepted, with the reason: `by` a comment in the source, or a baseline file. It has
    no part in verdicts, nor has its obligation."""

    finding: Finding
    reason: str
    by: str


@dataclass(slots=True)
class FunctionResult:
    """One kernel. A function with nothing to prove is UNKNOWN with a finding that says why, never PROVED by silence.
    `needs`: the `--assume` texts that settle all findings that need one, as few as can be. `perhaps`: refutations that
    count instead of the UNKNOWN finding of the same rule and site once a run has shown them, for data lead there."""

    name: str
    obligations: list[Obligation] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    allowed: list[Allowed] = field(default_factory=list)
    needs: tuple[str, ...] = ()
    perhaps: list[Finding] = field(default_factory=list)

    @property
    def verdict(self) -> Verdict:
        empty = Verdict.PROVED if self.allowed else Verdict.UNKNOWN
        return worst([o.verdict for o in self.obligations] + [f.verdict for f in self.findings], empty)

    @property
    def word(self) -> str:
        """What a report for people calls the verdict: ALLOWED where nothing is left but what somebody has accepted."""
        return ALLOWED if self.allowed and self.verdict is Verdict.PROVED else self.verdict.value

    @property
    def acceptable(self) -> list[Finding]:
        """The findings that somebody may accept: not what is wrong with the input itself."""
        return [f for f in self.findings if f.verdict in (Verdict.REFUTED, Verdict.UNKNOWN)]

    def allow(self, accepted: Allowed) -> None:
        """Take a finding of this function, and its obligation, out of the verdict."""
        found = accepted.finding
        self.findings = [f for f in self.findings if f is not found]
        if found.site:
            self.obligations = [o for o in self.obligations if (o.rule, o.site) != (found.rule, found.site)]
        self.allowed.append(accepted)

    def counts(self) -> dict[str, int]:
        """Obligations by verdict; findings that belong to no obligation (ERROR, not modelled) count as one each."""
        decided = Counter(o.verdict for o in self.obligations)
        reported = Counter(f.verdict for f in self.findings)
        return {v.value.lower(): max(decided[v], reported[v]) for v in Verdict}


@dataclass(slots=True)
class FileResult:
    """One input file. `findings` are those that belong to no function (does not load, does not parse), and so are
    `allowed`; `notes` are remarks that change no verdict, `outdated` those on what was accepted and is found no more.
    `target` is what it was checked for, '' if it did not come that far."""

    path: str
    sha256: str = ""
    target: str = ""
    functions: list[FunctionResult] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    outdated: list[str] = field(default_factory=list)
    allowed: list[Allowed] = field(default_factory=list)

    @property
    def remarks(self) -> list[str]:
        """All notes."""
        return [*self.notes, *self.outdated]

    @property
    def verdict(self) -> Verdict:
        empty = Verdict.PROVED if self.allowed else Verdict.ERROR
        return worst([f.verdict for f in self.functions] + [f.verdict for f in self.findings], empty)

    @property
    def word(self) -> str:
        """The same for the file."""
        return ALLOWED if self.accepted and self.verdict is Verdict.PROVED else self.verdict.value

    @property
    def accepted(self) -> list[Allowed]:
        """All findings that somebody has accepted."""
        return [*self.allowed, *(a for function in self.functions for a in function.allowed)]

    @property
    def parts(self) -> list[FileResult | FunctionResult]:
        """What has findings: the file itself and its functions."""
        return [self, *self.functions]

    @property
    def acceptable(self) -> list[Finding]:
        """The findings of the file itself that somebody may accept: what is not modelled, not what took too long."""
        return [f for f in self.findings if f.verdict is Verdict.UNKNOWN and f.rule != "TIMEOUT"]

    def allow(self, accepted: Allowed) -> None:
        """Take a finding of the file itself out of the verdict."""
        self.findings = [f for f in self.findings if f is not accepted.finding]
        self.allowed.append(accepted)


@dataclass(slots=True)
class Report:
    """A run. `assumptions` are (id, text) of those that some obligation used; `claims`: what each rule with a finding
    claims, by its id, and `versions`, for forms that tell them."""

    target: str
    files: list[FileResult] = field(default_factory=list)
    assumptions: list[tuple[str, str]] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    claims: dict[str, str] = field(default_factory=dict)

    def exit_code(self) -> int:
        """VF-05: 2 if any ERROR, else 1 if any REFUTED, else 3 if any UNKNOWN or VACUOUS, else 0."""
        found = {f.verdict for f in self.files}
        if Verdict.ERROR in found:
            return 2
        if Verdict.REFUTED in found:
            return 1
        return 3 if found & {Verdict.UNKNOWN, Verdict.VACUOUS} else 0
