"""A rule in full: what it says of itself, its formula, and what it says about its own example."""

from __future__ import annotations

from typing import TypeAlias

from pypto_verified.pto.module import Module
from pypto_verified.pto.reader import read
from pypto_verified.pto.walk import walk_ops
from pypto_verified.records import dataclass
from pypto_verified.report.model import FunctionResult, Kind
from pypto_verified.targets import Target, target
from verifiers.access import build_program
from verifiers.engine import verify
from verifiers.examples import Example, all_examples
from verifiers.formula import formula_of, text_of
from verifiers.legal import LegalityRule, legality_rules
from verifiers.options import Options
from verifiers.registry import AnyRule, all_rules, family
from verifiers.sites import Context

CatalogueRule: TypeAlias = AnyRule | LegalityRule


@dataclass(frozen=True, slots=True)
class Card:
    """What `pypto-verify rules ID` shows. `told` is what the rule says about the violating example, `fix` what it
    advises."""

    id: str
    kind: Kind
    claim: str
    formula: str
    source: str
    observable: bool
    unseen: str
    requires: tuple[str, ...]
    assumptions: tuple[str, ...]
    example: Example
    told: str
    fix: str


def catalogue() -> tuple[CatalogueRule, ...]:
    """All rules."""
    return (*all_rules(), *legality_rules())


def card(rule: CatalogueRule) -> Card:
    """The rule's card. KeyError if it has no example, ValueError if its example does not violate it."""
    example = all_examples()[rule.id]
    told = [f for r in results(example, violating=True) for f in r.findings if f.rule == rule.id]
    if not told:
        raise ValueError(f"the example of {rule.id} does not violate it")
    return Card(
        rule.id, rule.kind, rule.claim, _formula(rule, example), rule.source, rule.observable, rule.unseen,
        rule.requires, rule.assumptions, example, told[0].message, told[0].help or _advice(example))


def _advice(example: Example) -> str:
    """What to do where the rule itself gives no advice: the difference of the two kernels."""
    lines = ", ".join(str(number) for number, _, _ in example.changed())
    if lines:
        return f"write line {lines} as in the kernel that passes"
    return f"compile for {example.target}, or do without the op"


def results(example: Example, violating: bool) -> list[FunctionResult]:
    """What the family of the example's rule says about one of its kernels."""
    module = module_of(example, violating)
    outputs = {f.name: example.outputs for f in module.funcs}
    options = Options(
        assume=example.assume, strict=example.strict, outputs=outputs, level=example.level,
        families=frozenset({family(example.rule)}))
    return verify(module, target_of(example, violating), options)


def module_of(example: Example, violating: bool) -> Module:
    return read(example.violating if violating else example.passing, "example.pto")


def target_of(example: Example, violating: bool) -> Target:
    return target(example.target_violating if violating else example.target)


def _formula(rule: CatalogueRule, example: Example) -> str:
    if isinstance(rule, LegalityRule):
        return text_of(rule.row.holds, "holds")
    module, chip = module_of(example, violating=False), target_of(example, violating=False)
    func = [f for f in module.funcs if f.body is not None][-1]
    outputs = tuple((o, o) for o in example.outputs)
    level3 = any("addr" in op.args for op in walk_ops(func))
    program = build_program(func, module.file, chip.name, None)
    return formula_of(rule, Context(program, chip, level3, example.strict, module, outputs=outputs))
