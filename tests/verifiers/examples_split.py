"""One passing and one violating pair of kernels for each rule about split tiles; the two texts differ in one field."""

from __future__ import annotations

from tests.verifiers.examples import Pair
from tests.verifiers.kernels import alloc, tile

ACC = tile(32, 64, loc="acc", blayout="col_major", slayout="row_major", fractal=1024)
PART = tile(16, 64)
WHOLE = tile(32, 64)
COLUMNS = tile(32, 32)
MAT = tile(32, 64, loc="mat", blayout="col_major", slayout="row_major")

_NUMBERS = (0, 1, 2, 5, 8, 9, 12, 15, 16, 17, 31, 32, 48, 64)


def core(name: str, kind: str, *body: str, args: str = "") -> str:
    """One function of a kernel; `%gm` is the memory of the ring, `%lane` the lane of a vector core."""
    lane = ", %__pypto_spmd_subblock_idx: i32" if kind == "vector" else ""
    more = f", {args}" if args else ""
    lines = [f"%c{n} = arith.constant {n} : index" for n in _NUMBERS]
    lines += ["%a0 = arith.constant 0 : i64", "%none = arith.constant 0 : i32"]
    if lane:
        lines.append("%lane = arith.index_cast %__pypto_spmd_subblock_idx : i32 to index")
    text = "".join(f"    {line.strip()}\n" for part in (*lines, *body) for line in part.splitlines())
    return (
        f"  func.func @{name}(%gm: !pto.ptr<f32>{more}{lane}) attributes "
        f"{{pto.kernel_kind = #pto.kernel_kind<{kind}>}} {{\n{text}    return\n  }}\n")


def _ring(kind: str, to_cube: bool, memory: bool) -> str:
    """The pipe at this end: the consumer reserves its buffer, the producer imports it."""
    consumer = (kind == "aic") is to_cube
    where, peer = ("mat" if to_cube else "vec"), {"aic": "vector", "aiv": "cube"}[kind]
    slots = "gm_slot_buffer = %gm : !pto.ptr<f32>, " if memory else ""
    made = (
        f'%ring = pto.reserve_buffer {{name = "ring", size = 32768, location = #pto.address_space<{where}>, '
        "auto = false, base = 0} -> i32" if consumer else
        f'%ring = pto.import_reserved_buffer {{name = "ring", peer_func = @{peer}}} -> i32')
    ends = ("%none", "%ring") if to_cube else ("%ring", "%none")
    return "\n".join((
        made,
        f"pto.{kind}_initialize_pipe {{dir_mask = {2 if to_cube else 1}, slot_size = 8192, slot_num = 2}} "
        f"({slots}c2v_consumer_buf = {ends[0]} : i32, v2c_consumer_buf = {ends[1]} : i32)"))


def to_vector(push: tuple[str, str, int], *pops: str, memory: bool = True, args: str = "", last: str = "vector") -> str:
    """A cube core that pushes `rows` x `cols` with a split, and a vector core with these pops; `last` stands last."""
    rows, cols, split = push
    cube = core(
        "cube", "cube", _ring("aic", False, memory), alloc("c", ACC, 0, rows, cols),
        f"pto.tpush_to_aiv(%c : {ACC}) {{split = {split}}}", args=args)
    vector = core("vector", "vector", _ring("aiv", False, memory), *pops, args=args)
    return "module {\n" + (cube + vector if last == "vector" else vector + cube) + "}\n"


def pop(split: int, rows: str, cols: str, type_: str = PART, name: str = "t") -> str:
    """A pop of `rows` x `cols`, and the release of its slot."""
    return "\n".join((
        f"%{name} = pto.tpop_from_aic(%{rows}, %{cols}) {{split = {split}}} -> {type_}",
        f"pto.tfree_from_aic {{split = {split}}}"))


def to_cube(push: tuple[str, str, int], popped: tuple[str, str], type_: str = PART) -> str:
    """Two lanes that push, and a cube core that pops."""
    rows, cols, split = push
    pops = "\n".join((
        f"%t = pto.tpop_from_aiv(%{popped[0]}, %{popped[1]}) {{split = {split}}} -> {MAT}",
        f"pto.tfree_from_aiv {{split = {split}}}"))
    return "module {\n" + core(
        "vector", "vector", _ring("aiv", True, True), alloc("v", type_, 0, rows, cols),
        f"pto.tpush_to_aic(%v : {type_}) {{split = {split}}}",
    ) + core("cube", "cube", _ring("aic", True, True), pops) + "}\n"


def clamped(total: str) -> str:
    """%part: the rows of `total` that fall into a lane's half of sixteen."""
    return "\n".join((
        "%start = arith.muli %lane, %c16 : index", f"%rest = arith.subi %{total}, %start : index",
        "%some = arith.maxsi %rest, %c0 : index", "%part = arith.minsi %some, %c16 : index"))


def _halves(valid: str) -> str:
    """Lane extents of a tile with `valid` rows, as the rows that each lane keeps."""
    return to_vector(("c32", "c64", 1), clamped(valid), pop(1, "part", "c64"))


def _pitched(columns: str) -> str:
    return to_vector(("c32", columns, 1), pop(1, "c16", "c64"))


def _codes(split: int) -> str:
    return to_vector(("c32", "c64", 1), pop(split, "c16", "c64"))


def _chip(columns: str) -> str:
    return to_vector(("c32", columns, 2), pop(2, "c32", "c16", COLUMNS), memory=False, last="cube")


def _taken(type_: str) -> str:
    return to_vector(("c32", "c64", 1), pop(1, "c16", "c64", type_))


def _rows(rows: str) -> str:
    return to_vector(("c32", "c64", 1), pop(1, rows, "c64", WHOLE))


PAIRS: dict[str, Pair] = {
    "SPLIT-LANES": Pair(_halves("c32"), _halves("c17")),
    "SPLIT-PITCH": Pair(_pitched("c64"), _pitched("c48")),
    "SPLIT-ENDS": Pair(_codes(1), _codes(2)),
    "SPLIT-CHIP": Pair(_chip("c64"), _chip("c48"), chip="a5"),
    "SPLIT-TYPE": Pair(_taken(PART), _taken(tile(16, 64, "i32"))),
    "SPLIT-PART": Pair(_rows("c16"), _rows("c17")),
}
