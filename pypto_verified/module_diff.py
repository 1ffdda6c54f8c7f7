"""What two `.pto` texts of one kernel differ in: ops, addresses, valid shapes, types, operands, sync, attributes.

Ops are compared by what they do: SSA names, comments, locations and the scalar arithmetic behind an operand do not
count, its value does. Functions are matched by name, ops by the longest common order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from hashlib import sha256
from itertools import zip_longest
from typing import TypeAlias

from pypto_verified.pto.attrtext import dict_text
from pypto_verified.pto.module import Block, Func, Module, Op, Value
from pypto_verified.pto.rows import TABLE
from pypto_verified.pto.types import MultiTileBufType, ScalarType, TileBufType, Type
from pypto_verified.pto.typetext import type_text
from pypto_verified.pto.walk import walk_ops
from pypto_verified.records import dataclass
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
    found = list(_module_changes(a, b))
    found += [Change("function", name, func.line, 0, "gone") for name, func in ours.items() if name not in theirs]
    for name, func in theirs.items():
        if name in ours:
            found += _Comparison(name, ours[name], func).changes()
        else:
            found.append(Change("function", name, 0, func.line, "new"))
    return found


def _module_changes(a: Module, b: Module) -> Iterator[Change]:
    """What the modules themselves say: chip, kind of kernel, how many modules a text has."""
    ours, theirs = list(a.units()), list(b.units())
    if len(ours) != len(theirs):
        yield Change("function", "module", 0, 0, f"{len(ours)} modules become {len(theirs)}")
    for number, (x, y) in enumerate(zip(ours, theirs, strict=False), start=1):
        if x.attrs != y.attrs:
            yield Change("attribute", f"module {number}" if len(ours) > 1 else "module", 0, 0,
                         f"{dict_text(x.attrs, {})} becomes {dict_text(y.attrs, {})}")


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
    found = dict(zip(_told_apart(f.name for f in file.functions), file.functions, strict=True))
    return found | ({"file": FunctionResult("file", [], file.findings)} if file.findings else {})


def _functions(module: Module) -> dict[str, Func]:
    """The functions of all modules of a text: first those with a body, then the declarations."""
    funcs = [func for unit in module.units() for func in unit.funcs]
    bodies = [func for func in funcs if func.body is not None]
    declared = [func for func in funcs if func.body is None]
    return dict(zip(_told_apart(f.name for f in bodies), bodies, strict=True)) | dict(
        zip(_told_apart(f"{f.name} (declared)" for f in declared), declared, strict=True))


def _told_apart(names: Iterable[str]) -> list[str]:
    """The names, each that was there before with its number: two modules of a text may use the same one."""
    seen: Counter[str] = Counter()
    found: list[str] = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


_Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Entry:
    """An op that is more than scalar arithmetic. `place`: which region of each op around it holds it, and its name;
    `key`: what aligned ops agree on, which is no address, valid shape or SSA name."""

    op: Op
    place: _Key
    key: _Key


def _entry(op: Op, regions: tuple[int, ...]) -> _Entry:
    types = [_bare(v.type) for v in (*op.results, *op.operands()) if not isinstance(v.type, ScalarType)]
    return _Entry(op, (regions, op.name), (regions, op.name, *types))


def _bare(type_: Type) -> Type:
    """A type without its valid shape."""
    if isinstance(type_, TileBufType):
        return replace(type_, v_row=None, v_col=None)
    return replace(type_, slot=replace(type_.slot, v_row=None, v_col=None)) if isinstance(
        type_, MultiTileBufType) else type_


def _entries(block: Block | None, regions: tuple[int, ...] = ()) -> Iterator[_Entry]:
    if block is None:
        return
    for part in (block, *block.followers):
        for op in part.ops:
            if not _is_arithmetic(op):
                yield _entry(op, regions)
            for number, region in enumerate(op.regions):
                yield from _entries(region, (*regions, number))


def _is_arithmetic(op: Op) -> bool:
    """Whether an op makes scalars of scalars and of nothing else, so that its value says all about it."""
    row = TABLE.get(op.name)
    return row is not None and row.effect == "pure" and all(
        isinstance(v.type, ScalarType) for v in (*op.results, *op.operands()))


class _Texts:
    """Texts of the values of a function that do not depend on SSA names: scalar arithmetic is spelled out, everything
    else is named by its place in the older text."""

    def __init__(self) -> None:
        self._texts: dict[Value, str] = {}

    def name(self, value: Value, text: str) -> None:
        self._texts[value] = text

    def learn(self, op: Op) -> None:
        """Spell out the results of an arithmetic op, whose operands have texts."""
        for number, result in enumerate(op.results):
            self._texts[result] = self._result(op, number)

    def _result(self, op: Op, number: int) -> str:
        if op.name == "arith.constant":
            return str(op.attrs["value"])
        if op.name == "arith.index_cast":
            return self.text(op.arg("in"))
        inside = ", ".join(self.text(v) for v in op.operands())
        predicate = f" {op.attrs['predicate']}" if "predicate" in op.attrs else ""
        others = {name: value for name, value in op.attrs.items() if name != "predicate"}
        said = f" {dict_text(others, {})}" if others else ""
        made, sources = op.results[number].type, {v.type for v in op.operands()}
        to = f" to {type_text(made, True)}" if sources and made not in sources and not predicate else ""
        text = f"{op.name.partition('.')[2]}{predicate}{said}{f'#{number}' if number else ''}({inside}){to}"
        if len(text) <= _LONGEST:
            return text
        return f"{op.name.partition('.')[2]}(...{sha256(text.encode()).hexdigest()[:12]})"

    def text(self, value: Value) -> str:
        return self._texts.get(value, "?")


class _Comparison:
    """Two functions of one name."""

    def __init__(self, name: str, a: Func, b: Func) -> None:
        self.name, self.a, self.b = name, a, b
        self.texts_a, self.texts_b = _Texts(), _Texts()
        self._taken: set[str] = set()

    def changes(self) -> list[Change]:
        found = list(self._headers())
        pairs = list(self._aligned(list(_entries(self.a.body)), list(_entries(self.b.body))))
        self._name_values(pairs)
        for x, y in pairs:
            found += self._pair(x, y) if x is not None and y is not None else [self._lone(x, y)]
        return found

    def _headers(self) -> Iterator[Change]:
        a, b = self.a, self.b
        if [x.type for x in a.args] != [x.type for x in b.args]:
            yield Change("function", self.name, a.line, b.line, "other arguments")
        if a.result_types != b.result_types:
            yield Change("function", self.name, a.line, b.line, "other results")
        if a.attrs != b.attrs:
            yield Change("attribute", self.name, a.line, b.line,
                         f"{dict_text(a.attrs, {})} becomes {dict_text(b.attrs, {})}")
        for at in sorted(a.arg_attrs.keys() | b.arg_attrs.keys()):
            before, after = a.arg_attrs.get(at, {}), b.arg_attrs.get(at, {})
            if before != after:
                yield Change("attribute", self.name, a.line, b.line,
                             f"argument {at}: {dict_text(before, {})} becomes {dict_text(after, {})}")

    def _aligned(self, ours: list[_Entry], theirs: list[_Entry]) -> Iterator[tuple[Op | None, Op | None]]:
        """Each op with its counterpart or None. Within a stretch that differs, ops of one name and place are taken as
        one op that changed."""
        for same, x, y in _matched(ours, theirs, lambda entry: entry.key):
            for paired, p, q in [(same, x, y)] if same else _matched(x, y, lambda entry: entry.place):
                if paired:
                    yield from ((m.op, n.op) for m, n in zip(p, q, strict=True))
                else:
                    yield from ((entry.op, None) for entry in p)
                    yield from ((None, entry.op) for entry in q)

    def _name_values(self, pairs: list[tuple[Op | None, Op | None]]) -> None:
        """Give each value of both functions its text; those of an op and its counterpart have the same."""
        for number, arg in enumerate(self.a.args):
            self.texts_a.name(arg, f"argument {number}")
        for number, arg in enumerate(self.b.args):
            self.texts_b.name(arg, f"argument {number}")
        for a, b in pairs:
            ours, theirs = list(_made(a)), list(_made(b))
            for x, y in zip_longest(ours, theirs):
                op, value = (a, x) if x is not None else (b, y)
                assert op is not None and value is not None
                text = self._free(f"%{value.name} of line {op.line}" + ("" if x is not None else " of the new text"))
                if x is not None:
                    self.texts_a.name(x, text)
                if y is not None:
                    self.texts_b.name(y, text)
        for func, texts in ((self.a, self.texts_a), (self.b, self.texts_b)):
            for op in walk_ops(func):
                if _is_arithmetic(op):
                    texts.learn(op)

    def _free(self, text: str) -> str:
        while text in self._taken:
            text += "'"
        self._taken.add(text)
        return text

    def _lone(self, a: Op | None, b: Op | None) -> Change:
        op = a if a is not None else b
        assert op is not None
        return Change("sync" if _is_sync(op) else "op", self.name, a.line if a else 0, b.line if b else 0,
                      f"{_shown(op)} is {'gone' if a else 'new'}")

    def _pair(self, a: Op, b: Op) -> Iterator[Change]:
        """What an op and its counterpart differ in."""

        def change(what: str, text: str) -> Change:
            return Change("sync" if _is_sync(a) else what, self.name, a.line, b.line, f"{_shown(a)}: {text}")

        for x, y in zip(_made(a), _made(b), strict=False):
            if _bare(x.type) != _bare(y.type):
                yield change("type", f"{type_text(x.type, True)} becomes {type_text(y.type, True)}")
            elif x.type != y.type:
                yield change("valid", f"valid shape {_valid(x.type)} becomes {_valid(y.type)}")
        if a.attrs != b.attrs:
            yield change("attribute", f"{dict_text(a.attrs, {})} becomes {dict_text(b.attrs, {})}")
        for group in dict.fromkeys((*a.args, *b.args)):
            ours, theirs = a.args.get(group, ()), b.args.get(group, ())
            if [self.texts_a.text(v) for v in ours] != [self.texts_b.text(v) for v in theirs]:
                what = "address" if group == "addr" else "valid" if group in _VALID else "operand"
                before, after = _operands(ours, self.texts_a), _operands(theirs, self.texts_b)
                yield change(what, f"{group} {before or 'absent'} becomes "
                                   f"{after or 'absent'}{', another value' if before == after else ''}")
            elif _scalar_types(ours) != _scalar_types(theirs):
                yield change("type", f"{group} of {_scalar_types(ours)} becomes {_scalar_types(theirs)}")


def _scalar_types(values: Sequence[Value]) -> str:
    return ", ".join(type_text(v.type, True) for v in values if isinstance(v.type, ScalarType))


def _matched(
    ours: list[_Entry], theirs: list[_Entry], key: Callable[[_Entry], _Key]
) -> Iterator[tuple[bool, list[_Entry], list[_Entry]]]:
    """Stretches, and whether their keys are equal. What both begin and end with is not searched for: a search takes
    the square of the ops that look alike."""
    a, b = [key(entry) for entry in ours], [key(entry) for entry in theirs]
    shorter, begin, end = min(len(a), len(b)), 0, 0
    while begin < shorter and a[begin] == b[begin]:
        begin += 1
    while end < shorter - begin and a[-1 - end] == b[-1 - end]:
        end += 1
    yield True, ours[:begin], theirs[:begin]
    in_a, in_b = slice(begin, len(a) - end), slice(begin, len(b) - end)
    for tag, a_from, a_to, b_from, b_to in SequenceMatcher(None, a[in_a], b[in_b], autojunk=False).get_opcodes():
        yield tag == "equal", ours[in_a][a_from:a_to], theirs[in_b][b_from:b_to]
    yield True, ours[len(a) - end:], theirs[len(b) - end:]


def _made(op: Op | None) -> Iterator[Value]:
    """Results of an op and arguments of its regions' blocks."""
    if op is not None:
        yield from op.results
        for region in op.regions:
            for block in (region, *region.followers):
                yield from block.args


def _is_sync(op: Op) -> bool:
    row = TABLE.get(op.name)
    return row is not None and row.effect == "sync"


def _operands(values: Sequence[Value], texts: _Texts) -> str:
    return ", ".join(texts.text(v) if isinstance(v.type, ScalarType) else f"%{v.name}" for v in values)


def _shown(op: Op) -> str:
    names = ", ".join(f"%{v.name}" for v in op.results if v.name)
    sync = " " + dict_text(op.attrs, {}) if op.name in ("pto.set_flag", "pto.wait_flag", "pto.barrier") else ""
    return f"{names} = {op.name}" if names else f"{op.name}{sync}"


def _valid(type_: Type) -> str:
    tile = type_.slot if isinstance(type_, MultiTileBufType) else type_
    if not isinstance(tile, TileBufType):
        return "?"
    return "x".join("?" if v is None else str(v) for v in (tile.v_row, tile.v_col))
