"""The shape of one op declaration. Rows stand in the modules of this package, one row an op.

A row is written with short strings, one word an operand or keyword, in order:

    params    name        a tile                     name:s   a scalar of any dtype
              name:e      a scalar of the first tile's dtype (a constant adopts it, a variable is converted)
              name:h      an INT32 (a shift count) name:i   an integer scalar
              name:n      a tuple of integers        name:t   a tensor
              name:a      a tensor or a tile         name:d   a scalar of the keyword dtype
              suffix ?    optional
    keywords  name:kind   optional, no value unless given      name:kind=word   with a default      name:kind!  required
    memory    'V VA . > V': the spaces allowed per operand (V M L R A B S, several letters are alternatives, '.' is
              unconstrained), then the result's: letters, 'kw' (from target_memory), '=0' (that of operand 0), '.' none
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pypto_verified.ir.expr import Attr
from pypto_verified.ir.types import Type
from pypto_verified.layouts import Space
from pypto_verified.ops.keywords import parse_keyword
from pypto_verified.records import dataclass

if TYPE_CHECKING:
    from pypto_verified.ops.args import Args

PARAM_KINDS = {
    "": "tile", "s": "scalar", "e": "element", "h": "int32", "d": "keyword", "i": "int", "t": "tensor", "n": "tuple",
    "a": "value",
}

_SPACES = {
    "V": Space.VEC, "M": Space.MAT, "L": Space.LEFT, "R": Space.RIGHT, "A": Space.ACC, "B": Space.BIAS,
    "S": Space.SCALING,
}


@dataclass(frozen=True, slots=True)
class Param:
    """An operand. `kind` is one of PARAM_KINDS' values; `spaces` what a tile operand may live in (empty: anywhere)."""

    name: str
    kind: str
    optional: bool
    spaces: frozenset[Space] = frozenset()


@dataclass(frozen=True, slots=True)
class Keyword:
    """A compile-time keyword. `default` is None when it has none."""

    name: str
    kind: str
    default: Attr
    required: bool


Rule = Callable[["Args"], Type]
"""A type rule: deduces the result type or raises OpError."""


@dataclass(frozen=True, slots=True)
class OpDecl:
    """One op.

    `deduce` is None for an op that is registered by name only: a call of it raises NotModelled. `out_space`: the
    result's space when fixed; `space_from`: index of the operand whose space the result has; `space_keyword`: the
    result's space is the keyword target_memory. `inplace`: the operand whose buffer the result is; `overwrites`:
    positions of that and of scratch, whose contents mean nothing. `view`: no bytes move, the result shares the bytes
    of operand 0. `noalias`: operands whose bytes the result may not share.
    `row_major`: operands and result must be row-major (ResolveBackendOpLayouts sees to it). `fills`: an omitted
    operand takes the value of another. `positions`: that of each parameter. `signature`: the order of parameters and
    keywords in a kernel's call.
    """

    name: str
    params: tuple[Param, ...]
    positions: Mapping[str, int]
    keywords: tuple[Keyword, ...]
    deduce: Rule | None
    out_space: Space | None
    space_from: int | None
    space_keyword: bool
    inplace: int | None
    overwrites: tuple[int, ...]
    view: bool
    noalias: tuple[int, ...]
    row_major: bool
    fills: tuple[tuple[str, str], ...]
    signature: tuple[str, ...]
    source: str

    def index(self, name: str) -> int:
        """The position of a parameter. Raises KeyError if there is none of that name."""
        return self.positions[name]

    def keyword(self, name: str) -> Keyword | None:
        """The declaration of a keyword, if the op has it."""
        for k in self.keywords:
            if k.name == name:
                return k
        return None

    @property
    def tile_params(self) -> tuple[int, ...]:
        """Positions of the tile operands."""
        return tuple(i for i, p in enumerate(self.params) if p.kind == "tile")


def _params(text: str, spaces: list[str]) -> tuple[Param, ...]:
    found: list[Param] = []
    for i, word in enumerate(text.split()):
        optional = word.endswith("?")
        name, _, kind = word.rstrip("?").partition(":")
        letters = spaces[i] if i < len(spaces) else "."
        allowed = frozenset(_SPACES[c] for c in letters if c != ".")
        found.append(Param(name, PARAM_KINDS[kind], optional, allowed))
    return tuple(found)


def is_scratch(param: str) -> bool:
    """Whether an operand of that name is scratch: the op overwrites it and its contents mean nothing."""
    return param.startswith("tmp") or param == "scratch"


def _keyword(word: str) -> Keyword:
    name, _, rest = word.partition(":")
    kind, _, default = rest.partition("=")
    required = kind.endswith("!")
    kind = kind.rstrip("!")
    return Keyword(name, kind, parse_keyword(kind, default) if default else None, required)


def op(
    name: str,
    params: str,
    rule: Rule | None,
    memory: str = "",
    *,
    keywords: str = "",
    inplace: int | None = None,
    view: bool = False,
    noalias: str = "",
    row_major: bool = False,
    fills: str = "",
    signature: str = "",
    source: str = "",
) -> OpDecl:
    """Build a declaration from its short strings. `noalias` lists operand names, '*' is every tile operand; `fills` is
    'omitted=other'."""
    ins, _, out = memory.partition(">")
    out = out.strip()
    declared = _params(params, ins.split())
    keyword_rows = tuple(map(_keyword, keywords.split()))
    names = [p.name for p in declared]
    tiles = [p.name for p in declared if p.kind == "tile"]
    return OpDecl(
        name=name,
        params=declared,
        positions={p.name: i for i, p in enumerate(declared)},
        keywords=keyword_rows,
        deduce=rule,
        out_space=_SPACES.get(out),
        space_from=int(out[1:]) if out.startswith("=") else None,
        space_keyword=out == "kw",
        inplace=inplace,
        overwrites=tuple(i for i, p in enumerate(declared) if i == inplace or is_scratch(p.name)),
        view=view,
        noalias=tuple(names.index(n) for n in (tiles if noalias == "*" else noalias.split())),
        row_major=row_major,
        fills=tuple((a, b) for a, _, b in (word.partition("=") for word in fills.split())),
        signature=tuple(signature.split()) or (*names, *(k.name for k in keyword_rows)),
        source=source,
    )
