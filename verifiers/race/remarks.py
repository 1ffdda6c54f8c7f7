"""What a report says of a module's synchronisation besides verdicts."""

from __future__ import annotations

from pypto_verified.errors import PtoError
from pypto_verified.index import all_of
from pypto_verified.pto.module import Func, Module
from pypto_verified.pto.rows import TABLE
from pypto_verified.pto.walk import walk_ops
from pypto_verified.targets import Target
from verifiers.access import build_program
from verifiers.assume import assumptions_of
from verifiers.options import Options
from verifiers.race.sync import EXPLICIT
from verifiers.raised import raised
from verifiers.solver import Ladder


def sync_remarks(module: Module, target: Target, options: Options) -> list[str]:
    """One remark for the functions whose order is the assembler's business, one for each redundant sync, one for each
    function in which none is looked for."""
    left = [f.name for f in module.funcs if f.body is not None and _works(f) and not _is_manual(f)]
    found: list[str] = []
    if left and not options.explicit_sync:
        found.append(
            f"sync left to the assembler: {', '.join(left)} (no flag or event; --sync explicit judges the order)")
    for func in raised(module).funcs:
        if func.body is not None and _is_manual(func):
            from verifiers.race.redundant import redundant, unexamined  # few functions have a flag to look at

            try:
                program = build_program(func, module.file, target.name, options.names.get(func.name))
            except PtoError:
                continue
            assumed = all_of(c for _, c in assumptions_of(program.symbols, options.assume))
            found += [r.text(program) for r in redundant(
                program, target, Ladder(options.seed), options.strict, assumed)]
            why = unexamined(program, target)
            found += [f"redundancy not examined: {func.name}: {why}"] if why else []
    return found


def _is_manual(func: Func) -> bool:
    return any(op.name in EXPLICIT for op in walk_ops(func))


def _works(func: Func) -> bool:
    """Whether anything runs on a pipe."""
    rows = (TABLE.get(op.name) for op in walk_ops(func))
    return any(row is not None and row.effect == "compute" and row.pipe for row in rows)
