"""`diff` tells what two texts of a kernel differ in, and nothing else."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from pypto_verified.cli import main
from pypto_verified.module_diff import compare
from pypto_verified.pto.reader import read

TILE = "!pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=16, v_row=8, v_col=16, blayout=row_major, " \
       "slayout=none_box, fractal=512, pad=0>"
TEXT = f"""\
module attributes {{pto.target_arch = "a3"}} {{
  func.func @f(%p: !pto.ptr<f32>, %n: index) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a0 = arith.constant 0 : i64
    %a1 = arith.constant 512 : i64
    %m = arith.addi %n, %c1 : index
    %x = pto.alloc_tile addr = %a0 : {TILE}
    %y = pto.alloc_tile addr = %a1 : {TILE}
    scf.for %i = %c0 to %m step %c1 {{
      pto.texp ins(%x : {TILE}) outs(%y : {TILE})
      pto.set_flag [#pto.pipe<PIPE_V>, #pto.pipe<PIPE_MTE3>, #pto.event<EVENT_ID0>]
    }}
    return
  }}
}}
"""


def kinds(old: str, new: str) -> list[tuple[str, str]]:
    assert old in TEXT
    return [(c.kind, c.text) for c in compare(read(TEXT), read(TEXT.replace(old, new)))]


def test_a_text_does_not_differ_from_itself() -> None:
    assert compare(read(TEXT), read(TEXT)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("%x", "%other"),
        ("%i =", "%j ="),
        ("    return", "    // a comment\n    return"),
        ("%a0 = arith.constant 0 : i64\n", "%a0 = arith.constant 0 : i64\n    %unused = arith.constant 7 : i64\n"),
        (TILE, "!pto.tile_buf<vec, 8x16xf32>"),
        ("%m = arith.addi %n, %c1", "%k = arith.constant 1 : index\n    %m = arith.addi %n, %k"),
    ],
)
def test_names_comments_spelling_and_order_of_constants_do_not_count(old: str, new: str) -> None:
    assert kinds(old, new) == []


def test_an_address() -> None:
    assert kinds("constant 512 :", "constant 1024 :") == [
        ("address", "%y = pto.alloc_tile: addr 512 becomes 1024")]


def test_an_op_that_is_gone_and_one_that_is_new() -> None:
    line = f"      pto.texp ins(%x : {TILE}) outs(%y : {TILE})\n"
    assert kinds(line, "") == [("op", "pto.texp is gone")]
    assert kinds(line, line + line.replace("texp", "tlog")) == [("op", "pto.tlog is new")]


def test_an_operand_and_a_bound() -> None:
    assert kinds("texp ins(%x", "texp ins(%y") == [("operand", "pto.texp: src %x becomes %y")]
    assert kinds("arith.addi %n", "arith.subi %n") == [
        ("operand", "scf.for: upper addi(argument 1, 1) becomes subi(argument 1, 1)")]


def test_sync_is_its_own_kind() -> None:
    found = kinds("EVENT_ID0", "EVENT_ID1")
    assert [kind for kind, _ in found] == ["sync"]
    line = "      pto.set_flag [#pto.pipe<PIPE_V>, #pto.pipe<PIPE_MTE3>, #pto.event<EVENT_ID0>]\n"
    assert [kind for kind, _ in kinds(line, "")] == ["sync"]


def test_a_valid_shape_and_a_type() -> None:
    text = TEXT.replace("v_row=8", "v_row=4")
    valid = compare(read(TEXT), read(text))
    assert {c.kind for c in valid} == {"valid"}
    assert valid[0].text == "%x = pto.alloc_tile: valid shape 8x16 becomes 4x16"
    assert {c.kind for c in compare(read(TEXT), read(TEXT.replace("f32, rows", "i32, rows")))} == {"type"}


def test_functions_and_attributes() -> None:
    assert kinds("<vector>", "<cube>")[0][0] == "attribute"
    renamed = compare(read(TEXT), read(TEXT.replace("@f", "@g")))
    assert [(c.kind, c.function, c.text) for c in renamed] == [("function", "f", "gone"), ("function", "g", "new")]


def test_lines_are_those_of_both_texts() -> None:
    (change,) = compare(read(TEXT), read("\n\n" + TEXT.replace("constant 512 :", "constant 1024 :")))
    assert (change.line_a, change.line_b) == (9, 11)


def test_the_command_tells_the_verdicts_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = tmp_path / "a.pto", tmp_path / "b.pto"
    old.write_text(TEXT)
    new.write_text(TEXT.replace("constant 512 :", "constant 16 :"))
    assert main(["diff", str(old), str(old)]) == 0
    assert capsys.readouterr().out == "no differences\n"
    assert main(["diff", str(old), str(new)]) == 1
    out = capsys.readouterr().out
    assert "addr 512 becomes 16" in out and "now REFUTED" in out
    assert main(["diff", str(old), str(new), "--no-verdicts"]) == 1
    assert "REFUTED" not in capsys.readouterr().out
    assert main(["diff", str(old), str(tmp_path / "none.pto")]) == 2


def changed(old: str, new: str) -> list[tuple[str, str]]:
    """What two bodies, put before the `return` of the text, differ in."""
    return [(c.kind, c.text) for c in compare(*(read(TEXT.replace("    return\n", f"{body}    return\n"))
                                                for body in (old, new)))]


LOG = f"pto.tlog ins(%x : {TILE}) outs(%y : {TILE})\n"
ABOVE = "%above = arith.cmpi sgt, %n, %c1 : index\n"


def test_an_op_that_moves_to_the_other_branch() -> None:
    text = ABOVE + "scf.if %above {{\n{}}} else {{\n{}}}\n"
    assert changed(text.format(LOG, ""), text.format("", LOG)) == [
        ("op", "pto.tlog is gone"), ("op", "pto.tlog is new")]


@pytest.mark.parametrize(
    "made",
    [
        "%s = pto.load_scalar %p[%c0] : !pto.ptr<f32> -> f32\n",
        f"%s = pto.tgetval ins(%x, %c0 : {TILE}, index) outs : f32\n",
    ],
)
def test_which_of_two_reads_an_op_takes(made: str) -> None:
    both = made + f"pto.texp ins(%x : {TILE}) outs(%x : {TILE})\n" + made.replace("%s", "%t")
    use = f"pto.tadds ins(%x, %s : {TILE}, f32) outs(%y : {TILE})\n"
    (found,) = changed(both + use, both + use.replace("%s", "%t"))
    assert found[0] == "operand" and found[1].startswith("pto.tadds: scalar %s of line ")
    assert changed(both + use, (both + use).replace("%s", "%other")) == []


def test_a_value_cut_to_another_width() -> None:
    text = "%wide = arith.index_cast %n : index to i64\n%cut = arith.trunci %wide : i64 to {0}\n" \
           "%back = arith.extsi %cut : {0} to i64\n" \
           f"%z = pto.alloc_tile addr = %back : {TILE}\n"
    ((kind, found),) = changed(text.format("i32"), text.format("i16"))
    assert kind == "address" and "to i32" in found and "to i16" in found


def test_what_only_the_arithmetic_says() -> None:
    text = "%next = arith.addi %n, %c1{} : index\nscf.for %j = %c0 to %next step %c1 {{\n" + LOG + "}}\n"
    assert [kind for kind, _ in changed(text.format(""), text.format(" overflow<nsw>"))] == ["operand"]


def test_a_scalar_operand_of_another_type() -> None:
    text = "%s = arith.constant 1 : {0}\n" f"pto.tadds ins(%x, %s : {TILE}, {{0}}) outs(%y : {TILE})\n"
    assert changed(text.format("i16"), text.format("i32")) == [("type", "pto.tadds: scalar of i16 becomes i32")]


def test_the_chip_and_what_the_arguments_are() -> None:
    assert kinds('"a3"', '"a5"') == [("attribute", '{pto.target_arch = "a3"} becomes {pto.target_arch = "a5"}')]
    assert kinds("%p: !pto.ptr<f32>", "%p: !pto.ptr<f32> {pto.x = 1 : i32}") == [
        ("attribute", "argument 0: {} becomes {pto.x = 1 : i32}")]


def test_functions_of_one_name_in_two_modules() -> None:
    other = TEXT.replace("texp", "tlog")
    (gone, new) = compare(*(read(f"module {{\n{first}{TEXT}}}\n") for first in (TEXT, other)))
    assert (gone.text, new.text) == ("pto.texp is gone", "pto.tlog is new")
    assert [c.function for c in compare(*(read(f"module {{\n{TEXT}{last}}}\n") for last in (TEXT, other)))] == [
        "f (2)", "f (2)"]


def test_a_tile_of_the_same_name_from_another_op_is_told_so() -> None:
    use = f"pto.texp ins(%w : {TILE}) outs(%y : {TILE})\n"
    made = f"%w = pto.alloc_tile addr = %a1 : {TILE}\n"
    (first, second, third) = changed(made + use, f"%w = pto.treshape %x : {TILE} -> {TILE}\n" + use)
    assert (first, second) == (("op", "%w = pto.alloc_tile is gone"), ("op", "%w = pto.treshape is new"))
    assert third == ("operand", "pto.texp: src %w becomes %w, another value")


def test_a_long_text_of_ops_that_look_alike_takes_no_square() -> None:
    many = LOG * 4000
    begin = time.perf_counter()
    assert changed(many + LOG, many) == [("op", "pto.tlog is gone")]
    assert time.perf_counter() - begin < 5
