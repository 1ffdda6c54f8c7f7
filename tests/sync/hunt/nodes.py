"""A program as a tree: statements with numbers that are expressions over loop variables and arguments.

An expression is a number, a name, or `(op, a, b)`, where `odd` is whether a % b is not 0; a condition is
`(relation, a, b)`. A `Do` has lines of text, in which `$name` is a value: `$v0`, `$v1` the numbers `values` of this
statement, any other one that a loop or a statement before has made; `$name =` at the start of a line makes one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, Union

Expr: TypeAlias = Union[int, str, tuple[str, "Expr", "Expr"]]
Cond: TypeAlias = tuple[str, Expr, Expr]


@dataclass(frozen=True, slots=True)
class Do:
    """Lines as they stand, one or more ops. `pipe`: where the op runs, if it works on data; `tiles`: the numbers of the
    buffers that it works on, for programs that order by buffer."""

    text: str
    values: tuple[Expr, ...] = ()
    pipe: str = ""
    tiles: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Carried:
    """What a loop hands on from turn to turn: a number, or a value of another type, whose `first` and `following` are
    names then."""

    name: str
    first: Expr
    following: Expr
    type: str = "index"


@dataclass(frozen=True, slots=True)
class For:
    variable: str
    low: Expr
    high: Expr
    body: Body
    step: Expr = 1
    carried: tuple[Carried, ...] = ()


@dataclass(frozen=True, slots=True)
class While:
    """Counts `variable` from `low` on while it is below `high`; `head` runs before each test."""

    variable: str
    low: Expr
    high: Expr
    body: Body
    step: Expr = 1
    carried: tuple[Carried, ...] = ()
    head: Body = ()


@dataclass(frozen=True, slots=True)
class If:
    condition: Cond
    then: Body
    otherwise: Body = ()


Statement: TypeAlias = Union[Do, For, While, If]
Body: TypeAlias = tuple[Statement, ...]


def walk(body: Body) -> Iterator[Statement]:
    """All statements, outer ones first."""
    for each in body:
        yield each
        match each:
            case For():
                yield from walk(each.body)
            case While():
                yield from walk((*each.head, *each.body))
            case If():
                yield from walk((*each.then, *each.otherwise))
