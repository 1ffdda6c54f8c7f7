"""Decides every rule at every site of one function, and words what is not proved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from time import perf_counter

from pypto_verified.errors import Location
from pypto_verified.index import Cond, Expr, symbols_of
from pypto_verified.index.cond import FALSE, TRUE, as_cond
from pypto_verified.pto.module import Op
from pypto_verified.report.model import Finding, FunctionResult, Kind, Obligation, Verdict
from verifiers.access import BLOCKS, LANE, AccessProgram, SymbolKind
from verifiers.access.symbols import UNCONSTRAINED
from verifiers.led import INNER, led_there, not_followed, truths_passed
from verifiers.registry import AnyRule
from verifiers.rule import Witness
from verifiers.sites import Context, Site
from verifiers.solver import Decision, Ladder, Query, weakest_condition, without_implied
from verifiers.solver.answer import AGREES, CVC5_ALONE, DIFFERS, NEITHER, Z3_ALONE
from verifiers.solver.cone import booleans_of, conjuncts, names_of, split_by_relevance
from verifiers.wording import Wording

_SYMBOL_ASSUMPTIONS = {
    SymbolKind.DIM: "SIZE-NONNEG", SymbolKind.SIZE: "SIZE-NONNEG",
    SymbolKind.BLOCK: "BLOCK-INDEX", SymbolKind.LAUNCH: "BLOCK-INDEX",
}
LAUNCHES = "LAUNCHES-KNOWN"
"""The assumption that stands for what a file says of its kernels' launches."""
_READ = frozenset({SymbolKind.DATA, SymbolKind.OPAQUE})
_PASSED = frozenset({SymbolKind.PARAM, SymbolKind.SIZE})
_LAUNCHED = frozenset({SymbolKind.BLOCK, SymbolKind.LAUNCH})


def site_text(place: Location, label: str) -> str:
    """A place and what stands there, as obligations name their sites."""
    return f"{place.line}:{place.column} {label}" if place.column else f"{place.line} {label}"


def finding(
    rule: str, kind: Kind, verdict: Verdict, message: str, place: Location, *, help: str = "", needs: str = "",
    witness: tuple[tuple[str, int], ...] = (), site: str = "", text_line: int = 0,
) -> Finding:
    """A finding at a place of a text."""
    return Finding(
        rule, kind, verdict, message, place.file, place.line, place.column, witness, needs, "", help, "", site,
        text_line)


def _second(decision: Decision) -> str:
    """What a second solver said about all questions of a decision: the worst of it."""
    order = (AGREES, CVC5_ALONE, Z3_ALONE, NEITHER, DIFFERS)
    return max(decision.opinions, key=lambda o: order.index(o.split(":")[0]), default="")


class Judge:
    """Every rule at every site of one function. `assumed` are the user's texts, or LAUNCHES, with their conditions;
    `declared`: whether an author named the arguments, and so declared the sizes."""

    def __init__(
        self, program: AccessProgram, ladder: Ladder, assumed: list[tuple[str, Cond]], result: FunctionResult,
        declared: bool,
    ) -> None:
        self.program = program
        self.declared = declared
        self.ladder = ladder
        self.assumed = assumed
        self.result = result
        self._wanted: dict[Cond, str] = {}
        self.labels: Counter[tuple[str, str]] = Counter()
        kinds = program.symbols.kinds
        self.dims = tuple(n for n, k in kinds.items() if k is SymbolKind.DIM)
        self.inner = frozenset(n for n, k in kinds.items() if k in INNER)
        self.background = program.symbols.facts & program.symbols.passed
        for _, c in assumed:
            self.background = self.background & c

    def rule(self, rule: AnyRule, context: Context) -> None:
        for site in rule.sites(context):
            if rule.applies(site):
                self._obligation(rule, site)

    def _obligation(self, rule: AnyRule, site: Site) -> None:
        started = perf_counter()
        goal = as_cond(rule.goal(site))
        if goal is TRUE and self._consistent:
            hypotheses, decision = TRUE, Decision(Verdict.PROVED, "normal-form")
        else:
            hypotheses = site.path & self.background & rule.given(site)
            decision = self._decide(rule, site, hypotheses, goal)
        if decision.verdict is Verdict.VACUOUS and self._consistent:
            # Code that is never reached does nothing wrong; VACUOUS is for assumptions that contradict each other.
            decision = replace(decision, verdict=Verdict.PROVED)
        elapsed = (perf_counter() - started) * 1000
        place = self.program.location(site.op)
        label = site_text(place, site.label)
        self.labels[rule.id, label] += 1
        if self.labels[rule.id, label] > 1:
            label += f" #{self.labels[rule.id, label]}"
        self.result.obligations.append(Obligation(
            rule.id, rule.kind, decision.verdict, label, decision.decider, elapsed,
            self._assumptions(rule, site, hypotheses, goal), decision.rlimit, _second(decision)))
        if _second(decision).startswith(DIFFERS):
            self.result.findings.append(finding(
                "SOLVER", rule.kind, Verdict.ERROR, f"{rule.id}: the two solvers do not agree", place,
                help=_second(decision)))
        if decision.verdict is Verdict.VACUOUS and any(f.verdict is Verdict.VACUOUS for f in self.result.findings):
            return  # one finding says that the assumptions contradict each other
        if decision.verdict is not Verdict.PROVED:
            found = self._explain(rule, site, decision, hypotheses, goal)
            self.result.findings.append(replace(found, site=label, text_line=site.op.line))
            led = self._by_data(rule, site, hypotheses, goal, decision)
            if led is not None:
                self.result.perhaps.append(replace(led, site=label, text_line=site.op.line))

    @property
    def unconstrained(self) -> frozenset[str]:
        """Names of symbols that no refutation may choose; rules add some as they look for their sites."""
        return frozenset(n for n, k in self.program.symbols.kinds.items() if k in UNCONSTRAINED)

    def _decide(self, rule: AnyRule, site: Site, hypotheses: Cond, goal: Cond) -> Decision:
        chosen = rule.chosen(site)
        dims = (*self.dims, *sorted(chosen - set(self.dims)))
        free = self.unconstrained - chosen
        decision = self.ladder.decide(Query(hypotheses, goal, free, dims))
        related = self._related(hypotheses, goal) if decision.verdict is Verdict.REFUTED else frozenset[str]()
        if related:
            spent = decision.rlimit
            decision = self.ladder.decide(Query(hypotheses, goal, free | related, ()))
            decision = replace(decision, rlimit=decision.rlimit + spent)
        if decision.verdict is Verdict.REFUTED:
            model = {**self._way_there(site, hypotheses, decision), **decision.model, **(rule.shown(site) or {})}
            decision = replace(decision, model=model)
            if rule.observable and rule.shown(site) is None:
                decision = self._led(site, hypotheses, goal, decision)
        why = rule.undecided(site)
        if why and (decision.verdict is not Verdict.REFUTED):
            return Decision(Verdict.UNKNOWN, "", why=why, rlimit=decision.rlimit, opinions=decision.opinions)
        return decision

    def _led(self, site: Site, hypotheses: Cond, goal: Cond, decision: Decision) -> Decision:
        """A refutation by numbers that lead to the failure whatever opaque Booleans are, with the truths that callers
        pass; UNKNOWN if there are none."""
        relevant, _, _ = split_by_relevance(hypotheses, names_of(goal) | names_of(site.path))
        failing = relevant & ~goal
        unknown = not_followed(self.program, failing)
        if unknown:
            outer = {n: v for n, v in decision.model.items() if n not in self.inner}
            dims = {n: outer[n] for n in self.dims if n in outer} if names_of(goal) & self.unconstrained else {}
            found = led_there(self.program, self.ladder, failing, (outer, dims))
            if found is None:
                model = {**decision.model, **self._passed(decision, failing)}
                named = ", ".join(dict.fromkeys(f"%{self.program.symbols.truths.get(n, n)}" for n in unknown))
                return Decision(
                    Verdict.UNKNOWN, decision.decider, model, led=True, rlimit=decision.rlimit,
                    opinions=decision.opinions,
                    why=f"it fails in some runs, which {named} may lead to: what that is, callers or data decide")
            numbers = {n: v for n, v in found.model.items() if n in self.program.symbols.kinds}
            decision = replace(decision, model={**decision.model, **numbers}, bools={**decision.bools, **found.bools})
        return replace(decision, model={**decision.model, **self._passed(decision, failing)})

    def _passed(self, decision: Decision, failing: Cond) -> dict[str, int]:
        """The truths of a decision that callers pass, of those that a condition speaks of."""
        flags = truths_passed(self.program).keys() & names_of(failing)
        return {n.partition("?")[0]: int(v) for n, v in decision.bools.items() if n in flags}

    def _by_data(
        self, rule: AnyRule, site: Site, hypotheses: Cond, goal: Cond, decision: Decision
    ) -> Finding | None:
        """A refutation of what is open, that counts once a run shows it: by numbers that fail where data lead there.
        None where there is none, or where data are assumed to be something, which a run can't keep to."""
        if decision.verdict is not Verdict.UNKNOWN or rule.led is None:
            return None
        data = frozenset(n for n, k in self.program.symbols.kinds.items() if k in _READ)
        if any(names_of(c) & data for _, c in self.assumed):
            return None
        numbers = rule.led(site)
        if numbers is not None:
            found = Decision(Verdict.REFUTED, decision.decider, dict(numbers))
            return self._explain(rule, site, found, hypotheses, goal, numbers)
        if decision.led:
            return self._explain(rule, site, replace(decision, verdict=Verdict.REFUTED), hypotheses, goal)
        if not decision.needs_condition:
            return None
        relevant, _, names = split_by_relevance(hypotheses, names_of(goal) | names_of(site.path))
        if not names & data and not not_followed(self.program, relevant & ~goal):
            return None
        chosen = rule.chosen(site)
        dims = (*self.dims, *sorted(chosen - set(self.dims)))
        free = (self.unconstrained - chosen) | self._related(hypotheses, goal)
        found = self.ladder.decide(Query(hypotheses, goal, free - data, dims))
        refuted = found.verdict is Verdict.REFUTED
        return self._explain(rule, site, found, hypotheses, goal) if refuted else None

    def _way_there(self, site: Site, hypotheses: Cond, decision: Decision) -> dict[str, int]:
        """Values of what callers pass that lead to a site, where its failure does not depend on them."""
        missing = (names_of(site.path) & self.unconstrained) - decision.model.keys()
        if not missing:
            return {}
        relevant, _, names = split_by_relevance(hypotheses, missing)
        return {} if names & decision.model.keys() else self.ladder.reachable(relevant).model

    def _related(self, hypotheses: Cond, goal: Cond) -> frozenset[str]:
        """Extents that callers keep in a relation which the text does not tell: to each other, to a scalar that they
        pass, or to the number of blocks. Only where no author has declared the sizes; an extent alone may have any
        value."""
        if self.declared:
            return frozenset()
        names = self._bounding(hypotheses, goal)
        extents = names & set(self.dims)
        kinds = {self.program.symbols.kinds.get(name) for name in names - {LANE}}
        launch_told = any(BLOCKS in names_of(c) for _, c in self.assumed)
        launched = bool(kinds & _LAUNCHED) and not launch_told
        others = len(extents) > 1 or bool(kinds & _PASSED) or launched
        return frozenset(extents) if others else frozenset()

    def _bounding(self, hypotheses: Cond, goal: Cond) -> frozenset[str]:
        """The names in a goal and in what bounds its counters, block indices and derived values."""
        names, before = names_of(goal), frozenset[str]()
        while names != before:
            inner, before = names & self.inner, names
            names = names.union(*(found for c in conjuncts(hypotheses) if (found := names_of(c)) & inner))
        return names

    @cached_property
    def _consistent(self) -> bool:
        """Whether the assumptions can hold together."""
        return self.ladder.satisfiable(self.background).verdict is Verdict.PROVED

    def _assumptions(self, rule: AnyRule, site: Site, hypotheses: Cond, goal: Cond) -> tuple[str, ...]:
        """Ids of the table, and the user's own texts, that stand behind a verdict."""
        unneeded = rule.unneeded(site)
        own = tuple(a for a in rule.assumptions if a not in unneeded)
        seeds = names_of(goal)
        if not seeds:
            return own
        _, _, names = split_by_relevance(hypotheses, seeds)
        kinds = {self.program.symbols.kinds.get(n) for n in names}
        found = dict.fromkeys(own)
        found.update(dict.fromkeys(a for k, a in _SYMBOL_ASSUMPTIONS.items() if k in kinds))
        if LANE in names:
            found["LANE-INDEX"] = None
        if kinds - {None}:
            found["SCALAR-ROUND-TRIP"] = None
        found.update(dict.fromkeys(
            text if text == LAUNCHES else f"assumed: {text}"
            for text, c in self.assumed if c is FALSE or names_of(c) & names))
        return tuple(found)

    def _explain(
        self, rule: AnyRule, site: Site, decision: Decision, hypotheses: Cond, goal: Cond,
        led: Mapping[str, int] | None = None,
    ) -> Finding:
        place = self.program.location(site.op)
        if decision.verdict is Verdict.VACUOUS:
            message, help = "the assumptions contradict each other", "drop or weaken an --assume"
            if not self.assumed:
                message = "no run of this function has a meaning: it divides by a value that is never positive"
                help = "give the division another divisor"
            return finding(rule.id, rule.kind, Verdict.VACUOUS, message, place, help=help)
        if decision.verdict is Verdict.UNKNOWN and not decision.needs_condition:
            return finding(rule.id, rule.kind, Verdict.UNKNOWN, f"{rule.claim}: not decided ({decision.why})", place)
        wording = Wording(self.program.symbols)
        worded, witness = wording.site(site), Witness(self._named_values(decision))
        needs = ""
        message = rule.explain(worded, witness)
        if decision.verdict is Verdict.UNKNOWN:
            wanted = weakest_condition(self.ladder, hypotheses, goal, self.inner)
            message = f"not known to hold: {rule.claim}. It fails when {message}"
            opaque = sorted({f"%{name.partition('?')[0]}" for name in booleans_of(wanted)})
            kinds = self.program.symbols.kinds
            made = sorted(n for n in names_of(wanted) if kinds.get(n) is SymbolKind.OPAQUE)
            if opaque:  # nobody can assume anything of these
                message += f"; callers or data decide it by {', '.join(opaque)}"
            elif made:  # no caller knows these
                message += f"; how the kernel computes {', '.join(made)} is not followed"
            elif names_of(wanted) <= self.program.symbols.shown.keys():
                needs = repr(wording.cond(wanted))
                self._wanted[wanted] = needs
        help = rule.help(worded)
        if decision.verdict is Verdict.REFUTED and goal is not FALSE and names_of(goal) <= set(self.dims):
            help += f'; or, if callers keep to it, --assume "{goal!r}"'
        return finding(
            rule.id, rule.kind, decision.verdict, message, place, help=help, needs=needs,
            witness=self._witness(
                decision, hypotheses, frozenset(led or rule.shown(site) or ()) or
                names_of(goal) | (names_of(site.path) & self.unconstrained) or names_of(site.path),
                rule.named(site)))

    def _named_values(self, decision: Decision) -> dict[str, int]:
        """The model, and the value of every name that users see."""
        value = Witness(decision.model)
        named = {
            name: value(shown.expr) for name, shown in self.program.symbols.shown.items()
            if set(symbols_of(shown.expr)) <= set(decision.model)}
        return {**decision.model, **named}

    def _witness(
        self, decision: Decision, hypotheses: Cond, seeds: frozenset[str], named: Mapping[str, Expr]
    ) -> tuple[tuple[str, int], ...]:
        """The values that matter to `seeds`, under the names users know, and those that the rule names."""
        _, _, names = split_by_relevance(hypotheses, seeds)
        value = Witness(decision.model)
        found: list[tuple[str, int]] = []
        for name, shown in self.program.symbols.shown.items():
            own = set(symbols_of(shown.expr))
            if not shown.other and own & names and own <= set(decision.model):
                found.append((name, value(shown.expr)))
        found += [(name, value(e)) for name, e in named.items() if set(symbols_of(e)) <= set(decision.model)]
        flags = (name.partition("?")[0] for name in self.program.symbols.truths)
        return (*found, *((name, decision.model[name]) for name in flags if name in decision.model))

    def conclude(self) -> None:
        """What all open points together need of a caller, without what the rest implies."""
        kept = without_implied(self.ladder, self.background, list(self._wanted))
        self.result.needs = tuple(dict.fromkeys(self._wanted[c] for c in kept))

    def unmodelled(self) -> None:
        """One UNKNOWN for each op whose meaning is not modelled, and for each gap of the access program."""
        for step in self.program.steps:
            if not step.modelled:
                self._unknown(step.op, f"{step.op.name} is not modelled")
        for op, text in self.program.gaps:
            self._unknown(op, f"not modelled: {text}")

    def _unknown(self, op: Op, message: str) -> None:
        place = self.program.location(op)
        label = f"{place.line} {op.name}"
        self.labels["MODEL-OP", label] += 1
        if self.labels["MODEL-OP", label] > 1:
            label += f" #{self.labels['MODEL-OP', label]}"
        self.result.obligations.append(Obligation("MODEL-OP", Kind.SAFETY, Verdict.UNKNOWN, label))
        self.result.findings.append(finding(
            "MODEL-OP", Kind.SAFETY, Verdict.UNKNOWN, message, place, site=label, text_line=op.line))
