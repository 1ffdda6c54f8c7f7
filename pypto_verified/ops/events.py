"""Events as the language and its ops see them: which ops they may name, and how many ids a pair of pipes has.

The id of an event is `event_id`, `slot` further for one of `slots`. With `in_turn` both count events of the pair of
pipes in the order in which they are made: code generation, which knows the chip, gives out ids in turn.

Source: PTO-ISA event.hpp.
"""

from __future__ import annotations

from difflib import get_close_matches

from pypto_verified.ir.types import NoneType, Type
from pypto_verified.ops.args import Args
from pypto_verified.ops.decl import OpDecl, op
from pypto_verified.targets.event_ops import EVENT_PIPES, between_cores
from pypto_verified.targets.model import Pair

EVENT_IDS = 8
"""Ids of a pair of pipes, taken in turn (EVENT_ID_MAX)."""

CROSS_IDS = 16
"""Ids of flags between cores."""

_SOURCE = "PTO-ISA event.hpp, TSync.hpp"


class UnknownEvent(Exception):
    """An event names an op that has no pipe."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name
        began = [op for op in EVENT_PIPES if name and op.startswith(name.upper())]
        near = began[:2] or get_close_matches(name.upper(), EVENT_PIPES, 2)
        self.help = f"did you mean {' or '.join(near)}?" if near else "e.g. TLOAD, TADD, VECTOR, TSTORE_VEC, TMATMUL"


def event_pipe(name: str) -> str:
    """The pipe of an op that an event can name; '' for any other name."""
    return EVENT_PIPES.get(name, "")


def pair_of(src: str, dst: str) -> tuple[Pair, bool]:
    """(the pipes of an event, whether it passes between cores). Raises UnknownEvent."""
    for name in (src, dst):
        if name not in EVENT_PIPES:
            raise UnknownEvent(name)
    return (EVENT_PIPES[src], EVENT_PIPES[dst]), between_cores(src, dst)


def _event(a: Args) -> Type:
    try:
        _, crossing = pair_of(str(a.kwargs["src_op"]), str(a.kwargs["dst_op"]))
    except UnknownEvent as e:
        a.fail(f"{e.name} is no op that an event can name", e.help)
    ids, id = CROSS_IDS if crossing else EVENT_IDS, a.number("event_id")
    in_range = id >= 0 if a.kwargs.get("in_turn") else 0 <= id < ids
    a.require(in_range, f"event_id is {id}, there are {ids}", f"use 0 to {ids - 1}")
    return NoneType()


def _one(a: Args) -> Type:
    name = str(a.kwargs["name"])
    a.require(name in EVENT_PIPES or name == "ALL", f"{name} is no op that can be synchronised on its own",
              UnknownEvent(name).help)
    return NoneType()


_EVENT = "src_op:str! dst_op:str! event_id:int! slots:int=1 in_turn:bool=false"

OPS: tuple[OpDecl, ...] = (
    op("system.event_record", "slot:i?", _event, keywords=_EVENT, source=_SOURCE),
    op("system.event_wait", "slot:i?", _event, keywords=_EVENT, source=_SOURCE),
    op("system.tsync", "", _one, keywords="name:str!", source="PTO-ISA TSync.hpp, TSYNC"),
)
