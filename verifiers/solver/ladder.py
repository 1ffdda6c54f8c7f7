"""The ladder: each rung decides what it can and hands the rest up; every refutation is checked by evaluation."""

from __future__ import annotations

from dataclasses import field, replace
from pathlib import Path

from pypto_verified.index import Cond, holds, implies, substitute_cond, symbols_of
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.records import dataclass
from pypto_verified.report.model import Verdict
from verifiers.solver.answer import hardest
from verifiers.solver.cone import booleans_of, components, conjuncts, names_of, split_by_relevance, with_truth
from verifiers.solver.enumeration import domain_of, first_point
from verifiers.solver.oracle import Oracle
from verifiers.solver.points import plain_model

_GUESSES = 4


@dataclass(frozen=True, slots=True)
class Query:
    """Does `goal` hold wherever `hypotheses` do? `unconstrained` symbols are not chosen at will: a goal that some of
    their values keep true at every reachable place is not refuted. `dims` may be chosen freely against the goal."""

    hypotheses: Cond
    goal: Cond
    unconstrained: frozenset[str] = frozenset()
    dims: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """`model` values every symbol of the query when REFUTED, and shows one failing case when UNKNOWN for want of a
    condition (`needs_condition`), or because it takes data to lead there (`led`). `why` says what stopped an UNKNOWN
    otherwise. `decider` is the rung that settled it, `rlimit` the resource units that z3 spent on all of its questions,
    `opinions` what a second solver said to each."""

    verdict: Verdict
    decider: str
    model: dict[str, int] = field(default_factory=dict)
    bools: dict[str, bool] = field(default_factory=dict)
    needs_condition: bool = False
    led: bool = False
    why: str = ""
    rlimit: int = 0
    opinions: tuple[str, ...] = ()


class Ladder:
    """Decides queries. One per run: it keeps the solver and what it learnt about hypotheses. `answers` and `second` as
    in `Oracle`."""

    def __init__(self, seed: int = 0, answers: Path | None = None, second: Path | None = None) -> None:
        self.oracle = Oracle(seed, answers, second)
        self._satisfiable: dict[Cond, Decision] = {}
        self._entailed: dict[Cond, bool] = {}
        self._not_soon: set[Cond] = set()
        self._decided: dict[Query, Decision] = {}

    def decide(self, query: Query) -> Decision:
        """The verdict of one atomic obligation."""
        found = self._decided.get(query)
        if found is None:
            spent, said = self.oracle.spent, len(self.oracle.opinions)
            found = self._decide(query)
            found = replace(
                found, rlimit=self.oracle.spent - spent, opinions=tuple(self.oracle.opinions[said:]))
            self._decided[query] = found
        return found

    def _decide(self, query: Query) -> Decision:
        reach = self.satisfiable(query.hypotheses)
        if reach.verdict is not Verdict.PROVED:
            return reach
        if query.goal is TRUE or query.goal in conjuncts(query.hypotheses):
            return Decision(Verdict.PROVED, "normal-form")
        relevant, rest, names = split_by_relevance(query.hypotheses, names_of(query.goal))
        shown = (*query.dims, *(n for n in sorted(symbols_of(query.goal)) if n not in query.dims))
        failing = self._model(relevant & ~query.goal, shown, query.dims)
        if failing.verdict is Verdict.UNKNOWN:
            return failing
        if failing.verdict is Verdict.VACUOUS:
            return Decision(Verdict.PROVED, failing.decider)
        others = self.reachable(rest)
        model, bools = {**others.model, **failing.model}, {**others.bools, **failing.bools}
        if not _fails_at(relevant, query.goal, failing):
            return Decision(Verdict.UNKNOWN, failing.decider, why="the solver's model does not evaluate to a failure")
        free = names & query.unconstrained
        if not free or query.goal is FALSE:
            return Decision(Verdict.REFUTED, failing.decider, model, bools)
        return self._unconstrained(query, relevant, free, Decision(Verdict.REFUTED, failing.decider, model, bools))

    def _unconstrained(self, query: Query, relevant: Cond, free: frozenset[str], failing: Decision) -> Decision:
        """REFUTED only if, at the model's dims, every reachable value of the free symbols has a failing place."""
        fixed = {n: v for n, v in failing.model.items() if n in query.dims}
        at = substitute_cond(relevant, fixed)
        goal = substitute_cond(query.goal, fixed)
        guessed = self._avoided(at, goal, free)
        if guessed:
            decider = hardest(failing.decider, guessed)
            return Decision(Verdict.UNKNOWN, decider, failing.model, failing.bools, needs_condition=True)
        safe = self.oracle.exists_forall(at, goal, sorted(free))
        if safe.status == "unsat":
            return replace(failing, decider=hardest(failing.decider, safe.decider))
        why = "" if safe.status == "sat" else "whether a caller can avoid it is beyond the solver's budget"
        decider = hardest(failing.decider, safe.decider)
        return Decision(Verdict.UNKNOWN, decider, failing.model, failing.bools, needs_condition=True, why=why)

    def _avoided(self, at: Cond, goal: Cond, free: frozenset[str]) -> str:
        """The rung that shows some reachable values of the free symbols to keep the goal everywhere; '' if none of a
        few guesses does. A guess is a place where the goal holds; one that fails elsewhere teaches the next."""
        if any(True for _ in booleans_of(at & goal)):
            return ""
        wanted = at & goal
        for _ in range(_GUESSES):
            guess = self._model(wanted)
            if guess.verdict is not Verdict.REFUTED:
                return ""
            fixed = {n: guess.model.get(n, 0) for n in free}
            spoiled = self._model(substitute_cond(at, fixed) & ~substitute_cond(goal, fixed))
            if spoiled.verdict is Verdict.VACUOUS:
                return spoiled.decider
            if spoiled.verdict is not Verdict.REFUTED:
                return ""
            others = {n: v for n, v in spoiled.model.items() if n not in free}
            wanted = wanted & substitute_cond(implies(at, goal), others)
        return ""

    def reachable(self, c: Cond) -> Decision:
        """Like `satisfiable`, with numbers that do whatever opaque Booleans are, if there are some: whoever runs them
        chooses no Booleans."""
        if any(True for _ in booleans_of(c)):
            sure = self.satisfiable(with_truth(c, True) & with_truth(c, False))
            if sure.verdict is Verdict.PROVED:
                return sure
        return self.satisfiable(c)

    def satisfiable(self, c: Cond) -> Decision:
        """PROVED with a model, VACUOUS, or UNKNOWN."""
        model: dict[str, int] = {}
        bools: dict[str, bool] = {}
        decider = "normal-form"
        for part in components(c):
            found = self._satisfiable.get(part)
            if found is None:
                found = _plain(part) or self._model(part)
                self._satisfiable[part] = found
            if found.verdict in (Verdict.VACUOUS, Verdict.UNKNOWN):
                return found
            model |= found.model
            bools |= found.bools
            decider = found.decider
        return Decision(Verdict.PROVED, decider, model, bools)

    def _model(
        self, c: Cond, small: tuple[str, ...] = (), sizes: tuple[str, ...] = (), brief: bool = False
    ) -> Decision:
        """REFUTED with a model of `c`, VACUOUS when there is none, or UNKNOWN. The values of `small` are minimised, in
        that order, with `sizes` positive if they can be. `brief`: see `Smt.solve`."""
        if c is FALSE:
            return Decision(Verdict.VACUOUS, "normal-form")
        if c is TRUE:
            return Decision(Verdict.REFUTED, "normal-form")
        if not any(True for _ in booleans_of(c)):
            domain = domain_of(c)
            if domain is not None:
                point = first_point(c, domain)
                if point is None:
                    return Decision(Verdict.VACUOUS, "enumeration")
                return Decision(Verdict.REFUTED, "enumeration", point)
        answer = self.oracle.solve(c, small, sizes, brief)
        if answer.status == "unknown":
            return Decision(Verdict.UNKNOWN, answer.decider, why=answer.why or "solver budget")
        if answer.status == "unsat":
            return Decision(Verdict.VACUOUS, answer.decider)
        return Decision(Verdict.REFUTED, answer.decider, dict(answer.ints), dict(answer.bools))

    def least(self, c: Cond, names: tuple[str, ...]) -> dict[str, int] | None:
        """A model of `c` in which these symbols, in that order, are as small as they can be; None if none is known."""
        found = self._model(c, names)
        return found.model if found.verdict is Verdict.REFUTED else None

    def entails(self, hypotheses: Cond, goal: Cond, brief: bool = False) -> bool:
        """Whether the implication is proved; reachability is not asked. `brief`: proved soon, so that who asks again,
        in another form or after other questions, may count on the same answer."""
        question = ~implies(hypotheses, goal)
        found = self._entailed.get(question)
        if found is None and brief and question in self._not_soon:
            return False
        if found is None:
            verdict = self._model(question, brief=brief).verdict
            if brief and verdict is Verdict.UNKNOWN:
                self._not_soon.add(question)
                return False
            found = self._entailed[question] = verdict is Verdict.VACUOUS
        return found


def _plain(c: Cond) -> Decision | None:
    found = plain_model(c)
    return Decision(Verdict.PROVED, "enumeration", *found) if found is not None else None


def _fails_at(hypotheses: Cond, goal: Cond, found: Decision) -> bool:
    """Independent check of a model: the hypotheses hold and the goal fails by plain evaluation."""
    try:
        return holds(hypotheses, found.model, found.bools) and not holds(goal, found.model, found.bools)
    except (KeyError, ZeroDivisionError):
        return False
