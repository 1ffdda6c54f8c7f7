"""Pipes as the assembler lowers them, said again as a front end says them: `initialize_l2g2l_pipe`, `tpop` into a
declared tile and the like become `aic_initialize_pipe`, `tpop_from_aic`, with the buffer that the consumer keeps at a
fixed address. Everything that is known of pipes then holds for both forms.

A function where anything does not fit, such as a pipe that hands out slots as tensors, stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.dtypes import INT32
from pypto_verified.pto.module import AttrValue, Block, EnumAttr, Func, Module, Op, Symbol, Value
from pypto_verified.pto.types import ScalarType, TileBufType
from pypto_verified.pto.walk import walk_ops
from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from pypto_verified.targets.fifo import local_slots, ring_slots

_MADE = ("pto.initialize_l2g2l_pipe", "pto.initialize_l2l_pipe")
_HANDLED = ("pto.tpush", "pto.tpop", "pto.tfree", "pto.talloc")
_CORES = {"cube": "aic", "vector": "aiv"}
_OTHER = {"aic": "aiv", "aiv": "aic"}
_CONSUMED = {1: "aiv", 2: "aic"}
"""Who pops, by direction."""
_GROUPS = {1: "c2v_consumer_buf", 2: "v2c_consumer_buf"}
_SPACES = {"aiv": "vec", "aic": "mat"}
_KEPT = ("dir_mask", "slot_size", "slot_num", "local_slot_num", "nosplit", "acc_push_epilogue")


class _Unfit(Exception):
    """The function can't be said in the other form."""


def raised(module: Module, chip: Target) -> Module:
    """The module with front end's pipes; the module itself where nothing is lowered. Ops keep their lines."""
    funcs = [_raised(func, module, chip) for func in module.funcs]
    if all(new is old for new, old in zip(funcs, module.funcs, strict=True)):
        return module
    return Module(funcs, module.attrs, module.file, module.modules)


def _raised(func: Func, module: Module, chip: Target) -> Func:
    if func.body is None or not any(op.name in _MADE for op in walk_ops(func)):
        return func
    try:
        body = _Function(func, module, chip).whole(func.body)
    except _Unfit:
        return func
    made = Func(func.name, func.args, body, func.attrs, func.result_types, func.loc, func.line, func.arg_attrs)
    made.unit = func.unit
    return made


@dataclass(frozen=True, slots=True)
class _Pipe:
    """A pipe that a handle stands for, by the flags that both its ends have."""

    init: Op
    flags: int
    mask: int

    @property
    def id(self) -> dict[str, AttrValue]:
        return {"id": self.flags}


@dataclass(slots=True, eq=False)
class _Declared:
    """A declared tile: the extents set for its next pop, the value of the last one (None: none, or not the same on all
    paths), and how many there were."""

    extents: tuple[Value, ...] = ()
    now: Value | None = None
    pops: int = 0


class _Function:
    def __init__(self, func: Func, module: Module, chip: Target) -> None:
        self.chip = chip
        self.core = _CORES.get(func.kernel_kind, "")
        self.module = module
        self.constants = {op.result: op.attrs.get("value") for op in walk_ops(func) if op.name == "arith.constant"}
        self.pipes = {op.result: _pipe(op) for op in walk_ops(func) if op.name in _MADE}
        self.declared: dict[Value, _Declared] = {}
        if not self.core:
            raise _Unfit

    def whole(self, body: Block) -> Block:
        """The body; what is declared and never popped does not fit."""
        made = self._block(body)
        if not all(tile.pops for tile in self.declared.values()):
            raise _Unfit
        return made

    def _block(self, block: Block) -> Block:
        if block.followers:
            raise _Unfit
        return Block(block.args, [new for op in block.ops for new in self._op(op)], block.label)

    def _op(self, op: Op) -> Iterator[Op]:
        if op.name == "pto.declare_tile":
            self.declared[op.result] = _Declared()
        elif op.name == "pto.tpop":
            yield self._pop(op)
        elif op.name == "pto.set_validshape" and op.arg("source") in self.declared:
            tile = self.declared[op.arg("source")]
            tile.extents = (op.arg("valid_row"), op.arg("valid_col"))
            if tile.now is not None:
                yield self._renamed(op)
        elif op.name in _MADE:
            yield from self._initialize(op)
        elif op.name in _HANDLED:
            yield self._transfer(self._renamed(op))
        elif op.regions:
            yield self._nested(self._renamed(op))
        else:
            yield self._renamed(op)

    def _renamed(self, op: Op) -> Op:
        """The op on the tiles that were popped last."""
        if not any(v in self.declared for v in op.operands()):
            return op
        args = {group: tuple(map(self._now, values)) for group, values in op.args.items()}
        return Op(op.name, args, op.attrs, op.results, op.regions, op.loc, op.line)

    def _now(self, value: Value) -> Value:
        tile = self.declared.get(value)
        if tile is None:
            return value
        if tile.now is None:
            raise _Unfit
        return tile.now

    def _nested(self, op: Op) -> Op:
        """A branch or loop. What is popped in it may be another tile, or none, before and after each of its regions."""
        inside = set(_popped(op))
        popped = [tile for value, tile in self.declared.items() if value in inside]
        regions: list[Block] = []
        before = [tile.now for tile in popped]
        for region in op.regions:
            for tile, now in zip(popped, before, strict=True):
                tile.now = now if op.name == "scf.if" else None
            regions.append(self._block(region))
        for tile in popped:
            tile.now = None
        return Op(op.name, op.args, op.attrs, op.results, tuple(regions), op.loc, op.line)

    def _handle(self, op: Op) -> _Pipe:
        found = self.pipes.get(op.arg("pipe_handle"))
        if found is None:
            raise _Unfit
        return found

    def _pop(self, op: Op) -> Op:
        value, pipe = op.arg("tile"), self._handle(op)
        tile = self.declared.get(value)
        if tile is None:
            raise _Unfit
        tile.now = Value(f"{value.name}_{tile.pops}", value.type) if tile.pops else value
        tile.pops += 1
        args: dict[str, tuple[Value, ...]] = {}
        args.update((group, (at,)) for group, at in zip(("valid_row", "valid_col"), tile.extents, strict=False))
        return Op(f"pto.tpop_from_{_OTHER[self.core]}", args, pipe.id | op.attrs, (tile.now,), (), op.loc, op.line)

    def _transfer(self, op: Op) -> Op:
        pipe = self._handle(op)
        tile = op.opt("tile")
        args: dict[str, tuple[Value, ...]] = {}
        if op.name == "pto.tpush" and tile is not None and isinstance(tile.type, TileBufType):
            name, args = f"pto.tpush_to_{_OTHER[self.core]}", {"tile": (tile,)}
        elif op.name == "pto.tfree" and op.opt("entry") is None:
            name = f"pto.tfree_from_{_OTHER[self.core]}"
        else:
            raise _Unfit
        return Op(name, args, pipe.id | op.attrs, (), (), op.loc, op.line)

    def _initialize(self, op: Op) -> Iterator[Op]:
        pipe = self.pipes[op.result]
        args: dict[str, tuple[Value, ...]] = {}
        if (ring := op.opt("gm_addr")) is not None:
            args["gm_slot_tensor" if self.chip.on_chip_pipe and pipe.mask in _CONSUMED else "gm_slot_buffer"] = (ring,)
        for direction, consumer in _CONSUMED.items():
            given = op.opt("peer_local_addr" if pipe.mask == 3 and consumer != self.core else "local_addr")
            if pipe.mask & direction and given is not None:
                buffer = self._buffer(op, pipe, direction, given)
                yield buffer
                args[_GROUPS[direction]] = (buffer.result,)
        attrs = pipe.id | {name: op.attrs[name] for name in _KEPT if name in op.attrs}
        yield Op(f"pto.{self.core}_initialize_pipe", args, attrs, (), (), op.loc, op.line)

    def _buffer(self, op: Op, pipe: _Pipe, direction: int, given: Value) -> Op:
        """The consumer's buffer, where it keeps it, and imported at the other end."""
        name = f"pipe_{pipe.flags}_{_GROUPS[direction]}"
        value = Value(name, ScalarType(INT32))
        if _CONSUMED[direction] != self.core:
            peer = self._peer(pipe)
            return Op("pto.import_reserved_buffer", {}, {"name": name, "peer_func": Symbol(peer)}, (value,), (), op.loc,
                      op.line)
        base, size = self.constants.get(given), op.attrs.get("slot_size")
        slots = ring_slots(op.attrs.get("slot_num"), pipe.mask)
        if "gm_addr" in op.args:
            slots = local_slots(op.attrs.get("local_slot_num"), slots)
        if not isinstance(base, int) or not isinstance(size, int):
            raise _Unfit
        attrs: dict[str, AttrValue] = {
            "name": name, "size": slots * size, "location": EnumAttr("address_space", _SPACES[self.core]),
            "auto": False, "base": base}
        return Op("pto.reserve_buffer", {}, attrs, (value,), (), op.loc, op.line)

    def _peer(self, pipe: _Pipe) -> str:
        """The function of the other core that has a pipe on these flags."""
        others = (f for f in self.module.funcs if _CORES.get(f.kernel_kind) == _OTHER[self.core])
        for func in others:
            if any(op.name in _MADE and _pipe(op).flags == pipe.flags for op in walk_ops(func)):
                return func.name
        raise _Unfit


def _popped(op: Op) -> Iterator[Value]:
    """The declared tiles that are popped within an op's regions."""
    for inner in (o for region in op.regions for o in region.ops):
        if inner.name == "pto.tpop":
            yield inner.arg("tile")
        yield from _popped(inner)


def _pipe(op: Op) -> _Pipe:
    flags, mask = op.attrs.get("flag_base", 0), op.attrs.get("dir_mask")
    if not isinstance(flags, int) or not isinstance(mask, int) or mask not in (1, 2, 3):
        raise _Unfit
    return _Pipe(op, flags, mask)
