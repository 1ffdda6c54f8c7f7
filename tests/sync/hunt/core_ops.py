"""The statements of a cube core and its vector cores that pass tiles of 16 x 16 f32 through two tensors of 512 rows."""

from __future__ import annotations

from tests.sync.hunt.nodes import Body, Do, Expr
from tests.sync.hunt.writer import Writer, function, module
from tests.verifiers.kernels import tile

ACC = tile(16, 16, "f32", "acc", "col_major", "row_major", 1024)
MAT = tile(16, 16, "f32", "mat", "col_major", "row_major", 512)
VEC = tile(16, 16)
_TILES = {("cube", True): ACC, ("cube", False): MAT, ("vector", True): VEC, ("vector", False): VEC}
_VIEW = "!pto.tensor_view<?x?xf32>"
_PART = "!pto.partition_tensor_view<?x16xf32>"
ADD = " {atomicType = #pto<atomic_type atomic_add>}"
ROWS = 16
ARGS = "%p: !pto.ptr<f32>, %q: !pto.ptr<f32>, %M: index, %N: index"
_LANE = "%__pypto_spmd_subblock_idx"


def head(rows: int = 512) -> tuple[str, ...]:
    """What each function begins with: tensors of so many rows."""
    return (*(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 16)), f"%rows = arith.constant {rows} : index",
            *(f"%a{n} = arith.constant {n} : i64" for n in (0, 2048)),
            *(f"%{t}v = pto.make_tensor_view %{t}, shape = [%rows, %c16], strides = [%c16, %c1] "
              f"{{layout = #pto.layout<nd>}} : {_VIEW}" for t in "pq"))


def access(core: str, stores: bool, tensor: str, row: Expr, rows: Expr = ROWS, added: bool = False) -> Do:
    """A load, or a store, of so many rows; `added`: to what is there."""
    type_ = _TILES[core, stores]
    address = "%a2048" if core == "vector" and stores else "%a0"
    op = f"pto.tstore ins($t : {type_}) outs($w : {_PART}){ADD if added else ''}" if stores else (
        f"pto.tload ins($w : {_PART}) outs($t : {type_})")
    return Do(f"$w = pto.partition_view %{tensor}v, offsets = [$v0, %c0], sizes = [$v1, %c16] : {_VIEW} -> {_PART}\n"
              f"$t = pto.alloc_tile addr = {address} valid_row = $v1 valid_col = %c16 : {type_}\n{op}", (row, rows))


def cross(does: str, pipe: str, id: Expr) -> Do:
    """A flag to the other core, or its wait, by FFTS."""
    if isinstance(id, int):
        return Do(f"pto.sync.{does} #pto.pipe<PIPE_{pipe}>, {id}")
    return Do(f"pto.sync.{does} #pto.pipe<PIPE_{pipe}>, $v0", (id,))


def intra(does: str, pipe: str, id: int, core: str) -> Do:
    """The same within a block of a5; the cube has an id for either lane."""
    ids = (id, id + 16) if core == "cube" else (id,)
    return Do("\n".join(f"pto.{does}_intra_block <PIPE_{pipe}>, {each}" for each in ids))


def own_flag(source: str, sink: str, id: int) -> Do:
    """A flag of a core's own pipes, waited for at once."""
    return Do("\n".join(f"pto.{does}_flag[#pto.pipe<PIPE_{source}>, #pto.pipe<PIPE_{sink}>, #pto.event<EVENT_ID{id}>]"
                        for does in ("set", "wait")))


def meeting(cores: str = "mix") -> Do:
    """A barrier of all cores of a kind."""
    return Do(f"pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<{cores}>")


BARRIER = Do("pto.barrier <PIPE_ALL>")


def lines_of(body: Body, names: dict[str, str]) -> list[str]:
    writer = Writer()
    writer.body(body, {"M": "%M", "N": "%N", **names})
    return writer.lines


def sections(chip: str, cube: Body, vector: Body, asks: bool) -> str:
    """A kernel with a section for each kind of core; `asks`: for its lane, which is an argument else."""
    lane = "%sub = pto.get_subblock_idx\n%lane = arith.index_cast %sub : i64 to index" if asks else (
        f"%lane = arith.index_cast {_LANE} : i32 to index")
    writer = Writer()
    writer.line("pto.section.cube {")
    writer.body(cube, {"M": "%M", "N": "%N"})
    writer.line("}")
    writer.line("pto.section.vector {")
    writer.body((Do(lane), *vector), {"M": "%M", "N": "%N", "lane": "%lane"})
    writer.line("}")
    args = ARGS + ("" if asks else f", {_LANE}: i32")
    return module(chip, function("k", "", args, head(), writer.lines))


def functions(chip: str, cube: Body, vector: Body) -> str:
    """A kernel with a function for each kind of core, joined by their names."""
    lane = Do(f"%lane = arith.index_cast {_LANE} : i32 to index")
    return module(
        chip, function("k_aic", "cube", ARGS, head(), lines_of(cube, {})),
        function("k_aiv", "vector", f"{ARGS}, {_LANE}: i32", head(), lines_of((lane, *vector), {"lane": "%lane"})))
