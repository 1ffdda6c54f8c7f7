"""Straight-line ops: scalars and handles go into the environment, all else that works becomes a step."""

from __future__ import annotations

from dataclasses import replace

from pypto_verified.errors import NotModelled
from pypto_verified.index import Cond, Expr
from pypto_verified.index.cond import TRUE
from pypto_verified.layouts import Space
from pypto_verified.pto.module import EnumAttr, Op
from pypto_verified.pto.op_pipes import names_pipes
from pypto_verified.pto.rows import TABLE
from pypto_verified.pto.spec import Phase
from pypto_verified.pto.types import ScalarType, TileBufType
from pypto_verified.targets.pipes import is_for_kind
from verifiers.access.arguments import Arguments
from verifiers.access.buffers import Buffers
from verifiers.access.calls import CALL, given_otherwise, given_twice, unfollowed
from verifiers.access.handles import is_buffer
from verifiers.access.id_arrays import DECLARE, GET, SET, IdArrays
from verifiers.access.program import Defined, Loop, Narrow, Operand, Reserved, Step, TileUse, Window
from verifiers.access.scalars import RETYPED, WRAPPING
from verifiers.access.symbols import BLOCK, BLOCKS, LANE, SymbolKind

_METADATA = frozenset({
    "pto.get_tensor_view_dim", "pto.get_tensor_view_stride", "pto.tile_valid_rows", "pto.tile_valid_cols"})


class StraightLine:
    """Walks ops without a region. `loops` and `region` tell where they stand; whoever walks the regions sets them."""

    def __init__(self, target: str, arguments: Arguments, buffers: Buffers) -> None:
        self.target = target
        self.arguments = arguments
        self.buffers = buffers
        self.program = buffers.program
        self.symbols = buffers.symbols
        self.scalars = buffers.scalars
        self.handles = buffers.handles
        self.loops: tuple[Loop, ...] = ()
        self.region: tuple[int, ...] = ()
        self.id_arrays = IdArrays(self.program.func.body)
        self.unfollowed = unfollowed(self.program.func)

    def walk(self, op: Op, path: Cond) -> Step | None:
        """The step of an op that is reached under `path`; None if it does no work."""
        try:
            return self._known_op(op, path)
        except NotModelled as e:
            self.program.gaps.append((op, e.what))
            self.buffers.lost.update(op.results)
            return self._step(op, path)

    def _known_op(self, op: Op, path: Cond) -> Step | None:
        name = op.name
        self.arguments.taken_as_extents(op, path)
        if name == "arith.select" and is_buffer(op.result):
            self.buffers.choose(op, op.result, op.arg("true_value"), op.arg("false_value"), "a condition")
            return None
        if name.startswith(("arith.", "math.")) or name == RETYPED:
            args = [self.handles.scalars.get(v) for v in op.operands()]
            self.scalars.path = path
            number = self.handles.scalars[op.result] = self.scalars.evaluate(op, args)
            if name in WRAPPING and isinstance(number, Expr):
                self._note_width(op, number, path)
            return None
        row = TABLE.get(name)
        if name.startswith("pto.get_") and name.removeprefix("pto.get_") in (BLOCK, BLOCKS, LANE):
            self.handles.scalars[op.result] = self.arguments.block_value(name.removeprefix("pto.get_"))
            return None
        if name == "pto.syncall" or is_for_kind(name, op.attrs.get("ffts_mode")):
            self.arguments.block_value(BLOCKS)  # how many blocks run decides whether all are met
        if name == "pto.set_validshape":
            value = op.arg("source")
            if value in self.handles.renamed:
                raise NotModelled(f"new extents of %{value.name}, a tile that has another name too", op.loc)
            step = self._step(op, path)
            self.handles.tile(value, op)
            self.handles.set_valid(
                value, self.handles.index(op.arg("valid_row")), self.handles.index(op.arg("valid_col")))
            return step
        if name == "pto.reserve_buffer":
            return self._reserve(op)
        if name in _METADATA:
            self._metadata(op)
            return None
        if name in (DECLARE, SET, GET):
            self._id_array(op)
            return None
        if row is not None and row.effect in ("view", "alloc"):
            made = self.handles.define(op)
            if isinstance(made, TileUse):
                self._define(made, path)
            elif isinstance(made, Window):
                self.program.windows.append((made, path))
            return None
        if name.startswith("pto.tpop") and op.results and isinstance(op.result.type, TileBufType):
            tile = self.handles.pop(op)
            self._define(tile, path)
            return self._step(op, path, tile)
        if name == CALL:
            roots = {v: found.base for v, found in self.handles.pointers.items()}
            for tensor in given_twice(self.program.func, op, roots, self.target):
                self.program.gaps.append((op, f"%{tensor}, a tensor that is more than one argument of a call"))
            for tensor in given_otherwise(self.program.func, op, roots, self.target):
                self.program.gaps.append((op, f"%{tensor}, a tensor that the other core is given by another name"))
        step = self._step(op, path)
        for result in op.results:
            if isinstance(result.type, ScalarType) and result.type.dtype.is_integer:
                self.handles.scalars[result] = self.symbols.new(result.name, SymbolKind.DATA)
        return step

    def _note_width(self, op: Op, value: Expr, path: Cond) -> None:
        type_ = op.result.type
        if isinstance(type_, ScalarType) and type_.dtype.bits <= 32:
            self.program.narrow.append(Narrow(op, value, path, type_.dtype.bits))

    def _id_array(self, op: Op) -> None:
        if op.name == DECLARE:
            return
        array, index = op.arg("array"), self.handles.index(op.arg("index"))
        if op.name == SET:
            self.id_arrays.put(array, index, self.handles.index(op.arg("value")))
            return
        known = self.id_arrays.get(array, index)
        self.handles.scalars[op.result] = (
            known if known is not None else self.symbols.new(op.result.name, SymbolKind.OPAQUE))

    def _metadata(self, op: Op) -> None:
        """Extents asked of a view or a tile."""
        if op.name in ("pto.get_tensor_view_dim", "pto.get_tensor_view_stride"):
            view = self.handles.views.get(op.arg("tensor_view"))
            axis = self.handles.index(op.arg("dim_index")).value
            if view is None or axis is None:
                raise NotModelled(f"{op.name} of an axis that is not constant", op.loc)
            known = view.dims if op.name.endswith("dim") else view.strides
            if not 0 <= axis < len(known):
                raise NotModelled(f"{op.name} of axis {axis} of {len(known)}", op.loc)
            self.handles.scalars[op.result] = known[axis]
            return
        tile = self.handles.tile(op.arg("src"), op)
        self.handles.scalars[op.result] = tile.valid_rows if op.name.endswith("rows") else tile.valid_cols

    def _reserve(self, op: Op) -> Step:
        size, base, location = op.attrs.get("size"), op.attrs.get("base"), op.attrs.get("location")
        if not isinstance(size, int) or not isinstance(location, EnumAttr):
            raise NotModelled("a reserve_buffer without size and location", op.loc)
        name = op.attrs.get("name")
        self.program.reserved.append(Reserved(
            name if isinstance(name, str) else "", op, Space(location.member), base if isinstance(base, int) else None,
            size))
        return self._step(op, TRUE)

    def _define(self, tile: TileUse, path: Cond) -> None:
        self.program.defined.append(Defined(tile, path, len(self.program.steps), self.region, self.loops))

    def _step(self, op: Op, path: Cond, made: TileUse | None = None) -> Step:
        row = TABLE.get(op.name)
        if row is not None and op in self.unfollowed:
            row = replace(row, modelled=False)
        if not names_pipes(op):
            self.program.gaps.append((op, f"{op.name} of a pipe on which no op runs"))
        operands: dict[str, tuple[Operand, ...]] = {
            group: tuple(self.handles.operand(v) for v in values) for group, values in op.args.items()}
        works = row is not None and row.effect in ("compute", "sync")
        phases = tuple(map(_added_in_place, row.phases(op, self.target))) if row is not None and works else ()
        for value in op.operands() if works else ():
            if is_buffer(value) and self.handles.operand(value) is None and value not in self.buffers.lost:
                self.buffers.lost.add(value)
                self.program.gaps.append((op, f"%{value.name}, a buffer of which it is not known where it is"))
        step = Step(
            len(self.program.steps), op, row, operands, phases, path, self.loops, self.region, made)
        self.program.steps.append(step)
        return step


def _added_in_place(phase: Phase) -> Phase:
    """An accumulating product reads what its destination holds, whatever accumulator the text names (assumption
    ACC-IN-PLACE): that they are one is PLAN-ACCUMULATOR's to say."""
    if "acc_in" not in phase.reads:
        return phase
    return Phase(phase.pipe, tuple("dst" if group == "acc_in" else group for group in phase.reads), phase.writes)
