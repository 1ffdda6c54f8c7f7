"""The meaning of IR on logical tiles: textbook definitions with element poison. Knows no addresses, layouts or pipes.

It shares only the IR and the storage of element types with the rest; no arithmetic with the simulator.
"""

from pypto_verified.interpreter.binding import Inputs
from pypto_verified.interpreter.pipes import Pipes
from pypto_verified.interpreter.run import Observer, interpret
from pypto_verified.interpreter.undefined import Poisoned, Undefined
from pypto_verified.interpreter.unspecified import UNSPECIFIED
from pypto_verified.interpreter.values import Tensor, Tile

__all__ = ["Inputs", "Observer", "Pipes", "Poisoned", "Tensor", "Tile", "UNSPECIFIED", "Undefined", "interpret"]
