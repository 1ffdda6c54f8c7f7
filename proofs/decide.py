"""Decides theorems by the solver ladder: the product's own declaration, then each mutant of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

from proofs.canonical import key as key_of
from proofs.result import Record, Result, Values
from proofs.theorem import AnyTheorem, Claim, counting
from pypto_verified.records import dataclass
from pypto_verified.report.model import Verdict
from verifiers.solver import Ladder, Query
from verifiers.solver.answer import AGREES, DIFFERS, Z3_ALONE, Answer
from verifiers.solver.canonical import Canonical
from verifiers.solver.store import ENCODER


def decide_all(
    theorems: Sequence[AnyTheorem], known: Record, cold: bool, cross: bool, seeds: int,
    disputes: Path = Path("disagreements"),
) -> list[Result]:
    """One result a theorem; `known` verdicts on the same formulas are taken unless `cold`. `disputes`: where the
    scripts of two solvers that do not agree are kept."""
    canonical = Canonical()
    solver = version("z3-solver")
    results = []
    for theorem in theorems:
        ladders = [Ladder(seed) for seed in range(seeds)]  # anew: what was asked before must not decide
        claims = list(counting(theorem.claims(theorem.subject())))
        key = key_of(canonical, claims, ENCODER, solver)
        found = known.results.get(theorem.id)
        stale = found is None or found.key != key
        if found is None or stale or cold:
            found = _prove(theorem, claims, key, ladders)
        found = replace(found, stale=stale)
        results.append(_second_opinion(found, claims, ladders[0], disputes) if cross else found)
    return results


@dataclass(slots=True)
class _Tally:
    """What is known after some claims: the first wrong answer, if any."""

    verdict: Verdict = Verdict.PROVED
    failed: str = ""
    witness: Values = field(default_factory=dict)
    counterexamples: dict[str, Values] = field(default_factory=dict)
    deciders: set[str] = field(default_factory=set)
    claims: int = 0
    rlimit: int = 0


def _prove(theorem: AnyTheorem, claims: Sequence[Claim], key: str, ladders: Sequence[Ladder]) -> Result:
    """The verdict under the first seed; UNKNOWN if another seed does not agree or a mutant is not refuted."""
    start = perf_counter()
    tally = _judge(claims, ladders[0])
    subject = theorem.subject()
    refuted = sum(
        _judge(counting(theorem.claims(m.make(subject))), ladders[0]).verdict is Verdict.REFUTED
        for m in theorem.mutants)
    milliseconds = round((perf_counter() - start) * 1000, 1)
    agreeing = 1 + sum(_judge(claims, other).verdict is tally.verdict for other in ladders[1:])
    verdict, failed = tally.verdict, tally.failed
    if not claims:
        verdict, failed = Verdict.UNKNOWN, "every claim is true by rewriting alone, which shows nothing"
    if verdict is Verdict.PROVED and refuted < len(theorem.mutants):
        verdict, failed = Verdict.UNKNOWN, "a mutant is not refuted"
    if verdict is Verdict.PROVED and agreeing < len(ladders):
        verdict, failed = Verdict.UNKNOWN, "not every solver seed proves it"
    return Result(
        theorem.id, theorem.statement, theorem.formula, theorem.ranges, theorem.rests, key, verdict,
        "+".join(sorted(tally.deciders)), milliseconds, tally.claims, tuple(m.what for m in theorem.mutants), refuted,
        tally.witness, failed, tally.counterexamples, (agreeing, len(ladders)), rlimit=tally.rlimit)


def _judge(claims: Iterable[Claim], ladder: Ladder) -> _Tally:
    """All claims in order, up to the first that has not the answer it must have."""
    tally = _Tally()
    for c in claims:
        tally.claims += 1
        found = ladder.decide(Query(c.hypotheses, c.goal))
        tally.deciders.add(found.decider)
        tally.rlimit += found.rlimit
        if c.holds and found.verdict is Verdict.PROVED:
            continue
        if not c.holds and found.verdict is Verdict.REFUTED:
            tally.counterexamples[c.label] = found.model
            continue
        decided = found.verdict in (Verdict.PROVED, Verdict.REFUTED)
        tally.verdict = Verdict.REFUTED if decided else found.verdict
        tally.failed, tally.witness = c.label, found.model
        break
    return tally


def _second_opinion(result: Result, claims: Sequence[Claim], ladder: Ladder, disputes: Path) -> Result:
    """The result with what cvc5 decides of each claim, `24 of 25 agree, 1 undecided`, and the claims that z3 alone
    decides; UNKNOWN if cvc5 is against one."""
    from verifiers.solver.cross import SecondOpinion

    second = SecondOpinion(disputes)
    said = {
        c.label: second.ask(c.hypotheses & ~c.goal, Answer("unsat" if c.holds else "sat"), ladder.oracle.smt)[1]
        for c in claims}
    against = [opinion for opinion in said.values() if opinion.startswith(DIFFERS)]
    alone = tuple(label for label, opinion in said.items() if opinion == Z3_ALONE)
    agree = sum(opinion == AGREES for opinion in said.values())
    counts = ((agree, f"of {len(claims)} agree"), (len(alone), "undecided"), (len(against), "against"))
    cross = ", ".join(f"{n} {what}" for n, what in counts if n or what.endswith("agree"))
    result = replace(result, cross=cross, alone=alone)
    if against and result.verdict is Verdict.PROVED:
        return replace(result, verdict=Verdict.UNKNOWN, failed=f"cvc5 does not agree, {against[0]}")
    return result
