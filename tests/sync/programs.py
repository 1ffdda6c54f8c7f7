"""Vector kernels over a few 8x8 f32 tiles, written line by line; `random_program` makes them by a seed.

Tiles are named by their address (256 bytes each), so that two names can be one memory; `slot` tiles take the addresses
of a ring in turn. Tensors are 64x8, `a` and `b` read, `out` written.
"""

from __future__ import annotations

import random

from pypto_verified.pto import reader
from pypto_verified.pto.module import Func, Module, Op
from pypto_verified.pto.walk import walk_ops

_TILE = "!pto.tile_buf<loc=vec, dtype=f32, rows=8, cols=8, v_row=8, v_col=8, blayout=row_major, slayout=none_box, " \
        "fractal=512, pad=0>"
_PART = "!pto.partition_tensor_view<8x8xf32>"
_VIEW = "!pto.tensor_view<?x?xf32>"
TILE_BYTES = 256


class Program:
    """Collects lines; `module` reads them. `n`, `m` and `c` are index arguments."""

    def __init__(self, target: str = "a2a3") -> None:
        self.target = target
        self.lines: list[str] = []
        self.count = 0
        self.branches = 0

    def new(self, stem: str) -> str:
        self.count += 1
        return f"%{stem}{self.count}"

    def line(self, text: str) -> None:
        self.lines.append(text)

    def tile(self, number: int) -> str:
        """The tile at address 256 * number."""
        name, address = self.new("t"), self.new("at")
        self.line(f"{address} = arith.constant {number * TILE_BYTES} : i64")
        self.line(f"{name} = pto.alloc_tile addr = {address} : {_TILE}")
        return name

    def slot(self, first: int, slots: int, variable: str) -> str:
        """The tile at address 256 * (first + variable % slots)."""
        count, rest, bytes_, offset, base, place, address, name = (self.new("s") for _ in range(8))
        self.line(f"{count} = arith.constant {slots} : index")
        self.line(f"{rest} = arith.remsi {variable}, {count} : index")
        self.line(f"{bytes_} = arith.constant {TILE_BYTES} : index")
        self.line(f"{offset} = arith.muli {rest}, {bytes_} : index")
        self.line(f"{base} = arith.constant {first * TILE_BYTES} : index")
        self.line(f"{place} = arith.addi {offset}, {base} : index")
        self.line(f"{address} = arith.index_cast {place} : index to i64")
        self.line(f"{name} = pto.alloc_tile addr = {address} : {_TILE}")
        return name

    def window(self, tensor: str, row: str) -> str:
        name = self.new("w")
        self.line(f"{name} = pto.partition_view %{tensor}_v, offsets = [{row}, %c0], sizes = [%c8, %c8] : {_VIEW} -> "
                  f"{_PART}")
        return name

    def row(self, variable: str) -> str:
        """Row 8 * variable."""
        name = self.new("r")
        self.line(f"{name} = arith.muli {variable}, %c8 : index")
        return name

    def load(self, tile: str, row: str = "%c0", tensor: str = "a") -> None:
        window = self.window(tensor, row)
        self.line(f"pto.tload ins({window} : {_PART}) outs({tile} : {_TILE})")

    def add(self, first: str, second: str, result: str) -> None:
        self.line(f"pto.tadd ins({first}, {second} : {_TILE}, {_TILE}) outs({result} : {_TILE})")

    def exp(self, tile: str, result: str) -> None:
        self.line(f"pto.texp ins({tile} : {_TILE}) outs({result} : {_TILE})")

    def read(self, tile: str) -> None:
        """One element, by the scalar pipe."""
        self.line(f"{self.new('v')} = pto.tgetval ins({tile}, %c0 : {_TILE}, index) outs : f32")

    def store(self, tile: str, row: str = "%c0", tensor: str = "out") -> None:
        window = self.window(tensor, row)
        self.line(f"pto.tstore ins({tile} : {_TILE}) outs({window} : {_PART})")

    def loop(self, stop: str = "%n") -> str:
        """Open a loop from 0; its variable."""
        variable = self.new("i")
        self.line(f"scf.for {variable} = %c0 to {stop} step %c1 {{")
        return variable

    def branch(self) -> None:
        """Open an arm; the next bit of c says whether it is taken."""
        self.branches += 1
        bit, shifted, rest, condition = (self.new("q") for _ in range(4))
        self.line(f"{bit} = arith.constant {1 << (self.branches - 1)} : index")
        self.line(f"{shifted} = arith.divsi %c, {bit} : index")
        self.line(f"{rest} = arith.remsi {shifted}, %c2 : index")
        self.line(f"{condition} = arith.cmpi eq, {rest}, %c1 : index")
        self.line(f"scf.if {condition} {{")

    def otherwise(self) -> None:
        self.line("} else {")

    def close(self) -> None:
        self.line("}")

    def module(self) -> Module:
        constants = "".join(f"  %c{k} = arith.constant {k} : index\n" for k in (0, 1, 2, 8, 64))
        views = "".join(
            f"  %{t}_v = pto.make_tensor_view %{t}, shape = [%c64, %c8], strides = [%c8, %c1] "
            f"{{layout = #pto.layout<nd>}} : {_VIEW}\n" for t in ("a", "b", "out"))
        body = "".join(f"  {text}\n" for text in self.lines)
        return reader.read(
            f'module attributes {{pto.target_arch = "{self.target}"}} {{\n'
            "func.func @k(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %out: !pto.ptr<f32>, %n: index, %m: index, %c: index) "
            f"attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{\n{constants}{views}{body}  return\n}}\n}}\n")


def random_program(seed: int, target: str, branches: bool = True) -> Module:
    """Loads, sums and stores of four tiles and a ring of two, in loops and branches up to three deep. Loops take n, m
    or 2 turns."""
    draw, p = random.Random(seed), Program(target)
    _block(draw, p, 0, "%c0", branches)
    return p.module()


def _block(draw: random.Random, p: Program, depth: int, variable: str, branches: bool) -> None:
    for _ in range(draw.randint(2, 5)):
        kind = draw.random()
        if kind < 0.2 and depth < 3:
            inner = p.loop(draw.choice(("%n", "%m", "%c2")))
            _block(draw, p, depth + 1, inner, branches)
            p.close()
        elif kind < 0.3 and depth < 3 and branches:
            p.branch()
            _block(draw, p, depth + 1, variable, branches)
            if draw.random() < 0.5:
                p.otherwise()
                _block(draw, p, depth + 1, variable, branches)
            p.close()
        else:
            _step(draw, p, variable)


def _step(draw: random.Random, p: Program, variable: str) -> None:
    def tile() -> str:
        return p.slot(4, 2, variable) if draw.random() < 0.35 else p.tile(draw.randrange(4))

    kind = draw.random()
    row = p.row(variable) if draw.random() < 0.5 else "%c0"
    if kind < 0.35:
        p.load(tile(), row)
    elif kind < 0.6:
        p.add(tile(), tile(), tile())
    elif kind < 0.7:
        p.exp(tile(), tile())
    elif kind < 0.78:
        p.read(tile())
    else:
        p.store(tile(), row)


def syncs(module: Module) -> list[str]:
    """The flags and barriers of a module in text order: `MTE2>V 0`, `~MTE2>V 0` for its wait, `|V`."""
    return [_spelled(op) for func in module.funcs for op in walk_ops(func) if _is_sync(op)]


def kinds(module: Module) -> list[str]:
    """Ops and flags in text order, constants and views left out."""
    return [
        _spelled(op) if _is_sync(op) else op.name.removeprefix("pto.") for func in module.funcs for op in walk_ops(func)
        if _is_sync(op) or op.name.startswith(("scf.", "pto.t"))]


def _is_sync(op: Op) -> bool:
    return "flag" in op.name or op.name == "pto.barrier"


def _spelled(op: Op) -> str:
    def pipe(attr: str) -> str:
        return str(getattr(op.attrs[attr], "member", "")).removeprefix("PIPE_")

    if op.name == "pto.barrier":
        return f"|{pipe('pipe')}"
    id = op.attrs.get("event_id")
    number = str(getattr(id, "member", "")).removeprefix("EVENT_ID") if id is not None else "turn"
    return f"{'~' if 'wait' in op.name else ''}{pipe('src_pipe')}>{pipe('dst_pipe')} {number}"


def only(module: Module) -> Func:
    """The one function of a module."""
    (func,) = module.funcs
    return func
