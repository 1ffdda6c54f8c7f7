"""Lane-wise arithmetic: tile with tile, tile with scalar, one tile. Source: PTO-ISA docs/isa and headers.

Integers wrap; floating point rounds to nearest in the element type; MIN and MAX hand a NaN on (the device's choice is
not documented); what a shift by less than 0 or by the width or more gives is left to the device, so it is unspecified.
"""

from __future__ import annotations

import numpy as np

from pypto_verified.layouts import Space
from pypto_verified.simulator.compute import Kernel, lanes, require_nonzero
from pypto_verified.simulator.registry import Handler, Site, op
from pypto_verified.simulator.tile import Tile
from pypto_verified.simulator.values import UNSIGNED, Array, Scalar, is_float, scalar


def divide(a: Array, b: Array) -> Array:
    """Quotient: IEEE for floats, towards zero for integers."""
    if is_float(b.dtype):
        return np.true_divide(a, b)
    require_nonzero(b)
    quotient = np.floor_divide(a, b)
    inexact = (np.remainder(a, b) != 0) & ((a < 0) != (b < 0))
    return np.where(inexact, quotient + np.ones((), quotient.dtype), quotient)


def floor_remainder(a: Array, b: Array) -> Array:
    """Remainder with the divisor's sign; of 64-bit integers with the dividend's, which a5 takes from a truncated
    quotient (PTO-ISA a5 Int64Div.hpp)."""
    require_nonzero(b)
    return np.fmod(a, b) if b.dtype == np.int64 else np.remainder(a, b)


def trunc_remainder(a: Array, b: Array) -> Array:
    """Remainder with the dividend's sign."""
    require_nonzero(b)
    return np.fmod(a, b)


def power(base: Array, exponent: Array) -> Array:
    """base ** exponent: floats rounded once from f64 (the function unit approximates); integers wrap, and a negative
    exponent gives the integer part of the quotient."""
    if is_float(base.dtype):
        return np.power(base.astype(np.float64), exponent.astype(np.float64)).astype(base.dtype)
    rest, square, result = np.maximum(exponent, 0).astype(np.uint64), base.copy(), np.ones_like(base)
    while rest.any():
        result = np.where(rest & np.uint64(1) == 1, result * square, result)
        rest, square = rest >> np.uint64(1), square * square
    odd = np.where((exponent & np.ones((), base.dtype)) == 1, base, np.ones_like(base))
    inverse = np.where(np.abs(base) == 1, odd, np.zeros_like(base))
    return np.where(exponent < 0, inverse, result)


def _on_bits(kernel: Kernel) -> Kernel:
    """Apply a bitwise kernel to the storage of any element type."""

    def run(*operands: Array) -> Array:
        kind = operands[0].dtype
        return kernel(*(o.view(UNSIGNED[kind.itemsize]) for o in operands)).view(kind)

    return run


def greater(a: Array, b: Array) -> Array:
    """The greater of each two; +0 is greater than -0, where the sources say nothing (IEEE 754-2019 maximum)."""
    chosen = np.maximum(a, b)
    if is_float(chosen.dtype) and not chosen.all():
        chosen = np.where((a == b) & (chosen == 0), a + b, chosen)
    return np.asarray(chosen)


def lesser(a: Array, b: Array) -> Array:
    """The lesser of each two; -0 is less than +0."""
    chosen = np.minimum(a, b)
    if is_float(chosen.dtype) and not chosen.all():
        chosen = np.where((a == b) & (chosen == 0), -(-a - b), chosen)
    return np.asarray(chosen)


BINARY: dict[str, Kernel] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "max": greater, "min": lesser, "div": divide,
    "and": _on_bits(np.bitwise_and), "or": _on_bits(np.bitwise_or), "xor": _on_bits(np.bitwise_xor),
    "rem": floor_remainder, "fmod": trunc_remainder,
}


def _leaky(a: Array, slope: Array) -> Array:
    return np.where(a > np.zeros((), a.dtype), a, a * slope)


def _tile_tile(kernel: Kernel) -> Handler:
    def run(site: Site, dst: Tile, src0: Tile, src1: Tile, tmp: Tile | None) -> None:
        if tmp is not None:
            tmp.clobber()
        lanes(site, dst, (src0, src1), kernel)

    return run


def _tile_scalar(kernel: Kernel) -> Handler:
    def run(site: Site, dst: Tile, src: Tile, value: Scalar, tmp: Tile | None) -> None:
        if tmp is not None:
            tmp.clobber()
        lanes(site, dst, (src,), kernel, scalar(value, dst.kind))

    return run


_SHIFTS = {"shl": np.left_shift, "shr": np.right_shift}


def _shift_by_tile(kernel: np.ufunc) -> Handler:
    def run(site: Site, dst: Tile, src0: Tile, src1: Tile) -> None:
        amounts = src1.reads(dst.rows, dst.cols).get()
        undefined = (amounts < 0) | (amounts >= dst.kind.itemsize * 8)
        lanes(site, dst, (src0, src1), kernel)
        if undefined.any():
            out = dst.writes(dst.rows, dst.cols)
            before = out.bad()
            out.mark(undefined if before is None else undefined | before)

    return run


def _shift_by_scalar(kernel: np.ufunc) -> Handler:
    def run(site: Site, dst: Tile, src: Tile, amount: int) -> None:
        if 0 <= amount < dst.kind.itemsize * 8:
            lanes(site, dst, (src,), kernel, scalar(amount, dst.kind))
        else:
            dst.writes(dst.rows, dst.cols).poison()

    return run


for _name, _shift in _SHIFTS.items():
    op(f"t{_name}", "dst src0 src1")(_shift_by_tile(_shift))
    op(f"t{_name}s", "dst src scalar")(_shift_by_scalar(_shift))


for _name, _kernel in BINARY.items():
    op(f"t{_name}", "dst src0 src1 tmp")(_tile_tile(_kernel))
    if _name != "div":
        op(f"t{_name}s", "dst src0 scalar tmp" if _name == "mul" else "dst src scalar tmp")(_tile_scalar(_kernel))


op("tpow", "dst base exp tmp")(_tile_tile(power))
op("tpows", "dst src scalar tmp")(_tile_scalar(power))


@op("tdivs", "dst src scalar divisor")
def tdivs(site: Site, dst: Tile, src: Tile | None, value: Scalar, divisor: Tile | None) -> None:
    """src / scalar, or scalar / divisor: the text gives one tile, on either side."""
    element = scalar(value, dst.kind)
    if src is not None:
        lanes(site, dst, (src,), divide, element)
    elif divisor is not None:
        _divide_into(site, dst, divisor, element)


def _valid_end(tile: Tile) -> int:
    """The byte behind the last valid element."""
    return tile.addr + (tile.layout.offset(tile.rows - 1, tile.cols - 1) + 1) * tile.kind.itemsize


def _divide_into(site: Site, dst: Tile, divisor: Tile, dividend: Array) -> None:
    """dividend / divisor. a2a3 fills dst with the dividend first: in place the divisor is lost, and the result is 1."""
    lost = not site.a5 and dst.memory is divisor.memory and max(dst.addr, divisor.addr) < min(
        _valid_end(dst), _valid_end(divisor))

    def kernel(b: Array) -> Array:
        full = np.broadcast_to(dividend, b.shape)
        return divide(full, full if lost else b)

    lanes(site, dst, (divisor,), kernel)


def _single(kernel: Kernel) -> Kernel:
    """A transcendental function: computed in f32 (the unit's internal width) and rounded once."""

    def run(a: Array) -> Array:
        return kernel(a.astype(np.float32)).astype(a.dtype) if a.dtype.itemsize < 4 else kernel(a)

    return run


def _reciprocal_root(a: Array) -> Array:
    return np.ones((), a.dtype) / np.sqrt(a)


def _negated(a: Array) -> Array:
    """Not written where the tile lies: numpy 2.4 is wrong there for 8-byte elements that lie 64 bytes apart."""
    return np.negative(a)


UNARY: dict[str, Kernel] = {
    "abs": np.abs, "neg": _negated, "not": _on_bits(np.invert),
    "relu": lambda a: greater(a, np.zeros((), a.dtype)),
    "exp": _single(np.exp), "log": _single(np.log), "sqrt": _single(np.sqrt), "rsqrt": _single(_reciprocal_root),
}


def _one_tile(kernel: Kernel) -> Handler:
    def run(site: Site, dst: Tile, src: Tile, tmp: Tile | None) -> None:
        if tmp is not None:
            tmp.clobber()
        lanes(site, dst, (src,), kernel)

    return run


for _name, _kernel in UNARY.items():
    op(f"t{_name}", "dst src tmp")(_one_tile(_kernel))


@op("trecip", "dst src")
def trecip(site: Site, dst: Tile, src: Tile) -> None:
    """1 / src."""
    _divide_into(site, dst, src, scalar(1, dst.kind))


@op("tlrelu", "dst src slope")
def tlrelu(site: Site, dst: Tile, src: Tile, slope: Scalar) -> None:
    """x where x > 0, else x * slope."""
    lanes(site, dst, (src,), _leaky, scalar(slope, dst.kind))


op("tprelu", "dst src0 src1 tmp")(_tile_tile(_leaky))


@op("taddrelu", "dst src0 src1")
def taddrelu(site: Site, dst: Tile, src0: Tile, src1: Tile) -> None:
    """The sum where it is positive, else 0."""
    lanes(site, dst, (src0, src1), lambda a, b: greater(a + b, np.zeros((), a.dtype)))


@op("taddc", "dst src0 src1 src2")
def taddc(site: Site, dst: Tile, src0: Tile, src1: Tile, src2: Tile) -> None:
    """src0 + src1 + src2, rounded after each step."""
    lanes(site, dst, (src0, src1, src2), lambda a, b, c: a + b + c)


@op("tsubc", "dst src0 src1 src2")
def tsubc(site: Site, dst: Tile, src0: Tile, src1: Tile, src2: Tile) -> None:
    """src0 - src1 + src2, rounded after each step."""
    lanes(site, dst, (src0, src1, src2), lambda a, b, c: a - b + c)


@op("taddsc", "dst src0 scalar src1")
def taddsc(site: Site, dst: Tile, src0: Tile, value: Scalar, src1: Tile) -> None:
    """src0 + scalar + src1, rounded after each step."""
    element = scalar(value, dst.kind)
    lanes(site, dst, (src0, src1), lambda a, b: a + element + b)


@op("tsubsc", "dst src0 scalar src1")
def tsubsc(site: Site, dst: Tile, src0: Tile, value: Scalar, src1: Tile) -> None:
    """src0 - scalar + src1, rounded after each step."""
    element = scalar(value, dst.kind)
    lanes(site, dst, (src0, src1), lambda a, b: a - element + b)


@op("taxpy", "dst src scalar")
def taxpy(site: Site, dst: Tile, src: Tile, value: Scalar) -> None:
    """dst + scalar * src, rounded after each step."""
    element = scalar(value, dst.kind)
    lanes(site, dst, (src, dst), lambda a, b: element * a + b)


@op("texpands", "dst scalar")
def texpands(site: Site, dst: Tile, value: Scalar) -> None:
    """The scalar in every element: of the valid region in UB, of the whole tile elsewhere (a block fill)."""
    rows, cols = (dst.rows, dst.cols) if dst.space is Space.VEC else (dst.type.rows, dst.type.cols)
    out = dst.writes(rows, cols)
    out.put(scalar(value, dst.kind))
    out.mark()
