"""What two `.pto` texts of one kernel differ in: ops, addresses, valid shapes, types, operands, sync, attributes.

Ops are compared by what they do: SSA names, comments, locations and the scalar arithmetic behind an operand do not
count, its value does. Functions are matched by name, ops by the longest common order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from hashlib import sha256

from pypto_verified.pto.attrtext import dict_text
from pypto_verified.pto.module import Block, Func, Module, Op, Value
from pypto_verified.pto.rows import TABLE
from pypto_verified.pto.types import MultiTileBufType, ScalarType, TileBufType, Type
from pypto_verified.pto.typetext import type_text
from pypto_verified.report.model import FileResult, FunctionResult

_VALID = ("valid_row", "valid_col")
_LONGEST = 200
"""Characters of a scalar expression beyond which a digest stands for it: expressions share parts, texts can't."""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `kind`: function, op, address, valid, type, operand, sync or attribute. Lines are of the `.pto`
    texts, 0 where one has nothing."""

    kind: str
    function: str
    line_a: int
    line_b: int
    text: str


def compare(a: Module, b: Module) -> list[Change]:
    """The differences from `a` to `b`, in the order of the texts."""
    ours, theirs = _functions(a), _functions(b)
    found = [Change("function", name, func.line, 0, "gone") for name, func in ours.items() if name not in theirs]
    for name, func in theirs.items():
        if name in ours:
            found += _Comparison(ours[name], func).changes()
        else:
            found.append(Change("function", name, 0, func.line, "new"))
    return found


def compare_verdicts(a: FileResult, b: FileResult) -> list[str]:
    """What the verdicts on two files differ in, one line each. Findings are compared by rule and message."""
    ours, theirs = _functions_of(a), _functions_of(b)
    found: list[str] = []
    for name in ours.keys() & theirs.keys():
        before, after = ours[name], theirs[name]
        if before.verdict is not after.verdict:
            found.append(f"{name}: {before.verdict.value} becomes {after.verdict.value}")
        old = {(f.rule, f.message): f for f in before.findings}
        new = {(f.rule, f.message): f for f in after.findings}
        found += [f"{name}: no longer {old[k].verdict.value} {k[0]}: {k[1]}" for k in old if k not in new]
        found += [f"{name}: now {new[k].verdict.value} {k[0]} in line {new[k].line}: {k[1]}"
                  for k in new if k not in old]
    return sorted(found)


def _functions_of(file: FileResult) -> dict[str, FunctionResult]:
    """The file's functions, and itself as far as it has findings of its own."""
    found = {function.name: function for function in file.functions}
    return found | ({"file": FunctionResult("file", [], file.findings)} if file.findings else {})


def _functions(module: Module) -> dict[str, Func]:
    return {func.name: func for unit in module.units() for func in unit.funcs}


@dataclass(frozen=True, slots=True)
class _Entry:
    """An op that is more than scalar arithmetic, and how many regions are around it."""

    op: Op
    depth: int

    @property
    def key(self) -> tuple[object, ...]:
        """What aligned ops agree on: no addresses, valid shapes or names."""
        types = [_bare(v.type) for v in (*self.op.results, *self.op.operands()) if not isinstance(v.type, ScalarType)]
        return (self.depth, self.op.name, *types)


def _bare(type_: Type) -> Type:
    """A type without its valid shape."""
    if isinstance(type_, TileBufType):
        return replace(type_, v_row=None, v_col=None)
    return replace(type_, slot=replace(type_.slot, v_row=None, v_col=None)) if isinstance(
        type_, MultiTileBufType) else type_


def _entries(block: Block | None, depth: int = 0) -> Iterator[_Entry]:
    if block is None:
        return
    for part in (block, *block.followers):
        for op in part.ops:
            row = TABLE.get(op.name)
            if row is None or row.effect != "pure":
                yield _Entry(op, depth)
            for region in op.regions:
                yield from _entries(region, depth + 1)


class _Scalars:
    """Texts of the scalar values of a function that do not depend on SSA names."""

    def __init__(self, func: Func) -> None:
        self.texts: dict[Value, str] = {arg: f"argument {number}" for number, arg in enumerate(func.args)}
        self._loops = 0
        if func.body is not None:
            self._learn(func.body)

    def _learn(self, block: Block) -> None:
        for part in (block, *block.followers):
            for arg in part.args:
                if arg not in self.texts:
                    self.texts[arg] = f"loop value {self._loops}"
                    self._loops += 1
            for op in part.ops:
                for number, result in enumerate(op.results):
                    if isinstance(result.type, ScalarType):
                        self.texts[result] = self._result(op, number)
                for region in op.regions:
                    self._learn(region)

    def _result(self, op: Op, number: int) -> str:
        if op.name == "arith.constant":
            return str(op.attrs["value"])
        if op.name == "arith.index_cast":
            return self.text(op.arg("in"))
        inside = ", ".join(self.text(v) for v in op.operands() if isinstance(v.type, ScalarType))
        predicate = f" {op.attrs['predicate']}" if "predicate" in op.attrs else ""
        text = f"{op.name.partition('.')[2]}{predicate}{f'#{number}' if number else ''}({inside})"
        if len(text) <= _LONGEST:
            return text
        return f"{op.name.partition('.')[2]}(...{sha256(text.encode()).hexdigest()[:12]})"

    def text(self, value: Value) -> str:
        return self.texts.get(value, "?")


class _Comparison:
    """Two functions of one name."""

    def __init__(self, a: Func, b: Func) -> None:
        self.a, self.b = a, b
        self.scalars_a, self.scalars_b = _Scalars(a), _Scalars(b)
        self.twin: dict[Value, Value] = dict(zip(a.args, b.args, strict=False))

    def changes(self) -> list[Change]:
        found: list[Change] = []
        if [x.type for x in self.a.args] != [x.type for x in self.b.args]:
            found.append(Change("function", self.a.name, self.a.line, self.b.line, "other arguments"))
        if self.a.attrs != self.b.attrs:
            found.append(Change("attribute", self.a.name, self.a.line, self.b.line,
                                f"{dict_text(self.a.attrs, {})} becomes {dict_text(self.b.attrs, {})}"))
        ours, theirs = list(_entries(self.a.body)), list(_entries(self.b.body))
        matcher = SequenceMatcher(None, [e.key for e in ours], [e.key for e in theirs], autojunk=False)
        for tag, a_from, a_to, b_from, b_to in matcher.get_opcodes():
            if tag == "equal":
                pairs = zip(ours[a_from:a_to], theirs[b_from:b_to], strict=True)
                found += [change for x, y in pairs for change in self._pair(x.op, y.op)]
            else:
                found += self._block(ours[a_from:a_to], theirs[b_from:b_to])
        return found

    def _block(self, ours: list[_Entry], theirs: list[_Entry]) -> Iterator[Change]:
        """A stretch that differs: ops of one name and depth are taken as one op that changed."""
        matcher = SequenceMatcher(None, [e.key[:2] for e in ours], [e.key[:2] for e in theirs], autojunk=False)
        for tag, a_from, a_to, b_from, b_to in matcher.get_opcodes():
            if tag == "equal":
                for x, y in zip(ours[a_from:a_to], theirs[b_from:b_to], strict=True):
                    yield from self._pair(x.op, y.op)
                continue
            for entry in ours[a_from:a_to]:
                yield self._change(entry.op, None, "gone")
            for entry in theirs[b_from:b_to]:
                yield self._change(None, entry.op, "new")

    def _change(self, a: Op | None, b: Op | None, text: str) -> Change:
        op = a if a is not None else b
        assert op is not None
        row = TABLE.get(op.name)
        kind = "sync" if row is not None and row.effect == "sync" else "op"
        return Change(kind, self.a.name, a.line if a else 0, b.line if b else 0, f"{_shown(op)} is {text}")

    def _pair(self, a: Op, b: Op) -> Iterator[Change]:
        """What an op and its counterpart differ in."""
        for x, y in zip(a.results, b.results, strict=False):
            self.twin[x] = y
        for block_a, block_b in zip(a.regions, b.regions, strict=False):
            self.twin.update(zip(block_a.args, block_b.args, strict=False))
        kind = self._change(a, b, "").kind

        def change(what: str, text: str) -> Change:
            return Change("sync" if kind == "sync" else what, self.a.name, a.line, b.line, f"{_shown(a)}: {text}")

        for x, y in zip(a.results, b.results, strict=False):
            if _bare(x.type) != _bare(y.type):
                yield change("type", f"{type_text(x.type, True)} becomes {type_text(y.type, True)}")
            elif x.type != y.type:
                yield change("valid", f"valid shape {_valid(x.type)} becomes {_valid(y.type)}")
        if a.attrs != b.attrs:
            yield change("attribute", f"{dict_text(a.attrs, {})} becomes {dict_text(b.attrs, {})}")
        for group in dict.fromkeys((*a.args, *b.args)):
            if not self._same(a, b, group):
                what = "address" if group == "addr" else "valid" if group in _VALID else "operand"
                before, after = _operands(a, group, self.scalars_a), _operands(b, group, self.scalars_b)
                yield change(what, f"{group} {before or 'absent'} becomes {after or 'absent'}")

    def _same(self, a: Op, b: Op, group: str) -> bool:
        """Whether a group's scalars have the same value and its tiles, views and pointers are each other's twins."""
        ours, theirs = a.args.get(group, ()), b.args.get(group, ())
        return len(ours) == len(theirs) and all(
            self.scalars_a.text(x) == self.scalars_b.text(y) if isinstance(x.type, ScalarType)
            else self.twin.get(x) is y
            for x, y in zip(ours, theirs, strict=True))


def _operands(op: Op, group: str, scalars: _Scalars) -> str:
    return ", ".join(
        scalars.text(v) if isinstance(v.type, ScalarType) else f"%{v.name}" for v in op.args.get(group, ()))


def _shown(op: Op) -> str:
    names = ", ".join(f"%{v.name}" for v in op.results if v.name)
    sync = " " + dict_text(op.attrs, {}) if op.name in ("pto.set_flag", "pto.wait_flag", "pto.barrier") else ""
    return f"{names} = {op.name}" if names else f"{op.name}{sync}"


def _valid(type_: Type) -> str:
    tile = type_.slot if isinstance(type_, MultiTileBufType) else type_
    if not isinstance(tile, TileBufType):
        return "?"
    return "x".join("?" if v is None else str(v) for v in (tile.v_row, tile.v_col))
