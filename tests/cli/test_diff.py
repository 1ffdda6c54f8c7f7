"""`diff` tells what two texts of a kernel differ in, and nothing else."""

from __future__ import annotations

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
