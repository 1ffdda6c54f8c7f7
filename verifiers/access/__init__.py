"""The access program: what rules see of a function. Structured loops and branches with symbolic bounds, each op with
its pipe phases and the tiles and windows it touches as symbolic byte rectangles. Views, slots and aliases are resolved
here, once; nothing here is shared with a compiler pass."""

from verifiers.access.build import build_program
from verifiers.access.program import (
    AccessProgram,
    Branch,
    Loop,
    Node,
    Rect,
    Root,
    Scalar,
    Sequence,
    Step,
    TensorView,
    TileUse,
    Window,
)
from verifiers.access.symbols import BLOCK, BLOCKS, LANE, SymbolKind, Symbols

__all__ = [
    "BLOCK", "BLOCKS", "LANE", "AccessProgram", "Branch", "Loop", "Node", "Rect", "Root", "Scalar", "Sequence", "Step",
    "SymbolKind", "Symbols", "TensorView", "TileUse", "Window", "build_program",
]
