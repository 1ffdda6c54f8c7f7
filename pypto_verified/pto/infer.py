"""Result types that a text may leave out: those of `pto.partition_view` and `pto.subview`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pypto_verified.pto.module import Value
from pypto_verified.pto.opread import Parts
from pypto_verified.pto.scope import Scope
from pypto_verified.pto.types import PartitionViewType, TensorViewType, TileBufType, Type
from pypto_verified.pto.typetext import intern


def _partition(scope: Scope, parts: Parts) -> Type:
    """The constant sizes are the extents; others are `?`."""
    source = parts.args["source"][0].type
    if not isinstance(source, TensorViewType):
        scope.cursor.fail("the result type can only be left out when the source is a tensor_view")
    sizes = parts.args.get("sizes", ())
    if len(sizes) != len(source.dims):
        scope.cursor.fail(f"the source has {len(source.dims)} dimensions, {len(sizes)} sizes are given")
    return PartitionViewType(tuple(_extent(scope, size) for size in sizes), source.dtype)


def _extent(scope: Scope, value: Value) -> int | None:
    found = scope.constants.get(value)
    return found if found is not None and found >= 0 else None


def _subview(scope: Scope, parts: Parts) -> Type:
    """The shape is `sizes`; so is the valid extent, unless operands give it."""
    source, sizes = parts.args["source"][0].type, parts.attrs["sizes"]
    if not isinstance(source, TileBufType) or not isinstance(sizes, tuple) or len(sizes) != 2:
        scope.cursor.fail("the result type can only be left out for a tile and two sizes")
    rows, cols = (size for size in sizes if isinstance(size, int))
    if rows <= 0 or cols <= 0:
        scope.cursor.fail(f"the sizes of a subview must be positive, found {rows} and {cols}")
    valid: list[int | None] = []
    for name, size in (("valid_row", rows), ("valid_col", cols)):
        if name in parts.args:
            constant = scope.constants.get(parts.args[name][0])
            valid.append(None if constant is None else min(constant, size))
        else:
            valid.append(size)
    return replace(source, rows=rows, cols=cols, v_row=valid[0], v_col=valid[1])


_RULES: dict[str, Callable[[Scope, Parts], Type]] = {"pto.partition_view": _partition, "pto.subview": _subview}


def infer_results(scope: Scope, name: str, parts: Parts) -> None:
    """Fill in the result type of an op whose text leaves it out. ParseError if it does not follow from the operands."""
    rule = _RULES.get(name)
    if rule is not None and not parts.results:
        parts.results.append(intern(rule(scope, parts)))
