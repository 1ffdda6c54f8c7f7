"""Whether the assembler would reject a module: its verifier's conditions as rows over the operands of an op.

A row holds numbers against numbers; an extent that is `?` is not judged, as in the assembler. The rows stand in
`legality_*.py`; source: PTOAS 0.60, the verifiers of its ops and its driver, unless a row says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from pypto_verified.errors import Location
from pypto_verified.layouts import BLayout, Space
from pypto_verified.pto.legality_context import Context
from pypto_verified.pto.module import AttrValue, EnumAttr, Func, Module, Op
from pypto_verified.pto.types import MultiTileBufType, TileBufType, Type
from pypto_verified.pto.walk import walk_ops
from pypto_verified.records import dataclass

LEVELS = ("level1", "level2", "level3")
TARGETS = ("a2a3", "a5")
_SOURCE = "PTOAS verifier"


class Site:
    """One op that rules look at."""

    __slots__ = ("context", "func", "op")

    def __init__(self, op: Op, func: Func, context: Context) -> None:
        self.op = op
        self.func = func
        self.context = context

    @property
    def a5(self) -> bool:
        return self.context.target == "a5"

    @property
    def core(self) -> str:
        """'cube' or 'vector': what the section around the op, or its function, is declared as; '' if neither says."""
        return self.context.sections.get(self.op) or self.func.kernel_kind

    @property
    def quantised(self) -> bool:
        """Whether a transfer scales what it takes from an accumulator."""
        return self.has("fp") or self.has("preQuantScalar")

    def type(self, name: str) -> Type | None:
        """The type of a single operand, or of the result for '@'; None if it is absent. 'a|b' is whichever is there."""
        if name == "@":
            return self.op.results[0].type if self.op.results else None
        values = (self.op.opt(part) for part in name.split("|"))
        return next((value.type for value in values if value is not None), None)

    def tile(self, name: str) -> TileBufType | None:
        """The tile type of an operand, or of the result for '@'; of a multi-slot tile the slot's."""
        found = self.type(name)
        if isinstance(found, MultiTileBufType):
            found = found.slot
        if not isinstance(found, TileBufType):
            return None
        return self._as_parsed(found) if found.loc is Space.LEFT else found

    def _as_parsed(self, tile: TileBufType) -> TileBufType:
        """The assembler overwrites the block layout of a left tile by the target's."""
        return replace(tile, blayout=BLayout.COL if self.a5 else BLayout.ROW)

    def has(self, name: str) -> bool:
        return name in self.op.args

    def const(self, name: str, at: int = 0) -> int | None:
        """The constant that operand `at` of a group is; None if it is absent or not constant."""
        values = self.op.args.get(name, ())
        return self.context.constants.get(values[at]) if at < len(values) else None

    def consts(self, name: str) -> list[int | None]:
        return [self.context.constants.get(v) for v in self.op.args.get(name, ())]

    def int(self, name: str, default: int = 0) -> int:
        value = self.op.attrs.get(name)
        return value if isinstance(value, int) else default

    def attr(self, name: str) -> AttrValue:
        return self.op.attrs.get(name)

    def member(self, name: str) -> str:
        """The member of an enumeration attribute, '' if it is absent."""
        value = self.op.attrs.get(name)
        return value.member if isinstance(value, EnumAttr) else ""


@dataclass(frozen=True, slots=True)
class Legal:
    """One condition. `ops`: the ops it judges, blank-separated; `tiles`: operands that must be tiles for it to apply.

    `when` (does it apply), `holds` and `found` (the numbers of a violation) take the site and then those tiles.
    """

    id: str
    ops: str
    tiles: str
    claim: str
    holds: Callable[..., bool]
    found: Callable[..., str]
    when: Callable[..., bool] | None = None
    targets: tuple[str, ...] = TARGETS
    levels: tuple[str, ...] = LEVELS
    help: str = ""
    source: str = _SOURCE


@dataclass(frozen=True, slots=True)
class Check:
    """A rule at a site, with its verdict; `message` is empty when it holds."""

    rule: Legal
    op: Op
    func: Func
    message: str

    @property
    def holds(self) -> bool:
        return not self.message


@dataclass(frozen=True, slots=True)
class Illegal:
    """A violation. `line` is the line of the `.pto` text, `loc` the user's."""

    id: str
    op: str
    line: int
    loc: Location
    message: str
    help: str
    source: str


def judge(rule: Legal, site: Site) -> Check | None:
    """The verdict of a rule at a site, or None where it does not apply."""
    tiles = [site.tile(name) for name in rule.tiles.split()]
    if None in tiles or (rule.when is not None and not rule.when(site, *tiles)):
        return None
    if rule.holds(site, *tiles):
        return Check(rule, site.op, site.func, "")
    return Check(rule, site.op, site.func, f"{site.op.name}: {rule.claim}; {rule.found(site, *tiles)}")


def checks(module: Module, target: str, level: str) -> Iterator[Check]:
    """Every rule at every op that it applies to, in text order, each with exactly one verdict."""
    from pypto_verified.pto.legality_rows import rules_of

    context = Context(module, target, level)
    by_op = rules_of(target, level)
    for func in module.funcs:
        for op in walk_ops(func):
            rules = by_op.get(op.name)
            if not rules:
                continue
            site = Site(op, func, context)
            for rule in rules:
                check = judge(rule, site)
                if check is not None:
                    yield check


def check_legality(module: Module, target: str, level: str = "level3") -> list[Illegal]:
    """What the assembler would reject at this target ('a2a3', 'a5') and level."""
    return [
        Illegal(c.rule.id, c.op.name, c.op.line, c.op.loc, c.message, c.rule.help, c.rule.source)
        for c in checks(module, target, level) if not c.holds
    ]
