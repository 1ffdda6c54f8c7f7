"""Code generation: IR after the pipeline -> `pto.Module`, one to one. Imports no pass and no solver (CG-01)."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_verified.codegen.function import generate_function
from pypto_verified.ir.stmt import Function
from pypto_verified.pto.module import Module
from pypto_verified.pto.writer import write
from pypto_verified.targets import Target

__all__ = ["generate", "generate_text"]


def generate(
    functions: Sequence[Function], target: Target, emit_source_loc: bool = True, emit_tile_addr: bool = True
) -> Module:
    """The module of some AIC/AIV functions: a single kernel, or the two halves of a mixed one.

    `emit_source_loc=False` leaves the user's locations out (CG-18); `emit_tile_addr=False` leaves tile addresses to the
    assembler. Raises CodegenError (no counterpart in `.pto`) or NotModelled, both at the user's line.
    """
    funcs = [generate_function(f, target.name, emit_source_loc, emit_tile_addr) for f in functions]
    return Module(funcs, {"pto.target_arch": target.name})


def generate_text(
    functions: Sequence[Function], target: Target, emit_source_loc: bool = True, emit_tile_addr: bool = True
) -> str:
    """`generate`, printed."""
    return write(generate(functions, target, emit_source_loc, emit_tile_addr), locs=emit_source_loc)
