"""All remarks on redundant sync of one function: within its core, and with the other core of its kernel."""

from __future__ import annotations

from collections.abc import Iterator

from verifiers.race.redundant import redundant, unexamined
from verifiers.race.spare import Kernel, tells_others
from verifiers.race.sync import is_manual
from verifiers.sites import Context


def redundancy(context: Context, unproved: frozenset[str] = frozenset()) -> list[str]:
    """One remark for each group of sync ops that may go, and one where they are not looked for. None of flags between
    cores one of which is `unproved`."""
    kernel = Kernel(context)
    between = unproved.isdisjoint(part.program.func.name for part in kernel.parts)
    return [*(_between(context, kernel) if between else ()), *_within(context, kernel)]


def _between(context: Context, kernel: Kernel) -> Iterator[str]:
    """Once a kernel: with its cube."""
    if kernel.parts and kernel.parts[0].program is context.program:
        if kernel.why:
            yield f"redundancy not examined: {context.program.func.name}: {kernel.why}"
        yield from (spare.text(context.program) for spare in kernel.spare())


def _within(context: Context, kernel: Kernel) -> Iterator[str]:
    """What a core's own flags do for another core counts too."""
    program, target = context.program, context.target
    explicit = context.explicit_sync
    if not (explicit or is_manual(program)):
        return
    tells = tells_others(context)
    why = unexamined(program, target, explicit)
    if not why and tells and not kernel.parts:
        why = "what it tells another core is for a text that is not at hand"
    if why:
        yield f"redundancy not examined: {program.func.name}: {why}"
        return
    if tells and kernel.told() is None:
        return
    for group in redundant(program, target, context.ladder, context.strict, context.assumed, explicit):
        if not tells or kernel.told(frozenset(s.step.op for s in group.syncs)) is not None:
            yield group.text(program)
