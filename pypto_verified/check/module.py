"""A module of the dialect, whoever wrote it: verified, its counterexamples replayed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Never

from pypto_verified.check.options import DEFAULT_TARGET, CheckOptions
from pypto_verified.errors import InputError, Location
from pypto_verified.inputs import Source
from pypto_verified.report.model import FileResult, FunctionResult, Verdict

if TYPE_CHECKING:
    from pypto_verified.pto.module import Module
    from pypto_verified.targets import Target
    from verifiers import Launch, Options

NOTHING: Mapping[str, Never] = MappingProxyType({})
_OF_ORDER = frozenset({"RACE", "EVENT", "FIFO"})
"""Families of rules that sync ops are judged by."""


def check_pto(source: Source, result: FileResult, options: CheckOptions) -> None:
    """Read a `.pto` file and verify each of its modules. PtoError if the text is wrong."""
    from pypto_verified.pto import reader
    from pypto_verified.targets import target

    module = reader.read(source.text, source.path)
    units = [unit for unit in module.units() if any(func.body for func in unit.funcs)]
    if not units:
        raise InputError("no function with a body in this module", Location(source.path))
    unused: list[set[str]] = []
    for unit in units:
        chip = target(options.target or unit.arch or DEFAULT_TARGET)
        result.target = result.target or chip.name
        if options.target and unit.arch and unit.arch != options.target:
            result.notes.append(f"the module is for {unit.arch}; checked for {options.target} as --target says")
        if options.sync == "insert":
            unit = _synchronised(unit, chip, result, options)
        unused.append(set(unused_in(unit, chip, options, {})))
        found = verify_module(unit, chip, options)
        result.functions.extend(found)
        result.notes.extend(remarks_on_sync(unit, chip, options, found))
    note_unused(result, sorted(set.intersection(*unused)))


def _synchronised(module: Module, chip: Target, result: FileResult, options: CheckOptions) -> Module:
    """The module with inserted flags and barriers. It stays built in memory: findings keep the lines of the file."""
    from pypto_verified.sync import insert_sync

    return insert_sync(module, chip, options.strict, result.notes)


def remarks_on_sync(
    module: Module, chip: Target, options: CheckOptions, found: Iterable[FunctionResult]
) -> list[str]:
    """What is worth knowing about a module's flags and barriers beside the verdicts that are `found`."""
    from verifiers.race.remarks import sync_remarks

    unproved = frozenset(
        r.name for r in found for o in r.obligations
        if o.verdict is not Verdict.PROVED and o.rule.split("-")[0] in _OF_ORDER)
    return sync_remarks(module, chip, _verifier_options(options, {}), unproved)


def unused_in(
    module: Module, chip: Target, options: CheckOptions, names: Mapping[str, Mapping[str, str]]
) -> tuple[str, ...]:
    """The assumptions that no function of a module has all the names of."""
    from verifiers import unused_assumptions

    return unused_assumptions(module, chip, _verifier_options(options, names)) if options.assume else ()


def _verifier_options(
    options: CheckOptions, names: Mapping[str, Mapping[str, str]], outputs: Mapping[str, tuple[str, ...]] = NOTHING,
    launches: Mapping[str, tuple[Launch, ...]] = NOTHING,
) -> Options:
    from verifiers import Options

    level = f"level{options.level}" if options.level else ""
    return Options(
        options.assume, options.strict, options.seed, names, outputs, level, answers=options.cache,
        second=options.second, explicit_sync=options.sync != "assembler", launches=launches)


def verify_module(
    module: Module, chip: Target, options: CheckOptions, names: Mapping[str, Mapping[str, str]] = NOTHING,
    outputs: Mapping[str, tuple[str, ...]] = NOTHING, launches: Mapping[str, tuple[Launch, ...]] = NOTHING,
) -> list[FunctionResult]:
    """The verdicts on a module's functions; `names` gives, by function, what users call the arguments of the text,
    `outputs` which of those the author declared as written only, `launches` how the function is launched."""
    from pypto_verified.witness import replayed
    from verifiers import verify

    results = verify(module, chip, _verifier_options(options, names, outputs, launches))
    if not options.simulate:
        return results
    return [
        replayed(
            r, module, chip, options.seed, names.get(r.name, {}), outputs.get(r.name, ()), options.strict)
        for r in results]


def note_unused(result: FileResult, assumptions: Iterable[str]) -> None:
    """Note the assumptions that took no part in the verdicts on a file."""
    for text in sorted(assumptions):
        result.notes.append(f'--assume "{text}" is left out: no kernel of this file has all of its names')
