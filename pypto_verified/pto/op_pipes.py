"""The pipe of an op form under each reading of the sources."""

from __future__ import annotations

from pypto_verified.layouts import Space
from pypto_verified.pto.module import EnumAttr, Op, Value
from pypto_verified.pto.rows import TABLE
from pypto_verified.pto.spec import Phase
from pypto_verified.pto.types import MultiTileBufType, TileBufType
from pypto_verified.targets.events import pipe_of
from pypto_verified.targets.pipes import ALL, is_pipe, pipe_readings


def op_pipes(op: Op, target: str) -> tuple[tuple[str, ...], str]:
    """(pipes that the sources name, the assumption) for an op on 'a2a3' or 'a5'; ((), '') where its row tells all."""
    results = op.results[0] if op.results else None
    return pipe_readings(
        op.name, target, _space(op.opt("src")), _space(op.opt("dst") or results), "tmp" in op.args)


def op_phases(op: Op, target: str) -> tuple[tuple[Phase, ...], ...]:
    """The op's steps under each reading, that of its row first. () for an op without a row or without steps."""
    row = TABLE.get(op.name)
    if row is None or row.effect not in ("compute", "sync"):
        return ()
    own = row.phases(op, target)
    pipes, _ = op_pipes(op, target)
    others = [p for p in pipes if len(own) == 1 and p != own[0].pipe]
    return (own, *((Phase(p, own[0].reads, own[0].writes),) for p in others))


def names_pipes(op: Op) -> bool:
    """Whether all pipes that an op names are pipes that ops run on. All of them together are one for a barrier, not for
    the end of a flag."""
    named = [pipe_of(a.member) for a in op.attrs.values() if isinstance(a, EnumAttr) and a.kind == "pipe"]
    return all(map(is_pipe, named)) and (ALL not in named or op.name in _BARRIERS)


_BARRIERS = frozenset({"pto.barrier", "pto.barrier_sync"})


def _space(value: Value | None) -> Space | None:
    type_ = value.type if value is not None else None
    if isinstance(type_, TileBufType):
        return type_.loc
    return type_.slot.loc if isinstance(type_, MultiTileBufType) else None
