"""Where ops are put: the current block, the current location, unique SSA names, and the pool of constants."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from struct import pack

from pypto_verified.dtypes import INDEX, DType
from pypto_verified.errors import NOWHERE, Location
from pypto_verified.ir.expr import NO_SPAN, Span
from pypto_verified.pto.module import AttrValue, Block, Op, Value
from pypto_verified.pto.types import ScalarType, Type
from pypto_verified.records import dataclass

# Names that the generator itself hands out; a kernel's own name of this form gets a suffix (CG-16).
_RESERVED = re.compile(r"arg\d+|c(n?\d+|true|false)_\w+|cst(_\d+)?|__pypto_\w*|\d+")


def location_of(span: Span) -> Location:
    """The user's place, or NOWHERE for a span without a file or a line (CG-17)."""
    return Location(span.file, span.line, span.column) if span.file and span.line else NOWHERE


@lru_cache(4096)
def _spelled(hint: str) -> str:
    name = re.sub(r"\W", "_", hint, flags=re.ASCII)
    return f"v_{name}" if _RESERVED.fullmatch(name) or name[0].isdigit() else name


class Names:
    """Unique SSA names of one function: a source name where there is one, else 0, 1, 2, ..."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._next = 0

    def fresh(self, hint: str) -> str:
        """A name like `hint`; an empty hint gives the next number."""
        if not hint:
            self._next += 1
            return str(self._next - 1)
        unique = name = _spelled(hint)
        n = 0
        while unique in self._used:
            n += 1
            unique = f"{name}_{n}"
        self._used.add(unique)
        return unique


@dataclass(slots=True)
class _Constant:
    value: Value
    payload: int | float | bool
    section: int


class Constants:
    """The constants of one function, one op per value and type, at the head of its body (CG-02).

    Order: addresses, then what tensor views need, then the rest; each by first use.
    """

    ADDRESS, VIEW, BODY = range(3)

    def __init__(self) -> None:
        self._found: dict[tuple[bytes | int, str], _Constant] = {}
        self._floats = 0

    def take(self, value: int | float | bool, dtype: DType, section: int = BODY) -> Value:
        """The constant `value`; `dtype` is signless, an index, i1 or a float."""
        payload: int | float | bool = float(value) if dtype.kind == "float" else int(value)
        # Zeros of both signs and NaNs are different constants, so floats are keyed by their bits.
        key = (pack("<d", payload) if isinstance(payload, float) else payload, dtype.name)
        found = self._found.get(key)
        if found is None:
            made = Value(self._name(payload, dtype), ScalarType(dtype))
            found = self._found[key] = _Constant(made, bool(value) if dtype.kind == "bool" else payload, section)
        elif section < found.section:
            found.section = section
        return found.value

    def _name(self, value: int | float, dtype: DType) -> str:
        if dtype.is_float:
            self._floats += 1
            return "cst" if self._floats == 1 else f"cst_{self._floats - 1}"
        sign = "n" if value < 0 else ""
        return f"c{sign}{abs(int(value))}_{dtype.pto}"

    def ops(self) -> list[Op]:
        """The `arith.constant` ops, without locations: a constant has many users (CG-17)."""
        ordered = sorted(self._found.values(), key=lambda c: c.section)
        return [Op("arith.constant", attrs={"value": c.payload}, results=(c.value,)) for c in ordered]


class Builder:
    """Appends ops to the current block at the current location."""

    def __init__(self, located: bool) -> None:
        self.names = Names()
        self.constants = Constants()
        self.section = Constants.BODY
        self.ops: list[Op] = []
        self._located = located
        self.loc = NOWHERE
        self._sizes: dict[tuple[int, int], Value] = {}
        self._here = NO_SPAN, NOWHERE

    def constant(self, value: int | float | bool, dtype: DType) -> Value:
        """A pooled constant, in the section that is being built."""
        return self.constants.take(value, dtype, self.section)

    def size(self, value: int) -> Value:
        """A pooled index, the most frequent of constants."""
        found = self._sizes.get((value, self.section))
        if found is None:
            found = self._sizes[value, self.section] = self.constant(value, INDEX)
        return found

    def emit(
        self,
        name: str,
        args: Mapping[str, tuple[Value, ...]],
        attrs: dict[str, AttrValue] | None = None,
        result: Type | None = None,
        hint: str = "",
        span: Span | None = None,
    ) -> Op:
        """Append an op; `result` is the type of its one result, named after `hint`. It belongs to `span` if one is
        given."""
        results = (Value(self.names.fresh(hint), result),) if result is not None else ()
        op = Op(name, dict(args), attrs, results, (), self.loc if span is None else self.location(span))
        self.ops.append(op)
        return op

    def structure(self, op: Op) -> Op:
        """Append a control op; those carry no location (CG-17)."""
        self.ops.append(op)
        return op

    def location(self, span: Span) -> Location:
        """Where ops of `span` belong: mostly the same place as those before."""
        if self._here[0] is not span:
            self._here = span, location_of(span) if self._located else NOWHERE
        return self._here[1]

    def at(self, span: Span) -> _At:
        """Ops made inside belong to `span`."""
        return _At(self, self.location(span))

    @contextmanager
    def block(self, *args: Value) -> Iterator[Block]:
        """Ops made inside go to the block that this yields."""
        outer = self.ops
        inner = Block(list(args), [])
        self.ops = inner.ops
        try:
            yield inner
        finally:
            self.ops = outer


class _At:
    """The extent of a location: a class, since each statement and each op of a kernel has one."""

    __slots__ = ("_builder", "_loc")

    def __init__(self, builder: Builder, loc: Location) -> None:
        self._builder = builder
        self._loc = loc

    def __enter__(self) -> None:
        self._builder.loc, self._loc = self._loc, self._builder.loc

    def __exit__(self, *error: object) -> None:
        self._builder.loc = self._loc
