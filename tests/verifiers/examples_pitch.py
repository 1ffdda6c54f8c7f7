"""One passing and one violating kernel for each rule about accumulators; the two texts differ in one field."""

from __future__ import annotations

from tests.verifiers.examples import Pair
from tests.verifiers.kernels import alloc, kernel, load, store, tile, unary, view, window


def compact(type_: str, mode: int = 1) -> str:
    """The type with a compact mode."""
    return f"{type_[:-1]}, compact={mode}>"


def mat(rows: int = 64, cols: int = 64) -> str:
    return tile(rows, cols, loc="mat", blayout="col_major", slayout="row_major")


def left(rows: int = 64, cols: int = 64, mode: int = 0) -> str:
    return compact(tile(rows, cols, loc="left", slayout="row_major"), mode)


def right(rows: int = 64, cols: int = 64, mode: int = 0) -> str:
    return compact(tile(rows, cols, loc="right", slayout="col_major"), mode)


def accumulator(rows: int = 64, cols: int = 64, mode: int = 0, valid: tuple[str, str] = ("?", "?")) -> str:
    return compact(
        tile(rows, cols, loc="acc", blayout="col_major", slayout="row_major", fractal=1024, valid=valid), mode)


LEFT, RIGHT = left(mode=1), right(mode=1)


def loaded(m: str = "c64", k: str = "c64", n: str = "c64", lefts: str = LEFT, more: str = "") -> str:
    """Operands %l (m x k) and %r (k x n), f32, moved in from global memory through L1; `more` follows the name %l."""
    name = f"l{more}"
    return "\n".join((
        view(f"a{more}", "p", "c64"), window(f"wa{more}", f"a{more}", "%c0, %c0", f"%{m}, %{k}"),
        alloc(f"m{name}", mat(), 0, m, k), load(f"wa{more}", f"m{name}", mat()),
        alloc(name, lefts, 0, m, k), unary("tmov", f"m{name}", name, mat(), lefts),
        view(f"b{more}", "q", "c64"), window(f"wb{more}", f"b{more}", "%c0, %c0", f"%{k}, %{n}"),
        alloc(f"mr{more}", mat(), 16384, k, n), load(f"wb{more}", f"mr{more}", mat()),
        alloc(f"r{more}", RIGHT, 0, k, n), unary("tmov", f"mr{more}", f"r{more}", mat(), RIGHT)))


def product(acc: str, lefts: str = LEFT, more: str = "", into: str = "c") -> str:
    """%into = %l %r."""
    return f"pto.tmatmul ins(%l{more}, %r{more} : {lefts}, {RIGHT}) outs(%{into} : {acc})"


def added(acc: str, more: str = "") -> str:
    """%c += %l %r."""
    return f"pto.tmatmul.acc ins(%c, %l{more}, %r{more} : {acc}, {LEFT}, {RIGHT}) outs(%c : {acc})"


def stored(acc: str, rows: str) -> str:
    """%c to the output."""
    return "\n".join((
        view("out", "o", "c64"), window("wo", "out", "%c0, %c0", f"%{rows}, %c64"), store("c", "wo", acc)))


def cube(*body: str, args: str = "") -> str:
    """A cube kernel with a third pointer %o."""
    return kernel("\n".join(body), "%o: !pto.ptr<f32>" + (f", {args}" if args else ""), "cube")


def _narrow(mode: int) -> str:
    """A product of 16 rows in an accumulator of 64, stored."""
    acc = accumulator(mode=mode)
    return cube(loaded("c16"), alloc("c", acc, 0, "c16"), product(acc), stored(acc, "c16"))


def _chained(rows: str) -> str:
    """A product of 16 rows, then one of `rows` added to it."""
    acc = accumulator(mode=1)
    return cube(
        loaded("c16"), alloc("c", acc, 0, "c16"), product(acc), loaded(rows, more="2"), added(acc, "2"),
        stored(acc, "c16"))


def _added_to(address: int) -> str:
    """A product added to %c, written to a tile of its own name at `address`."""
    acc = accumulator()
    return cube(
        loaded(), alloc("c", acc, 0, "c64"), product(acc), alloc("d", acc, address, "c64"),
        loaded(more="2"), added(acc, "2").replace("outs(%c", "outs(%d"), stored(acc, "c64").replace("%c :", "%d :"))


def _shallow(mode: int) -> str:
    """A left operand of 64 columns of which 32 are valid."""
    acc, lefts = accumulator(), left(mode=mode)
    return cube(
        loaded(k="c32", lefts=lefts), alloc("c", acc, 0, "c64"), product(acc, lefts), stored(acc, "c64"))


def _window(columns: str) -> str:
    """A product of 16 x `columns` into rows 16 to 31 of an accumulator."""
    acc, part = accumulator(), accumulator(16, valid=("16", "64"))
    return cube(
        loaded("c16", n=columns), alloc("c", acc, 0, "c64"),
        f"%v = pto.subview %c[%c16, %c0] sizes [16, 64] : {acc} -> {part}", product(part, into="v"),
        stored(part, "c16").replace("%c :", "%v :"))


def _compact(loc: str) -> str:
    """A compact tile in `loc`."""
    type_ = tile(64, 64, loc=loc, blayout="col_major", slayout="row_major", fractal=1024)
    return kernel(alloc("t", compact(type_)), kind="cube")


PAIRS: dict[str, Pair] = {
    "PITCH-READ": Pair(_narrow(1), _narrow(0)),
    "PITCH-ACC": Pair(_chained("c16"), _chained("c32")),
    "PITCH-OPERAND": Pair(_shallow(1), _shallow(0)),
    "PITCH-WINDOW": Pair(_window("c16"), _window("c64")),
    "PLAN-ACCUMULATOR": Pair(_added_to(0), _added_to(16384)),
    "PITCH-COMPACT": Pair(_compact("acc"), _compact("mat")),
}
