"""Programs of a cube and its vector cores that push tiles to each other and pop them."""

from __future__ import annotations

from dataclasses import dataclass

from tests.sync.hunt.core_ops import BARRIER, cross, lines_of
from tests.sync.hunt.draw import Draw
from tests.sync.hunt.nodes import Body, Do, If, Statement
from tests.sync.hunt.two_cores import Sides, TwoCores
from tests.sync.hunt.writer import function, module
from tests.verifiers.kernels import alloc, tile

_DIMENSIONS = {0: (32, 64), 1: (16, 64), 2: (32, 32)}
"""Rows and columns of what a vector core has of a tile of 32 x 64, by split: whole, half of the rows or the columns."""
_PARTS = {split: tile(*size) for split, size in _DIMENSIONS.items()}
_PUSHED = {"a2a3": _PARTS, "a5": {
    split: tile(*size, blayout="col_major", slayout="row_major") for split, size in _DIMENSIONS.items()}}
_ACC = tile(32, 64, loc="acc", blayout="col_major", slayout="row_major", fractal=1024)
_MAT = tile(32, 64, loc="mat", blayout="col_major", slayout="row_major")
_LEFT = tile(32, 64, "f32", "left", "row_major", "row_major", 512)
_SLOT = 8192
_TO_VECTOR, _TO_CUBE = 1, 2
_LANE = "%__pypto_spmd_subblock_idx"
PEER = {"cube": "vec", "vec": "cube"}


@dataclass(frozen=True)
class Pipes:
    """`masks`: of each pipe, the directions in which tiles go. `memory`: slots lie in global memory."""

    chip: str
    split: int
    slots: int
    memory: bool
    masks: tuple[int, ...]

    def made(self, core: str) -> Body:
        """The pipes at one end: who takes tiles reserves the buffer, the other end imports it."""
        body: list[Do] = []
        for number, mask in enumerate(self.masks):
            ends = {_TO_VECTOR: "%none", _TO_CUBE: "%none"}
            for way, taker, space in ((_TO_VECTOR, "vec", "vec"), (_TO_CUBE, "cube", "mat")):
                if not mask & way:
                    continue
                name = f"ring{number}_{way}"
                ends[way], size = f"%{name}", _SLOT * self.slots
                body.append(Do(
                    f'%{name} = pto.reserve_buffer {{name = "{name}", size = {size}, '
                    f"location = #pto.address_space<{space}>, auto = false, base = {size * number}}} -> i32"
                    if core == taker else
                    f'%{name} = pto.import_reserved_buffer {{name = "{name}", peer_func = @{PEER[core]}}} -> i32'))
            memory = ""
            if self.memory:
                body.append(Do(f"%go{number} = arith.constant {65536 * number} : index\n"
                               f"%gp{number} = pto.addptr %gm, %go{number} : !pto.ptr<f32> -> !pto.ptr<f32>"))
                memory = f"gm_slot_buffer = %gp{number} : !pto.ptr<f32>, "
            kind = {"cube": "aic", "vec": "aiv"}[core]
            body.append(Do(
                f"pto.{kind}_initialize_pipe {{{_of(number)}dir_mask = {mask}, slot_size = {_SLOT}, "
                f"slot_num = {self.slots}}} ({memory}c2v_consumer_buf = {ends[_TO_VECTOR]} : i32, "
                f"v2c_consumer_buf = {ends[_TO_CUBE]} : i32)"))
        return tuple(body)

    def push(self, core: str, number: int) -> Do:
        taker, type_ = ("aiv", _ACC) if core == "cube" else ("aic", _PUSHED[self.chip][self.split])
        return Do(f"pto.tpush_to_{taker}(%mine : {type_}) {{{_of(number)}split = {self.split}}}")

    def pop(self, core: str, number: int, used: bool) -> Body:
        """A pop, perhaps with an op that reads what it took."""
        if core == "cube":
            giver, rows, cols, type_ = "aiv", 32, 64, _MAT
        else:
            giver, type_ = "aic", _PARTS[self.split]
            rows, cols = _DIMENSIONS[self.split]
        text = f"$t = pto.tpop_from_{giver}(%c{rows}, %c{cols}) {{{_of(number)}split = {self.split}}} -> {type_}"
        kept = _LEFT if core == "cube" else type_
        copied = f"{BARRIER.text}\npto.tmov ins($t : {type_}) outs(%kept : {kept})\n{BARRIER.text}"
        return (Do(f"{text}\n{copied}" if used else text),)

    def free(self, core: str, number: int) -> Do:
        giver = "aiv" if core == "cube" else "aic"
        return Do(f"pto.tfree_from_{giver} {{{_of(number)}split = {self.split}}}")

    def text(self, cube: Body, vector: Body) -> str:
        rows, cols = _DIMENSIONS[self.split]
        part = _PARTS[self.split]
        head = (*(f"%c{n} = arith.constant {n} : index" for n in (0, 16, 32, 64)),
                *(f"%a{n} = arith.constant {n} : i64" for n in (0, 131072, 163840)), "%none = arith.constant 0 : i32")
        cube_head = (*head, alloc("mine", _ACC, 0), alloc("kept", _LEFT, 0))
        vector_head = (
            *head, f"%lane = arith.index_cast {_LANE} : i32 to index",
            alloc("mine", _PUSHED[self.chip][self.split], 163840, f"c{rows}", f"c{cols}"),
            alloc("kept", part, 131072, f"c{rows}", f"c{cols}"))
        args = "%gm: !pto.ptr<f32>, %M: index, %N: index"
        return module(
            self.chip,
            function("cube", "cube", args, cube_head, lines_of((*self.made("cube"), *cube), {})),
            function("vec", "vector", f"{args}, {_LANE}: i32", vector_head,
                     lines_of((*self.made("vec"), *vector), {"lane": "%lane"})))


def _of(number: int) -> str:
    return f"id = {number}, " if number else ""


class Pushed(TwoCores):
    """Tiles go through pipes instead of through tensors."""

    def __init__(self, draw: Draw, pipes: Pipes) -> None:
        super().__init__(draw, False)
        self.pipes = pipes

    def hand(self, variables: tuple[str, ...]) -> Sides:
        """One tile, or some that are freed late: in order, or each behind the next pop."""
        draw, pipes = self.draw, self.pipes
        number = draw.randrange(len(pipes.masks))
        way = draw.choice([way for way in (_TO_VECTOR, _TO_CUBE) if pipes.masks[number] & way])
        giver, taker = ("cube", "vec") if way == _TO_VECTOR else ("vec", "cube")
        if draw.chance(5):
            return (cross("set", "FIX", 9),), (cross("wait", draw.choice(("MTE2", "V")), 9),)
        count, used = min(draw.choice((1, 1, 1, 1, 2, 3)), pipes.slots), draw.chance(40)
        push, pop, free = pipes.push(giver, number), pipes.pop(taker, number, used), pipes.free(taker, number)
        each: Body = (*pop, free)
        takes: Body = draw.choice((each * count, each * count, (*pop * count, *(free,) * count)))
        if draw.chance(10) and count > 1:
            takes = (*pop, *each * (count - 1), free)
        if draw.chance(8):
            takes = (If(draw.condition(variables), takes, each * count),)
        gives: tuple[Statement, ...] = (push,) * count
        return (gives, takes) if way == _TO_VECTOR else (takes, gives)


def made(draw: Draw, chip: str) -> str:
    slots = draw.choice((1, 2, 2, 3, 4, 8) if chip == "a2a3" else (1, 2, 2, 3, 4))
    masks = draw.choice(((1,), (1,), (2,), (3,), (1, 2), (1, 1)))
    if len(masks) > 1 and chip == "a5":
        slots = min(slots, 3)
    pipes = Pipes(chip, draw.choice((0, 1, 1, 2)), slots, chip == "a2a3" or draw.chance(25), masks)
    return pipes.text(*Pushed(draw, pipes).block((), 0))
