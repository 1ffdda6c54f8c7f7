"""The free integers of a function: what each one stands for decides whether a rule may be refuted by choosing it.

Names are what a user can write in `--assume`: the name a kernel's author gave (suffixes that a compiler adds to make
names unique, `r__idx_v0`, are dropped), the argument's name (`arg2`) when there is none, or what `names` says (`arg2`
-> `M`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum

from pypto_verified.index import TRUE, Cond, Expr, symbol
from pypto_verified.index.cond import variable
from pypto_verified.index.ranges import Bound
from pypto_verified.records import dataclass

BLOCK, BLOCKS, LANE = "block_idx", "block_num", "subblock_idx"
"""The names of what a launch gives a core: the index of its block, their number, and the index of its lane."""
_GIVEN = frozenset({BLOCK, BLOCKS, LANE})


class SymbolKind(Enum):
    """What a symbol stands for.

    DIM is an extent of a tensor, or what one is computed from: any value may be chosen against a rule, of an extent
    any >= 0. TRIP and BLOCK are a loop counter and a block or lane index: all of their values happen. DEFINED is fixed
    by a hypothesis, like a select. The others are not chosen at will, and a rule that depends on them is UNKNOWN with
    the condition that would settle it: PARAM, a scalar of the caller; SIZE, one that is used as an extent and so not
    negative; LAUNCH, the number of blocks; DATA, read from memory; OPAQUE, not expressed in index arithmetic.
    """

    DIM = "dimension"
    TRIP = "loop counter"
    BLOCK = "block index"
    PARAM = "parameter"
    SIZE = "size"
    LAUNCH = "block count"
    DATA = "read from memory"
    OPAQUE = "not modelled"
    DEFINED = "derived"


UNCONSTRAINED = frozenset({SymbolKind.PARAM, SymbolKind.SIZE, SymbolKind.LAUNCH, SymbolKind.DATA, SymbolKind.OPAQUE})
"""Kinds whose values a refutation may not choose."""

_SUFFIX = re.compile(r"(__[a-z_]*?)?__?(ssa|idx|iter|phi|tmp|rv|loop)_v\d+$|__tile$")


def user_name(ssa: str) -> str:
    """The name the author gave: `r__idx_v0` -> `r`; a bare number gets a letter: `3` -> `v3`."""
    name = re.sub(r"\W", "_", _SUFFIX.sub("", ssa)) or "v"
    return f"v{name}" if name[0].isdigit() else name


@dataclass(frozen=True, slots=True)
class Shown:
    """A name a user sees and may assume about: a symbol, or an expression such as a loop variable `lower + step*k`.
    `other` marks a second name of the same thing, which witnesses leave out."""

    name: str
    expr: Expr
    other: bool = False


class Symbols:
    """The registry of one function: kinds by symbol name, what users see, and the facts that always hold. `truths`:
    the opaque Booleans, each with the `%ssa` that it stands for. `passed`: what holds of the counters of while loops
    wherever these compute their conditions; a counter has no value elsewhere."""

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        self._names = names or {}
        self.kinds: dict[str, SymbolKind] = {}
        self.shown: dict[str, Shown] = {}
        self.facts: Cond = TRUE
        self.passed: Cond = TRUE
        self.truths: dict[str, str] = {}
        self._since: dict[str, int] = {}

    def fresh_name(self, ssa: str) -> str:
        """A name for `%ssa` that no other symbol of the function has, nor what a launch gives."""
        wanted = self._names.get(ssa) or user_name(ssa)
        name, n = wanted, 1
        while name in self.kinds or name in self.shown or name in _GIVEN:
            n += 1
            name = f"{wanted}_{n}"
        return name

    def new(self, ssa: str, kind: SymbolKind, lo: Bound = None, hi: Bound = None, hidden: bool = False) -> Expr:
        """A new symbol named after `%ssa`, with inclusive bounds; `hidden` ones are not shown in witnesses."""
        name = ssa if kind in (SymbolKind.BLOCK, SymbolKind.LAUNCH) else self.fresh_name(ssa)
        made = symbol(name, lo, hi)
        self.kinds[name] = kind
        if not hidden:
            self.shown[name] = Shown(name, made)
        if ssa != name and ssa in self._names:
            self.shown.setdefault(ssa, Shown(ssa, made, other=True))
        return made

    def show(self, ssa: str, expr: Expr) -> str:
        """Give `expr` a name that users see; returns it."""
        name = self.fresh_name(ssa)
        self.shown[name] = Shown(name, expr)
        return name

    def opaque(self, ssa: str) -> Cond:
        """A new opaque Boolean named after `%ssa`."""
        made = variable(f"{self.fresh_name(ssa)}?{len(self._since) + 1}")
        self._since[made.name] = len(self.kinds)
        self.truths[made.name] = ssa
        return made

    def own_name(self, value: Expr | Cond | None) -> str | None:
        """The name of a value that is an OPAQUE symbol or an opaque Boolean, and nothing else."""
        if isinstance(value, Cond):
            return value.name if value.kind == "var" else None
        if value is None or value.constant or len(value.terms) != 1:
            return None
        (mono, factor), = value.terms
        alone = factor == 1 and len(mono) == 1 and mono[0].kind == "sym"
        return mono[0].name if alone and self.kinds.get(mono[0].name) is SymbolKind.OPAQUE else None

    def is_older(self, name: str, than: str) -> bool:
        """Whether a symbol or opaque Boolean was there before the symbol `than` was made."""
        order = {n: i for i, n in enumerate(self.kinds)}
        return self._since.get(name, order.get(name, len(order))) <= order[than] and name != than

    def require(self, fact: Cond) -> None:
        """Add a fact that holds wherever its symbols do."""
        self.facts = self.facts & fact
