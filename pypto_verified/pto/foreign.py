"""Ops without a row: recognised and not modelled, or unknown."""

from __future__ import annotations

from difflib import get_close_matches
from typing import NoReturn

from pypto_verified.pto.lexer import Cursor
from pypto_verified.pto.micro_names import MICRO_OPS
from pypto_verified.pto.rows import TABLE

_DIALECTS = frozenset({
    "affine", "arith", "bufferization", "builtin", "cf", "emitc", "func", "gpu", "linalg", "llvm", "math", "memref",
    "scf", "tensor", "vector",
})
"""Dialects that the assembler loads; of some of them no op has a row."""


def foreign_op(cursor: Cursor, name: str) -> NoReturn:
    """NotModelled for an op that exists, ParseError for one that does not."""
    dialect, dot, _ = name.partition(".")
    if name in MICRO_OPS:
        cursor.not_modelled(f"the micro op {name}")
    if dot and dialect in _DIALECTS:
        cursor.not_modelled(f"the op {name}")
    if not dot:
        cursor.fail(f"expected an op, found {cursor.shown()}")
    near = get_close_matches(name, TABLE, 3)
    cursor.fail(f"unknown op '{name}'", help=f"did you mean {' or '.join(near)}?" if near else "")
