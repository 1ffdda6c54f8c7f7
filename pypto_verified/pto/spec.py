"""The shape of one row of the op table: syntax, pipe, effects, in-place safety. Rows stand in `pto/rows*.py`.

A row is written with two short strings, one word an operand, in order:

    name        a tile            name:s   a scalar            name:i   an index
    name:v      a tensor view     name:p   a pointer           name:t   a tile or a view or a pointer
    suffix ?    optional          suffix *  any number         prefix ~  scratch: in `ins`, but the op overwrites it
                                                               prefix +  in `outs`, but also read
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TypeAlias, Union

from pypto_verified.pto.module import Op
from pypto_verified.records import dataclass


@dataclass(frozen=True, slots=True)
class Operand:
    """One operand group. `kind`: tile, scalar, index, view, ptr, any. `reads`, `writes`: what becomes of its bytes."""

    name: str
    kind: str
    optional: bool
    variadic: bool
    reads: bool
    writes: bool


PipeOf: TypeAlias = Union[str, Callable[[Op, str], str]]
"""A pipe name (S V M MTE1 MTE2 MTE3 FIX, '' for none), or how to get it from the op and the target ('a2a3', 'a5')."""


@dataclass(frozen=True, slots=True)
class Phase:
    """One step of an op on one pipe; `reads`/`writes` are operand group names."""

    pipe: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OpRow:
    """One op.

    `form` says how it is spelled: 'dps' is `ins(...) outs(...) {attrs}` ('dps_in': the attributes stand in `ins`), a
    single other word names a reader and printer for ops with regions, anything else is a format of `asmformat.py`.
    `inplace`: groups whose bytes may be exactly the destination's; any other overlap of a source with a written group
    is a hazard. `attrs` maps attribute name to its kind ('int', 'int8', 'int64', 'bool', 'str', 'ints',
    'enum:<pto enum>', 'symbol', ...: `attrread.py`).
    `modelled` False means: read and written, but its meaning is UNKNOWN; so it is where an operand of `unmodelled` is
    given, or an attribute of it is not 0. `effect`: 'compute', 'view' (no bytes moved; the result or `dst` aliases the
    first operand), 'alloc', 'sync', 'control', 'pure' (scalars only).
    """

    name: str
    ins: tuple[Operand, ...]
    outs: tuple[Operand, ...]
    form: str
    pipe: PipeOf
    inplace: tuple[str, ...]
    attrs: dict[str, str]
    effect: str
    modelled: bool
    source: str
    phases_of: Callable[[Op, str], tuple[Phase, ...]] | None = field(default=None)
    unmodelled: tuple[str, ...] = ()

    @property
    def operands(self) -> tuple[Operand, ...]:
        return self.ins + self.outs

    def phases(self, op: Op, target: str) -> tuple[Phase, ...]:
        """The op's steps in order; one phase over all read and written groups unless the row says otherwise."""
        if self.phases_of is not None:
            return self.phases_of(op, target)
        pipe = self.pipe if isinstance(self.pipe, str) else self.pipe(op, target)
        reads = tuple(o.name for o in self.operands if o.reads and o.name in op.args)
        writes = tuple(o.name for o in self.operands if o.writes and o.name in op.args)
        return (Phase(pipe, reads, writes),)


_KINDS = {"": "tile", "s": "scalar", "i": "index", "v": "view", "p": "ptr", "t": "any"}


def parse_operands(text: str, is_out: bool) -> tuple[Operand, ...]:
    """The operand groups that a row's short string declares."""
    found: list[Operand] = []
    for word in text.split():
        optional, variadic = word.endswith("?"), word.endswith("*")
        word = word.rstrip("?*")
        scratch, updated = word.startswith("~"), word.startswith("+")
        name, _, kind = word.lstrip("~+").partition(":")
        memory = _KINDS[kind] in ("tile", "view", "any", "ptr")
        found.append(
            Operand(
                name, _KINDS[kind], optional, variadic,
                reads=memory and not scratch and (not is_out or updated),
                writes=memory and (is_out or scratch),
            )
        )
    return tuple(found)


def row(
    name: str,
    ins: str = "",
    outs: str = "",
    *,
    form: str = "dps",
    pipe: PipeOf = "V",
    inplace: str = "",
    attrs: dict[str, str] | None = None,
    effect: str = "compute",
    modelled: bool = True,
    unmodelled: str = "",
    source: str = "PTOAS PTOOps.td",
    phases: Callable[[Op, str], tuple[Phase, ...]] | None = None,
) -> OpRow:
    """Build a row from its short strings."""
    return OpRow(
        name, parse_operands(ins, False), parse_operands(outs, True), form, pipe,
        tuple(inplace.split()), attrs or {}, effect, modelled, source, phases, tuple(unmodelled.split()),
    )
