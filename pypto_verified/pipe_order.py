"""Who orders the pipes of a function: the words of `--sync`, with one meaning in every command."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

Sync: TypeAlias = Literal["assembler", "explicit", "insert"]
"""`assembler`: what the text says, and the assembler where it says nothing. `explicit`: what the text says and nobody
else. `insert`: flags and barriers that are inserted here, in place of what it says."""

CHECK: Final[tuple[Sync, ...]] = ("assembler", "explicit", "insert")
COMPILE: Final[tuple[Sync, ...]] = ("assembler", "insert")
SIMULATE: Final[tuple[Sync, ...]] = ("assembler", "explicit")
