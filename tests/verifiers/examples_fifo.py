"""One passing and one violating pair of kernels for each rule about the pipes between cores."""

from __future__ import annotations

from tests.verifiers.examples import Pair
from tests.verifiers.examples_split import ACC, core
from tests.verifiers.kernels import alloc, tile

WHOLE = tile(32, 64)
HALF = tile(16, 64)
MAT = tile(32, 64, loc="mat", blayout="col_major", slayout="row_major")
SIZE = "%n: index"


def pair_of_cores(
    pushes: str, pops: str, memory: bool = True, slots: int = 2, slot_size: int = 8192, reserved: int = 32768,
    last: str = "vector",
) -> str:
    """A cube core that pushes tiles of 8192 bytes and a vector core that pops them; `%n` is a size that both know.
    `last` stands last."""
    ring = "gm_slot_buffer = %gm : !pto.ptr<f32>, " if memory else ""
    ends = f"dir_mask = 1, slot_size = {slot_size}, slot_num = {slots}"
    cube = core(
        "cube", "cube", '%ring = pto.import_reserved_buffer {name = "ring", peer_func = @vector} -> i32',
        f"pto.aic_initialize_pipe {{{ends}}} ({ring}c2v_consumer_buf = %ring : i32, v2c_consumer_buf = %none : i32)",
        alloc("c", ACC, 0, "c32", "c64"), pushes, args=SIZE)
    vector = core(
        "vector", "vector",
        f'%ring = pto.reserve_buffer {{name = "ring", size = {reserved}, location = #pto.address_space<vec>, '
        "auto = false, base = 0} -> i32",
        f"pto.aiv_initialize_pipe {{{ends}}} ({ring}c2v_consumer_buf = %ring : i32, v2c_consumer_buf = %none : i32)",
        "%far = arith.constant 131072 : i64",
        f"%o = pto.alloc_tile addr = %far valid_row = %c32 valid_col = %c64 : {WHOLE.replace('v_row=32', 'v_row=?')}",
        pops, args=SIZE)
    both = cube + vector if last == "vector" else vector + cube
    return f"module {{\n{both}}}\n"


PUSH = f"pto.tpush_to_aiv(%c : {ACC}) {{split = 1}}"


def pop(name: str = "t") -> str:
    """A pop of a half of the tile, for each lane."""
    return f"%{name} = pto.tpop_from_aic(%c16, %c64) {{split = 1}} -> {HALF}"


FREE = "pto.tfree_from_aic {split = 1}"


def turns(stop: str, *body: str) -> str:
    """A loop over %i from 0."""
    return "\n".join((f"scf.for %i = %c0 to {stop} step %c1 {{", *body, "}"))


_BOTH = pop() + "\n" + FREE
COPY = f"pto.tmov ins(%t : {HALF}) outs(%h : {HALF})"
NEAR = "%near = arith.constant 65536 : i64\n" + alloc("h", HALF, "near", "c16", "c64")


def _used(first: str, second: str) -> str:
    return pair_of_cores(PUSH, "\n".join((NEAR, pop(), first, second)), memory=False)


PAIRS: dict[str, Pair] = {
    "FIFO-POP": Pair(
        pair_of_cores(turns("%c8", PUSH), turns("%c8", _BOTH)),
        pair_of_cores(turns("%c8", PUSH), turns("%c9", _BOTH))),
    "FIFO-DRAIN": Pair(
        pair_of_cores(turns("%c8", PUSH), turns("%c8", _BOTH), last="cube"),
        pair_of_cores(turns("%c9", PUSH), turns("%c8", _BOTH), last="cube")),
    "FIFO-FREE": Pair(
        pair_of_cores(PUSH + "\n" + PUSH, "\n".join((pop("t"), FREE, pop("u"), FREE)), memory=False),
        pair_of_cores(PUSH + "\n" + PUSH, "\n".join((pop("t"), FREE, pop("u"), "// kept")), memory=False), "a5"),
    "FIFO-USED": Pair(_used(COPY, FREE), _used(FREE, COPY), "a5"),
    "FIFO-SLOT": Pair(
        pair_of_cores(PUSH, _BOTH, slot_size=8192, last="cube"),
        pair_of_cores(PUSH, _BOTH, slot_size=4096, last="cube")),
    "FIFO-RING": Pair(
        pair_of_cores(PUSH, _BOTH, reserved=16384), pair_of_cores(PUSH, _BOTH, reserved=8192)),
    "FIFO-OVERRUN": Pair(
        pair_of_cores(turns("%c32", PUSH), turns("%c32", _BOTH), slots=6, last="cube"),
        pair_of_cores(turns("%c32", PUSH), turns("%c32", _BOTH), slots=5, last="cube")),
}
