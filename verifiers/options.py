"""What a user can choose about a verification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from pypto_verified.records import dataclass


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch of a function at a line of its author's file: `blocks` of it, None if that is not known there.
    `together`: all of them start before any has to end."""

    blocks: int | None
    together: bool
    line: int


@dataclass(frozen=True, slots=True)
class Options:
    """`assume`: conditions over names of the kernel, as given to `--assume`; one that names something which a function
    does not have is left out for that function. `strict`: take the stricter reading of every assumption. `seed`: of
    the solver. `names`: by function, what an argument of the text (`arg2`) is called by the user (`M`). `outputs`:
    by function, the arguments that the author declared as written only, which a text does not tell. `level`:
    'level2', 'level3', or '' to see it from whether the text carries addresses. `families`: rule families to run, all
    if empty. `answers`: a directory where the solver's answers outlive the run. `second`: ask a second solver too, and
    keep both texts of a question there when the two differ. `explicit_sync`: a function without any flag or barrier is
    not left to the assembler, it orders its own pipes. `launches`: by function, the launches that its author's file
    has, which a text does not tell."""

    assume: tuple[str, ...] = ()
    strict: bool = False
    seed: int = 0
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    outputs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    level: str = ""
    families: frozenset[str] = frozenset()
    answers: Path | None = None
    second: Path | None = None
    explicit_sync: bool = False
    launches: Mapping[str, tuple[Launch, ...]] = field(default_factory=dict)
