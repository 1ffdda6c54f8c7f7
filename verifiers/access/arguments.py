"""What the arguments of a function stand for, by how the text uses them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from pypto_verified.index import TRUE, Cond, Expr, eq, implies
from pypto_verified.pto.module import Block, Func, Op, Value
from pypto_verified.pto.types import PtrType, ScalarType, TileBufType
from verifiers.access.handles import Handles, is_buffer
from verifiers.access.scalars import Scalars
from verifiers.access.symbols import BLOCK, BLOCKS, LANE, SymbolKind, Symbols

_HIDDEN = re.compile(r"(?:__pypto_spmd_)?(subblock_idx|block_idx|block_num)")
"""Arguments that the runtime adds: a block's own index, the number of blocks, the lane. A name that only ends so, such
as `%last_block_idx`, is one of the caller's."""


class Arguments:
    """Enters a function's arguments into the environment."""

    def __init__(self, symbols: Symbols, handles: Handles, scalars: Scalars, first_lane: bool) -> None:
        """`first_lane`: the first lane alone runs the function."""
        self.symbols = symbols
        self.first_lane = first_lane
        self.handles = handles
        self.scalars = scalars
        self._block_count: Expr | None = None
        self._producers: Mapping[Value, Op] = {}
        self._asked: frozenset[Value] = frozenset()

    def enter(self, func: Func, producers: Mapping[Value, Op], gap: Callable[[Op, str], None]) -> None:
        """One symbol for each scalar argument; `gap` is told of arguments that are not modelled."""
        assert func.body is not None
        self._producers = producers
        (dims, lengths), sizes = _dimensions(all_ops(func.body), producers), _sizes(all_ops(func.body), producers)
        certain = _dimensions(_outside_branches(func.body), producers)[1] | _sizes(
            _outside_branches(func.body), producers)
        self._asked = frozenset((lengths | sizes) - certain) & frozenset(func.args)
        for arg in func.args:
            if isinstance(arg.type, PtrType):
                self.handles.enter_pointer(arg)
            elif isinstance(arg.type, ScalarType):
                self._scalar(arg, dims, sizes | lengths)
            elif is_buffer(arg):
                what = "tile" if isinstance(arg.type, TileBufType) else "tensor"
                gap(Op("func.func", loc=func.loc, line=func.line), f"{what} argument %{arg.name}")

    def _scalar(self, arg: Value, dims: set[Value], lengths: set[Value]) -> None:
        """`dims`: what extents are computed from; `lengths`: what is not negative, as an extent is not."""
        assert isinstance(arg.type, ScalarType)
        kind = arg.type.dtype.kind
        hidden = _HIDDEN.fullmatch(arg.name)
        if kind == "bool":
            self.handles.scalars[arg] = self.scalars.opaque_condition(arg.name)
        elif hidden:
            self.handles.scalars[arg] = self.block_value(hidden.group(1))
        elif arg.type.dtype.is_integer:
            role = SymbolKind.DIM if arg in dims else SymbolKind.SIZE if arg in lengths else SymbolKind.PARAM
            lo = 0 if kind == "uint" or (arg in lengths and arg not in self._asked) else None
            hi = (1 << arg.type.dtype.bits) - 1 if kind == "uint" else None
            self.handles.scalars[arg] = self.symbols.new(arg.name, role, lo, hi)

    def taken_as_extents(self, op: Op, path: Cond) -> None:
        """An extent is not negative where a branch comes to what it is the extent of; elsewhere it may be."""
        if not self._asked or path is TRUE:
            return
        extents = _dimensions((op,), self._producers)[1] | _sizes((op,), self._producers)
        for arg in self._asked & extents:
            self.symbols.require(implies(path, self.handles.index(arg) >= 0))

    def block_value(self, what: str) -> Expr:
        """'block_idx', 'block_num' or 'subblock_idx': assumptions BLOCK-INDEX and LANE-INDEX."""
        if what == LANE:
            found = self.symbols.shown.get(LANE)
            if found is not None:
                return found.expr
            lane = self.symbols.new(LANE, SymbolKind.BLOCK, 0, 1)
            if self.first_lane:
                self.symbols.require(eq(lane, 0))
            return lane
        if self._block_count is None:
            self._block_count = self.symbols.new(BLOCKS, SymbolKind.LAUNCH, 1)
        if what == BLOCKS:
            return self._block_count
        found = self.symbols.shown.get(BLOCK)
        if found is not None:
            return found.expr
        index = self.symbols.new(BLOCK, SymbolKind.BLOCK, 0)
        self.symbols.require(index < self._block_count)
        return index


_FACTORS = frozenset({
    "arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci", "arith.muli",
    "arith.minsi"})
"""Ops whose result is an extent only where their operands are none below 0: those of a sum, a difference, a quotient or
a choice may be."""


def _dimensions(ops: Iterable[Op], producers: Mapping[Value, Op]) -> tuple[set[Value], set[Value]]:
    """(values that the shape or strides of a tensor view are computed from, those of them that are not negative
    because it is not)."""
    shapes = [v for op in ops if op.name == "pto.make_tensor_view"
              for v in (*op.args.get("shape", ()), *op.args.get("strides", ()))]
    return (
        _behind(shapes, producers, lambda name: name.startswith("arith.")),
        _behind(shapes, producers, lambda name: name in _FACTORS))


def _behind(values: Iterable[Value], producers: Mapping[Value, Op], through: Callable[[str], bool]) -> set[Value]:
    """The values, and what they are computed from by these ops."""
    found: set[Value] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if value in found:
            continue
        found.add(value)
        op = producers.get(value)
        if op is not None and through(op.name):
            pending.extend(op.operands())
    return found


def _sizes(ops: Iterable[Op], producers: Mapping[Value, Op]) -> set[Value]:
    """Values that are themselves the extent of a window or the valid extent of a tile."""
    found: set[Value] = set()
    for op in ops:
        for group in ("sizes", "valid_row", "valid_col"):
            for value in op.args.get(group, ()):
                source = producers.get(value)
                found.add(source.arg("in") if source is not None and source.name == "arith.index_cast" else value)
    return found


def all_ops(block: Block) -> Iterator[Op]:
    """The ops of a region and of the regions in it, in text order."""
    for op in block.ops:
        yield op
        for region in op.regions:
            yield from all_ops(region)


def _outside_branches(block: Block) -> Iterator[Op]:
    """Those that stand in no arm of a branch."""
    for op in block.ops:
        yield op
        for region in op.regions if op.name != "scf.if" else ():
            yield from _outside_branches(region)
