"""Kernels that are well typed and have a result by construction."""

from __future__ import annotations

from collections.abc import Callable

from pypto_verified.fuzz import control, indices, storage, vector, views
from pypto_verified.fuzz.builder import Builder, Kernel
from pypto_verified.fuzz.cube import cube_kernel
from pypto_verified.fuzz.draw import Draw, chance, choice, weighted
from pypto_verified.fuzz.ends import end
from pypto_verified.ir.stmt import FunctionKind
from pypto_verified.targets import target

TARGETS = ("a2a3", "a5")
PLANNERS = (("PYPTO", 8), ("DSA_RP", 2))
MAX_DEPTH = 2

Step = Callable[[Builder], bool]
"""Adds one or a few statements; False if the tiles in scope do not allow it."""


def _loaded(b: Builder) -> bool:
    vector.load(b)
    return True


_STEPS: tuple[tuple[Step, int], ...] = (
    (_loaded, 8), (vector.elementwise, 34), (vector.reduction, 8), (vector.expansion, 8), (vector.cast, 6),
    (vector.mask, 9), (vector.shift, 2), (vector.gather, 3), (vector.made, 3), (vector.scalar, 12), (views.slice_, 9),
    (views.reshape, 5), (views.narrow, 3), (views.fill, 4), (views.assemble, 5), (views.concat, 2),
    (views.transpose, 2), (views.move, 2), (control.rename, 2), (control.store_in_loop, 3),
    (control.decide, 5), (indices.count, 7),
    (storage.slotted, 2), (storage.addressed, 1), (vector.reloaded, 2),
)
_NESTED: tuple[tuple[Callable[[Builder, control.Fill, int], bool], int], ...] = (
    (control.loop, 10), (control.branch, 6), (control.tail, 3), (control.repeat, 2),
)


def kernel(draw: Draw, arch: str = "") -> Kernel:
    """One kernel, for the target `arch` or for one of its own choice. Equal draws give equal kernels."""
    arch = arch or choice(draw, TARGETS)
    b = Builder(draw, target(arch))
    of_cube = chance(draw, 18)
    if of_cube:
        cube_kernel(b)
    else:
        _vector_kernel(b)
    core = FunctionKind.AIC if of_cube else FunctionKind.AIV
    kind = weighted(draw, ((FunctionKind.INCORE, 8), (FunctionKind.PLAIN, 1), (core, 1)))
    return Kernel(b.function(kind), b.ranges, arch, weighted(draw, PLANNERS))


def _vector_kernel(b: Builder) -> None:
    if chance(b.draw, 30):
        indices.counter(b)
    first = vector.load(b)
    if chance(b.draw, 60):
        t = b.tile(first)
        vector.load(b, (t.shape[0], t.shape[1]), t.dtype)
    _fill(b, 0)
    last = 2 if end(b) else 3
    kept = [v for v in b.scopes[0].values() if b.tile(v).valid_shape != (0, 0)]
    vector.stores(b, kept[-last:])


def _fill(b: Builder, depth: int) -> None:
    """A few statements, with loops and branches where the depth allows."""
    for _ in range(b.draw.integer(1, 8 if depth == 0 else 3)):
        if depth < MAX_DEPTH and chance(b.draw, 25 if depth else 14):
            weighted(b.draw, _NESTED)(b, _fill, depth)
        else:
            weighted(b.draw, _STEPS)(b)
