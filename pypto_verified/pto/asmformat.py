"""The little language in which a row says how its op is spelled; reader and writer run the same compiled steps.

Words, separated by blanks; anything that is not in this list is a literal token:

    $x      the operands of group x             :x,y   the one written type that the groups x and y have
    $x~     the same, without the last one      @      the result types; @ptr: one pointer
    #a      the value of attribute a            =>i64  a result of that type, not written
    {}      the other attributes, if any        =>:x   a result of x's type, not written
    {=}     the same, always, untyped integers  (=)    `(group = %x : T, ...)` in any order
    <? ?>   a part that is present only if its operands or attributes are
    |       between two spellings of one op; the first one that fits is taken
"""

from __future__ import annotations

from collections.abc import Set
from typing import TypeAlias, Union

from pypto_verified.pto.spec import Operand, OpRow
from pypto_verified.pto.types import Type
from pypto_verified.pto.typetext import parse_type
from pypto_verified.records import dataclass


@dataclass(frozen=True, slots=True)
class Literal:
    token: str


@dataclass(frozen=True, slots=True)
class Operands:
    """`$x`; `leaves` the last one of the list for `$x~`."""

    group: Operand
    leaves: bool


@dataclass(frozen=True, slots=True)
class TypeOf:
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AttrOf:
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Dict:
    """`{}` or, with `clauses`, `{=}`."""

    clauses: bool


@dataclass(frozen=True, slots=True)
class OperandClauses:
    """`(=)`."""


@dataclass(frozen=True, slots=True)
class Results:
    """`@`, or `=>T` (`fixed`), or `=>:x` (`like`); `pointer` for `@ptr`."""

    fixed: Type | None = None
    like: str = ""
    pointer: bool = False


@dataclass(frozen=True, slots=True)
class Optional:
    """`<? ... ?>`. `opener` is its first literal; `names`: its operand groups and attributes, `@` for results."""

    steps: tuple[Step, ...]
    opener: str
    names: tuple[str, ...]
    types_only: bool


Step: TypeAlias = Union[Literal, Operands, TypeOf, AttrOf, Dict, OperandClauses, Results, Optional]


@dataclass(frozen=True, slots=True)
class Spelling:
    """One spelling of an op. `needs` and `covers`: the names that it must and that it can spell."""

    steps: tuple[Step, ...]
    needs: frozenset[str]
    covers: frozenset[str]
    has_dict: bool


def _walk(steps: tuple[Step, ...], inside: bool = True) -> list[Step]:
    found: list[Step] = []
    for step in steps:
        found.append(step)
        if inside and isinstance(step, Optional):
            found += _walk(step.steps)
    return found


def _names(steps: list[Step]) -> list[str]:
    return [s.group.name if isinstance(s, Operands) else s.name for s in steps if isinstance(s, Operands | AttrOf)]


def _optional(steps: tuple[Step, ...]) -> Optional:
    names = _names(_walk(steps)) or (["@"] if any(isinstance(s, Results) for s in steps) else [])
    opener = steps[0].token if isinstance(steps[0], Literal) else ""
    if names:
        return Optional(steps, opener, tuple(names), False)
    typed = tuple(g for s in _walk(steps) if isinstance(s, TypeOf) for g in s.groups)
    return Optional(steps, opener, typed, True)


def _step(word: str, row: OpRow) -> Step:
    groups = {o.name: o for o in row.operands}
    if word == "{}" or word == "{=}":
        return Dict(word == "{=}")
    if word == "(=)":
        return OperandClauses()
    if word in ("@", "@ptr"):
        return Results(pointer=word == "@ptr")
    if word.startswith("=>:"):
        return Results(like=word[3:])
    if word.startswith("=>"):
        return Results(fixed=parse_type(word[2:]))
    if word[0] == "$":
        return Operands(groups[word[1:].rstrip("~")], word.endswith("~"))
    if word[0] == "#":
        return AttrOf(word[1:], row.attrs[word[1:]])
    if word[0] == ":" and len(word) > 1 and word != "::":
        return TypeOf(tuple(word[1:].split(",")))
    return Literal(word)


def _compile(words: list[str], row: OpRow) -> tuple[Step, ...]:
    stack: list[list[Step]] = [[]]
    for word in words:
        if word == "<?":
            stack.append([])
        elif word == "?>":
            inner = tuple(stack.pop())
            stack[-1].append(_optional(inner))
        else:
            stack[-1].append(_step(word, row))
    return tuple(stack[0])


def choose(row: OpRow, present: Set[str], operands: Set[str]) -> Spelling | None:
    """The spelling that says everything `present` (operand groups and attributes), or None."""
    for spelling in spellings(row):
        spare = present - spelling.covers
        if spelling.needs <= present and (not spare or (spelling.has_dict and not spare & operands)):
            return spelling
    return None


_COMPILED: dict[tuple[str, str], tuple[Spelling, ...]] = {}


def spellings(row: OpRow) -> tuple[Spelling, ...]:
    """The compiled spellings of a row whose form is a format."""
    found = _COMPILED.get((row.name, row.form))
    if found is None:
        found = _COMPILED[row.name, row.form] = tuple(_spelling(text, row) for text in row.form.split(" | "))
    return found


def _spelling(text: str, row: OpRow) -> Spelling:
    steps = _compile(text.split(), row)
    outer = frozenset(_names(_walk(steps, inside=False))) - {o.name for o in row.operands if o.variadic}
    has_clauses = any(isinstance(s, OperandClauses) for s in steps)
    covers = {o.name for o in row.operands} if has_clauses else set(_names(_walk(steps)))
    return Spelling(steps, outer, frozenset(covers), any(isinstance(s, Dict) for s in _walk(steps)))
