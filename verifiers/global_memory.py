"""What an op does to global memory: the windows that it writes, and those whose old contents matter to it."""

from __future__ import annotations

from pypto_verified.pto.module import EnumAttr
from verifiers.access import Step, Window


def stored(step: Step) -> tuple[Window, ...]:
    """The windows that a step writes."""
    return tuple(w for p in step.phases for g in p.writes for w in step.windows(g))


def loaded(step: Step) -> tuple[Window, ...]:
    """Windows whose old contents matter; a store that adds to them is among those."""
    read = tuple(w for p in step.phases for g in p.reads for w in step.windows(g))
    return (*read, *stored(step)) if adds(step) else read


def adds(step: Step) -> bool:
    """Whether a store adds to what is there, atomically."""
    mode = step.op.attrs.get("atomicType")
    return isinstance(mode, EnumAttr) and mode.member != "atomic_none"
