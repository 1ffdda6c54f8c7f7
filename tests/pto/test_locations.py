"""Where a location may stand, and which place a composite one names."""

from __future__ import annotations

import re

import pytest

from pypto_verified.errors import Location, ParseError
from pypto_verified.pto.reader import read
from pypto_verified.pto.walk import walk_ops
from pypto_verified.pto.writer import write

EVERYWHERE = """
module {
  func.func private @g(index loc("a.py":1:1), i32) loc("a.py":1:2)
  func.func @f(%n: index loc("a.py":2:1), %m: index {pto.name = "m"} loc("a.py":2:2)) {
    %c = arith.constant 1 : index loc("a.py":3:1)
    %r = scf.for %i = %c to %n step %c iter_args(%x = %c) -> (index) {
      %y = arith.addi %x, %i : index loc("a.py":4:1)
      scf.yield %y : index loc("a.py":4:2)
    } loc("a.py":5:1)
    %w:2 = scf.while (%a = %c, %b = %n) : (index, index) -> (index, index) {
      %more = arith.cmpi slt, %a, %n : index loc("a.py":6:1)
      scf.condition(%more) %a, %b : index, index
    } do {
    ^bb0(%p: index loc("a.py":7:1), %q: index loc("a.py":7:2)):
      %s = arith.addi %p, %c : index
      scf.yield %s, %q : index, index
    } loc("a.py":8:1)
    cf.br ^end(%r : index) loc("a.py":9:1)
  ^end(%last: index loc("a.py":10:1)):
    return loc("a.py":11:1)
  } loc("a.py":12:1)
} loc("a.py":13:1)
"""


def test_locations_stand_behind_ops_arguments_regions_functions_and_modules() -> None:
    """Read with them or without, it is the same module."""
    module, bare = read(EVERYWHERE), read(re.sub(r' loc\("a.py":\d+:\d+\)', "", EVERYWHERE))
    assert write(module, locs=False) == write(bare, locs=False)
    places = {f"{op.loc.line}:{op.loc.column}" for func in module.funcs if func.body for op in walk_ops(func)}
    assert places == {"3:1", "4:1", "4:2", "5:1", "6:1", "8:1", "9:1", "11:1", "0:0"}
    assert [(f.loc.line, f.loc.column) for f in module.funcs] == [(1, 2), (12, 1)]


@pytest.mark.parametrize(("loc", "place"), [
    ('"a.py":3:7', Location("a.py", 3, 7)), ('"a.py":3', Location("a.py", 3, 0)),
    # a range begins where it begins
    ('"a.py":3:7 to 4:9', Location("a.py", 3, 7)), ('"a.py":3:7 to :9', Location("a.py", 3, 7)),
    ('fused["a.py":3:7 to :9, "b.py":1:1]', Location("a.py", 3, 7)),
    # parts may have a loc(...) of their own
    ('callsite(loc("a.py":3:7) at loc("b.py":1:1))', Location("a.py", 3, 7)),
    ('callsite(loc(unknown) at loc("b.py":1:2))', Location("b.py", 1, 2)),
    ('fused[loc(unknown), loc("a.py":3:7)]', Location("a.py", 3, 7)),
    ('"name"(loc("a.py":3:7))', Location("a.py", 3, 7)),
    # what a pass notes about a fusion is not a place
    ('fused<"pass">["a.py":3:7]', Location("a.py", 3, 7)), ('fused<{x = 1 : i32}>["a.py":3:7]', Location("a.py", 3, 7)),
    ("fused[]", Location()), ("fused[unknown, unknown]", Location()), ("callsite(unknown at unknown)", Location()),
    ("#later", Location("late.py", 9, 1)), ("fused[unknown, #later]", Location("late.py", 9, 1)),
    ("callsite(#nowhere at #later)", Location("late.py", 9, 1)),
])
def test_of_a_composite_location_the_first_place_counts(loc: str, place: Location) -> None:
    module = read(f"module {{\n  func.func @f() {{\n    pto.trap loc({loc})\n    return\n  }}\n}}\n"
                  '#later = loc("late.py":9:1)\n#nowhere = loc(unknown)\n')
    (trap, _) = walk_ops(module.funcs[0])
    assert trap.loc == place


@pytest.mark.parametrize(("loc", "message"), [
    ("#missing", "location .*#missing.* is not defined"), ('"a.py":3:7', "expected '\\)'"), ("fused<x", "expected '>'"),
    ('fused["a.py":1:1 "b.py":1:1]', "expected ','"), ('"a.py":3:7 to 4', "expected ':'"),
    ("callsite(unknown unknown)", "expected 'at'"),
])
def test_a_location_that_is_none(loc: str, message: str) -> None:
    text = f"module {{\n  func.func @f() {{\n    pto.trap loc({loc}"
    with pytest.raises(ParseError, match=message):
        read(text if "<" in loc or loc.endswith("7") else f"{text})\n    return\n  }}\n}}\n")
