"""What the reader accepts, what it makes of it, and what it says when it refuses."""

from __future__ import annotations

import time

import pytest

from pypto_verified.dtypes import BY_PTO, FP16, FP32
from pypto_verified.errors import InputError, Location, NotModelled, ParseError
from pypto_verified.layouts import BLayout, Compact, Pad, SLayout, Space
from pypto_verified.pto.lexer import MAX_BYTES, MAX_NESTING
from pypto_verified.pto.module import EnumAttr, Module, Op, Symbol
from pypto_verified.pto.reader import read
from pypto_verified.pto.types import MultiTileBufType, TileBufType
from pypto_verified.pto.typetext import TypeTextError, parse_type, type_text
from pypto_verified.pto.walk import walk_ops
from pypto_verified.pto.writer import write

from .samples import CONTROL, LOAD_ADD_STORE, PIPES, SAMPLES, SECTIONS

TILE = "!pto.tile_buf<vec, 8x16xf32>"


def body(*lines: str, args: str = f"%t: {TILE}, %n: index, %f: f32") -> str:
    return f"func.func @f({args}) {{\n" + "\n".join(lines) + "\nreturn\n}\n"


def ops(module: Module) -> list[Op]:
    return [op for func in module.funcs for op in walk_ops(func)]


def refused(text: str) -> ParseError:
    with pytest.raises(ParseError) as caught:
        read(text, "f.pto")
    return caught.value


@pytest.mark.parametrize("text", SAMPLES)
def test_written_module_reads_back_in_both_spellings(text: str) -> None:
    module = read(text)
    assert read(write(module)) == module
    assert read(write(module, short=True)) == module


@pytest.mark.parametrize("text", SAMPLES)
def test_writing_is_a_fixed_point(text: str) -> None:
    once = write(read(text))
    assert write(read(once)) == once


def test_operands_and_attributes_are_parsed() -> None:
    found = {op.name: op for op in ops(read(LOAD_ADD_STORE))}
    muls = found["pto.tmuls"]
    assert (muls.arg("src0").name, muls.arg("scalar").name, muls.arg("dst").name) == ("t", "half", "t")
    assert found["pto.tcvt"].attrs == {"rmode": EnumAttr("round_mode", "RINT")}
    assert found["pto.make_tensor_view"].attrs == {}
    view = found["pto.partition_view"]
    assert [v.name for v in view.args["offsets"]] == ["i", "c0"]
    assert found["pto.tstore"].line == 21


def test_the_users_places_are_kept() -> None:
    found = {op.name: op.loc for op in ops(read(LOAD_ADD_STORE))}
    assert found["pto.alloc_tile"] == Location("k.py", 4, 5)
    assert found["scf.for"] == Location("k.py", 5, 9)
    assert found["pto.tload"] == Location()
    without = write(read(LOAD_ADD_STORE), locs=False)
    assert "loc" not in without.replace("loc=vec", "").replace("alloc", "")


@pytest.mark.parametrize(("loc", "place"), [
    ('loc("a.py":3:7)', Location("a.py", 3, 7)),
    ("loc(unknown)", Location()),
    ('loc("name")', Location()),
    ('loc("name"("a.py":3:7))', Location("a.py", 3, 7)),
    ('loc(fused["x", "a.py":3:7, "b.py":1:1])', Location("a.py", 3, 7)),
    ('loc(callsite("a.py":3:7 at "b.py":1:1))', Location("a.py", 3, 7)),
    ('loc(callsite("inlined" at "b.py":1:2))', Location("b.py", 1, 2)),
    ("loc(#loc1)", Location("a.py", 3, 7)),
])
def test_location_forms(loc: str, place: Location) -> None:
    text = body(f"%c = arith.constant 1 : index {loc}") + '#loc1 = loc("a.py":3:7)\n'
    assert ops(read(text))[0].loc == place


def test_an_alias_of_a_location_may_have_any_name_and_stand_anywhere() -> None:
    text = body("%c = arith.constant 1 : index loc(#place)")
    for whole in (text + '#place = loc("a.py":3:7)\n', '#place = loc("a.py":3:7)\n' + text):
        assert ops(read(whole))[0].loc == Location("a.py", 3, 7)


def test_aliases_that_name_each_other_twice_are_followed_once() -> None:
    """Followed at each use, fifteen of them lead to 32,768 places."""
    chain = "".join(f"#loc{i + 1} = loc(fused[#loc{i}, #loc{i}])\n" for i in range(15))
    uses = [f"%c{i} = arith.constant {i} : index loc(#loc15)" for i in range(20)]
    begin = time.perf_counter()
    found = read('#loc0 = loc("a.py":3:7)\n' + chain + body(*uses))
    assert time.perf_counter() - begin < 2
    assert {op.loc for op in ops(found)[:20]} == {Location("a.py", 3, 7)}


def test_control_flow_has_its_values_in_place() -> None:
    found = {op.name: op for op in ops(read(CONTROL))}
    loop = found["scf.for"]
    assert [v.name for v in loop.results] == ["sum#0", "sum#1"]
    assert [v.name for v in loop.regions[0].args] == ["i", "s", "k"]
    assert [v.name for v in loop.args["init"]] == ["z", "c0"]
    assert [v.name for v in found["scf.while"].regions[1].args] == ["y"]
    assert found["func.call"].attrs == {"callee": Symbol("helper")}
    assert found["arith.cmpi"].attrs["predicate"] in ("slt", "sgt")
    assert read(CONTROL).funcs[0].body is None


def test_an_empty_yield_is_not_stored() -> None:
    bare = body("scf.if %b {", "}", args="%b: i1")
    assert read(body("scf.if %b {", "scf.yield", "}", args="%b: i1")) == read(bare)


def test_sections_and_the_generic_form() -> None:
    add = next(op for op in ops(read(SECTIONS)) if op.name == "pto.tadd")
    assert {name: values[0].name for name, values in add.args.items()} == {"src0": "t", "src1": "t", "dst": "t"}


V = "!pto.partition_tensor_view<8x16xf32>"
SCALE = "!pto.tile_buf<scaling, 1x16xf32>"


@pytest.mark.parametrize(("generic", "own"), [
    (f'"pto.tload"(%v, %t) : ({V}, {TILE}) -> ()', f"pto.tload ins(%v : {V}) outs(%t : {TILE})"),
    (f'"pto.tsetval"(%t, %n, %f) : ({TILE}, index, f32) -> ()',
     f"pto.tsetval ins(%n, %f : index, f32) outs(%t : {TILE})"),
    (f'"pto.tmov"(%t, %t, %s) <{{operandSegmentSizes = array<i32: 1, 1, 1, 0>}}> : ({TILE}, {TILE}, {SCALE}) -> ()',
     f"pto.tmov ins(%t : {TILE}, %s : {SCALE}) outs(%t : {TILE})"),
    ('%x = "pto.get_block_idx"() : () -> i64', "%x = pto.get_block_idx"),
    ('%x = "arith.addi"(%n, %n) : (index, index) -> index', "%x = arith.addi %n, %n : index"),
    (f'"pto.tcvt"(%t, %t) {{rmode = #pto<round_mode RINT>}} : ({TILE}, {TILE}) -> ()',
     f"pto.tcvt ins(%t {{rmode = #pto<round_mode RINT>}} : {TILE}) outs(%t : {TILE})"),
])
def test_the_generic_form_says_the_same(generic: str, own: str) -> None:
    args = f"%t: {TILE}, %v: {V}, %s: {SCALE}, %n: index, %f: f32"
    assert read(body(generic, args=args)) == read(body(own, args=args))


def test_pipes_have_typed_clauses() -> None:
    found = {op.name: op for op in ops(read(PIPES))}
    init = found["pto.aic_initialize_pipe"]
    assert init.attrs == {"id": 0, "dir_mask": 1, "slot_size": 1024, "slot_num": 2}
    assert list(init.args) == ["gm_slot_buffer", "c2v_consumer_buf", "v2c_consumer_buf"]
    assert found["pto.set_flag"].attrs["src_pipe"] == EnumAttr("pipe", "PIPE_M")
    assert found["pto.subview"].attrs == {"sizes": (4, 8)}
    assert found["pto.subview"].result.type == TileBufType(Space.VEC, FP32, 4, 8, 4, 8)


@pytest.mark.parametrize("spelling", ['<PIPE_V>', '"PIPE_V"', '#pto.pipe<PIPE_V>', '#pto<pipe PIPE_V>'])
def test_a_pipe_has_four_spellings(spelling: str) -> None:
    text = body(f"pto.set_flag[{spelling}, <PIPE_M>, <EVENT_ID3>]")
    assert ops(read(text))[0].attrs["src_pipe"] == EnumAttr("pipe", "PIPE_V")


def test_both_tile_spellings_are_one_interned_type() -> None:
    long = parse_type("!pto.tile_buf<loc=acc, dtype=f16, rows=32, cols=64, v_row=?, v_col=60, blayout=col_major, "
                      "slayout=row_major, fractal=1024, pad=2, compact=1>")
    short = parse_type("!pto.tile_buf<acc, 32x64xf16, compact=1, valid=?x60, pad=2, fractal=1024, slayout=row_major, "
                       "blayout=col_major>")
    assert long is short
    assert long == TileBufType(Space.ACC, FP16, 32, 64, None, 60, BLayout.COL, SLayout.ROW, 1024, Pad.MAX,
        Compact.NORMAL)


def test_the_short_spelling_leaves_defaults_out() -> None:
    assert type_text(parse_type(TILE), short=True) == TILE
    assert type_text(parse_type(TILE)) == (
        "!pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=16, v_row=8, v_col=16, blayout=row_major, slayout=none_box, "
        "fractal=512, pad=0>"
    )


def test_slots_are_read_in_both_spellings() -> None:
    found = parse_type("!pto.multi_tile_buf<vec, 8x16xf32, count=3>")
    assert found == MultiTileBufType(TileBufType(Space.VEC, FP32, 8, 16, 8, 16), 3)
    assert found is parse_type("!pto.multi_tile_buf<!pto.tile_buf<vec, 8x16xf32>, count = 3>")


@pytest.mark.parametrize(("text", "why"), [
    ("!pto.tile_buf<vec, 8x16xf32, valid=9x16>", "v_row is 9, more than the 8"),
    ("!pto.tile_buf<vec, 0x16xf32>", "positive"),
    ("!pto.tile_buf<gm, 8x16xf32>", "cannot live in gm"),
    ("!pto.tile_buf<vec, 8x16xf32, pad=4>", "unknown pad 4"),
    ("!pto.tile_buf<vec, 8x16xf32, fractal=256>", "fractal is 256"),
    ("!pto.tile_buf<vec, 8x16xf32, pad=1, pad=1>", "stands twice"),
    ("!pto.tile_buf<vec, 8x16xq7>", "unknown element type"),
    ("!pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=16>", "fields"),
    ("!pto.multi_tile_buf<vec, 8x16xf32, count=17>", "17 slots"),
    ("!pto.ptr<f32, moon>", "unknown memory space"),
    ("!pto.struct<i32, i1>", "cannot hold 'i1'"),
    ("!pto.local_array<4x0xf32>", "positive"),
    ("f33x", "unknown type"),
])
def test_wrong_types_say_what_is_wrong(text: str, why: str) -> None:
    with pytest.raises(TypeTextError, match=why):
        parse_type(text)


@pytest.mark.parametrize(("line", "why"), [
    ("pto.tadd ins(%t, %u : {T}, {T}) outs(%t : {T})", "%u is not defined"),
    ("%n = arith.constant 0 : index", "%n is defined twice"),
    ("pto.tadd ins(%t, %t : {T}, !pto.tile_buf<vec, 8x16xf16>) outs(%t : {T})", "f32> where it is defined"),
    ("pto.tadd ins(%t : {T}) outs(%t : {T})", "needs the operands src0, src1"),
    ("pto.tadd ins(%t, %t, %t : {T}, {T}, {T}) outs(%t : {T})", "takes 2 operands"),
    ("pto.tadd ins(%t, %f : {T}, f32) outs(%t : {T})", "'src1' must be a tile"),
    ("%r = pto.tadd ins(%t, %t : {T}, {T}) outs(%t : {T})", "has 0 results, 1 are named"),
    ("pto.taddd ins(%t, %t : {T}, {T}) outs(%t : {T})", "unknown op 'pto.taddd'"),
    ("pto.tcvt ins(%t {{rmode = #pto<round_mode UP>}} : {T}) outs(%t : {T})", "'UP' is no member of round_mode"),
    ("pto.tcvt ins(%t {{rmode = #pto<cmp eq>}} : {T}) outs(%t : {T})", "expected an attribute of kind round_mode"),
    ("pto.tcvt ins(%t {{rmode = #pto<round_mode RINT>, rmode = #pto<round_mode RINT>}} : {T}) outs(%t : {T})", "twice"),
    ("%c = arith.constant 300 : i8", "300 does not fit into i8"),
    ("%c = arith.constant 1 : f32", "decimal point"),
    ("scf.for %i = %n to %f step %n {{", "%f is f32 where it is defined"),
    ("func.call @nobody(%n) : (index) -> ()", "@nobody is not defined"),
    ("return", "no op may follow func.return"),
])
def test_errors_name_the_place_and_the_cause(line: str, why: str) -> None:
    error = refused(body("%one = arith.constant 1 : index", line.format(T=TILE)))
    assert why in error.message
    assert error.location.file == "f.pto" and error.location.line >= 3 and error.location.column >= 1
    assert error.source_line


def test_a_value_of_a_region_is_gone_after_it() -> None:
    text = body("scf.if %b {", "%x = arith.constant 1 : index", "}", "%y = arith.addi %x, %x : index", args="%b: i1")
    assert "%x is not defined" in refused(text).message


def test_siblings_may_use_the_same_name() -> None:
    branch = ("scf.if %b {", "%x = arith.constant 1 : index", "}")
    read(body(*branch, *branch, args="%b: i1"))


@pytest.mark.parametrize(
    "op", ["pto.vadd", "pto.vmi.addf", "pto.ub.vadd", "memref.alloc", "cf.switch %n : index", "vector.load"])
def test_what_lies_below_the_tile_level_is_not_modelled(op: str) -> None:
    with pytest.raises(NotModelled):
        read(body(op))


def test_unknown_op_suggests_a_known_one() -> None:
    assert "pto.tadd" in refused(body("pto.taddx")).help


def test_bits_of_a_float_are_that_float() -> None:
    text = body("%i = arith.constant 0x7F800000 : f32", "%h = arith.constant 0x3C00 : f16",
        "%b = arith.constant 0x3F80 : bf16")
    assert [op.attrs["value"] for op in ops(read(text))[:3]] == [float("inf"), 1.0, 1.0]
    assert read(write(read(text))) == read(text)


def test_every_float_survives() -> None:
    for value in (0.1, -0.0, 1e-45, 3.4028234663852886e38, 1e300):
        text = body(f"%x = arith.constant {value:.17e} : f64")
        assert read(write(read(text))) == read(text)
    zero, negative = (read(body(f"%x = arith.constant {text} : f32")) for text in ("0.0", "-0.0"))
    assert zero != negative


def test_satmode_is_the_old_name_of_sat_mode() -> None:
    old, new = (
        read(body(f"pto.tcvt ins(%t {{{name} = #pto<saturation_mode ON>}} : {TILE}) outs(%t : {TILE})"))
        for name in ("satmode", "sat_mode")
    )
    assert old == new


def test_a_scalar_divided_by_a_tile_is_not_a_tile_divided_by_a_scalar() -> None:
    by_scalar = read(body(f"pto.tdivs ins(%t, %f : {TILE}, f32) outs(%t : {TILE})"))
    by_tile = read(body(f"pto.tdivs ins(%f, %t : f32, {TILE}) outs(%t : {TILE})"))
    assert by_scalar != by_tile
    assert list(ops(by_tile)[0].args) == ["scalar", "divisor", "dst"]


def test_type_aliases() -> None:
    text = "!row = !pto.tile_buf<vec, 8x16xf32>\n" + body("pto.tabs ins(%t : !row) outs(%t : !row)")
    assert ops(read(text))[0].arg("src").type == parse_type(TILE)


def test_too_large_a_text_is_refused_before_it_is_read() -> None:
    begin = time.perf_counter()
    with pytest.raises(InputError, match="more than the limit"):
        read(" " * (MAX_BYTES + 1))
    assert time.perf_counter() - begin < 1.0


def test_binary_is_refused() -> None:
    with pytest.raises(InputError, match="NUL"):
        read("PTOBC\0\1\2")


def test_deep_nesting_is_an_error_of_the_text() -> None:
    deep = MAX_NESTING + 1
    assert "nest deeper" in refused(body(*["scf.if %b {"] * deep, *["}"] * deep, args="%b: i1")).message
    limit = MAX_NESTING - 5
    read(body(*["scf.if %b {"] * limit, *["}"] * limit, args="%b: i1"))
    assert "nest deeper" in refused(body(f"pto.trap {{x = {'[' * 100}{']' * 100}}}")).message
    assert "nest deeper" in refused(body("pto.trap loc(" + 'fused[' * 100 + '"a"' + "]" * 100 + ")")).message
    assert "nest deeper" in refused(body("pto.trap loc(" + 'fused[loc(' * 100 + '"a"' + ")]" * 100 + ")")).message


@pytest.mark.parametrize("unit", ["!a<", "!a<b ", "%x = ", '"', "{", "/ ", "loc(", "#pto<", "1.", "\\", "@\""])
def test_junk_costs_linear_time(unit: str) -> None:
    begin = time.perf_counter()
    with pytest.raises(ParseError):
        read(unit * 200_000)
    assert time.perf_counter() - begin < 5.0


def test_many_ops_cost_linear_time() -> None:
    def seconds(count: int) -> float:
        text = body(*(f"%x{i} = arith.addi %n, %n : index" for i in range(count)))
        begin = time.process_time()  # other processes may take the machine meanwhile
        read(text)
        return time.process_time() - begin

    seconds(100)
    assert seconds(20_000) < 40 * max(seconds(2_000), 0.002)


def test_many_functions_cost_linear_time() -> None:
    begin = time.perf_counter()
    assert len(read("".join(f"func.func private @f{i}()\n" for i in range(50_000))).funcs) == 50_000
    assert time.perf_counter() - begin < 10.0


def test_element_types_are_those_of_the_foundation() -> None:
    assert all(type_text(parse_type(text)) == text for text in BY_PTO)
