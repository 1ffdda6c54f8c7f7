"""The generic form of whole modules says the same as the ops' own spelling."""

from __future__ import annotations

import pytest

from pypto_verified.errors import ParseError
from pypto_verified.pto.reader import read

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
