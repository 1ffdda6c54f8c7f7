"""Small kernels in `.pto` text for the rules' tests: helpers write the parts that every kernel has."""

from __future__ import annotations

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Finding, FunctionResult, Obligation, Verdict
from pypto_verified.targets import target
from verifiers import Options, verify

CONSTANTS = (0, 1, 2, 3, 4, 8, 16, 17, 32, 64, 100, 128, 512)
ADDRESSES = (0, 16, 32, 2048, 4096, 8192, 16384, 32768, 65536, 188416, 1 << 20)


def tile(
    rows: int = 32, cols: int = 64, dtype: str = "f32", loc: str = "vec", blayout: str = "row_major",
    slayout: str = "none_box", fractal: int = 512, valid: tuple[str, str] = ("?", "?"), pad: int = 0,
) -> str:
    """A tile type in the long spelling."""
    return (
        f"!pto.tile_buf<loc={loc}, dtype={dtype}, rows={rows}, cols={cols}, v_row={valid[0]}, v_col={valid[1]}, "
        f"blayout={blayout}, slayout={slayout}, fractal={fractal}, pad={pad}>")


def alloc(name: str, type_: str, address: int | str | None = 0, rows: str = "c32", cols: str = "c64") -> str:
    """`pto.alloc_tile` with valid extents given as constant names; an address of None leaves it out (level2)."""
    at = "" if address is None else f"addr = %{address if isinstance(address, str) else f'a{address}'} "
    return f"%{name} = pto.alloc_tile {at}valid_row = %{rows} valid_col = %{cols} : {type_}"


def kernel(body: str, args: str = "", kind: str = "vector") -> str:
    """A function with two f32 pointers `%p`, `%q`, the arguments `args`, index constants `%cN` and i64 addresses
    `%aN`."""
    constants = [f"%c{n} = arith.constant {n} : index" for n in CONSTANTS]
    constants += [f"%a{n} = arith.constant {n} : i64" for n in ADDRESSES]
    constants += ["%one = arith.constant 1.0 : f32"]
    lines = "\n".join("    " + x.strip() for x in (*constants, *body.strip().splitlines()))
    more = f", {args}" if args else ""
    return (
        "module {\n"
        f"  func.func @k(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>{more}) attributes "
        f"{{pto.kernel_kind = #pto.kernel_kind<{kind}>}} {{\n{lines}\n    return\n  }}\n}}\n")


def view(name: str, pointer: str, rows: str, cols: str = "c64") -> str:
    """A row-major f32 tensor view."""
    return (
        f"%{name} = pto.make_tensor_view %{pointer}, shape = [%{rows}, %{cols}], strides = [%{cols}, %c1] "
        "{layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>")


def window(name: str, source: str, offsets: str, sizes: str, type_: str = "?x?") -> str:
    """A window of a view."""
    return (
        f"%{name} = pto.partition_view %{source}, offsets = [{offsets}], sizes = [{sizes}] : "
        f"!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<{type_}xf32>")


def load(source: str, dst: str, type_: str, shape: str = "?x?") -> str:
    return f"pto.tload ins(%{source} : !pto.partition_tensor_view<{shape}xf32>) outs(%{dst} : {type_})"


def store(src: str, dst: str, type_: str, shape: str = "?x?") -> str:
    return f"pto.tstore ins(%{src} : {type_}) outs(%{dst} : !pto.partition_tensor_view<{shape}xf32>)"


def out(
    tile: str, type_: str, rows: str = "c32", cols: str = "c64", pointer: str = "q", dtype: str = "f32"
) -> str:
    """The first `rows` x `cols` elements of a tile to the start of a tensor of its own."""
    text = "\n".join((
        view("out", pointer, rows, cols), window("whole", "out", "%c0, %c0", f"%{rows}, %{cols}"),
        store(tile, "whole", type_)))
    return text.replace("?xf32>", f"?x{dtype}>")


def given(
    tile: str, type_: str, pointer: str = "p", dtype: str = "f32", rows: str = "c32", cols: str = "c64"
) -> str:
    """A tile with what a tensor of its own, `rows` x `cols`, holds."""
    text = "\n".join((
        view(f"{tile}_in", pointer, rows, cols), window(f"{tile}_all", f"{tile}_in", "%c0, %c0", f"%{rows}, %{cols}"),
        load(f"{tile}_all", tile, type_)))
    return text.replace("?xf32>", f"?x{dtype}>")


def fill(dst: str, type_: str) -> str:
    """A tile op without sources."""
    return f"pto.texpands ins(%one : f32) outs(%{dst} : {type_})"


def unary(op: str, src: str, dst: str, src_type: str, dst_type: str | None = None) -> str:
    return f"pto.{op} ins(%{src} : {src_type}) outs(%{dst} : {dst_type or src_type})"


def check(
    text: str, *, chip: str = "a2a3", families: str = "", assume: tuple[str, ...] = (), outputs: tuple[str, ...] = (),
    strict: bool = False,
) -> FunctionResult:
    """The result of the last function of a text; `families` are blank-separated, `outputs` declared arguments."""
    options = Options(assume=assume, strict=strict, families=frozenset(families.split()), outputs={"k": outputs})
    *_, result = verify(read(text, "k.pto"), target(chip), options)
    return result


def obligations(result: FunctionResult, rule: str) -> list[Obligation]:
    return [o for o in result.obligations if o.rule == rule]


def verdicts(result: FunctionResult, rule: str) -> set[Verdict]:
    return {o.verdict for o in obligations(result, rule)}


def finding(result: FunctionResult, rule: str) -> Finding:
    """The first finding of a rule."""
    return next(f for f in result.findings if f.rule == rule)
