"""When the results of two runs are equal, and when that says something."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import TypeAlias

import numpy as np

from pypto_verified.ir.stmt import Function
from pypto_verified.ir.types import TileType
from pypto_verified.ir.walk import calls
from pypto_verified.trials import Array, Scalar, stored

Outputs: TypeAlias = Mapping[str, Array]

TOLERANCE = {"float32": 1e-4, "float16": 1e-2, "bfloat16": 6e-2}
"""Allowed difference relative to the largest result, where an op of `UNSPECIFIED` left a result open."""
_NO_INDICES = np.zeros((0, 0), np.intp)
_GREATEST = {"float32": (2 - 2**-23) * 2.0**127, "float16": 65504.0, "bfloat16": (2 - 2**-7) * 2.0**127}


def coarsest(functions: Iterable[Function], loose: Set[str]) -> float:
    """The greatest TOLERANCE of the types in which an op of `loose` gives its result, 0.0 for none: a cast of it to a
    finer type is no surer."""
    types = (c.type for f in functions for c in calls(f.body) if c.op in loose) if loose else ()
    return max((TOLERANCE.get(stored(t.dtype).name, 0.0) for t in types if isinstance(t, TileType)), default=0.0)


def first_difference(
    expected: Outputs, found: Outputs, loose: Set[str], least: float = 0.0
) -> tuple[str, tuple[int, ...], str, str] | None:
    """(output, element, expected, found) of the first unequal element; NaN equals NaN. Only what both have is compared:
    the simulator does not show what a lone core pushed. `least`: see `equal_elements`."""
    for name in (n for n in expected if n in found):
        wanted, got = expected[name], found[name]
        wrong = differing(wanted, got, bool(loose), least)
        if len(wrong):
            at = tuple(int(i) for i in wrong[0])
            return name, at, str(wanted[at]), str(got[at])
    return None


def differing(a: Array, b: Array, tolerant: bool, least: float = 0.0) -> np.typing.NDArray[np.intp]:
    """The indices of the elements that are not equal (`equal_elements`), one row each."""
    if a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes():
        return _NO_INDICES
    return np.argwhere(~equal_elements(a, b, tolerant, least))


def equal_elements(a: Array, b: Array, tolerant: bool, least: float = 0.0) -> np.typing.NDArray[np.bool_]:
    """Bitwise equality per element, NaN with NaN; `tolerant`: floats may differ by TOLERANCE, and by `least` where that
    is more (`coarsest`); an infinity then counts as the greatest number, which an open result may just exceed."""
    unsigned = np.dtype(f"u{a.itemsize}")
    same = np.ascontiguousarray(a).view(unsigned) == np.ascontiguousarray(b).view(unsigned)
    if same.all() or a.dtype.name not in TOLERANCE:
        return np.asarray(same)
    x, y = a.astype(np.float64), b.astype(np.float64)
    same = same | (np.isnan(x) & np.isnan(y))
    if tolerant and x.size:
        limit, greatest = max(TOLERANCE[a.dtype.name], least), _GREATEST[a.dtype.name]
        largest = np.max(np.abs(np.where(np.isfinite(x), x, 0.0)))
        x, y = np.clip(x, -greatest, greatest), np.clip(y, -greatest, greatest)
        with np.errstate(invalid="ignore"):
            same = same | (np.abs(x - y) <= limit * np.maximum(np.abs(x), min(largest, 1.0) + largest))
    return np.asarray(same)


def tells(given: Mapping[str, Array | Scalar], outputs: Outputs) -> bool:
    """Whether some output was written and is not constant: agreement on constants says little."""
    return any(
        len(np.unique(array.reshape(-1).view(f"u{array.itemsize}"))) > 1
        and not np.array_equal(array.view(f"u{array.itemsize}"), np.asarray(given[name]).view(f"u{array.itemsize}"))
        for name, array in outputs.items() if array.size and name in given
    )
