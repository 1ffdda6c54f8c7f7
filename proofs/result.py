"""A theorem's verdict, and the file of recorded ones. Light on imports: a recorded run needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, field
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from pypto_verified.records import dataclass
from pypto_verified.report.model import Verdict

RECORDED = Path(__file__).with_name("recorded.json")

_ROOT = Path(__file__).resolve().parent.parent
_SOURCES = (
    "proofs", "verifiers/access", "verifiers/solver", "verifiers/box.py", "verifiers/view.py", "verifiers/rule.py",
    "verifiers/sites.py", "verifiers/bound.py", "verifiers/write_grid.py", "verifiers/write_levels.py",
    "verifiers/write_nest.py", "verifiers/write_digits.py", "verifiers/flags.py", "verifiers/recurrence.py",
    "pypto_verified/index", "pypto_verified/records.py", "pypto_verified/dtypes.py", "pypto_verified/layouts.py",
    "pypto_verified/targets", "pypto_verified/pto", "pypto_verified/simulator/layout.py", "pypto_verified/errors.py",
    "pypto_verified/report/model.py")
"""All that a formula or a decision is made from."""

Values = dict[str, int]


@dataclass(frozen=True, slots=True)
class Result:
    """`verdict` PROVED: each claim has the answer it must have, its hypotheses can hold, and each mutant was refuted;
    `claims` counts those that are not true by rewriting alone. `key` is the hash of the formula. `decider`: z3, or the
    enumeration of all values where every symbol of a claim is bounded. `witness`: values at which the claim `failed`
    has the wrong answer; `counterexamples`: those that the theorem itself asserts, by claim. `milliseconds` is the time
    to prove it. `seeds`: (solver seeds that proved it, seeds tried). `recorded`: taken from the record; `stale`: the
    record has no verdict on this formula. `cross`: what cvc5 says, if asked, and `alone` the claims that z3 alone
    decides. `rlimit`: resource units that z3 spent on the claims."""

    id: str
    statement: str
    formula: str
    ranges: str
    rests: tuple[str, ...]
    key: str
    verdict: Verdict
    decider: str
    milliseconds: float
    claims: int
    mutants: tuple[str, ...]
    mutants_refuted: int
    witness: Values = field(default_factory=dict)
    failed: str = ""
    counterexamples: dict[str, Values] = field(default_factory=dict)
    seeds: tuple[int, int] = (1, 1)
    recorded: bool = False
    stale: bool = False
    cross: str = ""
    alone: tuple[str, ...] = ()
    rlimit: int = 0


@dataclass(frozen=True, slots=True)
class Record:
    """Proved results by theorem id, and the fingerprint of the sources at that time: while it is the same, no formula
    can have changed and none needs to be made again."""

    fingerprint: str
    results: dict[str, Result]


def fingerprint() -> str:
    """The hash of the sources that formulas and decisions are made from, and of the solver they run on."""
    digest = sha256(version("z3-solver").encode())
    for path in source_files():
        digest.update(path.read_bytes())
    return digest.hexdigest()[:32]


def source_files() -> Iterator[Path]:
    """The files of the fingerprint. What the assembler rejects is in no formula."""
    for name in _SOURCES:
        path = _ROOT / name
        found = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        yield from (file for file in found if not file.name.startswith("legality"))


def load(path: Path = RECORDED) -> Record:
    """The record; empty if there is none yet."""
    if not path.exists():
        return Record("", {})
    text = json.loads(path.read_text(encoding="utf-8"))
    return Record(text["fingerprint"], {row["id"]: _result(row) for row in text["theorems"]})


def _result(row: dict[str, object]) -> Result:
    fixed: dict[str, object] = {
        "verdict": Verdict(row["verdict"]), "recorded": True, "stale": False, "rests": tuple(_list(row["rests"])),
        "mutants": tuple(_list(row["mutants"])), "seeds": tuple(_list(row["seeds"])),
        "alone": ()}
    return Result(**{**row, **fixed})  # type: ignore[arg-type]  # a row is what asdict made


def _list(value: object) -> list[object]:
    assert isinstance(value, list)
    return value


def save(results: list[Result], path: Path = RECORDED) -> None:
    """Record the proved results of a whole run; the sources' fingerprint too if none is missing."""
    rows = [{**asdict(r), "verdict": r.verdict.value} for r in results if r.verdict is Verdict.PROVED]
    whole = fingerprint() if len(rows) == len(results) else ""
    text = json.dumps({"fingerprint": whole, "theorems": rows}, indent=1)
    path.write_text(text + "\n", encoding="utf-8")
