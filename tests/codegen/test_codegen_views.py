"""Slices, assembles, reshapes and valid shapes: which of them are views, and what a view may not do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pypto_verified.dtypes import BF16, FP16, FP32, INT32, DType
from pypto_verified.errors import CodegenError
from pypto_verified.ir.expr import Const, Expr, Span, Var
from pypto_verified.ir.stmt import For, If, Stmt, Yield
from pypto_verified.ir.types import Dim, TileType, TileView
from pypto_verified.layouts import BLayout, Compact, Pad, SLayout, Space
from tests.codegen.build import TRUE, buf, kernel, let, lines, nums, scalar, tile, without_constants

R, V = scalar("r"), scalar("v")
X = Var("x", tile(32, 64))
F = buf("vec", "f32", 32, 64)
MAKE = let(X, "tile.create", nums(32, 64))


def slice_of(
    valid: tuple[Dim, ...] = (), given: bool = False, at: Dim = 16, view: TileView | None = None
) -> list[Stmt]:
    """w = tile.slice(x, [8, 32], [at, 0])"""
    type_ = tile(8, 32, at=4096, base="mem_vec_0", valid=valid)
    w = Var("w", replace(type_, view=view or type_.view))
    operands: list[Expr] = [X, nums(8, 32), nums(at, 0)]
    if given:
        operands.append(nums(*valid))
    return [MAKE, let(w, "tile.slice", *operands)]


@pytest.mark.requirement("CG-11", "CG-07")
def test_a_slice_is_a_subview_and_no_alloc() -> None:
    # The real compiler prints an alloc for it as well and never uses that.
    found = without_constants(lines(kernel(slice_of())))
    window = buf("vec", "f32", 8, 32, "8", "32")
    assert found[1:] == [f"%w = pto.subview %x[%c16_index, %c0_index] sizes [8, 32] : {F} -> {window}"]


@pytest.mark.requirement("CG-11")
@pytest.mark.parametrize(
    ("valid", "clause", "extents"),
    [((5, 32), "[%c5_index, %c32_index]", ("5", "32")), ((V, 32), "[%arg1, %c32_index]", ("?", "32")),
     ((V, V), "[%arg1, %arg1]", ("?", "?"))],
    ids=["static", "mixed", "dynamic"],
)
def test_valid_clause_only_when_given(valid: tuple[Dim, ...], clause: str, extents: tuple[str, str]) -> None:
    line = lines(kernel(slice_of(valid, given=True, at=R), R, V))[-1]
    window = buf("vec", "f32", 8, 32, *extents)
    assert line == f"%w = pto.subview %x[%arg0, %c0_index] sizes [8, 32] valid {clause} : {F} -> {window}"


@pytest.mark.requirement("CG-13")
@pytest.mark.parametrize(
    ("view", "word"),
    [(TileView(blayout=BLayout.COL), "blayout"), (TileView(slayout=SLayout.ROW), "slayout"),
     (TileView(fractal=1024), "fractal"), (TileView(compact=Compact.NORMAL), "compact")],
)
def test_a_slice_has_the_configuration_of_its_source(view: TileView, word: str) -> None:
    with pytest.raises(CodegenError, match=f"'w' is a view of 'x' and must have its {word}"):
        lines(kernel(slice_of(view=view)))


@pytest.mark.requirement("CG-13")
@pytest.mark.parametrize(
    ("type_", "word"), [(tile(8, 32, INT32), "dtype"), (tile(8, 32, FP32, Space.BIAS), "memory space")],
)
def test_a_slice_has_the_element_type_and_space_of_its_source(type_: TileType, word: str) -> None:
    with pytest.raises(CodegenError, match=f"must have its {word}"):
        lines(kernel([MAKE, let(Var("w", type_), "tile.slice", X, nums(8, 32), nums(0, 0))]))


@pytest.mark.requirement("CG-13")
def test_a_slice_copies_the_compact_mode_of_its_source() -> None:
    acc = Var("acc", tile(32, 32, FP32, Space.ACC, compact=Compact.NORMAL))
    part = Var("w", tile(16, 32, FP32, Space.ACC, compact=Compact.NORMAL))
    body = [let(acc, "tile.create", nums(32, 32)), let(part, "tile.slice", acc, nums(16, 32), nums(0, 0))]
    assert "fractal=1024, pad=0, compact=1>" in lines(kernel([*body]))[-1].split(" -> ")[1]


@pytest.mark.requirement("CG-13")
def test_a_padded_slice_is_an_error_that_names_fillpad() -> None:
    with pytest.raises(CodegenError, match="can't carry a pad value") as caught:
        lines(kernel(slice_of(view=TileView(pad=Pad.ZERO))))
    assert "tile.fillpad" in caught.value.help


# assemble


def assemble(target: Var, source: Var, result: Var, at: Dim = 8) -> list[Stmt]:
    made = [let(v, "tile.create", nums(*v.type.shape)) for v in (target, source) if isinstance(v.type, TileType)]
    return [*made, let(result, "tile.assemble", target, source, nums(at, 0))]


BASE = Var("base", tile(32, 64, at=8192))
PIECE = Var("piece", tile(8, 64, at=16384))


@pytest.mark.requirement("CG-12")
def test_assemble_into_its_own_buffer_writes_through_a_subview() -> None:
    window, piece = buf("vec", "f32", 8, 64, "8", "64"), buf("vec", "f32", 8, 64)
    found = without_constants(lines(kernel(assemble(BASE, PIECE, Var("r", BASE.type), R), R)))
    assert found[2:] == [
        "%assemble_view = pto.subview %base[%arg0, %c0_index] sizes [8, 64] valid [%c8_index, %c64_index] "
        f": {F} -> {window}",
        f"pto.tmov ins(%piece : {piece}) outs(%assemble_view : {window})",
    ]


@pytest.mark.requirement("CG-12")
def test_assemble_into_another_buffer_first_copies_what_the_window_leaves() -> None:
    found = without_constants(lines(kernel(assemble(BASE, PIECE, Var("r", tile(32, 64, at=24576))))))
    assert found[3] == f"pto.tmov ins(%base : {F}) outs(%r : {F})"
    assert found[4].startswith("%assemble_view = pto.subview %r[%c8_index, %c0_index]")


@pytest.mark.requirement("CG-12")
@pytest.mark.parametrize(("rows", "valid", "at", "keeps"), [
    (32, (), 0, False), (32, (), R, True), (32, (31, 64), 0, True), (32, (V, 64), 0, True), (8, (), 0, True),
])
def test_assemble_copies_the_target_unless_its_source_is_sure_to_cover_it(
    rows: int, valid: tuple[Dim, ...], at: Dim, keeps: bool
) -> None:
    piece = Var("piece", tile(rows, 64, at=16384, valid=valid))
    found = without_constants(lines(kernel(assemble(BASE, piece, Var("r", tile(32, 64, at=24576)), at), R, V)))
    assert (f"pto.tmov ins(%base : {F}) outs(%r : {F})" in found) is keeps


@pytest.mark.requirement("CG-12")
def test_assemble_writes_the_valid_part_of_its_source() -> None:
    piece = Var("piece", tile(8, 64, at=16384, valid=(V, 60)))
    found = without_constants(lines(kernel(assemble(BASE, piece, Var("r", BASE.type)), V)))
    assert "valid [%arg0, %c60_index]" in found[-2]
    assert found[-2].endswith(buf("vec", "f32", 8, 64, "?", "60"))


@pytest.mark.requirement("CG-12")
@pytest.mark.parametrize(("dtype", "word"), [(FP16, "f16"), (BF16, "bf16")])
def test_assemble_of_an_accumulator_into_a_narrower_mat_is_an_insert(dtype: DType, word: str) -> None:
    mat, acc = Var("mat", tile(64, 64, dtype, Space.MAT)), Var("acc", tile(32, 32, FP32, Space.ACC))
    found = lines(kernel(assemble(mat, acc, Var("r", mat.type), 32)))
    source = buf("acc", "f32", 32, 32, blayout="col_major", slayout="row_major", fractal=1024)
    target = buf("mat", word, 64, 64, blayout="col_major", slayout="row_major")
    assert found[-1] == (
        f"pto.tinsert ins(%acc, %c32_index, %c0_index : {source}, index, index) outs(%mat : {target})"
    )


@pytest.mark.requirement("CG-12")
def test_partial_insert_into_another_mat_buffer_is_an_error() -> None:
    mat, acc = Var("mat", tile(64, 64, FP16, Space.MAT)), Var("acc", tile(32, 32, FP32, Space.ACC))
    with pytest.raises(CodegenError, match="no Mat to Mat move"):
        lines(kernel(assemble(mat, acc, Var("r", tile(64, 64, FP16, Space.MAT, at=8192)), 32)))


# reshape


@pytest.mark.requirement("CG-07")
@pytest.mark.parametrize("op", ["reshape", "transpose_view", "reinterpret_view"])
def test_a_relabel_is_a_second_alloc_at_the_address(op: str) -> None:
    y = Var("y", tile(64, 32))
    found = without_constants(lines(kernel([MAKE, let(y, f"tile.{op}", X, nums(64, 32))])))
    text = buf("vec", "f32", 64, 32)
    assert found[1:] == [f"%y = pto.alloc_tile addr = %c0_i64 valid_row = %c64_index valid_col = %c32_index : {text}"]


def test_a_relabelled_row_of_a_slice_keeps_its_place() -> None:
    # An alloc at the buffer's address would name the first row of x instead of row 16.
    w, y = Var("w", tile(1, 64, at=0, base="mem_vec_0")), Var("y", tile(64, 1, at=0, base="mem_vec_0", col_major=True))
    body = [MAKE, let(w, "tile.slice", X, nums(1, 64), nums(16, 0)), let(y, "tile.reshape", w, nums(64, 1))]
    window = buf("vec", "f32", 1, 64, "1", "64")
    column = buf("vec", "f32", 64, 1, "64", "1").replace("row_major", "col_major")
    assert without_constants(lines(kernel(body)))[1:] == [
        f"%w = pto.subview %x[%c16_index, %c0_index] sizes [1, 64] : {F} -> {window}",
        f"%y = pto.treshape %w : {window} -> {column}",
    ]


@pytest.mark.requirement("CG-07")
def test_a_relabel_without_addresses_is_a_treshape() -> None:
    y = Var("y", tile(64, 32))
    found = without_constants(lines(kernel([MAKE, let(y, "tile.reshape", X, nums(64, 32))]), addresses=False))
    assert found[1:] == [f"%y = pto.treshape %x : {F} -> {buf('vec', 'f32', 64, 32, '64', '32')}"]


@pytest.mark.parametrize("valid", [(V, 64), (32, V), (V, V)])
def test_a_relabel_without_addresses_knows_its_extents(valid: tuple[Dim, ...]) -> None:
    x, y = Var("x", tile(32, 64, valid=valid)), Var("y", tile(32, 64, valid=valid))
    body = [let(x, "tile.create", nums(32, 64)), let(y, "tile.reshape", x, nums(32, 64))]
    with pytest.raises(CodegenError, match="'y' relabels a tile whose extents are known at run time only"):
        lines(kernel(body, V), addresses=False)
    assert any("%y = pto.alloc_tile" in line for line in lines(kernel(body, V)))


def test_a_relabel_of_a_slice_is_an_error() -> None:
    w = slice_of()
    y = Var("y", tile(16, 16))
    with pytest.raises(CodegenError, match="relabels a slice, whose rows are not adjacent"):
        lines(kernel([*w, let(y, "tile.reshape", Var("w", tile(8, 32)), nums(16, 16))]))


# set_validshape


def narrowed(source: Var, valid: tuple[Dim, Dim]) -> tuple[Var, Stmt]:
    assert isinstance(source.type, TileType)
    old = source.type.view or TileView()
    z = Var("z", replace(source.type, view=replace(old, valid_shape=valid)))
    operands = [Const(d) if isinstance(d, int) else d for d in valid]
    return z, let(z, "tile.set_validshape", source, *operands, span=Span("k.py", 9, 1, 9, 40))


@pytest.mark.requirement("CG-14")
def test_set_validshape_on_an_alloc_changes_the_handle() -> None:
    z, stmt = narrowed(X, (V, 64))
    found = without_constants(lines(kernel([MAKE, stmt, let(Var("y", z.type), "tile.exp", z)], V)))
    assert found[1] == f"pto.set_validshape %x, %arg0, %c64_index : {F}"
    assert found[3].startswith("pto.texp ins(%x :")


@pytest.mark.requirement("CG-14")
@pytest.mark.parametrize("valid", [(8, 32), (V, V)], ids=["static", "dynamic"])
def test_set_validshape_on_a_slice_is_an_error_whatever_its_type_looks_like(valid: tuple[Dim, ...]) -> None:
    body = slice_of(valid, given=True)
    w = Var("w", tile(8, 32, at=4096, base="mem_vec_0", valid=valid))
    with pytest.raises(CodegenError, match="set_validshape on 'w', which is a view") as caught:
        lines(kernel([*body, narrowed(w, (4, 32))[1]], V))
    assert "valid_shape= to the slice" in caught.value.help
    assert caught.value.location.line == 9


@pytest.mark.requirement("CG-14")
def test_set_validshape_on_the_result_of_a_branch() -> None:
    one, two, phi = Var("one", X.type), Var("two", X.type), Var("phi", X.type)
    branch = If(TRUE, (let(one, "tile.create", nums(32, 64)), Yield((one,))),
                (let(two, "tile.create", nums(32, 64)), Yield((two,))), (phi,))
    found = lines(kernel([branch, narrowed(phi, (V, 64))[1]], V))
    assert found[-1] == f"pto.set_validshape %phi, %arg0, %c64_index : {F}"


@pytest.mark.requirement("CG-14")
def test_the_wide_tile_gets_its_extents_back_when_it_is_used_again() -> None:
    # One handle has one valid shape at a time; the IR's two names have two.
    z, stmt = narrowed(X, (V, 64))
    body = [MAKE, stmt, let(Var("y", z.type), "tile.exp", z), let(Var("w", tile(32, 64)), "tile.exp", X)]
    found = [line for line in lines(kernel([*body], V)) if "set_validshape" in line]
    assert found == [
        f"pto.set_validshape %x, %arg0, %c64_index : {F}", f"pto.set_validshape %x, %c32_index, %c64_index : {F}"]


@pytest.mark.requirement("CG-14")
def test_narrowing_an_outer_tile_inside_a_loop_is_an_error() -> None:
    _, stmt = narrowed(X, (V, 64))
    loop = For(scalar("i"), Const(0), Const(4), Const(1), (), (stmt,), ())
    with pytest.raises(CodegenError, match="of an outer block would get other valid extents"):
        lines(kernel([MAKE, loop], V))


@pytest.mark.requirement("CG-01")
def test_gather_row_loads_into_a_window_of_its_destination() -> None:
    from tests.codegen.build import tensor

    src = Var("src", tensor(100, 64))
    body = [MAKE, let(Var("y", X.type), "tile.gather_row", X, src, nums(3, 0), nums(R, 0), nums(1, 64))]
    window = buf("vec", "f32", 1, 64, "1", "64")
    assert lines(kernel([*body], src, R))[-3:] == [
        "%gather_view = pto.subview %x[%c3_index, %c0_index] sizes [1, 64] valid [%c1_index, %c64_index] "
        f": {F} -> {window}",
        "%src_pview = pto.partition_view %src_view, offsets = [%arg1, %c0_index], sizes = [%c1_index, %c64_index] "
        ": !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<1x64xf32>",
        f"pto.tload ins(%src_pview : !pto.partition_tensor_view<1x64xf32>) outs(%gather_view : {window})",
    ]
