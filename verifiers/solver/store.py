"""Answers of the solver that outlive a run: one SQLite file in the user's cache directory.

An answer is found by the whole question (canonical text, what is minimised, seed, budget), the version of the encoder
and the version of the solver; the question itself is kept and compared, so no hash is trusted. Nothing that the file
says is believed without need: a model must evaluate, 'unsat' must not be contradicted by plain points, a row whose
digest is not its content's is dropped, and a file that others may write to is not opened. 'unknown' is never kept.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from functools import cache
from hashlib import sha256
from pathlib import Path

from verifiers.solver.answer import Answer

ENCODER = "2"
"""Raised when formulas are put to the solver in another way: recorded verdicts and kept answers are then void."""

MAX_BYTES = 64 << 20
"""Size of the file beyond which the older half of its rows is forgotten."""

_TABLE = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, question TEXT, answer TEXT, digest TEXT)"
_PRIVATE = stat.S_IRUSR | stat.S_IWUSR


@cache
def versions() -> str:
    """Encoder, its source, and the solver."""
    from importlib.metadata import version

    here = Path(__file__).parent
    digest = sha256((here / "smt.py").read_bytes())
    for path in sorted(here.parents[1].joinpath("pypto_verified", "index").glob("*.py")):
        digest.update(path.read_bytes())
    return f"{ENCODER} {digest.hexdigest()} {version('z3-solver')}"


class Store:
    """Answers in `directory`. Every failure of the file means that nothing is known."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / "answers.sqlite"
        self._fresh: list[tuple[str, str, str, str]] = []
        self._file: sqlite3.Connection | None = None
        self._usable = True

    def get(self, question: str) -> Answer | None:
        """The answer kept for exactly this question."""
        file = self._open()
        if file is None:
            return None
        try:
            found = file.execute(
                "SELECT question, answer, digest FROM answers WHERE key = ?", (_key(question),)).fetchone()
            if found is None or found[0] != question or found[2] != _digest(question, found[1]):
                return None
            return _answer(json.loads(found[1]))
        except (sqlite3.Error, ValueError, TypeError, KeyError):
            return None

    def put(self, question: str, answer: Answer) -> None:
        """Keep an answer from the next `flush` on."""
        if answer.status != "unknown":
            text = json.dumps([answer.status, dict(answer.ints), dict(answer.bools), answer.decider, answer.rlimit])
            self._fresh.append((_key(question), question, text, _digest(question, text)))

    def flush(self) -> None:
        """Write what is new; where another run holds the file, it is lost."""
        fresh, self._fresh = self._fresh, []
        file = self._open(create=True) if fresh else None
        if file is None:
            return
        try:
            with file:
                file.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", fresh)
            self._shrink(file)
        except sqlite3.Error:
            self._usable = False

    def close(self) -> None:
        """Write what is new and let go of the file."""
        self.flush()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self, create: bool = False) -> sqlite3.Connection | None:
        if self._file is None and self._usable and (create or self._path.exists()):
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                if not self._path.exists():
                    os.close(os.open(self._path, os.O_CREAT | os.O_WRONLY, _PRIVATE))
                if not _own(self._path):
                    self._usable = False
                    return None
                self._file = sqlite3.connect(self._path, timeout=0.2)
                self._file.execute("PRAGMA synchronous = OFF")
                self._file.execute(_TABLE)
            except (OSError, sqlite3.Error):
                self._file, self._usable = None, False
        return self._file

    def _shrink(self, file: sqlite3.Connection) -> None:
        if self._path.stat().st_size <= MAX_BYTES:
            return
        with file:
            file.execute(
                "DELETE FROM answers WHERE rowid <= (SELECT (min(rowid) + max(rowid)) / 2 FROM answers)")
        file.execute("VACUUM")


def _own(path: Path) -> bool:
    """Whether the file is the user's and nobody else may write to it."""
    found = path.lstat()
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & (
        stat.S_IWGRP | stat.S_IWOTH)


def _key(question: str) -> str:
    return sha256(f"{versions()}\n{question}".encode()).hexdigest()


def _digest(question: str, answer: str) -> str:
    return sha256(f"{versions()}\n{question}\n{answer}".encode()).hexdigest()


def _answer(data: list[object]) -> Answer:
    """The answer that `put` took apart. ValueError or TypeError for anything else."""
    status, ints, bools, decider, rlimit = data
    if status not in ("sat", "unsat") or not isinstance(ints, dict) or not isinstance(bools, dict):
        raise ValueError("not an answer")
    if not all(type(v) is int for v in ints.values()) or not all(type(v) is bool for v in bools.values()):
        raise ValueError("not a model")
    if not isinstance(decider, str) or type(rlimit) is not int:
        raise ValueError("not an answer")
    return Answer(str(status), ints, bools, decider, rlimit)
