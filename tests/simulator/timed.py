"""Small kernels with flags and barriers, run under a schedule."""

from __future__ import annotations

from collections.abc import Mapping

from pypto_verified.simulator import schedule
from pypto_verified.simulator.schedule import Outcome
from pypto_verified.simulator.values import Array, Scalar
from pypto_verified.targets import target
from tests.simulator.text import Kernel

ORDERS = ("program", "eager", "late", "random", "exhaustive")


class Timed(Kernel):
    """A kernel whose ops are written in the order they are issued. Pairs of pipes are written `MTE2>V`."""

    def set(self, pair: str, id: int = 0) -> None:
        self._flag("set_flag", pair, id)

    def wait(self, pair: str, id: int = 0) -> None:
        self._flag("wait_flag", pair, id)

    def both(self, pair: str, id: int = 0) -> None:
        """Set and wait at once: what follows on the second pipe is ordered after what stands before on the first."""
        self.set(pair, id)
        self.wait(pair, id)

    def barrier(self, pipe: str = "ALL") -> None:
        self.line(f"pto.barrier <PIPE_{pipe}>")

    def fill(self, tile: str, value: int) -> None:
        """Every element of an f32 tile, on V."""
        self.line(f"%fill_{len(self.lines)} = arith.constant {value}.0 : f32")
        self.line(f"pto.texpands ins(%fill_{len(self.lines) - 1} : f32) outs(%{tile} : {self.types[tile]})")

    def loop(self, count: str) -> None:
        """Open a loop over %i from 0 to the index `count`."""
        self.line(f"scf.for %i = {self.number(0)} to {count} step {self.number(1)} {{")

    def close(self) -> None:
        self.line("}")

    def under(
        self, order: str, on: str, scalars: Mapping[str, Scalar] | None = None, seed: int = 0, strict: bool = False,
        **tensors: Array,
    ) -> Outcome:
        """Run under a schedule."""
        return schedule.run(
            self.func, target(on), tensors, scalars or {}, schedule=order, seed=seed, strict=strict, trace=True)

    def _flag(self, name: str, pair: str, id: int) -> None:
        first, second = pair.split(">")
        self.line(f"pto.{name}[<PIPE_{first}>, <PIPE_{second}>, <EVENT_ID{id}>]")
