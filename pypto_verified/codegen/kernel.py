"""The state of one function while it is generated: what each variable is bound to, and the tiles it allocates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import field
from typing import Literal

from pypto_verified.codegen.boxes import check_tile
from pypto_verified.codegen.builder import Builder, Constants
from pypto_verified.codegen.errors import refuse, require_values
from pypto_verified.codegen.expr import ScalarEmitter
from pypto_verified.codegen.regions import Regions
from pypto_verified.codegen.tensors import Tensor, tensor_layout
from pypto_verified.codegen.types import partition_type, same_extents, static_dim, tensor_view_type, tile_buf_type
from pypto_verified.dtypes import INDEX, INT32, INT64, DType
from pypto_verified.ir.expr import Binary, BinaryOp, Call, Const, Expr, MakeTuple, Span, Var
from pypto_verified.ir.stmt import Function
from pypto_verified.ir.types import Dim, MemRef, TileType
from pypto_verified.pto.module import AttrValue, Block, EnumAttr, Op, Value
from pypto_verified.pto.types import ScalarType, TileBufType
from pypto_verified.records import dataclass
from pypto_verified.targets.model import Pair


@dataclass(slots=True)
class Handle:
    """An SSA value that names a tile. `made_by`: 'alloc' owns its valid extents (they are operands), 'subview' and
    'treshape' have them in their type; recorded where the op is emitted, because the types can look alike (CG-14).
    `extents`: the valid extents it has now. `depth`: how many blocks enclose it."""

    value: Value
    made_by: Literal["alloc", "subview", "treshape"]
    extents: tuple[Dim, ...]
    depth: int

    @property
    def owns(self) -> bool:
        return self.made_by == "alloc"

    @property
    def type(self) -> TileBufType:
        assert isinstance(self.value.type, TileBufType)
        return self.value.type


GM_RING = "__gm_pipe_buffer"
"""Name of a tensor parameter that backs the cross-core pipes of a2a3 in global memory. A function that opens a pipe and
has none gets a pointer for it after its tensors."""

_HERE = nullcontext()

HIDDEN = ("block_idx", "block_num", "subblock_idx")
"""The block identity arguments, in the order of the signature."""


@dataclass(slots=True)
class Kernel:
    """One function being generated. Emitters read operands through it and bind results to it.

    `tiles`, `tensors`, `values` bind IR names; `hidden` the block identity arguments in use; `slots` the attributes of
    the pop that made a tile; `allocated` the handles that live in this block, for when there are no addresses;
    `ring` is the memory of cross-core pipes on a2a3; `computed` the sizes and offsets that have a value in this block.
    `claimed`: handles (by id) that operands of the current op stand for. `event_pairs`: pairs of pipes whose events get
    ids in turn; `first_event`: the first of these, where it is not 0.
    `depth` counts the enclosing blocks, `loop` numbers the innermost loop body (0: none).
    """

    function: Function
    target: str
    builder: Builder
    addresses: bool
    scalars: ScalarEmitter = field(init=False)
    regions: Regions = field(init=False)
    tiles: dict[str, Handle] = field(default_factory=dict)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    values: dict[str, Value] = field(default_factory=dict)
    hidden: dict[str, Value] = field(default_factory=dict)
    slots: dict[str, dict[str, AttrValue]] = field(default_factory=dict)
    allocated: dict[tuple[str, object, TileBufType], Handle] = field(default_factory=dict)
    ring: Value | None = None
    computed: dict[Expr, Value] = field(default_factory=dict)
    claimed: set[int] = field(default_factory=set)
    event_pairs: set[Pair] = field(default_factory=set)
    first_event: Mapping[Pair, int] = field(default_factory=dict)
    depth: int = 0
    loop: int = 0
    loops: int = 0
    span: Span = field(default_factory=Span)

    def __post_init__(self) -> None:
        self.scalars = ScalarEmitter(self.builder, self.values)
        self.regions = Regions(self.builder)

    @contextmanager
    def block(self, *args: Value, loop: bool = False) -> Iterator[Block]:
        """Generate into a nested block; tiles allocated there are not reused after it. `loop`: it is a loop's body."""
        allocated, computed, outer_loop = dict(self.allocated), dict(self.computed), self.loop
        self.depth += 1
        if loop:
            self.loops += 1
            self.loop = self.loops
        with self.builder.block(*args) as inner:
            yield inner
        self.depth -= 1
        self.allocated, self.computed, self.loop = allocated, computed, outer_loop

    def at_call(self, call: Call) -> AbstractContextManager[None]:
        """Ops and errors belong to the call itself, if its span lies inside the statement's. (A pass that makes up a
        call may give it the span of the whole function; then the statement's span is the better one.) CG-17."""
        span = call.span
        if span is self.span or not span.line or not self.span.contains(span):
            return _HERE
        return self._inside(span)

    @contextmanager
    def _inside(self, span: Span) -> Iterator[None]:
        outer, self.span = self.span, span
        with self.builder.at(span):
            yield
        self.span = outer

    # Operands

    def scalar(self, expr: Expr, dtype: DType | None = None, hint: str = "") -> Value:
        """A scalar operand, signless."""
        self.scalars.span = self.span
        return self.scalars.value(expr, dtype, hint)

    def element(self, expr: Expr, dtype: DType) -> Value:
        """A scalar operand of exactly the element type `dtype`."""
        return self.scalars.exactly(self.scalar(expr, dtype), dtype)

    def index(self, dim: Dim) -> Value:
        """A size or an offset, as an index. Types repeat the extents of their tiles, so one that has its value in this
        block or around it is not computed again."""
        if isinstance(dim, int):
            return self.builder.size(dim)
        if isinstance(dim, Const) and dim.dtype is INDEX:
            return self.builder.size(int(dim.value))
        found = self.computed.get(dim)
        if found is None:
            found = self.computed[dim] = self.scalar(dim, INDEX)
        return found

    def indices(self, dims: tuple[Dim, ...]) -> tuple[Value, ...]:
        """Several sizes or offsets."""
        return tuple([self.index(d) for d in dims])

    def handle(self, expr: Expr) -> Handle:
        """The tile that a variable names now, with the valid extents that the variable's type declares."""
        if not isinstance(expr, Var) or expr.name not in self.tiles:
            refuse(f"{_named(expr)} is not a tile with a value here", self.span, "pass a tile variable")
        handle = self.tiles[expr.name]
        assert isinstance(expr.type, TileType)
        if handle.owns and not same_extents(handle.extents, expr.type.valid_shape):
            if id(handle) in self.claimed:
                return self._second(expr)
            self.narrow(handle, expr.type.valid_shape)
        self.claimed.add(id(handle))
        return handle

    def _second(self, var: Var) -> Handle:
        """Another handle of a tile whose own has other extents in the same op."""
        if not self.addresses:
            refuse(f"'{var.name}' and another operand of this op are one tile with two valid shapes", self.span,
                   "copy one of them into a tile of its own first (tile.move)")
        known = self.tiles[var.name]
        self.alloc(var)
        self.tiles[var.name], second = known, self.tiles[var.name]  # it ends with this block, the first does not
        return second

    def tile(self, expr: Expr) -> Value:
        """A tile operand."""
        return self.handle(expr).value

    def tensor(self, expr: Expr) -> Tensor:
        """The parameter that a tensor variable stands for: stores hand their tensor on."""
        if not isinstance(expr, Var) or expr.name not in self.tensors:
            refuse(f"{_named(expr)} is not a tensor parameter", self.span, "pass a tensor parameter of the kernel")
        return self.tensors[expr.name]

    # Results

    def emit(
        self, name: str, args: Mapping[str, tuple[Value, ...]], attrs: dict[str, AttrValue] | None = None
    ) -> Op:
        """An op without a result."""
        return self.builder.emit(name, args, attrs)

    def alloc(self, var: Var, span: Span | None = None) -> Value:
        """Declare the tile that `var` names: one alloc per variable, at its definition (CG-07)."""
        tile = self.tile_type(var)
        require_values(f"tile '{var.name}'", tile.dtype, span or self.span)
        check_tile(var.name, tile, span or self.span)
        type_ = tile_buf_type(tile)
        args: dict[str, tuple[Value, ...]] = {}
        key = None
        if self.addresses:
            args["addr"] = (self._address(var.name, tile.memref),)
        else:
            # Without addresses only the handle itself can say that two variables share a buffer.
            key = (tile.memref.base if tile.memref else var.name, tile.memref and tile.memref.offset, type_)
            if key in self.allocated:
                self.tiles[var.name] = self.allocated[key]
                return self.tile(var)
            if tile.memref is not None and tile.memref.slots > 1:
                return self._slot(var, tile, type_, span or self.span)
        rows, cols = tile.valid_shape if len(tile.valid_shape) == 2 else (1, *tile.valid_shape)
        args["valid_row"], args["valid_col"] = (self.index(rows),), (self.index(cols),)
        op = self.builder.emit("pto.alloc_tile", args, None, type_, var.name, span or self.span)
        handle = Handle(op.result, "alloc", tile.valid_shape, self.depth)
        self.tiles[var.name] = handle
        if key is not None:
            self.allocated[key] = handle
        return op.result

    def _slot(self, var: Var, tile: TileType, type_: TileBufType, span: Span) -> Value:
        region = self.regions.take(var.name, tile, type_, self.loop, span)
        assert tile.memref is not None
        args = {"source": (region.value,), "slot": (self.index(tile.memref.slot),)}
        op = self.builder.emit("pto.multi_tile_get", args, None, type_, var.name, span)
        self.tiles[var.name] = Handle(op.result, "alloc", tile.valid_shape, self.depth)
        return op.result

    def _address(self, name: str, memref: MemRef | None) -> Value:
        if memref is None or memref.offset is None:
            refuse(f"tile '{name}' has no address", self.span, "run the memory passes before code generation")
        offset, slot = memref.offset, memref.slot
        if memref.slots > 1 and isinstance(offset, int):
            number = static_dim(slot)
            if number is not None:
                offset += number * memref.size
            elif not isinstance(slot, int):
                step = Binary(BinaryOp.MUL, slot, Const(memref.size), INDEX)
                offset = Binary(BinaryOp.ADD, Const(offset), step, INDEX)
        fixed = static_dim(offset)
        if fixed is not None:
            return self.builder.constants.take(fixed, INT64, Constants.ADDRESS)
        assert not isinstance(offset, int)
        return self.scalar(offset, INT64)

    def view(self, var: Var, value: Value, made_by: Literal["subview", "treshape"]) -> None:
        """Bind `var` to a view of another tile."""
        self.tiles[var.name] = Handle(value, made_by, self.tile_type(var).valid_shape, self.depth)

    def narrow(self, handle: Handle, extents: tuple[Dim, ...]) -> None:
        """Set the valid extents of an owning handle (CG-14)."""
        if handle.depth < self.depth:
            refuse(
                f"tile '{handle.value.name}' of an outer block would get other valid extents for all later turns",
                self.span, "call set_validshape in the block that makes the tile, or on a copy made inside this block",
            )
        rows, cols = self.indices(extents)
        self.emit("pto.set_validshape", {"source": (handle.value,), "valid_row": (rows,), "valid_col": (cols,)})
        handle.extents = extents

    def tile_type(self, var: Var) -> TileType:
        """The tile type of a variable that must be a tile."""
        if not isinstance(var.type, TileType):
            refuse(f"'{var.name}' is not a tile", self.span, "assign the op to a tile variable")
        return var.type

    # Global memory

    def window(self, expr: Expr, offsets: tuple[Dim, ...], sizes: tuple[Dim, ...]) -> Value:
        """A `pto.partition_view` of a tensor. Offsets are taken as they are: an offset that could be negative is the
        verifier's business (CG-06); the real compiler would silently read from row 0."""
        tensor = self.tensor(expr)
        args = {
            "source": (self.view_of(tensor),), "offsets": self.indices(offsets), "sizes": self.indices(sizes),
        }
        type_ = partition_type(sizes, tensor.type.dtype)
        return self.builder.emit("pto.partition_view", args, None, type_, f"{tensor.param.var.name}_pview").result

    def view_of(self, tensor: Tensor) -> Value:
        """The view of a tensor parameter; asking for it is what makes it exist (CG-03)."""
        if tensor.view is None:
            name = self.builder.names.fresh(f"{tensor.param.var.name}_view")
            tensor.view = Value(name, tensor_view_type(tensor.type))
        return tensor.view

    def block_identity(self, which: str) -> Value:
        """A hidden i32 argument, which exists from now on."""
        if which not in self.hidden:
            self.hidden[which] = Value(f"__pypto_spmd_{which}", ScalarType(INT32))
        return self.hidden[which]

    def make_views(self) -> None:
        """Emit the `pto.make_tensor_view` of every parameter that the body used, in parameter order."""
        self.builder.section = Constants.VIEW
        self.computed = {}  # the views stand before the body, whose values they can't use
        for param in self.function.params:
            tensor = self.tensors.get(param.var.name)
            if tensor is None or tensor.view is None:
                continue
            self.span = param.span
            with self.builder.at(param.span):
                shape, strides, layout = tensor_layout(tensor.type)
                args = {"ptr": (tensor.pointer,), "shape": self.indices(shape), "strides": self.indices(strides)}
                op = self.builder.emit("pto.make_tensor_view", args, {"layout": EnumAttr("layout", layout.value)})
                op.results = (tensor.view,)
        self.builder.section = Constants.BODY


def items(expr: Expr, span: Span) -> tuple[Expr, ...]:
    """The items of a literal tuple operand."""
    if not isinstance(expr, MakeTuple):
        refuse("offsets and shapes must be written as a list", span, "write the list in the call")
    return expr.items


def _named(expr: Expr) -> str:
    return f"'{expr.name}'" if isinstance(expr, Var) else "this operand"
