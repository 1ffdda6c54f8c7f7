"""Regions of several blocks, modules within modules, attributes of arguments and nested attributes."""

from __future__ import annotations

import pytest

from pypto_verified.errors import NotModelled, ParseError
from pypto_verified.pto.module import DictAttr, IntArray, Module
from pypto_verified.pto.reader import read
from pypto_verified.pto.walk import walk_ops
from pypto_verified.pto.writer import write

BRANCHES = """\
func.func @f(%c: i1, %n: index) -> index {
  cf.cond_br %c, ^early, ^late(%n : index)
^early:
  return %n : index
^late(%m: index):
  %k = arith.addi %m, %n : index
  cf.br ^last(%k, %m : index, index) {hint = 1 : i32}
^last(%x: index, %y: index):
  return %x : index
}
"""
NESTED = """\
module attributes {pto.target_arch = "a5"} {
  module @left attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    func.func @f() {
      return
    }
  }
  module attributes {pto.target_arch = "a3"} {
    func.func @f() {
      return
    }
  }
}
"""


def same(module: Module) -> None:
    assert read(write(module)) == module
    assert read(write(module, short=True)) == module


def refused(text: str) -> str:
    with pytest.raises(ParseError) as caught:
        read(text)
    return caught.value.message


def test_blocks_of_a_function_are_read_in_text_order() -> None:
    module = read(BRANCHES)
    body = module.funcs[0].body
    assert body is not None
    assert [b.label for b in (body, *body.followers)] == ["", "early", "late", "last"]
    assert [[a.name for a in b.args] for b in body.followers] == [[], ["m"], ["x", "y"]]
    branch = body.ops[-1]
    assert branch.attrs == {"true_dest": "early", "false_dest": "late"}
    assert [v.name for v in branch.args["false_operands"]] == ["n"]
    assert "true_operands" not in branch.args
    same(module)


def test_every_block_is_walked() -> None:
    assert [op.name for op in walk_ops(read(BRANCHES).funcs[0])] == [
        "cf.cond_br", "func.return", "arith.addi", "cf.br", "func.return"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("cf.cond_br %c, ^early,", "cf.cond_br %c, ^nowhere,", "no block ^nowhere in this region"),
        ("^late(%m: index):", "^early(%m: index):", "the label ^early is given twice"),
        ("^late(%n : index)", "^late", "hands on other types than ^late takes"),
        ("  return %n : index\n", "", "must end in a terminator"),
        ("return %x : index", "return", "returns nothing"),
        ("cf.cond_br %c,", "cf.cond_br %n,", "%n is index"),
        ("  cf.br ^last", "  return %n : index\n  cf.br ^last", "no op may follow func.return"),
    ],
)
def test_wrong_branches_are_refused(old: str, new: str, message: str) -> None:
    assert old in BRANCHES
    assert message in refused(BRANCHES.replace(old, new))


def test_what_is_returned_is_named_as_the_assembler_names_it() -> None:
    tile = ("!pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=16, v_row=8, v_col=16, blayout=row_major, "
            "slayout=none_box, fractal=512, pad=0>")
    message = refused(f"func.func @f(%t: {tile}) {{\nreturn %t : {tile}\n}}")
    assert message == "@f returns !pto.tile_buf<vec, 8x16xf32>, its declaration differs"


def test_the_region_of_a_loop_has_one_block() -> None:
    text = "func.func @f(%n: index) {\nscf.for %i = %n to %n step %n {\ncf.br ^a\n^a:\nscf.yield\n}\nreturn\n}"
    assert refused(text) == "a region of scf.for has one block"


def test_a_branch_out_of_its_region_is_refused() -> None:
    text = ("func.func @f(%n: index, %c: i1) {\ncf.br ^a\n^a:\nscf.execute_region {\ncf.br ^a\n}\nreturn\n}")
    assert refused(text) == "no block ^a in this region that a branch may go to"


def test_execute_region_hands_on_what_it_yields() -> None:
    module = read("func.func @f(%n: index) {\n%r = scf.execute_region -> (index) {\nscf.yield %n : index\n}\nreturn\n}")
    body = module.funcs[0].body
    assert body is not None
    assert [r.name for r in body.ops[0].results] == ["r"]
    same(module)


def test_modules_within_a_module() -> None:
    module = read(NESTED)
    assert module.funcs == []
    assert [m.attrs.get("sym_name") for m in module.modules] == ["left", None]
    same(module)


def test_a_unit_takes_its_target_from_the_module_around_it() -> None:
    units = list(read(NESTED).units())
    assert [(u.arch, [f.name for f in u.funcs]) for u in units] == [("a5", ["f"]), ("a3", ["f"])]


def test_a_module_without_others_is_its_only_unit() -> None:
    module = read(BRANCHES)
    assert list(module.units()) == [module]


def test_several_modules_in_one_text() -> None:
    one = "module {\n  func.func @f() {\n    return\n  }\n}\n"
    module = read(one + one)
    assert len(module.modules) == 2
    assert write(module) == one + one
    same(module)


def test_symbols_of_another_module_are_not_visible() -> None:
    text = "module {\nmodule {\nfunc.func @g() {\nreturn\n}\n}\nfunc.func @f() {\ncall @g() : () -> ()\nreturn\n}\n}"
    assert refused(text) == "@g is not defined in this module"


def test_attributes_of_arguments() -> None:
    module = read("func.func private @f(%a: index, %b: i32 {pto.name = \"n\", pto.flag}, %c: i1 {})")
    assert module.funcs[0].arg_attrs == {1: {"pto.name": "n", "pto.flag": None}, 2: {}}
    same(module)


def test_dictionaries_and_integer_arrays_as_attributes() -> None:
    text = 'module attributes {a = [{id = 0 : i64, n = "x"}, {}], b = array<i64: 0, -512>, c = array<i32>} {\n}\n'
    module = read(text)
    assert module.attrs == {
        "a": (DictAttr({"id": 0, "n": "x"}), DictAttr({})), "b": IntArray("i64", (0, -512)), "c": IntArray("i32", ()),
    }
    same(module)
    assert read(text.replace("id = 0", "id = 1")) != module


def test_vectors_of_integers_are_constants() -> None:
    body = "func.func @f() {{\n%v = arith.constant dense<{}> : vector<4xi16>\nreturn\n}}"
    for values in ("[128, 64, 0, 65535]", "-1"):
        same(read(body.format(values)))
    assert "has 2 elements" in refused(body.format("[1, 2]"))
    assert "does not fit" in refused(body.format("65536"))
    with pytest.raises(NotModelled):
        read(body.format("[[1, 2], [3, 4]]"))
