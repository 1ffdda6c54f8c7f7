"""Kernels of a cube and its two vector cores that exchange tiles, as `.pto` text. Every op is followed by a barrier of
all pipes of its core, so that only what happens between cores is left to chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pypto_verified.pto.module import Module
from pypto_verified.pto.reader import read
from pypto_verified.simulator import schedule
from pypto_verified.simulator.schedule import Outcome
from pypto_verified.simulator.values import Array
from pypto_verified.targets import target

_LAYOUTS = {
    "vec": "blayout=row_major, slayout=none_box, fractal=512",
    "nz": "blayout=col_major, slayout=row_major, fractal=512",
    "mat": "blayout=col_major, slayout=row_major, fractal=512",
    "left": "blayout=row_major, slayout=row_major, fractal=512",
    "right": "blayout=row_major, slayout=col_major, fractal=512",
    "acc": "blayout=col_major, slayout=row_major, fractal=1024",
}
BARRIER = "pto.barrier <PIPE_ALL>"


def tile(space: str, rows: int, cols: int) -> str:
    """An f32 tile type; 'nz' is a boxed tile in UB."""
    place = "vec" if space == "nz" else space
    return (f"!pto.tile_buf<loc={place}, dtype=f32, rows={rows}, cols={cols}, v_row=?, v_col=?, {_LAYOUTS[space]}, "
            "pad=0>")


@dataclass(frozen=True)
class Mixed:
    """A kernel over tiles of `rows` x `cols` valid elements (`high` x `wide` physical), `tiles` of them in a loop;
    `computed`: rows of them that the cube really computes, `sent`: columns that it pushes, 0 for all.

    Direction 1: the cube pushes a @ eye, the lanes pop, add 1 and store to out. 2: the lanes load a, add 1 and push,
    the cube pops, multiplies with eye and stores. 3: both, one after the other: the cube stores (a @ eye + 1) @ eye.
    `pushes`, `pops`, `frees`: of each turn, to leave some out or to do some twice. `lowered`: pipes in the assembler's
    own form, with handles and declared tiles; `entries`: slots of global memory are handed out (direction 1, split 1);
    `memory`: tiles pass through global memory on a5 too (direction 1). `spare`: further physical rows of the
    accumulator, `compact`: its mode.
    """

    on: str
    direction: int = 1
    split: int = 1
    rows: int = 32
    cols: int = 32
    tiles: int = 3
    slots: int = 2
    pushes: int = 1
    pops: int = 1
    frees: int = 1
    computed: int = 0
    sent: int = 0
    lowered: bool = False
    entries: bool = False
    memory: bool = False
    spare: int = 0
    compact: int = 0

    @property
    def acc(self) -> str:
        return tile("acc", self.high + self.spare, self.wide).replace("pad=0", f"pad=0, compact={self.compact}")

    @property
    def high(self) -> int:
        return -(-self.rows // 16) * 16

    @property
    def wide(self) -> int:
        return -(-self.cols // 16) * 16

    @property
    def lane_box(self) -> tuple[int, int]:
        """Physical rows and columns of a lane's tile."""
        high = self.high // 2 if self.split in (1, 3) else self.high
        wide = self.wide // 2 if self.split in (2, 4) else self.wide
        return high, wide

    def run(self, order: str = "program", seed: int = 0, **given: Array) -> Outcome:
        a = np.arange(self.tiles * self.rows * self.cols, dtype=np.float32).reshape(-1, self.cols)
        tensors = {"a": a, "eye": np.eye(self.cols, dtype=np.float32), "out": np.zeros_like(a), **given}
        return schedule.run(self.module, target(self.on), tensors, schedule=order, seed=seed, trace=True)

    @property
    def module(self) -> Module:
        arguments = "%a: !pto.ptr<f32>, %eye: !pto.ptr<f32>, %out: !pto.ptr<f32>, %ring: !pto.ptr<f32>"
        sizes = (self.rows, self.cols, self.rows + 1, self.cols + 1)
        halves = {n // 2 for n in sizes}
        numbers = sorted({0, 1, self.computed, self.sent, self.rows, self.cols, self.tiles, *halves})
        constants = [f"%c{n} = arith.constant {n} : index" for n in numbers]
        constants += [f"%at{n} = arith.constant {n} : i64" for n in (0, 65536, 98304, 131072)]
        constants += ["%none = arith.constant 0 : i32", "%one = arith.constant 1.0 : f32"]
        constants += [self._view("a"), self._view("out"), self._view("eye")]
        functions = [
            f"func.func @kernel_{suffix}({arguments}) attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}} {{\n"
            + "\n".join([*constants, *lines, "return", "}"])
            for suffix, kind, lines in (("aic", "cube", self._cube()), ("aiv", "vector", self._vector()))
        ]
        return read("module {\n" + "\n".join(functions) + "\n}\n", "mixed.pto")

    def _view(self, name: str) -> str:
        rows = self.cols if name == "eye" else self.tiles * self.rows
        return (f"%{name}_rows = arith.constant {rows} : index\n"
                f"%{name}_v = pto.make_tensor_view %{name}, shape = [%{name}_rows, %c{self.cols}], strides = "
                f"[%c{self.cols}, %c1] {{layout = #pto.layout<nd>}} : !pto.tensor_view<?x?xf32>")

    def _part(self, name: str, view: str, offsets: str, rows: int | None = None, cols: int | None = None) -> list[str]:
        n, m = rows or self.rows, cols or self.cols
        return [f"%{name} = pto.partition_view %{view}_v, offsets = [{offsets}], sizes = [%c{n}, %c{m}] : "
                f"!pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<{n}x{m}xf32>"]

    def _alloc(self, name: str, space: str, at: int, rows: str, cols: str, box: tuple[int, int]) -> str:
        return (f"%{name} = pto.alloc_tile addr = %at{at} valid_row = {rows} valid_col = {cols} : "
                f"{tile(space, *box)}")

    def _push(self, op: str, name: str, type_: str) -> str:
        if self.lowered:
            return f"pto.tpush(%{name}, %pipe : {type_}, !pto.pipe) {{split = {self.split}}}"
        return f"pto.{op}(%{name} : {type_}) {{split = {self.split}}}"

    def _pop(self, op: str, name: str, rows: str, cols: str, type_: str) -> list[str]:
        if self.lowered:
            return [f"%{name} = pto.declare_tile -> {type_}", f"pto.set_validshape %{name}, {rows}, {cols} : {type_}",
                    f"pto.tpop(%{name}, %pipe : {type_}, !pto.pipe) {{split = {self.split}}}"]
        return [f"%{name} = pto.{op}({rows}, {cols}) {{split = {self.split}}} -> {type_}"]

    def _free(self, op: str) -> list[str]:
        free = "pto.tfree(%pipe : !pto.pipe)" if self.lowered else f"pto.{op}"
        return [f"{free} {{split = {self.split}}}"] * self.frees

    def _slot(self, core: str) -> tuple[int, int, str]:
        """Rows, columns and type of a slot as one core sees it."""
        rows = self.rows // 2 if core == "aiv" and self.split == 1 else self.rows
        return rows, self.cols, f"!pto.tensor_view<{rows}x{self.cols}xf32>"

    def _of_slot(self, core: str, name: str) -> str:
        rows, cols, type_ = self._slot(core)
        return (f"%slot_p = pto.partition_view %{name}, offsets = [%c0, %c0], sizes = [%c{rows}, %c{cols}] : {type_} ->"
                f" !pto.partition_tensor_view<{rows}x{cols}xf32>")

    def _initialize(self, core: str) -> list[str]:
        if self.entries:
            rows, cols, type_ = self._slot(core)
            return [f"%slot_v = pto.make_tensor_view %ring, shape = [%c{rows}, %c{cols}], strides = [%c{cols}, %c1]"
                    f" : {type_}",
                    f"pto.{core}_initialize_pipe {{dir_mask = 1, slot_size = {self.rows * cols * 4}, slot_num = "
                    f"{self.slots}}} (gm_slot_tensor = %slot_v : {type_})"]
        if self.lowered:
            ring, word = ("%ring : !pto.ptr<f32>, ", "l2g2l") if self.memory or self.on == "a2a3" else ("", "l2l")
            nosplit = ", nosplit = true" if self.split == 0 else ""
            both = ", %none : i32" if self.direction == 3 else ""
            size = self.high * self.wide * 4
            return [f"%pipe = pto.initialize_{word}_pipe{{dir_mask = {self.direction}, slot_size = {size}, slot_num = "
                    f"{self.slots}, flag_base = 0{nosplit}}} ({ring}%none : i32{both}) -> !pto.pipe"]
        size = self.slots * self.high * self.wide * 4
        lines = []
        own = {"aiv": (1, "c2v", "vec"), "aic": (2, "v2c", "mat")}
        names = {1: "%none", 2: "%none"}
        for kind, (bit, word, space) in own.items():
            if self.direction & bit:
                where = f"location = #pto.address_space<{space}>, auto = false, base = 0"
                made = (f"pto.reserve_buffer {{name = \"{word}\", size = {size}, {where}}}" if core == kind else
                        f"pto.import_reserved_buffer {{name = \"{word}\", peer_func = @kernel_{kind}}}")
                lines.append(f"%{word} = {made} -> i32")
                names[bit] = f"%{word}"
        ring = "gm_slot_buffer = %ring : !pto.ptr<f32>, " if self.on == "a2a3" else ""
        if self.memory:
            type_ = f"!pto.tensor_view<{self.rows}x{self.cols}xf32>"
            lines.append(f"%slot_v = pto.make_tensor_view %ring, shape = [%c{self.rows}, %c{self.cols}], strides = "
                         f"[%c{self.cols}, %c1] : {type_}")
            ring = f"gm_slot_tensor = %slot_v : {type_}, "
        local = f", local_slot_num = {self.slots}" if self.on == "a2a3" else ""
        slot = self.high * self.wide * 4
        lines.append(
            f"pto.{core}_initialize_pipe {{dir_mask = {self.direction}, slot_size = {slot}, slot_num = {self.slots}"
            f"{local}}} ({ring}c2v_consumer_buf = {names[1]} : i32, v2c_consumer_buf = {names[2]} : i32)")
        return lines

    def _cube(self) -> list[str]:
        whole = (self.high, self.wide)
        eye = (self.wide, self.wide)
        n, m = f"%c{self.rows}", f"%c{self.cols}"
        lines = [
            *self._initialize("aic"), *self._part("eye_p", "eye", "%c0, %c0", self.cols, self.cols),
            self._alloc("em", "mat", 65536, m, m, eye), self._alloc("er", "right", 0, m, m, eye),
            f"pto.tload ins(%eye_p : !pto.partition_tensor_view<{self.cols}x{self.cols}xf32>) "
            f"outs(%em : {tile('mat', *eye)})", BARRIER,
            f"pto.tmov ins(%em : {tile('mat', *eye)}) outs(%er : {tile('right', *eye)})", BARRIER,
            self._alloc("am", "mat", 131072, n, m, whole),
            self._alloc("al", "left", 0, f"%c{self.computed or self.rows}", m, whole),
            f"%acc = pto.alloc_tile addr = %at0 valid_row = {n} valid_col = %c{self.sent or self.cols} : {self.acc}",
            f"scf.for %i = %c0 to %c{self.tiles} step %c1 {{", f"%row = arith.muli %i, {n} : index",
        ]
        if self.direction & 1:
            lines += [*self._part("a_p", "a", "%row, %c0"),
                      f"pto.tload ins(%a_p : !pto.partition_tensor_view<{self.rows}x{self.cols}xf32>) "
                      f"outs(%am : {tile('mat', *whole)})", BARRIER, *self._product("am")]
            if self.entries:
                type_ = self._slot("aic")[2]
                lines += [f"%slot = pto.talloc_to_aiv {{split = {self.split}}} -> {type_}",
                          self._of_slot("aic", "slot"),
                          f"pto.tstore ins(%acc : {self.acc}) outs(%slot_p : "
                          f"!pto.partition_tensor_view<{self.rows}x{self.cols}xf32>)",
                          self._push("tpush_to_aiv", "slot", type_), BARRIER]
            else:
                lines += [self._push("tpush_to_aiv", "acc", self.acc), BARRIER] * self.pushes
        if self.direction & 2:
            for k in range(self.pops):
                lines += [*self._pop("tpop_from_aiv", f"p{k}", n, m, tile("mat", *whole)), BARRIER,
                          *self._product(f"p{k}")]
            lines += self._free("tfree_from_aiv")
            lines += [*self._part("out_p", "out", "%row, %c0"),
                      f"pto.tstore ins(%acc : {self.acc}) outs(%out_p : "
                      f"!pto.partition_tensor_view<{self.rows}x{self.cols}xf32>)", BARRIER]
        return [*lines, "}"]

    def _product(self, left: str) -> list[str]:
        whole, eye = (self.high, self.wide), (self.wide, self.wide)
        return [f"pto.tmov ins(%{left} : {tile('mat', *whole)}) outs(%al : {tile('left', *whole)})", BARRIER,
                f"pto.tmatmul ins(%al, %er : {tile('left', *whole)}, {tile('right', *eye)}) "
                f"outs(%acc : {self.acc})", BARRIER]

    def _lane_extents(self) -> list[str]:
        """%n and %m: the lane's valid extents; %r and %c: where its part begins in the tile. Of an unsplit tile the
        second lane has nothing; on a5 it does not run where nobody asks for the lane."""
        lines = ["%which = pto.get_subblock_idx", "%lane = arith.index_cast %which : i64 to index"]
        texts = {"n": f"%c{self.rows}", "m": f"%c{self.cols}", "r": "%c0", "c": "%c0"}
        if not self.split and self.on == "a5":
            lines = []
        elif self.split:
            size, at = ("n", "r") if self.split in (1, 3) else ("m", "c")
            first = f"%c{((self.rows if size == 'n' else self.cols) + 1) // 2}"
            texts[at] = "%begin"
            lines.append(f"%begin = arith.muli %lane, {first} : index")
            if self.split > 2:
                lines.append(f"%own = arith.subi {first}, %lane : index")
            texts[size] = "%own" if self.split > 2 else first
        else:
            lines += ["%other = arith.subi %c1, %lane : index", f"%rows = arith.muli %other, {texts['n']} : index",
                      f"%cols = arith.muli %other, {texts['m']} : index"]
            texts |= {"n": "%rows", "m": "%cols"}
        return lines + [f"%{name} = arith.addi {value}, %c0 : index" for name, value in texts.items()]

    def _vector(self) -> list[str]:
        box = self.lane_box
        plain = tile("vec", *box)
        lines = [
            *self._lane_extents(), *self._initialize("aiv"),
            self._alloc("t", "vec", 65536, "%n", "%m", box), self._alloc("u", "vec", 98304, "%n", "%m", box),
            self._alloc("z", "nz", 131072, "%n", "%m", box),
            f"scf.for %i = %c0 to %c{self.tiles} step %c1 {{", f"%row = arith.muli %i, %c{self.rows} : index",
            "%from = arith.addi %row, %r : index",
        ]
        part = "!pto.partition_tensor_view<?x?xf32>"
        for name in ("a", "out"):
            lines.append(f"%{name}_p = pto.partition_view %{name}_v, offsets = [%from, %c], sizes = [%n, %m] : "
                         f"!pto.tensor_view<?x?xf32> -> {part}")
        if self.entries:
            rows, cols, type_ = self._slot("aiv")
            lines += [f"%slot = pto.tpop_from_aic {{split = {self.split}}} -> {type_}", self._of_slot("aiv", "slot"),
                      f"pto.tload ins(%slot_p : !pto.partition_tensor_view<{rows}x{cols}xf32>) outs(%t : {plain})",
                      BARRIER,
                      f"pto.tfree_from_aic(%slot : {type_}) {{split = {self.split}}}",
                      f"pto.tadds ins(%t, %one : {plain}, f32) outs(%u : {plain})", BARRIER]
        elif self.direction & 1:
            for k in range(self.pops):
                lines += [*self._pop("tpop_from_aic", f"p{k}", "%n", "%m", plain), BARRIER,
                          f"pto.tadds ins(%p{k}, %one : {plain}, f32) outs(%u : {plain})", BARRIER]
            lines += self._free("tfree_from_aic")
        else:
            lines += [f"pto.tload ins(%a_p : {part}) outs(%t : {plain})", BARRIER,
                      f"pto.tadds ins(%t, %one : {plain}, f32) outs(%u : {plain})", BARRIER]
        if self.direction & 2:
            sent, type_ = ("u", plain) if self.on == "a2a3" else ("z", tile("nz", *box))
            if self.on == "a5":
                lines += [f"pto.tmov ins(%u : {plain}) outs(%z : {type_})", BARRIER]
            lines += [self._push("tpush_to_aic", sent, type_), BARRIER] * self.pushes
        else:
            lines += [f"pto.tstore ins(%u : {plain}) outs(%out_p : {part})", BARRIER]
        return [*lines, "}"]

