"""Pipes between a cube and its vector cores: slots, data flags, credits.

The producer of tile i takes a credit when `targets/fifo.py` says so, writes slot i modulo the slot count and sets a
data flag; the consumer waits for the flag, and posts credits. On a2a3 slots lie in global memory, waits stall the core
and a pop gives its slot back itself; on a5 slots are the consumer's buffer, waits hold one pipe and TFREE gives a slot
back, but for a one-way pipe that is made with slots in global memory: its pops load from there as those of a2a3 do. A
cube's flag reaches both lanes and it needs both lanes' flags, but for an unsplit tile on a5, which lane 0 has alone.
Source: PTO-ISA npu/a2a3 and npu/a5 TPush.hpp, TPop.hpp, TFree.hpp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pypto_verified.index import as_expr
from pypto_verified.pto.module import EnumAttr, Op
from pypto_verified.pto.types import TileBufType
from pypto_verified.simulator.errors import UnmodelledError
from pypto_verified.simulator.schedule.code import Issue, reached
from pypto_verified.simulator.schedule.core import SCALAR, Core
from pypto_verified.simulator.schedule.ends import (
    CHIP_POP_PIPE,
    PUSH_PIPE,
    SPACE,
    TO_CUBE,
    TO_VECTOR,
    WORD,
    End,
    Give,
    Take,
    buffer_names,
    consumes,
    lanes_of,
    moves_tile,
    number_of,
    produces,
    tokens_of,
)
from pypto_verified.simulator.schedule.faults import EarlyError, LeftError, PipeError
from pypto_verified.simulator.schedule.queue import Item
from pypto_verified.simulator.schedule.releases import Release
from pypto_verified.simulator.schedule.slots import Pop, Push, slot_of
from pypto_verified.simulator.tile import Tensor, Tile, device_layout
from pypto_verified.simulator.values import storage
from pypto_verified.targets.fifo import LEDGERS, posts, waits
from pypto_verified.targets.split import SPLITS, Split

_AS_IT_IS = ("nz2nd no_convert no_relu",)
"""Epilogues of an accumulator's push (layout, quantisation, ReLU) that change no element."""


def initialize(core: Core, issue: Issue) -> Iterator[Item]:
    """`aic_initialize_pipe`, `aiv_initialize_pipe`."""
    op = issue.op
    args = issue.operands(core.env)
    mask = number_of(op, "dir_mask", TO_VECTOR)
    slots, size = number_of(op, "slot_num", 4 if mask == TO_VECTOR | TO_CUBE else 8), number_of(op, "slot_size", 0)
    on_chip, entry = core.world.target.on_chip_pipe, args["gm_slot_tensor"][0] if "gm_slot_tensor" in args else None
    ring = entry.pointer if entry is not None else None
    if "gm_slot_buffer" in args and not on_chip:
        ring = args["gm_slot_buffer"][0]
    buffers = {
        direction: args[group][0] if group in args else 0
        for direction, group in ((TO_VECTOR, "c2v_consumer_buf"), (TO_CUBE, "v2c_consumer_buf"))
    }
    names = buffer_names(reached(core.code.func, core.code.functions), op)
    end = End(
        op, number_of(op, "id", 0), mask, size, slots, number_of(op, "local_slot_num", slots), ring,
        on_chip, names, buffers, alone(core),
    )
    end.entry = entry
    core.ends[end.id] = end
    return prime(core, end, _unsplit(core, end.id))


def alone(core: Core) -> bool:
    """Whether the other kind of core is not there."""
    return len({c.kind for c in core.world.cores if c.block == core.block}) < 2


def prime(core: Core, end: End, unsplit: bool) -> Iterator[Item]:
    """The credits that the consumer posts when a pipe is made."""
    if end.mask & consumes(core) and not end.alone:
        for _ in range(LEDGERS[core.world.target.name].initial(end.slots)):
            yield _credit(core, end.init, end, SPLITS[0] if unsplit else SPLITS[1])


def _unsplit(core: Core, id: int) -> bool:
    """Whether a pipe has transfers, and all of whole tiles: then lane 0 alone has them on a5."""
    splits = [op.attrs["split"] for op in core.code.issued if "split" in op.attrs and number_of(op, "id", 0) == id]
    return bool(splits) and not any(splits)


def _credit(core: Core, op: Op, end: End, split: Split) -> Give:
    direction = consumes(core)
    pipe = CHIP_POP_PIPE[direction] if end.on_chip else "MTE2"
    tokens = [tokens_of(core, end, direction, "credit", n) for n in lanes_of(core, split)]
    return Give(core, op, pipe, tokens, ("credit", core.block, end.names[direction], direction))


def _end(core: Core, op: Op, direction: int, args: Mapping[str, Any]) -> End:
    """The pipe that an op names, or is given."""
    end = args["pipe_handle"][0] if "pipe_handle" in args else core.ends.get(number_of(op, "id", 0))
    if end is None or not end.mask & direction:
        raise PipeError(f"{end or 'pipe ' + str(number_of(op, 'id', 0))} has not been set up in this direction",
                        help="initialize the pipe before its first transfer")
    return end


def _split(op: Op) -> Split:
    code = number_of(op, "split", 0)
    if not 0 <= code < len(SPLITS):
        raise UnmodelledError(f"split code {code}")
    return SPLITS[code]


def _next(end: End, direction: int) -> int:
    """The number of the next tile."""
    end.tiles[direction] += 1
    return end.tiles[direction] - 1


def allocate(core: Core, issue: Issue) -> Iterator[Item]:
    """`talloc_to_aiv`, `talloc_to_aic`: a free slot of global memory, to be written and then pushed."""
    op, direction = issue.op, produces(core)
    end, split = _end(core, op, direction, issue.operands(core.env)), _split(op)
    if end.entry is None:
        raise UnmodelledError(f"{op.name} from a pipe without slots in global memory")
    number = _next(end, direction)
    end.split = split
    if not end.alone and waits(end.slots, number) is True:
        yield _wait_credit(core, op, end, split)
    core.env[issue.out] = slot_of(core, end, end.entry, number, split, direction)


def push(core: Core, issue: Issue) -> Iterator[Item]:
    """`tpush_to_aiv`, `tpush_to_aic`, and `tpush` to the pipe that it is given. A slot is there already."""
    op, direction = issue.op, produces(core)
    args = issue.operands(core.env)
    end, split = _end(core, op, direction, args), _split(op)
    tile = args["tile"][0]
    if not isinstance(tile, Tensor):
        epilogue = end.init.attrs.get("acc_push_epilogue")
        if isinstance(epilogue, EnumAttr) and epilogue.member not in _AS_IT_IS:
            raise UnmodelledError(f"{op.name} with the epilogue {epilogue.member}")
        number = _next(end, direction)
        end.split = split
        if not end.alone and waits(end.slots, number) is True:
            yield _wait_credit(core, op, end, split)
        yield Push(core, issue, end, tile.copy(), split, number)
    if not end.alone:
        lanes = lanes_of(core, split) if core.kind == "cube" else [core.lane]
        tokens = [tokens_of(core, end, direction, "data", n) for n in lanes]
        yield Give(core, op, PUSH_PIPE[direction], tokens, ("data", core.block, end.names[direction], direction))


def _wait_credit(core: Core, op: Op, end: End, split: Split, what: str = "a free slot of") -> Take:
    direction = produces(core)
    pipe = PUSH_PIPE[direction] if core.world.target.on_chip_pipe else SCALAR
    tokens = [tokens_of(core, end, direction, "credit", n) for n in lanes_of(core, split)]
    return Take(core, op, pipe, tokens, f"{what} {end} to {WORD[direction]}",
                ("credit", core.block, end.names[direction], direction))


def pop(core: Core, issue: Issue) -> Iterator[Item]:
    """`tpop_from_aic`, `tpop_from_aiv`, and `tpop` into a declared tile. The handle is there at once; its bytes when
    the pop has run."""
    op, world, direction = issue.op, core.world, consumes(core)
    args = issue.operands(core.env)
    end, split = _end(core, op, direction, args), _split(op)
    number = _next(end, direction)
    chip = end.on_chip
    if not end.alone:
        tokens = [tokens_of(core, end, direction, "data", n) for n in lanes_of(core, split)]
        pipe = CHIP_POP_PIPE[direction] if chip else "MTE2" if world.target.on_chip_pipe else SCALAR
        yield Take(core, op, pipe, tokens,
                   f"tile {number} of {end} to {WORD[direction]}",
                   ("data", core.block, end.names[direction], direction))
    if end.entry is not None and not moves_tile(op):
        core.env[issue.out] = slot_of(core, end, end.entry, number, split, direction)
        return
    if "tile" in args:
        tile = args["tile"][0]
        place(core, tile, _address(core, end, number))
    else:
        tile = core.env[issue.out] = _landing(core, issue, end, number)
    if not chip or end.alone:
        yield Pop(core, issue, end, tile.copy(), split, number, "MTE2" if not chip else CHIP_POP_PIPE[direction])
    if end.frees(op) and not end.alone and posts(end.slots, number) is True:
        yield _credit(core, op, end, split)


def _landing(core: Core, issue: Issue, end: End, number: int) -> Tile:
    type_ = issue.op.result.type
    if not isinstance(type_, TileBufType) or type_.loc is not SPACE[consumes(core)]:
        raise UnmodelledError(f"{issue.op.name} of {type_}")
    addr = _address(core, end, number)
    args = issue.operands(core.env)
    extents = [(type_.v_row, type_.rows, "valid_row"), (type_.v_col, type_.cols, "valid_col")]
    rows, cols = (
        args[group][0] if group in args else whole if static is None else static for static, whole, group in extents
    )
    layout = device_layout(type_, core.world.target.left_layout, storage(type_.dtype).itemsize)
    memory = core.machine.memories[type_.loc]
    return Tile(memory, addr, type_, layout, (rows, cols), (addr, addr + type_.bytes), issue.op.result.name)


def _address(core: Core, end: End, number: int) -> int:
    """Where a popped tile lies in the consumer's buffer."""
    around = end.slots if end.on_chip else end.local_slots
    return end.buffers[consumes(core)] + number % around * end.slot_size


def place(core: Core, tile: Tile, addr: int) -> None:
    """Give a declared tile its bytes."""
    tile.addr, tile.bounds, tile.main = addr, (addr, addr + tile.type.bytes), None
    tile.end = addr + tile.type.bytes


def free(core: Core, issue: Issue) -> Iterator[Item]:
    """`tfree_from_aic`, `tfree_from_aiv`, `tfree`: gives the tile that was popped last back on a5, even where its pop
    did so already; on a2a3 that of a tile does nothing."""
    op, direction = issue.op, consumes(core)
    end, split = _end(core, op, direction, issue.operands(core.env)), _split(op)
    end.freed += 1
    last = end.tiles[direction] - 1
    told = end.frees(op)
    if end.freed > end.tiles[direction] and (told or core.world.strict):
        raise EarlyError("a tile is given back that was not popped", help="free each popped tile once, after its pop")
    if told and not end.alone and posts(end.slots, last) is True:
        credit = _credit(core, op, end, split)
        tiles = range(end.told, end.freed)
        end.told = end.freed
        yield Release(core, op, end, tiles, credit.tokens, credit.key) if end.on_chip else credit


def drain(core: Core) -> Iterator[Item]:
    """At the end of the function each producer takes what credits are left (the library's destructor)."""
    direction = produces(core)
    for end in core.ends.values():
        if end.mask & direction and not end.alone:
            left = as_expr(LEDGERS[core.world.target.name].drained(end.slots, end.tiles[direction])).value
            for _ in range(left or 0):
                yield _wait_credit(core, end.init, end, end.split, "the slots that are to be freed before the end of")


def left_over(core: Core) -> None:
    """Note tiles that were pushed to this core and never popped."""
    direction, seen = consumes(core), set[int]()
    for end in core.ends.values():
        for lane in (lanes_of(core, end.split) if end.mask & direction else ()):
            tokens = tokens_of(core, end, direction, "data", lane)
            if tokens.given and tokens.last is not None and id(tokens) not in seen:
                seen.add(id(tokens))
                core.world.report(LeftError(
                    f"{len(tokens.given)} tiles pushed to {core.name} were never popped",
                    help="pop as often as the other core pushes"), tokens.last)
