"""The layout of a tensor of constant shape and strides, as the assembler infers it."""

from __future__ import annotations

import pytest

from pypto_verified.pto.legality import check_legality
from pypto_verified.pto.legality_layout import layouts_of
from pypto_verified.pto.reader import read


@pytest.mark.parametrize(("shape", "strides", "itemsize", "layouts"), [
    ([64, 32], [32, 1], 4, ("nd",)),
    ([64, 32], [1, 64], 4, ("dn",)),
    ([64, 32], [128, 1], 4, ("nd",)),  # rows of a wider tensor
    ([64, 32], [1, 128], 4, ("nd",)),  # neither: the assembler takes it for nd
    ([64, 1], [1, 1], 4, ("nd", "dn")),
    ([1, 64], [64, 1], 4, ("nd", "dn")),
    ([1, 1], [1, 1], 4, ("nd", "dn")),
    ([64], [1], 4, ("nd", "dn")),
    ([1, 4, 16, 8, 16], [2048, 512, 128, 16, 1], 4, ("nz",)),
    ([1, 4, 16, 8, 16], [2048, 512, 128, 16, 1], 2, ("nd",)),  # boxes of 256 bytes
    ([2, 3, 8, 8], [192, 64, 8, 1], 4, ("nd",)),
])
def test_layouts_by_shape_and_strides(
    shape: list[int], strides: list[int], itemsize: int, layouts: tuple[str, ...]
) -> None:
    assert layouts_of(shape, strides, itemsize) == layouts


@pytest.mark.parametrize(("shape", "strides", "type_", "layout", "legal"), [
    ("%c64, %c32", "%c32, %c1", "?x?xf32", "nd", True),
    ("%c64, %c32", "%c32, %c1", "?x?xf32", "nz", False),
    ("%c64, %c32", "%c32, %c1", "?x?xf32", "dn", False),
    ("%n, %c32", "%c32, %c1", "?x?xf32", "nz", True),  # nothing is said of a dynamic extent
    ("%n, %c32", "%c32, %c1", "64x32xf32", "nz", False),  # the type tells it
    ("%c64, %c32", "%n, %c1", "?x?xf32", "nz", True),
    ("%c64, %c32", "%c32, %c1", "?x?x!pto.f8E8M0", "mx_a_zz", True),
])
def test_a_declared_layout_is_compared_where_all_is_constant(
    shape: str, strides: str, type_: str, layout: str, legal: bool
) -> None:
    element = type_.rsplit("x", 1)[1] if "!" not in type_ else "!pto.f8E8M0"
    text = (
        f"module {{\n  func.func @f(%p: !pto.ptr<{element}>, %n: index) {{\n"
        + "".join(f"    %c{n} = arith.constant {n} : index\n" for n in (1, 32, 64))
        + f"    %v = pto.make_tensor_view %p, shape = [{shape}], strides = [{strides}] "
        f"{{layout = #pto.layout<{layout}>}} : !pto.tensor_view<{type_}>\n    return\n  }}\n}}\n")
    found = [i for i in check_legality(read(text), "a5") if i.id == "VIEW-LAYOUT"]
    assert (not found) == legal
    if found:
        assert f"{layout} is declared, they are nd" in found[0].message
