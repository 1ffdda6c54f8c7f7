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
) -> tuple[Dim, ...]:
    """The valid extents of a target after a write of `written` extents at `offsets`: the largest origin-anchored
    rectangle that provably holds data. It grows in at most one dim, where the write continues the valid region and
    covers it in all others."""
    if all_equal(target_valid, target) is True:
        return tuple(target_valid)
    covered = [
        equal(offset, 0) is True and at_most(have, extent) is True
        for have, offset, extent in zip(target_valid, offsets, written, strict=True)
    ]
    if all(covered):
        return tuple(written)
    result = list(target_valid)
    if covered.count(False) == 1:
        i = covered.index(False)
        if at_most(offsets[i], target_valid[i]) is True:
            result[i] = maximum(target_valid[i], add(offsets[i], written[i]))
    return tuple(result)
