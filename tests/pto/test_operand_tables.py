"""Every op in the tables of `legality_operands.py` and `legality_room.py`: one instance that all rows accept, and for
each entry one that differs in the field that the entry is about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from pypto_verified.dtypes import BY_PTO
from pypto_verified.layouts import BLayout, SLayout, Space
from pypto_verified.pto.legality import TARGETS, checks
from pypto_verified.pto.legality_operands import _AGREE, _PLACES, _TYPES, ROWS, family_of
from pypto_verified.pto.legality_room import BYTES_A3, BYTES_A5, BYTES_ALL
from pypto_verified.pto.module import AttrValue, Block, EnumAttr, Func, Module, Op, Value
from pypto_verified.pto.rows import TABLE
from pypto_verified.pto.types import TileBufType, Type
from pypto_verified.pto.typetext import parse_type

_IDS = {row.id for row in ROWS}
_LARGE = "!pto.tile_buf<vec, 32x64x{}>"
_KINDS = {"index": "index", "ptr": "!pto.ptr<f32>", "view": "!pto.partition_tensor_view<32x64xf32>"}
_COUNTED: dict[str, dict[str, AttrValue]] = {"pto.tcolsum": {"isBinary": True}}


def _spread(ops: str) -> list[str]:
    return [f"pto.{op}" for op in ops.split()]


def _allowed(op: str, operand: str, target: str) -> list[str]:
    """The element types that the table gives an operand; empty if it says nothing."""
    column = 2 if target == "a2a3" else 3
    lines = [line for line in _TYPES if op in _spread(line[0]) and operand in line[1].split() and line[column]]
    return lines[0][column].split() if lines else []


def _same_as(op: str, operand: str) -> set[str]:
    """Operands whose element type must be this one's, on some target."""
    found, size = {operand}, 0
    while len(found) > size:
        size = len(found)
        for ops, words, pairs, _ in _AGREE:
            if op in _spread(ops) and "dtype" in words.split():
                for pair in pairs.split():
                    if found & set(pair.split("=")):
                        found |= set(pair.split("="))
    return found


def _dtype(op: str, operand: str, target: str) -> str:
    """An element type that all tables allow for an operand."""
    limits = [set(types) for name in _same_as(op, operand) if (types := _allowed(op, name, target))]
    found = set.intersection(*limits) if limits else {"f32"}
    return next(t for t in ("f32", "i32", "i16", "i8", "f16") if t in found)


def instance(op: str, target: str) -> dict[str, Type]:
    """Types of an op's operands that no row of the tables finds fault with."""
    found: dict[str, Type] = {}
    for operand in TABLE[op].operands:
        if operand.kind in ("tile", "any"):
            found[operand.name] = parse_type(_LARGE.format(_dtype(op, operand.name, target)))
        elif operand.kind == "scalar":
            found[operand.name] = parse_type(_dtype(op, "src" if op != "pto.texpands" else "dst", target))
        else:
            found[operand.name] = parse_type(_KINDS[operand.kind])
    if op == "pto.tci":
        found["start"] = parse_type(_dtype(op, "dst", target))
    if op == "pto.treshape":
        found["@"] = found["src"]
    return found


def violated(op: str, types: dict[str, Type], target: str, level: str = "level3") -> set[str]:
    """Ids of the rows that find fault with an op of these operands."""
    values = {name: Value(name, type_) for name, type_ in types.items()}
    args: dict[str, tuple[Value, ...]] = {name: (value,) for name, value in values.items() if name != "@"}
    made = Op(op, args, dict(_COUNTED.get(op, {})), (values["@"],) if "@" in values else ())
    kind: dict[str, AttrValue] = {"pto.kernel_kind": EnumAttr("kernel_kind", "vector")}
    module = Module([Func("f", list(values.values()), Block([], [made, Op("func.return")]), kind)])
    return {c.rule.id for c in checks(module, target, level) if not c.holds}


def _present(op: str, operand: str) -> bool:
    return operand == "@" or any(o.name == operand and o.kind in ("tile", "any") for o in TABLE[op].operands)


def _placed() -> Iterator[tuple[str, str, str, str]]:
    for ops, operands, words, targets in _PLACES:
        yield from ((op, name, word, target) for op in _spread(ops) for name in operands.split() if _present(op, name)
                    for word in words.split() for target in targets)


def _agreeing() -> Iterator[tuple[str, str, str, str]]:
    for ops, words, pairs, targets in _AGREE:
        yield from ((op, pair, word, target) for op in _spread(ops) for pair in pairs.split()
                    if all(_present(op, name) for name in pair.split("=")) for word in words.split()
                    for target in targets)


def _spoiled(tile: TileBufType, word: str) -> TileBufType:
    """The tile with another value of the field that a requirement is about."""
    if word == "plain":
        return replace(tile, dtype=BY_PTO["!pto.hif8"])
    if word == "vec":
        return replace(tile, loc=Space.MAT)
    if word == "row":
        return replace(tile, blayout=BLayout.COL)
    if word == "flat":
        return replace(tile, slayout=SLayout.ROW)
    if word == "valid":
        return replace(tile, v_row=(tile.v_row or 0) - 1)
    if word == "shape":
        return replace(tile, rows=tile.rows + 32)
    return replace(tile, dtype=BY_PTO["i64"])


_ID = {"plain": "LOW-PRECISION", "vec": "OPERAND-SPACE", "row": "OPERAND-LAYOUT", "flat": "OPERAND-BOXED",
       "dtype": "OPERAND-DTYPE", "valid": "OPERAND-VALID", "shape": "OPERAND-SHAPE"}


def _names(word: str) -> set[str]:
    return {_ID[word] + suffix for suffix in ("", "-A3", "-A5")}


def test_tables_name_ops_and_operands_that_exist() -> None:
    for ops, operands, *_ in (*_PLACES, *_TYPES):
        assert all(any(_present(op, name) for op in _spread(ops)) for name in operands.split()), operands
        assert all(any(_present(op, name) for name in operands.split()) for op in _spread(ops)), ops
    for ops, _, pairs, _ in _AGREE:
        assert all(any(_present(op, name) for op in _spread(ops)) for pair in pairs.split() for name in pair.split("="))


@pytest.mark.parametrize("target", TARGETS)
def test_an_instance_of_each_op_is_accepted(target: str) -> None:
    ops = {op for line in (*_PLACES, *_AGREE) for op in _spread(line[0])}
    for op in sorted(ops):
        assert not violated(op, instance(op, target), target) & _IDS, op


def test_each_place_is_refused_in_another() -> None:
    for op, name, word, target in _placed():
        types = instance(op, target)
        tile = types[name]
        assert isinstance(tile, TileBufType)
        assert violated(op, types | {name: _spoiled(tile, word)}, target) & _names(word), (op, name, word, target)


def test_each_pair_is_refused_when_it_differs() -> None:
    for op, pair, word, target in _agreeing():
        types, name = instance(op, target), pair.split("=")[1]
        tile = types[name]
        assert isinstance(tile, TileBufType)
        assert violated(op, types | {name: _spoiled(tile, word)}, target) & _names(word), (op, pair, word, target)


@pytest.mark.parametrize(("column", "target"), [(2, "a2a3"), (3, "a5")])
def test_each_operand_is_refused_of_another_type(column: int, target: str) -> None:
    entries = [(op, name) for line in _TYPES if line[column] for op in _spread(line[0]) for name in line[1].split()]
    for op, name in entries:
        if _present(op, name):
            found = violated(op, instance(op, target) | {name: parse_type(_LARGE.format("f64"))}, target)
            assert f"OPERAND-TYPES-{'A3' if target == 'a2a3' else 'A5'}" in found, (op, name)


@pytest.mark.parametrize(("table", "rule", "target"), [
    (BYTES_A3, "SCRATCH-BYTES-A3", "a2a3"), (BYTES_ALL, "SCRATCH-BYTES", "a5"), (BYTES_A5, "SCRATCH-BYTES-A5", "a5"),
])
def test_each_scratch_is_refused_when_it_is_smaller(table: dict[str, object], rule: str, target: str) -> None:
    for op in table:
        types = instance(op, target)
        if op == "pto.tcvt":
            types = types | {"dst": parse_type(_LARGE.format("i16"))}
        small = parse_type("!pto.tile_buf<vec, 1x1xi8>")
        assert rule not in violated(op, types, target), op
        assert rule in violated(op, types | {"tmp": small}, target), op


@pytest.mark.parametrize(("written", "family"), [("ui8", "i8"), ("si32", "i32"), ("i16", "i16"), ("bf16", "bf16")])
def test_integers_of_both_signs_are_one_family(written: str, family: str) -> None:
    tile = parse_type(f"!pto.tile_buf<vec, 8x32x{written}>")
    assert isinstance(tile, TileBufType)
    assert family_of(tile.dtype) == family
