"""A PTO module in memory: what the reader builds, the writer prints and everything that verifies looks at.

Plain slotted objects (creating one costs about a microsecond). Operands are grouped by the names that the op's row in
`pto/rows.py` declares, so `op.args["dst"]` is meaningful for every compiler's text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, Union

from pypto_verified.dtypes import DType
from pypto_verified.errors import NOWHERE, Location
from pypto_verified.pto.types import Type


class Value:
    """An SSA value: a block argument or an op's result. `name` has no `%`."""

    __slots__ = ("name", "type")

    def __init__(self, name: str, type: Type) -> None:
        self.name = name
        self.type = type

    def __repr__(self) -> str:
        return f"%{self.name}"


class EnumAttr:
    """A `#pto<kind member>` attribute, in either of the dialect's spellings; e.g. kind 'round_mode', member 'RINT'."""

    __slots__ = ("kind", "member")

    def __init__(self, kind: str, member: str) -> None:
        self.kind = kind
        self.member = member

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EnumAttr) and (self.kind, self.member) == (other.kind, other.member)

    def __hash__(self) -> int:
        return hash((self.kind, self.member))

    def __repr__(self) -> str:
        return f"#pto<{self.kind} {self.member}>"


class Symbol:
    """An `@name` reference."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Symbol) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"@{self.name}"


class IntArray:
    """An `array<i64: 0, 512>` attribute: integers of one width, `type` as the text names it."""

    __slots__ = ("type", "values")

    def __init__(self, type: str, values: tuple[int, ...]) -> None:
        self.type = type
        self.values = values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IntArray) and (self.type, self.values) == (other.type, other.values)

    def __hash__(self) -> int:
        return hash((self.type, self.values))


class DictAttr:
    """A dictionary within an attribute. The order of its entries does not count."""

    __slots__ = ("entries",)

    def __init__(self, entries: dict[str, AttrValue]) -> None:
        self.entries = entries

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DictAttr) and self.entries == other.entries

    def __hash__(self) -> int:
        return hash(frozenset(self.entries.items()))


AttrValue: TypeAlias = Union[
    bool, int, float, str, DType, EnumAttr, Symbol, IntArray, DictAttr, tuple["AttrValue", ...], None
]


class Block:
    """Arguments and ops of a block, usually the only one of its region.

    A region with branches (`cf.br`, `cf.cond_br`) is its entry block, whose `followers` are the region's other blocks
    in text order; only these have a `label` (without `^`), and only an entry block has followers.
    """

    __slots__ = ("args", "followers", "label", "ops")

    def __init__(
        self, args: list[Value], ops: list[Op], label: str = "", followers: tuple[Block, ...] = ()
    ) -> None:
        self.args = args
        self.ops = ops
        self.label = label
        self.followers = followers


class Op:
    """One operation.

    `name` is the full name (`pto.tadd`, `arith.addi`, `scf.for`, `func.return`). `args` maps each operand group of the
    row to its values, absent optional groups missing; `attrs` likewise, absent attributes missing. `line` counts lines
    of the `.pto` text from 1 (0: built in memory); `loc` is the `loc(...)` of the text: the user's line.
    """

    __slots__ = ("args", "attrs", "line", "loc", "name", "regions", "results")

    def __init__(
        self,
        name: str,
        args: dict[str, tuple[Value, ...]] | None = None,
        attrs: dict[str, AttrValue] | None = None,
        results: tuple[Value, ...] = (),
        regions: tuple[Block, ...] = (),
        loc: Location = NOWHERE,
        line: int = 0,
    ) -> None:
        self.name = name
        self.args = args if args is not None else {}
        self.attrs = attrs if attrs is not None else {}
        self.results = results
        self.regions = regions
        self.loc = loc
        self.line = line

    def arg(self, group: str) -> Value:
        """The single value of a required group. KeyError if it is absent."""
        return self.args[group][0]

    def opt(self, group: str) -> Value | None:
        """The single value of an optional group, or None."""
        found = self.args.get(group)
        return found[0] if found else None

    @property
    def result(self) -> Value:
        return self.results[0]

    def operands(self) -> Iterator[Value]:
        for group in self.args.values():
            yield from group

    def __repr__(self) -> str:
        return f"<{self.name} {self.args} -> {list(self.results)} line {self.line}>"


class Func:
    """A function. `attrs` are its attributes (`pto.kernel_kind`, `pto.entry`, ...); a declaration has body None.

    `arg_attrs` are the attributes of those arguments that have some, by the argument's position. `unit` is the first
    module that it stood in with others, which it can call; None for one that stands alone.
    """

    __slots__ = ("arg_attrs", "args", "attrs", "body", "line", "loc", "name", "result_types", "unit")

    def __init__(
        self,
        name: str,
        args: list[Value],
        body: Block | None,
        attrs: dict[str, AttrValue] | None = None,
        result_types: tuple[Type, ...] = (),
        loc: Location = NOWHERE,
        line: int = 0,
        arg_attrs: dict[int, dict[str, AttrValue]] | None = None,
    ) -> None:
        self.name = name
        self.args = args
        self.arg_attrs = arg_attrs if arg_attrs is not None else {}
        self.body = body
        self.attrs = attrs if attrs is not None else {}
        self.result_types = result_types
        self.loc = loc
        self.line = line
        self.unit: Module | None = None

    def callee(self, name: str) -> Func | None:
        """The function with a body that a call of `name` reaches."""
        known = self.unit.funcs if self.unit is not None else [self]
        return next((f for f in known if f.name == name and f.body is not None), None)

    @property
    def kernel_kind(self) -> str:
        """'cube', 'vector' or '' when not declared."""
        kind = self.attrs.get("pto.kernel_kind")
        return kind.member if isinstance(kind, EnumAttr) else ""


_INHERITED = ("pto.target_arch", "pto.device-spec")


class Module:
    """A `.pto` file, or a module within one. `file` is the path it was read from ('' if built in memory); it does not
    count in equality. `modules` are the modules within this one; a text of several modules is one that has no functions
    of its own. A module's symbols are visible in it alone."""

    __slots__ = ("attrs", "file", "funcs", "modules")

    def __init__(
        self, funcs: list[Func], attrs: dict[str, AttrValue] | None = None, file: str = "",
        modules: tuple[Module, ...] = (),
    ) -> None:
        self.funcs = funcs
        self.attrs = attrs if attrs is not None else {}
        self.file = file
        self.modules = modules
        if len(funcs) > 1:
            for func in funcs:
                if func.unit is None:
                    func.unit = self

    def units(self) -> Iterator[Module]:
        """This module and those within it, each alone: with functions, without modules. What a module does not say of
        its target it takes from the one around it."""
        if self.funcs or not self.modules:
            yield Module(self.funcs, self.attrs, self.file) if self.modules else self
        for inner in self.modules:
            inherited = {name: self.attrs[name] for name in _INHERITED if name in self.attrs}
            yield from Module(inner.funcs, inherited | inner.attrs, inner.file, inner.modules).units()

    @property
    def arch(self) -> str:
        """The text of `pto.target_arch`, '' if absent."""
        value = self.attrs.get("pto.target_arch")
        return value if isinstance(value, str) else ""

    def __eq__(self, other: object) -> bool:
        """Equal structure, names, types, attributes and user locations; the lines of the text do not count."""
        from pypto_verified.pto.equal import same_module

        return isinstance(other, Module) and same_module(self, other)

    __hash__ = None  # type: ignore[assignment]  # mutable
