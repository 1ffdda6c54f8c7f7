"""An op has the attributes of its row; what else a text may hang on it."""

from __future__ import annotations

import pytest

from pypto_verified.errors import ParseError
from pypto_verified.pto.reader import read
from pypto_verified.pto.writer import write

_TILE = "!pto.tile_buf<vec, 16x16x{}>"


def _cast(attribute: str) -> str:
    source, result = _TILE.format("f32"), _TILE.format("f16")
    return (
        "module {\n  func.func @f() {\n"
        f"    %a = pto.alloc_tile : {source}\n    %b = pto.alloc_tile : {result}\n"
        f"    pto.tcvt ins(%a {{{attribute}}} : {source}) outs(%b : {result})\n    return\n  }}\n}}\n")


def test_a_misspelled_attribute_is_named_with_its_place_and_the_known_ones() -> None:
    with pytest.raises(ParseError) as caught:
        read(_cast("xmode = #pto<round_mode RINT>"), "k.pto")
    assert "pto.tcvt has no attribute 'xmode'; it has rmode" in caught.value.message
    assert (caught.value.location.line, caught.value.location.column) == (5, 22)
    assert "my.xmode" in caught.value.help


def test_the_same_holds_in_the_generic_form() -> None:
    text = 'module {\n  func.func @f() {\n    "pto.barrier"() {pipe = #pto.pipe<PIPE_ALL>, wide = 1 : i32} : () -> ()\n'
    with pytest.raises(ParseError, match="has no attribute 'wide'; it has pipe"):
        read(text + "    return\n  }\n}\n")


@pytest.mark.parametrize("attribute", ["rmode = #pto<round_mode RINT>", "pto.note = 3 : i32", "foo.bar"])
def test_own_attributes_and_those_with_a_prefix_are_kept(attribute: str) -> None:
    module = read(_cast(attribute))
    assert list(module.funcs[0].body.ops[2].attrs) == [attribute.split(" ")[0]] if module.funcs[0].body else False
    assert read(write(module)) == module


def test_a_remark_of_the_assemblers_own_texts_is_read() -> None:
    tile, vector = _TILE.format("f32"), "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>"
    read(
        "module {\n  func.func @f() {\n"
        f"    %a = pto.alloc_tile : {tile}\n    %v = pto.alloc_tile : {vector}\n"
        f"    pto.trowexpandmul ins(%a, %v : {tile}, {vector}) outs(%a : {tile}) {{src0eqdst = true}}\n"
        "    return\n  }\n}\n")
