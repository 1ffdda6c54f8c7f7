"""What a report says of a module's synchronisation besides verdicts."""

from __future__ import annotations

from pypto_verified.errors import PtoError
from pypto_verified.index import all_of
from pypto_verified.pto.module import Func, Module
from pypto_verified.pto.rows import TABLE
from pypto_verified.pto.walk import walk_ops
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import CROSS_FLAGS
from verifiers.access import build_program
from verifiers.assume import assumptions_of
from verifiers.options import Options
from verifiers.race.sync import EXPLICIT
from verifiers.raised import raised
from verifiers.sites import Context
from verifiers.solver import Ladder


def sync_remarks(
    module: Module, target: Target, options: Options, unproved: frozenset[str] = frozenset()
) -> list[str]:
    """One remark for the functions whose order is the assembler's business, one for each redundant sync, one for each
    function in which none is looked for. `unproved`: functions whose order is not proved, of which nothing is said to
    be redundant: what is may change with the repair."""
    left = [f.name for f in module.funcs if f.body is not None and _works(f) and not _is_manual(f)]
    found: list[str] = []
    if left and not options.explicit_sync:
        found.append(
            f"sync left to the assembler: {', '.join(left)} (no flag or event; --sync explicit judges the order)")
    read = raised(module, target)
    for func in read.funcs:
        if func.body is not None and func.name not in unproved and (
                options.explicit_sync or _is_manual(func) or _between_cores(func)):
            from verifiers.race.redundancy import redundancy  # few functions have a flag to look at

            try:
                program = build_program(func, module.file, target.name, options.names.get(func.name))
            except PtoError:
                continue
            assumed = all_of(c for _, c in assumptions_of(program.symbols, options.assume))
            found += redundancy(Context(
                program, target, True, options.strict, read, Ladder(options.seed), assumed=assumed,
                explicit_sync=options.explicit_sync), unproved)
    return found


def _is_manual(func: Func) -> bool:
    return any(op.name in EXPLICIT for op in walk_ops(func))


def _between_cores(func: Func) -> bool:
    return any(op.name in (row.set, row.wait) for op in walk_ops(func) for row in CROSS_FLAGS)


def _works(func: Func) -> bool:
    """Whether anything runs on a pipe."""
    rows = (TABLE.get(op.name) for op in walk_ops(func))
    return any(row is not None and row.effect == "compute" and row.pipe for row in rows)
