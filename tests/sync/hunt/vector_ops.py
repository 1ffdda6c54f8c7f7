"""The statements of a vector core: tiles of 8 x 16 f32, 512 bytes each, and tensors of 512 x 16."""

from __future__ import annotations

from tests.sync.hunt.nodes import Do, Expr
from tests.verifiers.kernels import tile

TILE, HALF, STRIP = (tile(rows, cols, valid=(str(rows), str(cols))) for rows, cols in ((8, 16), (4, 16), (8, 8)))
RING = TILE.replace("tile_buf", "multi_tile_buf").replace("pad=0>", "pad=0, count=3>")
_SIZES = {TILE: (8, 16), HALF: (4, 16), STRIP: (8, 8)}
PART = {type_: f"!pto.partition_tensor_view<{rows}x{cols}xf32>" for type_, (rows, cols) in _SIZES.items()}
BYTES = 512
EVENTS = {"MTE2": "TLOAD", "V": "TVEC", "MTE3": "TSTORE_VEC"}
"""What a pipe is called where events and buffers name it."""
_VIEW = "!pto.tensor_view<?x?xf32>"
ARGS = ", ".join((*(f"%{t}: !pto.ptr<f32>" for t in ("a", "b", "out")), *(f"%{n}: index" for n in "MN")))
HEAD = (
    *(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 4, 8, 16, 512)), "%one = arith.constant 1.0 : f32",
    *(f"%{t}v = pto.make_tensor_view %{t}, shape = [%c512, %c16], strides = [%c16, %c1] "
      f"{{layout = #pto.layout<nd>}} : {_VIEW}" for t in ("a", "b", "out")))


def tile_at(name: str, number: Expr, first: int = 0) -> Do:
    """The tile at 512 * number + first bytes."""
    return Do(f"$address = arith.index_cast $v0 : index to i64\n${name} = pto.alloc_tile addr = $address : {TILE}",
              (("+", ("*", number, BYTES), first) if first else ("*", number, BYTES),))


def part(name: str, source: str, row: Expr, type_: str = HALF) -> Do:
    """Four rows of a tile from a row on, or eight columns from a column on."""
    rows, cols = _SIZES[type_]
    offsets = "[$v0, %c0]" if type_ == HALF else "[%c0, $v0]"
    return Do(f"${name} = pto.subview ${source}{offsets} sizes [{rows}, {cols}] : {TILE} -> {type_}", (row,))


def chosen(name: str, a: str, b: str, number: Expr) -> Do:
    """The first tile where the number is 0, else the second."""
    return Do(f"$first = arith.cmpi eq, $v0, %c0 : index\n${name} = arith.select $first, ${a}, ${b} : {TILE}",
              (number,))


def window(tensor: str, row: Expr, type_: str) -> Do:
    rows, cols = _SIZES[type_]
    return Do(f"$w = pto.partition_view %{tensor}v, offsets = [$v0, %c0], sizes = [%c{rows}, %c{cols}] : {_VIEW} -> "
              f"{PART[type_]}", (row,))


def load(name: str, tensor: str, row: Expr, type_: str = TILE, tiles: tuple[int, ...] = ()) -> tuple[Do, Do]:
    return window(tensor, row, type_), Do(
        f"pto.tload ins($w : {PART[type_]}) outs(${name} : {type_})", pipe="MTE2", tiles=tiles)


def store(name: str, tensor: str, row: Expr, type_: str = TILE, tiles: tuple[int, ...] = ()) -> tuple[Do, Do]:
    return window(tensor, row, type_), Do(
        f"pto.tstore ins(${name} : {type_}) outs($w : {PART[type_]})", pipe="MTE3", tiles=tiles)


def exp(source: str, result: str, type_: str = TILE, tiles: tuple[int, ...] = ()) -> Do:
    return Do(f"pto.texp ins(${source} : {type_}) outs(${result} : {type_})", pipe="V", tiles=tiles)


def add(a: str, b: str, result: str, tiles: tuple[int, ...] = ()) -> Do:
    return Do(f"pto.tadd ins(${a}, ${b} : {TILE}, {TILE}) outs(${result} : {TILE})", pipe="V", tiles=tiles)


def fill(name: str, type_: str = TILE, tiles: tuple[int, ...] = ()) -> Do:
    return Do(f"pto.texpands ins(%one : f32) outs(${name} : {type_})", pipe="V", tiles=tiles)


def element(name: str, number: Expr, written: bool) -> Do:
    """One element of a tile, by the scalar pipe."""
    return Do(f"pto.tsetval ins($v0, %one : index, f32) outs(${name} : {TILE})" if written else (
        f"$value = pto.tgetval ins(${name}, $v0 : {TILE}, index) outs : f32"), (number,), "S")


def word(tensor: str, number: Expr, written: bool) -> Do:
    """One element of a tensor, by the scalar pipe."""
    return Do(f"pto.store_scalar %one, %{tensor}[$v0] : !pto.ptr<f32>, f32" if written else (
        f"$value = pto.load_scalar %{tensor}[$v0] : !pto.ptr<f32> -> f32"), (number,), "S")


def flag(does: str, pair: tuple[str, str], id: Expr) -> Do:
    """`set` or `wait`, with an id in the text or in a value."""
    source, sink = pair
    if isinstance(id, int):
        return Do(f"pto.{does}_flag[<PIPE_{source}>, <PIPE_{sink}>, <EVENT_ID{id}>]")
    return Do(f"pto.{does}_flag_dyn[#pto.pipe<PIPE_{source}>, #pto.pipe<PIPE_{sink}>, $v0]", (id,))


def event(does: str, pair: tuple[str, str], id: int) -> Do:
    """The same between ops of kinds: `set` records, `wait` waits."""
    source, sink = (f"#pto.pipe_event_type<{EVENTS[pipe]}>" for pipe in pair)
    word = {"set": "record", "wait": "wait"}[does]
    return Do(f"pto.{word}_event[{source}, {sink}, #pto.event<EVENT_ID{id}>]")


def barrier(pipe: str) -> Do:
    return Do(f"pto.barrier <PIPE_{pipe}>")


def buffer(does: str, pipe: str, id: Expr) -> Do:
    """`get` or `rls`."""
    named = f"#pto.pipe_event_type<{EVENTS[pipe]}>"
    if isinstance(id, int):
        return Do(f"pto.{does}_buf[{named}, {id}]")
    return Do(f"pto.{does}_buf_dyn[{named}, $v0, 0]", (id,))


FENCE = Do("pto.cmo.cacheinvalid all #pto.address_space<gm>")
