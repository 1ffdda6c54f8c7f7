"""Grids of blocks with a short last one, as the access program sees them in a kernel's text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from proofs.lemmas import product_bound
from proofs.symbolic import program_of
from proofs.theorem import Claim, Mutant, Theorem, claim
from pypto_verified.index import (
    FALSE,
    TRUE,
    Cond,
    Expr,
    IntLike,
    all_of,
    const,
    eq,
    substitute,
    substitute_cond,
    symbol,
)
from pypto_verified.records import dataclass
from pypto_verified.targets import A2A3
from verifiers import write_grid
from verifiers.access import BLOCK, BLOCKS, Step, Window, scalars
from verifiers.access.program import AccessProgram
from verifiers.sites import Context

_TILE = "!pto.tile_buf<vec, 256x64xf32, valid=?x?>"
_WINDOW = "!pto.partition_tensor_view<?x?xf32>"

_VIEW = f"""%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c64 = arith.constant 64 : index
%v = pto.make_tensor_view %p, shape = [%M, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?xf32>
%t = pto.alloc_tile valid_row = %c1 valid_col = %c64 : {_TILE}
"""

_LOAD = f"""%left = arith.subi %M, %o : index
%n = arith.minsi %left, %B : index
%w = pto.partition_view %v, offsets = [%o, %c0], sizes = [%n, %c64] : !pto.tensor_view<?x?xf32> -> {_WINDOW}
pto.tload ins(%w : {_WINDOW}) outs(%t : {_TILE})
"""

_COUNTED = f"""%b1 = arith.subi %B, %c1 : index
%up = arith.addi %M, %b1 : index
%grid = arith.divsi %up, %B : index
scf.for %i = %c0 to %grid step %c1 {{
%o = arith.muli %i, %B : index
{_LOAD}}}
"""

_STRIDED = f"""scf.for %o = %c0 to %M step %B {{
{_LOAD}}}
"""


def _kernel(body: str, block: int | None) -> str:
    """A kernel that loads the M rows of a tensor in blocks of B; `block` None: B is an argument."""
    args = ", %B: index" if block is None else ""
    size = "" if block is None else f"%B = arith.constant {block} : index\n"
    return (
        f"module {{\nfunc.func @grid(%p: !pto.ptr<f32>, %M: index{args}) attributes "
        f"{{pto.kernel_kind = #pto.kernel_kind<vector>}} {{\n{_VIEW}{size}{body}return\n}}\n}}\n")


@dataclass(frozen=True, slots=True)
class Grids:
    """What the product makes of a kernel's text, and its ceiling division."""

    program: Callable[[str], AccessProgram]
    ceiling: Callable[[Expr, Expr], Expr]


@dataclass(frozen=True, slots=True)
class _Block:
    """The window of iteration `index`, reached when `path` holds: `size` rows from `start`."""

    start: Expr
    size: Expr
    path: Cond

    def holds(self, row: Expr) -> Cond:
        return all_of((self.start <= row, row < self.start + self.size))


def _block(grids: Grids, text: str, index: Expr, rows: Expr, size: Expr) -> _Block:
    """What the access program says of iteration `index`."""
    program = grids.program(text)
    ((window, path),) = program.windows
    values: dict[str, IntLike] = {"M": rows, "B": size, "grid": grids.ceiling(rows, size)}
    values |= {"i": index} if "%grid" in text else {"o": size * index, "o_trip": index}
    return _Block(
        substitute(window.offsets[0], values), substitute(window.sizes[0], values), substitute_cond(path, values))


def _cover(grids: Grids) -> Iterator[Claim]:
    rows, row, first, second = (symbol(n, 0) for n in ("M", "row", "first", "second"))
    for name, body in (("counted", _COUNTED), ("strided", _STRIDED)):
        for fixed in (None, 16, 64, 256):
            size = symbol("B", 1) if fixed is None else const(fixed)
            text, label = _kernel(body, fixed), f"{name}, B = {fixed or 'any'}"
            own = symbol("own", 0)
            block = _block(grids, text, own, rows, size)
            known = product_bound(own - grids.ceiling(rows, size) + 1, size)
            yield claim(
                f"{label}: covered", all_of((row < rows, eq(own, row // size), known)), block.path & block.holds(row))
            a, b = (_block(grids, text, x, rows, size) for x in (first, second))
            apart = product_bound(first - second, size) & product_bound(second - first, size)
            yield claim(
                f"{label}: once", all_of((a.path, b.path, a.holds(row), b.holds(row), apart)), eq(first, second))
            inside = product_bound(grids.ceiling(rows, size) - first, size)
            yield claim(
                f"{label}: inside", a.path & inside,
                all_of((a.start >= 0, a.size >= 1, a.start + a.size <= rows)))


def _without_tail(grids: Grids) -> Grids:
    def program(text: str) -> AccessProgram:
        made = grids.program(text)
        ((window, path),) = made.windows
        made.windows = [(replace(window, sizes=(symbol("B"), window.sizes[1])), path)]
        return made
    return replace(grids, program=program)


def _off_by_one(grids: Grids) -> Grids:
    def program(text: str) -> AccessProgram:
        made = grids.program(text)
        ((window, path),) = made.windows
        made.windows = [(replace(window, offsets=(window.offsets[0] + 1, window.offsets[1])), path)]
        return made
    return replace(grids, program=program)


COVER: Theorem[Grids] = Theorem(
    id="GRID-COVER",
    statement="A grid of ceil(M/B) blocks, or a loop over M in steps of B, whose last block is cut short to min(B, M - "
    "start) touches every row exactly once and none outside, as the access program reads it from a kernel's text.",
    formula="0 <= x < M  =>  x in [i*B, i*B + min(B, M - i*B)) for i = x // B < ceil(M/B), and for no other i",
    ranges="any M >= 0 (an empty loop included) and B >= 1",
    rests=("BOUND-UPPER", "BOUND-LOWER", "WRITE-OUT", "WRITE-REST"),
    subject=lambda: Grids(program_of, scalars.ceiling),
    claims=_cover,
    mutants=(
        Mutant("the grid rounds down", lambda s: replace(s, ceiling=lambda n, d: n // d)),
        Mutant("the last block is not cut short", _without_tail),
        Mutant("blocks start one row late", _off_by_one),
    ),
)

_TURNS = f"""%B = arith.constant 32 : index
%b = arith.index_cast %__pypto_spmd_block_idx : i32 to index
%n = arith.index_cast %__pypto_spmd_block_num : i32 to index
scf.for %i = %b to %many step %n {{
%o = arith.muli %i, %B : index
%w = pto.partition_view %v, offsets = [%o, %c0], sizes = [%B, %c64] : !pto.tensor_view<?x?xf32> -> {_WINDOW}
pto.tstore ins(%t : {_TILE}) outs(%w : {_WINDOW})
}}
"""


@dataclass(frozen=True, slots=True)
class Turns:
    """What the product makes of a kernel's text, and of the store in it as a walk along an axis."""

    program: Callable[[str], AccessProgram]
    walk: Callable[[Context, Step, Window, int], write_grid.Walk | None]


def _turns(turns: Turns) -> Iterator[Claim]:
    program = turns.program(
        f"module {{\nfunc.func @grid(%p: !pto.ptr<f32>, %many: index, %__pypto_spmd_block_idx: i32, "
        f"%__pypto_spmd_block_num: i32) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{\n"
        f"{_VIEW.replace('%M', '%many')}{_TURNS}return\n}}\n}}\n")
    (step,) = (s for s in program.steps if s.op.name == "pto.tstore")
    ((window, path),) = program.windows
    walk = turns.walk(Context(program, A2A3, level3=True), step, window, 0)
    if walk is None:
        yield claim("the product sees a walk", TRUE, FALSE)
        return
    turn, index, blocks = symbol("turn", 0), symbol("i"), symbol(BLOCKS, 1)
    start, end = walk.at(turn)
    own: dict[str, IntLike] = {"i": turn}
    there = (start <= substitute(window.offsets[0], own)) & (
        end >= substitute(window.offsets[0] + window.sizes[0], own))
    yield claim("a turn is its window", (turn < walk.count) & eq(symbol("at"), start), there)
    taken: dict[str, IntLike] = {BLOCK: turn % blocks, "i_trip": turn // blocks, "i": turn}
    yield claim("each turn is taken", turn < walk.count, substitute_cond(path, taken))
    first, second = ({n: symbol(f"{n}_{k}", 0) for n in (BLOCK, "i_trip")} for k in (1, 2))
    both = substitute_cond(path, first) & substitute_cond(path, second)
    within = all_of(x[BLOCK] < blocks for x in (first, second))
    one, other = (x["i_trip"] for x in (first, second))
    apart = product_bound(one - other, blocks) & product_bound(other - one, blocks)
    yield claim(
        "by one block alone", all_of((both, within, apart)), eq(first[BLOCK], second[BLOCK]))
    yield claim("and no other", substitute_cond(path, first), (index >= 0) & (index < walk.count))


def _every_other(turns: Turns) -> Turns:
    def walk(context: Context, step: Step, window: Window, axis: int) -> write_grid.Walk | None:
        made = turns.walk(context, step, window, axis)
        return made and replace(made, start=made.start * 2, size=made.size * 2)
    return replace(turns, walk=walk)


def _one_more(turns: Turns) -> Turns:
    def walk(context: Context, step: Step, window: Window, axis: int) -> write_grid.Walk | None:
        made = turns.walk(context, step, window, axis)
        return made and replace(made, count=made.count + 1)
    return replace(turns, walk=walk)


TURNS: Theorem[Turns] = Theorem(
    id="GRID-TURNS",
    statement="Blocks that take turns, `for i in range(block_idx, n, block_num)`, take every i below n, each in one "
    "block alone, and no other; so a store in such a loop walks its tensor as a loop of one core would.",
    formula="0 <= t < n  <=>  t = block + block_num*k for some k and one block; window(t) as in the text",
    ranges="any n, any block_num >= 1; windows of 32 rows",
    rests=("WRITE-REST",),
    subject=lambda: Turns(program_of, write_grid.mover),
    claims=_turns,
    mutants=(
        Mutant("windows are twice as far apart", _every_other),
        Mutant("one turn more", _one_more),
    ),
)

THEOREMS = (COVER, TURNS)
