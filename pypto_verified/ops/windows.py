"""Windows: what part of a source a read may touch and is valid on; what a write leaves valid.

A rule refuses what is provably out of range; what depends on run-time values is trusted here and proved by BOUND.
Source: PyPTO type_inference.cpp (InferWindowReadValidShape, InferWriteValidShapeUnion).
"""

from __future__ import annotations

from collections.abc import Sequence

from pypto_verified.ir.types import Dim
from pypto_verified.ops.args import Args
from pypto_verified.ops.dims import (
    add,
    all_equal,
    at_most,
    equal,
    maximum,
    minimum,
    show,
    show_shape,
    sub,
    sum_at_most,
)


def read_window(
    a: Args,
    source: Sequence[Dim],
    source_valid: Sequence[Dim],
    offsets: Sequence[Dim],
    window: Sequence[int],
    requested: Sequence[Dim],
    *,
    exact: bool,
    clamp: bool,
    remedy: str,
) -> tuple[Dim, ...]:
    """The valid extents of a window of shape `window` at `offsets`, in elements.

    `requested` () asks for the whole window. `exact`: the whole window must lie in the source, else only the requested
    part; `clamp`: the part beyond the source's edge is cut off instead of refused. Raises OpError for a window that
    provably leaves the source.
    """
    for what, got in (("offsets", offsets), ("window", window), ("valid_shape", requested or window)):
        if len(got) != len(source):
            a.fail(f"{what} {show_shape(got)} must have one entry for each of the source's dims {show_shape(source)}")
    result: list[Dim] = []
    for i, (size, valid, offset, extent) in enumerate(zip(source, source_valid, offsets, window, strict=True)):
        wanted: Dim = requested[i] if requested else extent
        if at_most(0, offset) is False:
            a.fail(f"offset {show(offset)} in dim {i} is negative")
        if at_most(wanted, extent) is False:
            a.fail(
                f"valid_shape {show(wanted)} in dim {i} exceeds the window's {extent}",
                "a valid region can't be larger than the tile that holds it",
            )
        reach = extent if exact else wanted
        if not clamp and sum_at_most(offset, reach, size) is False:
            a.fail(
                f"the window ends at {show(add(offset, reach))} in dim {i} (offset {show(offset)} + {show(reach)}), "
                f"past the source's {show(size)}",
                remedy,
            )
        if clamp or equal(valid, size) is not True:
            # A size is never negative (assumption SIZE-NONNEG), what is left of it behind an offset may be.
            left = valid if equal(offset, 0) is True else maximum(sub(valid, offset), 0)
            wanted = minimum(left, wanted)
        result.append(wanted)
    return tuple(result)


def write_union(
    target: Sequence[Dim], target_valid: Sequence[Dim], offsets: Sequence[Dim], written: Sequence[Dim]
) -> tuple[Dim, ...] | None:
    """The valid extents of a target after a write of `written` extents at `offsets`; None unless what holds data then
    is provably one rectangle from the origin: the write lies inside, covers all that was valid, or goes on along one
    dim from where that ends, exactly as wide in all others."""
    if all_equal(target_valid, target) is True or any(equal(n, 0) is True for n in written):
        return tuple(target_valid)
    from_origin = all(equal(offset, 0) is True for offset in offsets)
    if any(equal(have, 0) is True for have in target_valid):
        return tuple(written) if from_origin else None
    ends = [add(offset, extent) for offset, extent in zip(offsets, written, strict=True)]
    longer = [i for i, (end, have) in enumerate(zip(ends, target_valid, strict=True)) if at_most(end, have) is not True]
    if not longer:
        return tuple(target_valid)
    if from_origin and all(at_most(have, n) is True for have, n in zip(target_valid, written, strict=True)):
        return tuple(written)
    axis, *more = longer
    others = [i for i in range(len(target)) if i != axis]
    if more or at_most(offsets[axis], target_valid[axis]) is not True or not all(
            equal(offsets[i], 0) is True and equal(written[i], target_valid[i]) is True for i in others):
        return None
    return tuple(maximum(have, ends[i]) if i == axis else have for i, have in enumerate(target_valid))
