"""The meaning of IR on logical tiles: textbook definitions with element poison. Knows no addresses, layouts or pipes.

It shares only the IR and the storage of element types with the rest; no arithmetic with the simulator.
"""

from pypto_verified.interpreter.run import Inputs, Poisoned, Undefined, interpret

__all__ = ["Inputs", "Poisoned", "Undefined", "interpret"]
