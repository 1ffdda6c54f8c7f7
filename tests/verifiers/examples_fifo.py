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


def crossing(start: str, elements: int = 4096, count: str = "%n3", names: tuple[str, str] = ("0", "1")) -> str:
    """A cube pushes `count` tiles, then pops as many that the lanes push back as they come. The ring to the lanes
    begins %near elements behind %gm, that to the cube %far; `start` computes both from %given, which is `elements`, and
    %n4k, 4096 elements, which a ring takes. `names`: of the two pipes."""
    there, back = (f"id = {name}, " for name in names)
    begins = ("%n3 = arith.constant 3 : index", "%n4k = arith.constant 4096 : index",
              f"%given = arith.constant {elements} : index", start,
              *(f"%{name} = pto.addptr %gm, %{at} : !pto.ptr<f32> -> !pto.ptr<f32>"
                for name, at in (("first", "near"), ("second", "far"))))

    def pipes(kind: str, peer: str) -> tuple[str, ...]:
        def buffer(name: str, space: str, own: bool) -> str:
            return (f'%{name} = pto.reserve_buffer {{name = "{name}", size = 16384, location = '
                    f"#pto.address_space<{space}>, auto = false, base = 0}} -> i32" if own else
                    f'%{name} = pto.import_reserved_buffer {{name = "{name}", peer_func = @{peer}}} -> i32')

        ends = "slot_size = 8192, slot_num = 2"
        return (
            *begins, buffer("there", "vec", kind == "aiv"), buffer("back", "mat", kind == "aic"),
            f"pto.{kind}_initialize_pipe {{{there}dir_mask = 1, {ends}}} (gm_slot_buffer = %first : !pto.ptr<f32>, "
            "c2v_consumer_buf = %there : i32, v2c_consumer_buf = %none : i32)",
            f"pto.{kind}_initialize_pipe {{{back}dir_mask = 2, {ends}}} (gm_slot_buffer = %second : !pto.ptr<f32>, "
            "c2v_consumer_buf = %none : i32, v2c_consumer_buf = %back : i32)")

    cube = core(
        "cube", "cube", *pipes("aic", "vector"), alloc("c", ACC, 0, "c32", "c64"), turns(count, PUSH),
        turns(count, f"%u = pto.tpop_from_aiv(%c32, %c64) {{{back}split = 1}} -> {MAT}",
              f"pto.tfree_from_aiv {{{back}split = 1}}"), args=SIZE)
    vector = core(
        "vector", "vector", *pipes("aiv", "cube"), "%high = arith.constant 65536 : i64",
        alloc("o", HALF, "high", "c16", "c64"),
        turns(count, _BOTH, f"pto.tpush_to_aic(%o : {HALF}) {{{back}split = 1}}"), args=SIZE)
    return f"module {{\n{cube}{vector}}}\n"


FAR = "%near = arith.muli %c0, %given : index\n%far = arith.muli %c1, %given : index"


def at_one_end(text: str, elements: str) -> str:
    """The ring of the first pipe begins `elements` times 4096 elements later for the lanes."""
    cube, vector = text.split("func.func @vector")
    later = FAR.split("\n")[0].replace("%c0", elements)
    return f"{cube}func.func @vector{vector.replace(FAR.splitlines()[0], later)}"


BLOCK = "\n".join((
    "%block = pto.get_block_idx", "%b = arith.index_cast %block : i64 to index", "%twice = arith.muli %b, %c2 : index",
    "%near = arith.muli %twice, %given : index", "%far = arith.addi %near, %n4k : index"))

PAIRS: dict[str, Pair] = {
    "FIFO-APART": Pair(crossing(FAR), crossing(FAR, 2048)),
    "FIFO-BASE": Pair(crossing(FAR), at_one_end(crossing(FAR), "%c1")),
    "FIFO-BLOCKS": Pair(crossing(BLOCK), crossing(BLOCK, 2048)),
    "FIFO-POP": Pair(
        pair_of_cores(turns("%c8", PUSH), turns("%c8", _BOTH)),
        pair_of_cores(turns("%c8", PUSH), turns("%c9", _BOTH))),
    "FIFO-DRAIN": Pair(
        pair_of_cores(turns("%c8", PUSH), turns("%c8", _BOTH), last="cube"),
        pair_of_cores(turns("%c9", PUSH), turns("%c8", _BOTH), last="cube")),
    "FIFO-FREE": Pair(
        pair_of_cores(PUSH + "\n" + PUSH, "\n".join((pop("t"), FREE, pop("u"), FREE)), memory=False),
        pair_of_cores(PUSH + "\n" + PUSH, "\n".join((pop("t"), FREE, pop("u"), "// kept")), memory=False), "a5"),
    "FIFO-EARLY": Pair(
        pair_of_cores(turns("%n", PUSH), turns("%n", _BOTH), memory=False),
        pair_of_cores(turns("%n", PUSH), turns("%n", FREE, pop()), memory=False), "a5"),
    "FIFO-CREDIT": Pair(
        pair_of_cores(turns("%n", PUSH, PUSH), turns("%n", pop("t"), FREE, pop("u"), FREE), memory=False),
        pair_of_cores(turns("%n", PUSH, PUSH), turns("%n", pop("t"), pop("u"), FREE, FREE), memory=False), "a5"),
    "FIFO-USED": Pair(_used(COPY, FREE), _used(FREE, COPY), "a5"),
    "FIFO-SLOT": Pair(
        pair_of_cores(turns("%c8", PUSH), turns("%c8", _BOTH), slot_size=8192, last="cube"),
        pair_of_cores(turns("%c8", PUSH), turns("%c8", _BOTH), slot_size=4096, last="cube")),
    "FIFO-RING": Pair(
        pair_of_cores(turns("%c8", PUSH), turns("%c8", _BOTH), reserved=16384),
        pair_of_cores(turns("%c8", PUSH), turns("%c8", _BOTH), reserved=8192)),
    "FIFO-COUNTER": Pair(
        pair_of_cores(turns("%c32", PUSH), turns("%c32", _BOTH), slots=8, reserved=131072, last="cube"),
        pair_of_cores(turns("%c32", PUSH), turns("%c32", _BOTH), slots=16, reserved=131072, last="cube")),
    "FIFO-OVERRUN": Pair(
        pair_of_cores(turns("%c32", PUSH), turns("%c32", _BOTH), slots=6, last="cube"),
        pair_of_cores(turns("%c32", PUSH), turns("%c32", _BOTH), slots=5, last="cube")),
}
