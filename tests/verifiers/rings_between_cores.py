"""Texts of a cube and its vector cores that hand tiles over in rings of buffers in global memory, one way or there and
back, with one thing wrong if asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.verifiers.kernels import alloc, kernel, load, store, tile, view, window

ACC, VEC = tile(16, 16, "f32", "acc", "col_major", "row_major", 1024), tile(16, 16)
MAT = tile(16, 16, "f32", "mat", "col_major", "row_major", 512)
Lines = list[str]
FAULTS = {
    "loads the next slot": "RACE-CORE", "tells before it stores": "RACE-CORE", "answers before it loads": "RACE-CORE",
    "loads before it waits": "RACE-CORE", "waits after it stores": "RACE-CORE", "one answer too many": "RACE-CORE",
    "one answer too few": "EVENT-CORES", "one answer is left": "EVENT-CORES", "no size of zero": "EVENT-CORES",
}
"""What may be wrong of a ring, and the rule that says so."""


@dataclass
class _Kernel:
    """%M tiles, in `slots` buffers that are taken in turn; each has an id of its own, or all share one."""

    slots: int
    own_ids: bool = True
    _made: int = field(default=0, repr=False, kw_only=True)

    def _new(self, word: str) -> str:
        self._made += 1
        return f"{word}_{self._made}"

    def _number(self, value: str) -> tuple[Lines, str]:
        """A size, or a constant."""
        if not value.isdigit():
            return [], value
        name = self._new("n")
        return [f"%{name} = arith.constant {value} : index"], name

    def _sum(self, i: str, by: int) -> tuple[Lines, str]:
        step, name = self._new("by"), self._new("sum")
        return [f"%{step} = arith.constant {by} : index", f"%{name} = arith.addi %{i}, %{step} : index"], name

    def _in_turn(self, i: str) -> tuple[Lines, str]:
        slots, name = self._new("slots"), self._new("turn")
        lines = [f"%{slots} = arith.constant {self.slots} : index", f"%{name} = arith.remsi %{i}, %{slots} : index"]
        return lines, name

    def _loop(self, first: str, end: str, body: Callable[[str], Lines]) -> Lines:
        var = self._new("i")
        (a, lower), (b, upper) = self._number(first), self._number(end)
        return [*a, *b, f"scf.for %{var} = %{lower} to %{upper} step %c1 {{", *body(var), "}"]

    def _when(self, relation: str, a: str, b: str, body: Lines) -> Lines:
        (lines, other), name = self._number(b), self._new("is")
        return [*lines, f"%{name} = arith.cmpi {relation}, %{a}, %{other} : index", f"scf.if %{name} {{", *body, "}"]

    def _flag(self, does: str, pipe: str, first: int, i: str) -> Lines:
        if not self.own_ids:
            return [f"pto.sync.{does} #pto.pipe<PIPE_{pipe}>, {first}"]
        lines, turn = self._in_turn(i)
        (more, at), name = self._number(str(first)), self._new("id")
        return [*lines, *more, f"%{name} = arith.addi %{turn}, %{at} : index",
                f"pto.sync.{does} #pto.pipe<PIPE_{pipe}>, %{name}"]

    def _access(self, tensor: str, i: str, op: Callable[[str], str]) -> Lines:
        lines, turn = self._in_turn(i)
        row, box = self._new("row"), self._new("box")
        return [*lines, f"%{row} = arith.muli %{turn}, %c16 : index",
                window(box, tensor, f"%{row}, %c0", "%c16, %c16", "16x16"), op(box)]

    def _around(self, cube: Lines, vector: Lines) -> str:
        body = (
            view("pv", "p", "c128", "c16"), view("qv", "q", "c128", "c16"), "pto.section.cube {",
            alloc("acc", ACC, 0, "c16", "c16"), alloc("m", MAT, 0, "c16", "c16"), *cube,
            "}", "pto.section.vector {", alloc("t", VEC, 0, "c16", "c16"), *vector, "}")
        return kernel("\n".join(body), "%M: index, %N: index").replace(
            " attributes {pto.kernel_kind = #pto.kernel_kind<vector>}", "")


@dataclass
class Ring(_Kernel):
    """The vector core answers after each load, and the cube waits for an answer before it stores to a slot: those of
    the first turns are given in advance and the last ones waited for in the end (`primed`), or branches leave both out.
    `behind`: the vector core takes the last tile after its loop."""

    primed: bool = True
    behind: bool = False
    fault: str = ""

    def text(self) -> str:
        produce, consume = self._loop("0", "M", self._produce), self._loop("0", "M", self._consume)
        if self.behind:
            consume = self._behind()
        if self.primed:
            given = self.slots + {"one answer too many": 1, "one answer too few": -1}.get(self.fault, 0)
            taken = self.slots + (self.fault == "one answer too many") - (self.fault == "one answer is left")
            consume = [*self._loop("0", str(given), lambda i: self._flag("set", "MTE2", 8, i)), *consume]
            produce = [*produce, *self._loop("0", str(taken), lambda i: self._flag("wait", "FIX", 8, i))]
        return self._around(produce, consume)

    def _produce(self, i: str) -> Lines:
        wait, tell = self._flag("wait", "FIX", 8, i), self._flag("set", "FIX", 1, i)
        if not self.primed:
            wait = self._when("sge", i, str(self.slots + (self.fault == "one answer is left")), wait)
        put = self._access("pv", i, lambda w: store("acc", w, ACC, "16x16"))
        if self.fault == "tells before it stores":
            return [*wait, *tell, *put]
        return [*put, *wait, *tell] if self.fault == "waits after it stores" else [*wait, *put, *tell]

    def _consume(self, i: str) -> Lines:
        wait, answer = self._flag("wait", "MTE2", 1, i), self._flag("set", "MTE2", 8, i)
        if not self.primed:
            more, end = self._new("more"), self._new("end")
            relation = {"one answer too few": self.slots + 1}.get(self.fault, self.slots)
            answer = [
                f"%{more} = arith.constant {relation} : index", f"%{end} = arith.addi %{i}, %{more} : index",
                *self._when("slt", end, "M", answer)]
        at = self._sum(i, 1) if self.fault == "loads the next slot" else ([], i)
        take = [*at[0], *self._access("pv", at[1], lambda w: load(w, "t", VEC, "16x16"))]
        if self.fault == "loads before it waits":
            return [*take, *wait, *answer]
        return [*wait, *answer, *take] if self.fault == "answers before it loads" else [*wait, *take, *answer]

    def _behind(self) -> Lines:
        """The tile before in each iteration but the first, and the last one after the loop."""
        def before(i: str) -> Lines:
            lines, last = self._sum(i, -1)
            return [*lines, *self._consume(last)]

        rest = before("M")
        guarded = rest if self.fault == "no size of zero" else self._when("sgt", "M", "0", rest)
        return [*self._loop("1", "M", before), *guarded]


LOST = {
    "loads before it waits": "RACE-CORE", "tells before it stores": "RACE-CORE",
    "no order within the cube": "RACE-CORE", "answers before it stores": "RACE-CORE",
    "leaves the last one": "EVENT-CORES", "no size of zero": "EVENT-CORES",
}
"""What may be wrong there and back, and the rule that says so."""


@dataclass
class ThereAndBack(_Kernel):
    """What the cube stores the vector cores load, and store in return what the cube loads. The cube stores the next
    tile before it takes what it gets for the last: two buffers each way are enough. `rounds`: all of that %N times."""

    fault: str = ""
    rounds: bool = False

    def text(self) -> str:
        def both(i: str) -> Lines:
            lines, last = self._sum(i, -1)
            return [*self._put(i), *lines, *self._take(last)]

        (zero, first), (less, last) = self._number("0"), self._sum("M", -1)
        rest = [] if self.fault == "leaves the last one" else self._take(last)
        if self.fault != "no size of zero":
            rest = self._when("sgt", "M", "0", rest)
        cube = [*zero, *self._when("sgt", "M", "0", self._put(first)), *self._loop("1", "M", both), *less, *rest]
        vector = self._loop("0", "M", self._work)
        if self.rounds:
            cube, vector = self._again(cube), self._again(vector)
        return self._around(cube, vector)

    def _again(self, tiles: Lines) -> Lines:
        return self._loop("0", "N", lambda _: tiles)

    def _put(self, i: str) -> Lines:
        put, tell = self._access("pv", i, lambda w: store("acc", w, ACC, "16x16")), self._flag("set", "FIX", 1, i)
        return [*tell, *put] if self.fault == "tells before it stores" else [*put, *tell]

    def _take(self, i: str) -> Lines:
        wait, take = self._flag("wait", "MTE2", 8, i), self._access("qv", i, lambda w: load(w, "m", MAT, "16x16"))
        done = [] if self.fault == "no order within the cube" else _order("MTE2", "FIX")
        return [*take, *wait, *done] if self.fault == "loads before it waits" else [*wait, *take, *done]

    def _work(self, i: str) -> Lines:
        get, back = (self._access(tensor, i, op) for tensor, op in (
            ("pv", lambda w: load(w, "t", VEC, "16x16")), ("qv", lambda w: store("t", w, VEC, "16x16"))))
        answer, early = self._flag("set", "MTE3", 8, i), self.fault == "answers before it stores"
        return [*self._flag("wait", "MTE2", 1, i), *get, *_order("MTE2", "MTE3"),
                *((*answer, *back) if early else (*back, *answer)), *_order("MTE3", "MTE2")]


def _order(first: str, second: str) -> Lines:
    """What `second` does next waits for what `first` has done."""
    return [f"pto.{does}_flag[#pto.pipe<PIPE_{first}>, #pto.pipe<PIPE_{second}>, #pto.event<EVENT_ID0>]"
            for does in ("set", "wait")]
