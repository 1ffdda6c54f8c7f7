"""How a pair of texts for a legality rule is written: they differ in the one field between `[[good|bad]]`.

Tiles are written as the body of a `!pto.tile_buf<...>`, views as `view 8x16xf32`, scalars by their type.
"""

from __future__ import annotations

from dataclasses import dataclass

NZ = "blayout=col_major, slayout=row_major"
ZN = "slayout=col_major"
ZZ = "slayout=row_major"
DN = "blayout=col_major"

LEFT = f"left, 16x16xf16, {ZZ}"
RIGHT = f"right, 16x16xf16, {ZN}"
ACC = f"acc, 16x16xf32, {NZ}, fractal=1024"
A = "vec, 8x16xf32"


@dataclass(frozen=True)
class Case:
    """`body` stands in a function whose arguments are `args` (name, type); `module` holds further functions."""

    rule: str
    body: str
    args: tuple[tuple[str, str], ...]
    target: str = "a2a3"
    level: str = "level3"
    kind: str = "vector"
    module: str = ""
    attrs: str = ""


def _type(text: str) -> str:
    if text.startswith("view "):
        return f"!pto.partition_tensor_view<{text[5:]}>"
    return f"!pto.tile_buf<{text}>" if ", " in text and text[0] != "!" else text


def raw(
    rule: str, body: str, target: str = "a2a3", level: str = "level3", kind: str = "vector", module: str = "",
    attrs: str = "", **args: str,
) -> Case:
    """A body in which `@x` stands for the type of argument `%x`."""
    typed = {name: _type(text) for name, text in args.items()}
    for name, text in typed.items():
        body = body.replace(f"@{name};", text)
    return Case(rule, body, tuple(typed.items()), target, level, kind, module, attrs)


def dps(
    rule: str, op: str, ins: list[str], outs: list[str], attrs: str = "", inside: str = "", target: str = "a2a3",
    level: str = "level3", names: str = "",
) -> Case:
    """`pto.op ins(...) outs(...)` on arguments of these types; `names` renames operands, to use one twice."""
    labels = names.split() or [*(f"i{n}" for n in range(len(ins))), *(f"o{n}" for n in range(len(outs)))]
    types = [_type(text) for text in ins + outs]
    used = [f"%{label}" for label in labels]
    count = len(ins)
    body = f"pto.{op} ins({', '.join(used[:count])} {inside} : {', '.join(types[:count])})"
    if outs:
        body += f" outs({', '.join(used[count:])} : {', '.join(types[count:])})"
    args = tuple({label: text for label, text in zip(labels, types, strict=True) if "[[" not in label}.items())
    return Case(rule, f"{body} {attrs}", args, target, level)


def alloc(rule: str, tile: str, level: str = "level3", head: str = "addr = %a0") -> Case:
    return Case(rule, f"%t = pto.alloc_tile {head} : !pto.tile_buf<{tile}>", (), "a2a3", level)


def binary(rule: str, a: str = A, b: str = A, c: str = A, op: str = "tadd", target: str = "a2a3") -> Case:
    return dps(rule, op, [a, b], [c], target=target)


def alike(rule: str, tile: str, op: str = "tadd", target: str = "a2a3") -> Case:
    """A binary op on three tiles of one type."""
    return binary(rule, tile, tile, tile, op, target)


def unary(rule: str, a: str = A, c: str = A, op: str = "texp", target: str = "a2a3", inside: str = "") -> Case:
    return dps(rule, op, [a], [c], target=target, inside=inside)


def scalar(rule: str, a: str = A, c: str = A, op: str = "tadds", target: str = "a2a3") -> Case:
    return dps(rule, op, [a, "f32"], [c], target=target)


def row_sum(rule: str, a: str = A, tmp: str = A, c: str = "vec, 8x8xf32, valid=8x1") -> Case:
    return dps(rule, "trowsum", [a, tmp], [c])


def init(rule: str, attrs: str, operands: str, target: str = "a2a3", kind: str = "cube", op: str = "aic") -> Case:
    return raw(rule, f"pto.{op}_initialize_pipe {{{attrs}}} ({operands})", target=target, kind=kind, gm="!pto.ptr<f32>",
               tv="!pto.tensor_view<8x16xf32>")


PIPE = "dir_mask = 1, slot_size = 1024"
BUF = "c2v_consumer_buf = %z : i32"
RING = f"gm_slot_buffer = %gm : !pto.ptr<f32>, {BUF}"


def push(rule: str, split: str, tile: str = ACC, attrs: str = PIPE, operands: str = RING, target: str = "a2a3") -> Case:
    return raw(rule, f"pto.aic_initialize_pipe {{{attrs}}} ({operands})\n"
               f"    pto.tpush_to_aiv(%t : @t;) {{split = {split}}}", target=target, kind="cube", t=tile,
          gm="!pto.ptr<f32>",
               tv="!pto.tensor_view<8x16xf32>")


def reserve(rule: str, size: str = "1024", location: str = "vec", tail: str = "auto = false, base = 0",
    level: str = "level3",
            name: str = "b") -> Case:
    return raw(rule, f'%b = pto.reserve_buffer {{name = "{name}", size = {size}, location = '
               f"#pto.address_space<{location}>, {tail}}} -> i32\n"
               f'    %d = pto.reserve_buffer {{name = "other", size = 256, location = #pto.address_space<vec>, '
               f"{'auto = false, base = 0' if level == 'level3' else 'auto = true'}}} -> i32", level=level)


PEER = ('func.func @peer() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n'
        '    %b = pto.reserve_buffer {name = "[[b|c]]", size = 1024, location = #pto.address_space<vec>, auto = false, '
        'base = 0} -> i32\n    return\n  }')
