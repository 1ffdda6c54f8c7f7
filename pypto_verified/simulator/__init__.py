"""The PTO-ISA machine as a simulator of `pto.Module`s: bytes, layouts, and what each op does to them on each target."""

from pypto_verified.simulator.confirm import confirm
from pypto_verified.simulator.errors import SimError
from pypto_verified.simulator.replay import Difference, replay, replay_layout, replay_overlap
from pypto_verified.simulator.run import Outcome, compile, execute, run, run_grid

__all__ = [
    "Difference", "Outcome", "SimError", "compile", "confirm", "execute", "replay", "replay_layout", "replay_overlap",
    "run", "run_grid",
]
