"""Replays refutations in the simulator: a witness that does not show what its rule claims is a fault of this tool
(VF-03)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from pypto_verified.pto.module import Func, Module
from pypto_verified.pto.walk import walk_ops
from pypto_verified.report.model import Finding, FunctionResult, Kind, Verdict
from pypto_verified.targets import Target

if TYPE_CHECKING:
    from pypto_verified.simulator.contents import Contents
    from pypto_verified.simulator.schedule.outcome import Outcome

MAX_STEPS = 200_000
"""Ops of one replay; a witness that needs more is not run."""
TRIED_STEPS = 200_000
"""Steps of all replays of a function that try contents of tensors."""

UNDER_THE_OTHER_READING = "not run: of what does not concern the order of ops a run takes the usual reading"
"""What is said of a strict refutation that a run does not show."""


def replayed(
    result: FunctionResult, module: Module, target: Target, seed: int, names: Mapping[str, str],
    outputs: tuple[str, ...] = (), strict: bool = False,
) -> FunctionResult:
    """The result with `replay` filled in for each refutation that a run can show, and one ERROR more for each that ran
    and did not show it though no data could hide it. One that another fault of the same run keeps from being shown is
    UNKNOWN until that is repaired; one of an order of ops that rests on numbers which ops or data make is UNKNOWN if
    the run does not show it. `names`: what the user calls an argument of the text; `outputs`:
    the arguments that are declared as outputs; `strict`: the stricter reading of each fact, which a run takes of those
    about order."""
    func = next(f for f in module.funcs if f.name == result.name)
    result = _shown_by_data(result, func, module, target, seed, names, strict)
    if all(f.verdict is not Verdict.REFUTED for f in result.findings):
        return result
    from pypto_verified.simulator.confirm import UNCHANGED

    findings: list[Finding] = []
    behind: set[tuple[str, str]] = set()
    for finding in result.findings:
        shown = finding.replay
        if finding.verdict is Verdict.REFUTED and not shown:
            shown = _in_order(finding, func, module, target, seed, names, strict) if _is_order(finding.rule) else (
                _replay(finding, func, target, seed, names, outputs))
        computed = _computed(finding, func) if _is_order(finding.rule) else ""
        if computed and shown.startswith(("not observed", _astray())):
            behind.add((finding.rule, finding.site))
            finding, shown = _open(finding, computed), _astray()
        elif shown == _kept():
            behind.add((finding.rule, finding.site))
            finding = replace(finding, verdict=Verdict.UNKNOWN, help="", message=(
                f"{_claim(finding)}: not decided ({shown.removeprefix('not run: ')})"))
        elif _is_behind(shown):
            behind.add((finding.rule, finding.site))
            finding = _withheld(finding)
        if shown.startswith("not observed") and strict and not _is_order(finding.rule):
            shown = UNDER_THE_OTHER_READING
        findings.append(replace(finding, replay=shown))
        if shown.startswith("not observed") and shown != UNCHANGED:
            findings.append(_fault(finding, shown))
    obligations = [replace(o, verdict=Verdict.UNKNOWN) if (o.rule, o.site) in behind else o for o in result.obligations]
    return replace(result, findings=findings, obligations=obligations)


def _shown_by_data(
    result: FunctionResult, func: Func, module: Module, target: Target, seed: int, names: Mapping[str, str],
    strict: bool,
) -> FunctionResult:
    """The result with those refutations that a run shows whose tensors hold what leads there, of its `perhaps` and of
    those that rest on numbers which ops or data make."""
    waiting: dict[tuple[tuple[str, int], ...], list[Finding]] = {}
    resting = (f for f in result.findings if f.verdict is Verdict.REFUTED and _is_order(f.rule) and _computed(f, func))
    for finding in (*result.perhaps, *resting):
        waiting.setdefault(finding.witness, []).append(finding)
    if not waiting:
        return result
    from pypto_verified.simulator.contents import tried
    from pypto_verified.simulator.schedule.runs import replay

    shown: dict[tuple[str, str], Finding] = {}
    left = TRIED_STEPS
    for group in waiting.values():
        values = _values(group[0], names)
        for contents in tried([f for f in module.funcs if f.body is not None], values):
            if not group or left <= 0:
                break
            ran = replay(
                module, func.name, values, target, seed=seed, strict=strict, max_steps=MAX_STEPS, contents=contents)
            left -= max(ran.steps, 1)
            for finding in list(group):
                seen = _in_order(finding, func, module, target, seed, names, strict, contents, ran)
                if seen.startswith("confirmed"):
                    shown[finding.rule, finding.site] = replace(finding, replay=seen)
                    group.remove(finding)
    findings = [
        shown.get((f.rule, f.site), f) if f.verdict in (Verdict.UNKNOWN, Verdict.REFUTED) else f
        for f in result.findings]
    obligations = [
        replace(o, verdict=Verdict.REFUTED) if (o.rule, o.site) in shown else o for o in result.obligations]
    return replace(result, findings=findings, obligations=obligations, perhaps=[])


def _is_behind(shown: str) -> bool:
    """Whether another fault comes before what was to be shown."""
    from pypto_verified.simulator.schedule.confirm import BEHIND

    return shown.startswith(BEHIND)


def _astray() -> str:
    from pypto_verified.simulator.schedule.confirm import ASTRAY

    return ASTRAY


def _kept() -> str:
    """Of a pipe, what no run shows where the cores wait for each other at more than its slots."""
    from pypto_verified.simulator.schedule.confirm import KEPT

    return KEPT


def _computed(finding: Finding, func: Func) -> str:
    """The numbers of a witness that ops make of others, or of data: a run can't be given them."""
    from verifiers.access.symbols import user_name

    made = {user_name(r.name) for op in walk_ops(func) for r in op.results}
    return ", ".join(f"{name} = {value}" for name, value in finding.witness if name in made)


def _open(finding: Finding, computed: str) -> Finding:
    """The refutation as what is left open: no run was found that gets to these numbers."""
    return replace(
        finding, verdict=Verdict.UNKNOWN, help="",
        message=f"{_claim(finding)}: not decided (it fails for {computed}, which callers or data decide)")


def _withheld(finding: Finding) -> Finding:
    """The refutation as what is left open: what a misused flag orders, or what comes after a hang, nobody has meant."""
    return replace(
        finding, verdict=Verdict.UNKNOWN, help="repair what comes first",
        message=f"{_claim(finding)}: not decided (another fault of the run comes first)")


def _claim(finding: Finding) -> str:
    from verifiers.registry import all_rules

    return next(r.claim for r in all_rules() if r.id == finding.rule)


def _replay(
    finding: Finding, func: Func, target: Target, seed: int, names: Mapping[str, str], outputs: tuple[str, ...]
) -> str:
    """'confirmed: ...', 'not observed: ...', 'not run: ...', or '' for a rule whose failure no run shows."""
    from pypto_verified.simulator import confirm

    if not _can_be_shown(finding.rule):
        return ""
    return confirm(
        func, finding.rule, _values(finding, names), target, seed, line=finding.line, max_steps=MAX_STEPS,
        outputs=outputs)


def _values(finding: Finding, names: Mapping[str, str]) -> dict[str, int]:
    """The witness, by the names of the text too."""
    values = dict(finding.witness)
    values.update({argument: values[name] for argument, name in names.items() if name in values})
    return values


def _is_order(rule: str) -> bool:
    """Whether a failure shows in the order of ops."""
    from pypto_verified.simulator.schedule.confirm import ORDER_RULES

    return rule in ORDER_RULES


def _in_order(
    finding: Finding, func: Func, module: Module, target: Target, seed: int, names: Mapping[str, str], strict: bool,
    contents: Contents | None = None, ran: Outcome | None = None,
) -> str:
    """The same for a rule about the order of ops, which a run of the function and its partners shows."""
    from pypto_verified.simulator.contents import ANY
    from pypto_verified.simulator.schedule.confirm import confirm_order

    earlier = re.search(r" line (\d+)( #\d+)?$", finding.site)
    return confirm_order(
        module, func.name, finding.rule, _values(finding, names), target, seed, line=finding.text_line,
        first=int(earlier.group(1)) if earlier else 0, strict=strict, max_steps=MAX_STEPS, names=names,
        contents=contents or ANY, ran=ran)


def _can_be_shown(rule: str) -> bool:
    """Whether the rule says that a run shows its failure, and the simulator has a check for it. What the assembler
    rejects is not run."""
    from pypto_verified.simulator.confirm import shows
    from verifiers.registry import all_rules

    return shows(rule) and any(r.id == rule and r.observable and r.kind is Kind.SAFETY for r in all_rules())


def _fault(finding: Finding, shown: str) -> Finding:
    message = f"internal error: the witness of {finding.rule} does not show it; {shown}"
    return replace(
        finding, rule="REPLAY", verdict=Verdict.ERROR, message=message, replay="",
        help="please report this kernel; --no-simulate leaves replays out",
    )
