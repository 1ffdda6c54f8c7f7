"""The generic form of whole modules says the same as the ops' own spelling."""

from __future__ import annotations

import pytest

from pypto_verified.dtypes import FP32
from pypto_verified.errors import NotModelled, ParseError
from pypto_verified.pto.reader import read
from pypto_verified.pto.types import PartitionViewType
from pypto_verified.pto.walk import walk_ops

TILE = "!pto.tile_buf<vec, 8x16xf32>"
OWN = f"""\
module attributes {{pto.target_arch = "a3"}} {{
  func.func private @g(%x: index) -> index attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    return %x : index
  }}
  func.func private @h(index)
  func.func @f(%n: index, %b: i1) {{
    %c = arith.constant 3 : i32
    %half = arith.constant 5.000000e-01 : f32
    %t = arith.constant true
    %r = scf.for %i = %n to %n step %n iter_args(%s = %n) -> (index) {{
      %k = func.call @g(%s) : (index) -> index
      scf.yield %k : index
    }}
    scf.if %b {{
      %tile = pto.alloc_tile : {TILE}
      pto.texp ins(%tile : {TILE}) outs(%tile : {TILE})
    }}
    %v = scf.if %b -> (index) {{
      scf.yield %n : index
    }} else {{
      scf.yield %r : index
    }}
    %w = scf.while (%a = %v) : (index) -> (index) {{
      scf.condition(%b) %a : index
    }} do {{
    ^bb0(%z: index):
      scf.yield %z : index
    }}
    pto.section.vector {{
    }}
    cf.cond_br %b, ^one(%n : index), ^two
  ^one(%m: index):
    cf.br ^two
  ^two:
    return
  }}
}}
"""
GENERIC = f"""\
"builtin.module"() ({{
  "func.func"() <{{function_type = (index) -> index, sym_name = "g", sym_visibility = "private"}}> ({{
  ^bb0(%x: index):
    "func.return"(%x) : (index) -> ()
  }}) {{pto.kernel_kind = #pto.kernel_kind<vector>}} : () -> ()
  "func.func"() <{{function_type = (index) -> (), sym_name = "h", sym_visibility = "private"}}> ({{
  }}) : () -> ()
  "func.func"() <{{function_type = (index, i1) -> (), sym_name = "f"}}> ({{
  ^bb0(%n: index, %b: i1):
    %c = "arith.constant"() <{{value = 3 : i32}}> : () -> i32
    %half = "arith.constant"() <{{value = 5.000000e-01 : f32}}> : () -> f32
    %t = "arith.constant"() <{{value = true}}> : () -> i1
    %r = "scf.for"(%n, %n, %n, %n) ({{
    ^bb0(%i: index, %s: index):
      %k = "func.call"(%s) <{{callee = @g}}> : (index) -> index
      "scf.yield"(%k) : (index) -> ()
    }}) : (index, index, index, index) -> index
    "scf.if"(%b) ({{
      %tile = "pto.alloc_tile"() : () -> {TILE}
      "pto.texp"(%tile, %tile) : ({TILE}, {TILE}) -> ()
      "scf.yield"() : () -> ()
    }}, {{
    }}) : (i1) -> ()
    %v = "scf.if"(%b) ({{
      "scf.yield"(%n) : (index) -> ()
    }}, {{
      "scf.yield"(%r) : (index) -> ()
    }}) : (i1) -> index
    %w = "scf.while"(%v) ({{
    ^bb0(%a: index):
      "scf.condition"(%b, %a) : (i1, index) -> ()
    }}, {{
    ^bb0(%z: index):
      "scf.yield"(%z) : (index) -> ()
    }}) : (index) -> index
    "pto.section.vector"() ({{
    }}) : () -> ()
    "cf.cond_br"(%b, %n)[^one, ^two] <{{operandSegmentSizes = array<i32: 1, 1, 0>}}> : (i1, index) -> ()
  ^one(%m: index):
    "cf.br"()[^two] : () -> ()
  ^two:
    "func.return"() : () -> ()
  }}) : () -> ()
}}) {{pto.target_arch = "a3"}} : () -> ()
"""


def test_a_whole_module() -> None:
    assert read(GENERIC) == read(OWN)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("^bb0(%n: index, %b: i1):", "^bb0(%n: index, %b: i32):", ""),
        ("^bb0(%i: index, %s: index):", "^bb0(%i: index, %s: i32):", ""),
        ("value = 3 : i32", "value = 3 : i64", "not of type i32"),
        ("value = 5.000000e-01 : f32", "value = 5 : f32", ""),
        ("array<i32: 1, 1, 0>", "array<i32: 1, 2, 0>", "needs operandSegmentSizes"),
        ("[^one, ^two]", "[^one]", "has 2 successors, found 1"),
        ("[^one, ^two]", "[^one, ^three]", "no block ^three"),
        ("[^one, ^two]", "[^one, two]", "expected the label of a block"),
        ("[^one, ^two]", "[^one, ^]", "expected the label of a block"),
        ("callee = @g", "callee = @nowhere", "@nowhere is not defined"),
        ("(%n, %n, %n, %n) (", "(%n, %n) (", ""),
        (', sym_name = "f"', "", "sym_name"),
        ('"scf.yield"(%k) : (index) -> ()', '"scf.yield"() : () -> ()', "must end in scf.yield of index"),
        ("}) : (i1) -> index", "}, {\n}) : (i1) -> index", "has 2 regions, found 3"),
    ],
)
def test_what_does_not_fit_is_refused(old: str, new: str, message: str) -> None:
    assert old in GENERIC
    with pytest.raises(ParseError) as caught:
        read(GENERIC.replace(old, new))
    assert message in caught.value.message


def test_the_one_block_of_an_execute_region_yields_its_results() -> None:
    text = ('"builtin.module"() ({{\n  "func.func"() <{{function_type = (index) -> (), sym_name = "f"}}> ({{\n'
            '  ^bb0(%n: index):\n    %r = "scf.execute_region"() ({{\n      "scf.yield"({}) : ({}) -> ()\n'
            '    }}) : () -> index\n    "func.return"() : () -> ()\n  }}) : () -> ()\n}}) : () -> ()\n')
    body = read(text.format("%n", "index")).funcs[0].body
    assert body is not None and body.ops[0].name == "scf.execute_region"
    with pytest.raises(ParseError) as caught:
        read(text.format("", ""))
    assert "must end in scf.yield of index" in caught.value.message


@pytest.mark.parametrize("head", [
    '"builtin.module"() <{{sym_name = "m", pto.target_arch = "a5"}}> ({{\n{}}}) : () -> ()\n',
    '"builtin.module"() <{{sym_name = "m"}}> ({{\n{}}}) {{pto.target_arch = "a5"}} : () -> ()\n',
    '"builtin.module"() ({{\n^bb0:\n{}}}) {{pto.target_arch = "a5", sym_name = "m"}} : () -> () loc("a.py":1:1)\n',
])
def test_a_module_has_its_properties_in_front_or_behind(head: str) -> None:
    own = read('module @m attributes {pto.target_arch = "a5"} {\n  func.func @f() {\n    return\n  }\n}\n')
    func = ('  "func.func"() <{function_type = () -> (), sym_name = "f"}> ({\n    "func.return"() : () -> ()\n'
            "  }) : () -> ()\n")
    assert read(head.format(func)) == own
    broken = head.replace("}}> (", "}} (")
    if broken != head:
        with pytest.raises(ParseError, match="expected '>'"):
            read(broken.format(func))


def _generic(*lines: str) -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return ('"builtin.module"() ({\n  "func.func"() <{function_type = (index, i1) -> (), sym_name = "f"}> ({\n'
            f'  ^bb0(%n: index, %b: i1):\n{body}    "func.return"() : () -> ()\n  }}) : () -> ()\n}}) : () -> ()\n')


ALLOC = f'"pto.alloc_tile"({{}}) <{{{{operandSegmentSizes = array<i32: {{}}>}}}}> : ({{}}) -> {TILE}'


def test_a_number_in_generic_form_is_one_for_an_op_that_leaves_its_type_out() -> None:
    module = read("""
      func.func @f(%p: !pto.ptr<f32>) {
        %c = "arith.constant"() <{value = 3 : index}> : () -> index
        %v = pto.make_tensor_view %p, shape = [%c, %c], strides = [%c, %c] : !pto.tensor_view<?x?xf32>
        %w = pto.partition_view %v, offsets = [%c, %c], sizes = [%c, %c] : !pto.tensor_view<?x?xf32>
        return
      }""")
    (window,) = (op for op in walk_ops(module.funcs[0]) if op.name == "pto.partition_view")
    assert window.result.type == PartitionViewType((3, 3), FP32)


@pytest.mark.parametrize(("line", "message"), [
    ('"func.call"() : () -> ()', "func.call needs a callee"),
    ('"scf.for"(%n, %n, %n) ({\n^bb0:\n  "scf.yield"() : () -> ()\n}) : (index, index, index) -> ()',
     "the first region of scf.for takes other arguments than the op hands it"),
    ('"scf.while"(%n) ({\n^bb0(%a: index):\n  "scf.condition"(%b, %a) : (i1, index) -> ()\n}, {\n^bb0:\n'
     '  "scf.yield"(%n) : (index) -> ()\n}) : (index) -> index', "the arguments of the loop body differ"),
    ('"cf.br"(%n, %n) : (index, index) -> ()', "cf.br has 1 successors, found 0"),
    ('"scf.if"(%b, %n) ({\n  "scf.yield"() : () -> ()\n}, {\n}) : (i1, index) -> ()', "scf.if has 1 operands, found 2"),
    (f'%c = "arith.constant"() <{{value = 3 : i32}}> : () -> {TILE}', "not modelled: a constant"),
    (f"%t = {ALLOC.format('', '0, 0', '')}", "pto.alloc_tile needs 3 operandSegmentSizes"),
    (f"%t = {ALLOC.format('%n', '0, 1, 1', 'index')}", "operandSegmentSizes counts 2 operands, there are 1"),
    (f"%t = {ALLOC.format('%n, %n', '0, 1, 0', 'index, index')}", "operandSegmentSizes counts 1 operands, there are 2"),
    (f"%t = {ALLOC.format('%n, %n', '0, 2, 0', 'index, index')}", "cannot have 2 values"),
    (f"%t = {ALLOC.format('', '0, -1, 1', '')}", "expected array<i32: ...>"),
    ('"scf.yield"(%n) : () -> ()', "1 operands, but 0 types are written"),
])
def test_an_op_in_generic_form_that_does_not_fit(line: str, message: str) -> None:
    with pytest.raises((ParseError, NotModelled)) as caught:
        read(_generic(line))
    assert message in str(caught.value)


def test_operands_that_are_left_out_are_counted_as_none() -> None:
    made = read(_generic(f"%t = {ALLOC.format('%n, %n', '0, 1, 1', 'index, index')}"))
    (alloc, _) = made.funcs[0].body.ops  # type: ignore[union-attr]  # it has one
    assert list(alloc.args) == ["valid_row", "valid_col"]
