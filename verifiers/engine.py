"""Runs every rule at every site of every function: exactly one verdict for each pair."""

from __future__ import annotations

from collections import Counter

from pypto_verified.errors import Location, NotModelled, ParseError
from pypto_verified.index import Cond, all_of, any_of, eq
from pypto_verified.pto.legality import Check
from pypto_verified.pto.module import Func, Module
from pypto_verified.pto.walk import walk_ops
from pypto_verified.report.model import FunctionResult, Kind, Obligation, Verdict
from pypto_verified.targets import Target
from verifiers.access import AccessProgram, build_program
from verifiers.assume import assumptions_of
from verifiers.judge import LAUNCHES, Judge, finding, site_text
from verifiers.legal import legality
from verifiers.options import Launch, Options
from verifiers.raised import raised
from verifiers.registry import AnyRule, has_order, selected
from verifiers.sites import Context, op_text
from verifiers.solver import Ladder

DEFAULT = Options()


def verify(module: Module, target: Target, options: Options = DEFAULT) -> list[FunctionResult]:
    """One result for each function with a body, in the module's order.

    Raises InputError for an assumption that can't be read. A function that can't be made into an access program is
    UNKNOWN with a finding that says why. ImportError if a second solver is asked for and not installed.
    """
    ladder = Ladder(options.seed, options.answers, options.second)
    try:
        return _verify(module, target, options, ladder)
    finally:
        ladder.oracle.close()


def _verify(module: Module, target: Target, options: Options, ladder: Ladder) -> list[FunctionResult]:
    level3 = options.level == "level3" or (options.level == "" and _has_addresses(module))
    legal: dict[Func, list[Check]] = {}
    if not options.families or "LEGAL" in options.families:
        legal = legality(module, target.name, options.level or ("level3" if level3 else "level2"))
    results: list[FunctionResult] = []
    read = raised(module, target)
    rules = tuple(selected(options.families, options.explicit_sync or has_order(read)))
    for func, written in zip(read.funcs, module.funcs, strict=True):
        if func.body is not None:
            result = _verify_function(func, read, target, options, level3, ladder, rules)
            _add_legality(result, legal.get(written, []), module.file)
            if not result.obligations and not result.findings:
                result.findings.append(finding(
                    "MODEL-FUNC", Kind.SAFETY, Verdict.UNKNOWN, f"function {func.name} has nothing to check",
                    Location(module.file, func.line)))
            results.append(result)
    return results


def unused_assumptions(module: Module, target: Target, options: Options) -> tuple[str, ...]:
    """The assumptions that no function of the module has all names of: `verify` leaves them out, a user may have
    mistyped them. Raises InputError for one that can't be read."""
    used: set[str] = set()
    for func in module.funcs if options.assume else []:
        if func.body is not None:
            try:
                program = build_program(func, module.file, target.name, options.names.get(func.name))
            except NotModelled:
                continue
            used.update(text for text, _ in assumptions_of(program.symbols, options.assume))
    return tuple(text for text in options.assume if text not in used)


def _has_addresses(module: Module) -> bool:
    return any("addr" in op.args for f in module.funcs for op in walk_ops(f))


def _add_legality(result: FunctionResult, found: list[Check], file: str) -> None:
    labels: Counter[str] = Counter()
    for check in found:
        rule = f"LEGAL-{check.rule.id}"
        place = check.op.loc if check.op.loc.line else Location(file, check.op.line)
        site = site_text(place, op_text(check.op))
        labels[rule + site] += 1
        if labels[rule + site] > 1:
            site += f" #{labels[rule + site]}"
        verdict = Verdict.PROVED if check.holds else Verdict.REFUTED
        result.obligations.append(Obligation(rule, Kind.LEGALITY, verdict, site, "normal-form"))
        if not check.holds:
            result.findings.append(finding(
                rule, Kind.LEGALITY, verdict, check.message, place, help=check.rule.help, site=site,
                text_line=check.op.line))


def _verify_function(
    func: Func, module: Module, target: Target, options: Options, level3: bool, ladder: Ladder,
    rules: tuple[AnyRule, ...],
) -> FunctionResult:
    result = FunctionResult(func.name)
    try:
        program = build_program(func, module.file, target.name, options.names.get(func.name))
    except NotModelled as e:
        place = e.location if e.location.line else Location(module.file, func.line)
        result.findings.append(finding("MODEL-FUNC", Kind.SAFETY, Verdict.UNKNOWN, e.message, place, help=e.help))
        return result
    except ParseError as e:
        place = e.location if e.location.file else Location(module.file, e.location.line)
        result.findings.append(finding("PARSE", Kind.LEGALITY, Verdict.ERROR, e.message, place, help=e.help))
        return result
    shown = options.names.get(func.name, {})
    outputs = tuple((a, shown.get(a, a)) for a in options.outputs.get(func.name, ()))
    launches = options.launches.get(func.name, ())
    assumed = [*assumptions_of(program.symbols, options.assume), *_launched(program, launches)]
    context = Context(
        program, target, level3, options.strict, module, ladder, outputs, all_of(c for _, c in assumed),
        options.explicit_sync, func.name in options.names, launches)
    check = Judge(program, ladder, assumed, result, context.authored)
    for rule in rules:
        check.rule(rule, context)
    check.unmodelled()
    check.conclude()
    return result


def _launched(program: AccessProgram, launches: tuple[Launch, ...]) -> list[tuple[str, Cond]]:
    """How many blocks there are, where every launch that is known says so."""
    count = program.symbols.shown.get("block_num")
    numbers = [launch.blocks for launch in launches if launch.blocks is not None]
    if count is None or not numbers or len(numbers) < len(launches):
        return []
    return [(LAUNCHES, any_of(eq(count.expr, n) for n in numbers))]
