"""Every row of the op table can be written and read back, with and without its optional parts."""

from __future__ import annotations

import pytest

from pypto_verified.dtypes import BY_PTO
from pypto_verified.pto.asmformat import Literal, Results, Spelling, Step, spellings
from pypto_verified.pto.enums import MEMBERS
from pypto_verified.pto.module import AttrValue, Block, EnumAttr, Func, Module, Op, Symbol, Value
from pypto_verified.pto.reader import read
from pypto_verified.pto.rows import TABLE
from pypto_verified.pto.spec import Operand, OpRow
from pypto_verified.pto.types import OpaqueType, PartitionViewType, PtrType, ScalarType, TileBufType, Type
from pypto_verified.pto.typetext import parse_type
from pypto_verified.pto.writer import write

_TYPES = {
    "tile": "!pto.tile_buf<vec, 8x16xf32>", "scalar": "i32", "index": "index", "ptr": "!pto.ptr<f32>",
    "view": "!pto.partition_tensor_view<8x16xf32>", "any": "!pto.tile_buf<vec, 8x16xf32>",
}
_WITH_REGIONS = frozenset({"constant", "scf.for", "scf.if", "scf.while", "func.call", "section", "fusion",
                           "scf.execute_region", "cf.br", "cf.cond_br"})
_TERMINATORS = frozenset({"func.return", "scf.yield", "scf.condition", "pto.yield"})
_OPERAND_TYPES = {"pto.tprefetch_async": {"src": "!pto.partition_tensor_view<8x16xf32>"}}


def _attr(kind: str) -> AttrValue:
    """Some value of an attribute kind."""
    name, _, rest = kind.partition(":")
    if name in ("enum", "loose"):
        return EnumAttr(rest, sorted(MEMBERS[rest])[0])
    if name in ("pipe", "event"):
        return EnumAttr(name, sorted(MEMBERS[name])[0])
    if name == "flags":
        return ("nsw",) if rest == "overflow" else ("fast",)
    if name in ("word", "str"):
        return rest.split()[0] if rest else "text"
    simple: dict[str, AttrValue] = {
        "int": 3, "int8": 2, "int64": 5, "bool": True, "ints": (4, 8), "symbol": Symbol("peer"),
        "sync_op": EnumAttr("pipe_event_type", "TVEC"),
        "epilogue": EnumAttr("acc_push_epilogue", "nz2nd f32_f16 no_relu"),
    }
    return simple[name]


def _values(row: OpRow, group: Operand) -> tuple[Value, ...]:
    type_ = parse_type(_OPERAND_TYPES.get(row.name, {}).get(group.name, _TYPES[group.kind]))
    count = 2 if group.variadic else 1
    return tuple(Value(f"{group.name}{i}", type_) for i in range(count))


def _has(steps: tuple[Step, ...], kind: type[Step]) -> bool:
    return any(isinstance(s, kind) for s in steps)


def _results(spelling: Spelling | None, args: dict[str, tuple[Value, ...]]) -> tuple[Value, ...]:
    if spelling is None:
        return ()
    found: list[Type] = []
    for step in spelling.steps:
        if not isinstance(step, Results):
            if "@" in getattr(step, "names", ()):
                found.append(parse_type("!pto.tile_buf<vec, 4x8xf32>"))
            continue
        if step.fixed is not None:
            found.append(step.fixed)
        elif step.like:
            found.append(args[step.like][0].type)
        else:
            found.append(parse_type("!pto.ptr<f32>" if step.pointer else "!pto.tile_buf<vec, 8x16xf32>"))
    return tuple(Value(f"r{i}", t) for i, t in enumerate(found))


def _op(row: OpRow, spelling: Spelling | None, full: bool) -> Op:
    """An op of a row as one spelling writes it; `full` with all that is optional."""
    names = {o.name for o in row.operands} if spelling is None else spelling.covers
    needs = {o.name for o in row.operands if not o.optional} if spelling is None else spelling.needs
    wanted = names if full else needs | {o.name for o in row.operands if o.variadic and o.name in names}
    args = {o.name: _values(row, o) for o in row.operands if o.name in wanted}
    has_dict = spelling is None or spelling.has_dict
    kinds = {name: kind for name, kind in row.attrs.items() if not kind.startswith("alias:")}
    attrs = {name: _attr(kind) for name, kind in kinds.items() if name in wanted or (full and has_dict)}
    return Op(row.name, args, attrs, _results(spelling, args))


def _module(op: Op) -> Module:
    """A module in which all operands of `op` are arguments."""
    args = list({v.name: v for v in op.operands()}.values())
    peer = Func("peer", [], Block([], [Op("func.return")]))
    return Module([Func("f", args, Block([], [op, Op("func.return")])), peer])


_PLAIN = [row for row in TABLE.values() if row.form not in _WITH_REGIONS and row.name not in _TERMINATORS]
_ALTERNATIVES = [
    (row, spelling) for row in _PLAIN
    for spelling in ([None] if row.form in ("dps", "dps_in") else list(spellings(row)))
]


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize(("row", "spelling"), _ALTERNATIVES, ids=lambda p: getattr(p, "name", ""))
def test_op_survives_being_written(row: OpRow, spelling: Spelling | None, full: bool) -> None:
    module = _module(_op(row, spelling, full))
    assert read(write(module)) == module
    assert read(write(module, short=True)) == module


def test_the_table_has_all_ops_of_the_tile_level() -> None:
    tile_level = [name for name in TABLE if name.startswith("pto.")]
    assert len(tile_level) == 228 + len(("pto.tfillpad_expand", "pto.tfillpad_inplace"))


def test_formats_name_only_operands_and_attributes_of_their_row() -> None:
    for row in _PLAIN:
        known = {o.name for o in row.operands} | row.attrs.keys()
        for spelling in [] if row.form in ("dps", "dps_in") else spellings(row):
            assert spelling.covers <= known, row.name
            assert _has(spelling.steps, Literal) or _has(spelling.steps, Results) or spelling.has_dict


def test_dtypes_of_pto_texts_are_read_as_what_they_are() -> None:
    for text, dtype in BY_PTO.items():
        assert parse_type(text) == ScalarType(dtype)
        assert parse_type(f"!pto.ptr<{text}>") == PtrType(dtype)
        assert parse_type(f"!pto.partition_tensor_view<2x?x{text}>") == PartitionViewType((2, None), dtype)
        tile = parse_type(f"!pto.tile_buf<vec, 8x16x{text}>")
        assert isinstance(tile, TileBufType) and tile.dtype == dtype
    assert parse_type("!pto.pipe") == OpaqueType("pipe")


@pytest.mark.parametrize("name", ["declare_local_array", "local_array_get", "local_array_set", "declare_struct",
                                  "struct_get", "struct_set"])
def test_private_arrays_and_structs_are_read_and_judged_by_no_rule(name: str) -> None:
    assert not TABLE[f"pto.{name}"].modelled


@pytest.mark.parametrize("attrs", ["", " {pto.group = 3 : i64}"])
def test_a_region_keeps_the_attributes_behind_it(attrs: str) -> None:
    text = f"module {{\n  func.func @f() {{\n    pto.fusion_region {{\n    }}{attrs}\n    return\n  }}\n}}\n"
    module = read(text)
    body = module.funcs[0].body
    assert body is not None and bool(body.ops[0].attrs) is bool(attrs)
    assert read(write(module)) == module
