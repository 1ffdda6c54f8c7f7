"""Answers questions that need a solver: from the store if the very question was asked before, else by z3, and with a
second opinion if one is wanted. z3 is imported when the first question is open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pypto_verified.index import Cond, holds
from verifiers.solver.answer import Z3_ALONE, Answer
from verifiers.solver.canonical import Canonical
from verifiers.solver.points import plain_model

if TYPE_CHECKING:
    from verifiers.solver.cross import SecondOpinion
    from verifiers.solver.smt import Smt
    from verifiers.solver.store import Store


class Oracle:
    """One per run. `answers`: a directory where answers outlive the run; `second`: ask cvc5 too, and keep both texts
    there when it does not agree. With a second opinion nothing is taken from the store."""

    def __init__(self, seed: int = 0, answers: Path | None = None, second: Path | None = None) -> None:
        self._seed = seed
        self._smt: Smt | None = None
        self._canonical = Canonical()
        self._answers = answers if second is None else None
        self._store: Store | None = None
        self._second_directory = second
        self._second: SecondOpinion | None = None
        self.spent = 0
        """Resource units of all answers so far."""
        self.opinions: list[str] = []
        """What the second solver said, question by question."""

    @property
    def smt(self) -> Smt:
        if self._smt is None:
            from verifiers.solver.smt import Smt

            self._smt = Smt(self._seed)
        return self._smt

    def solve(
        self, c: Cond, small: Sequence[str] = (), sizes: Sequence[str] = (), brief: bool = False
    ) -> Answer:
        """A model of `c`, as `Smt.solve` makes it."""
        question = self._question("solve", c, *small, "/", *sizes)
        found = self._recall(question)
        if found is None or not _plausible(c, found):
            found = self.smt.solve(c, small, sizes, brief)
            self._keep(question, found)
        if self._second_directory is not None:
            found = self._ask_second(c, found)
        self.spent += found.rlimit
        return found

    def exists_forall(self, hypotheses: Cond, goal: Cond, outer: Sequence[str]) -> Answer:
        """As `Smt.exists_forall`; no second opinion."""
        question = self._question("exists", hypotheses, self._canonical.cond(goal), *outer)
        found = self._recall(question)
        if found is None:
            found = self.smt.exists_forall(hypotheses, goal, outer)
            self._keep(question, found)
        if self._second_directory is not None:
            self.opinions.append(Z3_ALONE)
        self.spent += found.rlimit
        return found

    def close(self) -> None:
        """Write what the store does not have yet."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def _question(self, how: str, c: Cond, *more: str) -> str:
        return "" if self._answers is None else "\n".join((how, str(self._seed), self._canonical.cond(c), *more))

    def _recall(self, question: str) -> Answer | None:
        if self._answers is None:
            return None
        if self._store is None:
            from verifiers.solver.store import Store

            self._store = Store(self._answers)
        return self._store.get(question)

    def _keep(self, question: str, answer: Answer) -> None:
        if self._store is not None:
            self._store.put(question, answer)

    def _ask_second(self, c: Cond, answer: Answer) -> Answer:
        if self._second is None:
            from verifiers.solver.cross import SecondOpinion

            assert self._second_directory is not None
            self._second = SecondOpinion(self._second_directory)
        found, opinion = self._second.ask(c, answer, self.smt)
        self.opinions.append(opinion)
        return found


def _plausible(c: Cond, kept: Answer) -> bool:
    """Whether a kept answer stands up to evaluation: a model must be one, and no plain point may be a model of what is
    said to have none."""
    if kept.status == "unsat":
        return plain_model(c) is None
    try:
        return holds(c, kept.ints, kept.bools)
    except (KeyError, ZeroDivisionError):
        return False
