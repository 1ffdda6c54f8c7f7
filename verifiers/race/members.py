"""The cores of a kernel that are walked together, and what they are called."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import field

from pypto_verified.index import IntLike, symbol, symbols_of
from pypto_verified.pto.legality_context import pipe_id
from pypto_verified.pto.module import EnumAttr, Func, Op
from pypto_verified.records import dataclass
from verifiers.access import AccessProgram, Step, SymbolKind, TensorView
from verifiers.access.program import Pointer, Window
from verifiers.race.order import Order
from verifiers.race.places import Place
from verifiers.race.values import Values

LANE = "subblock_idx"
"""What a vector core's own number is called."""
POPS = ("pto.tpop_from_aic", "pto.tpop_from_aiv")
ON_ALL_CORES = frozenset({SymbolKind.DIM, SymbolKind.SIZE, SymbolKind.PARAM, SymbolKind.BLOCK, SymbolKind.LAUNCH})
"""Kinds of symbols that stand for the same on all cores of a block, but for the number of a core."""


@dataclass(slots=True, eq=False)
class Member:
    """A core: `kind` is 'cube' or 'vector'; `foreign`: ops of the text that other cores run; `why`: what keeps the
    order of its ops from being the same in every run, '' if nothing; `depth`: branches around where it may differ;
    `shared`: names in its places that stand for the same on the other core; `pipes`: see `Part.pipe_names`."""

    kind: str
    program: AccessProgram
    foreign: frozenset[Hashable]
    values: Values
    order: Order = field(default_factory=Order)
    why: str = ""
    depth: int = 0
    shared: frozenset[str] = frozenset()
    pipes: Mapping[int, int] = field(default_factory=dict)

    @property
    def other(self) -> str:
        """The kind of the other core."""
        return "vector" if self.kind == "cube" else "cube"

    def pipe(self, step: Step) -> int:
        """What both cores call the pipe of a step."""
        own = pipe_id(step.op)
        return self.pipes.get(own, own)

    def marked(self, place: Place) -> Place:
        """A place of this core as the other one sees it: counters of loops are called alike and need not be so."""
        own: dict[str, IntLike] = {
            n: symbol(f"{n} of the {self.kind} core", a.lo, a.hi) for n, a in symbols_of(*place.exprs()).items()
            if n not in self.shared}
        return place.at({**own, LANE: self.values[LANE]})

    def line(self, op: Op) -> int:
        return self.program.location(op).line


def meets_both(step: Step) -> bool:
    """Whether both kinds of cores meet there."""
    kinds = step.op.attrs.get("core_type")
    return step.op.name == "pto.syncall" and (not isinstance(kinds, EnumAttr) or kinds.member == "mix")


def meeting_of(step: Step, func: Func) -> str:
    """What a `syncall` at which both kinds of cores meet is called, '' for any other; those of two names do not meet: a
    hard one and a soft one, or two soft ones that count who has come in different places."""
    mode = step.op.attrs.get("mode")
    if not meets_both(step):
        return ""
    hard = isinstance(mode, EnumAttr) and mode.member == "hard"
    return "hard" if hard else f"soft {workspace_of(step, func)}"


def workspace_of(step: Step, func: Func) -> str:
    """Which argument of a function a soft `syncall` counts in, and where behind it; '' where it names none."""
    place = next(iter(step.operands.get("gm_workspace", ())), None)
    if isinstance(place, Window):
        return f"{place.view.base} {place.view.offset!r} {place.offsets!r}"
    if not isinstance(place, Pointer | TensorView):
        return ""
    number = next((n for n, arg in enumerate(func.args) if arg.name == place.base), place.base)
    return f"{number} {place.offset!r}"


def lane_of(kind: str, lane: int) -> int:
    """What a core of this kind has as its own number, beside the vector core `lane`: a cube has none, and reads 0."""
    return lane if kind == "vector" else 0
