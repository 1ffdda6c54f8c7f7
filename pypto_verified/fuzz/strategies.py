"""The Hypothesis driver: generated kernels as a strategy, which shrinks and remembers failures by Hypothesis' means."""

from __future__ import annotations

from hypothesis import strategies as st

from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.generator import kernel


class Drawn:
    """Answers the generator with what Hypothesis draws."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def integer(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))


@st.composite
def kernels(draw: st.DrawFn, arch: str = "") -> Kernel:
    """Kernels for the target `arch`, or for either."""
    return kernel(Drawn(draw), arch)
