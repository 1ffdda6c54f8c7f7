"""Tiles that one core hands to another in places of their own, one in each turn: no answer is needed, as no place is
used twice. Also where the ends go through the tiles in loops of another form, or take ids in turn through a nest. Right
ones are proved for all sizes, and no run shows a fault; what differs in one place is refuted by a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.kernels import load, store, window
from tests.verifiers.rings_between_cores import ACC, VEC, Lines, Ring
from tests.verifiers.test_rings_between_cores import judged, seen, shown

PROVED = Verdict.PROVED


@dataclass
class Row(Ring):
    """Tile `k` at `row(k)`, from cube to vector core, each told of by a flag. `ends`: how the cores go through the
    tiles, `slots` ids in turn. `shift`: tiles by which the vector core reads another one."""

    ends: tuple[str, str] = ("plain", "plain")
    count: str = "M"
    down: bool = False
    shift: int = 0
    early: bool = False
    one_place: bool = False

    def text(self) -> str:
        return self._around(self._through(self.ends[0], self._produce), self._through(self.ends[1], self._consume))

    def _through(self, form: str, turn: Callable[[str], Lines]) -> Lines:
        number, count = self._number(self.count)
        if form == "plain":
            return [*number, *self._loop("0", count, turn)]
        if form == "last apart":
            last = self._new("last")
            return [*number, f"%{last} = arith.subi %{count}, %c1 : index", *self._loop("0", last, turn),
                    *self._when("sgt", count, "0", turn(last))]
        if form == "two a turn":
            half, rest, last = self._new("half"), self._new("rest"), self._new("last")
            return [*number, f"%{half} = arith.divsi %{count}, %c2 : index",
                    f"%{rest} = arith.remsi %{count}, %c2 : index", f"%{last} = arith.subi %{count}, %c1 : index",
                    *self._loop("0", half, lambda i: self._pair(i, turn)), *self._when("eq", rest, "1", turn(last))]
        assert form == "rounds"

        def one_round(i: str) -> Lines:
            return self._loop("0", count, lambda k: self._nth(i, k, count, turn))

        return [*number, *self._loop("0", "N", one_round)]

    def _pair(self, i: str, turn: Callable[[str], Lines]) -> Lines:
        first, second = self._new("first"), self._new("second")
        return [f"%{first} = arith.muli %{i}, %c2 : index", *turn(first),
                f"%{second} = arith.addi %{first}, %c1 : index", *turn(second)]

    def _nth(self, i: str, k: str, count: str, turn: Callable[[str], Lines]) -> Lines:
        before, number = self._new("before"), self._new("number")
        return [f"%{before} = arith.muli %{i}, %{count} : index",
                f"%{number} = arith.addi %{before}, %{k} : index", *turn(number)]

    def _produce(self, i: str) -> Lines:
        put, tell = self._at(i, lambda w: store("acc", w, ACC, "16x16")), self._flag("set", "FIX", 1, i)
        return [*tell, *put] if self.early else [*put, *tell]

    def _consume(self, i: str) -> Lines:
        more, at = self._sum(i, self.shift)
        return [*self._flag("wait", "MTE2", 1, i), *more, *self._at(at, lambda w: load(w, "t", VEC, "16x16")),
                "pto.barrier <PIPE_ALL>"]

    def _at(self, i: str, op: Callable[[str], str]) -> Lines:
        row, box = self._new("row"), self._new("box")
        lines = [f"%{row} = arith.muli %{i}, %{'c0' if self.one_place else 'c16'} : index"]
        if self.down:
            up, row = row, self._new("row")
            lines += [f"%c112_{row} = arith.constant 112 : index", f"%{row} = arith.subi %c112_{row}, %{up} : index"]
        return [*lines, window(box, "pv", f"%{row}, %c0", "%c16, %c16", "16x16"), op(box)]


FEW = Row(1, own_ids=False, count="8")
SOME = Row(2, count="M")
RIGHT = {
    "eight, one flag": FEW, "from the last row up": replace(FEW, down=True),
    "ids in turn": replace(FEW, slots=2, own_ids=True),
    "as many as are asked for": SOME, "last one apart": replace(SOME, ends=("plain", "last apart")),
    "two in a turn": replace(SOME, ends=("two a turn", "plain")),
    "two in a turn there": replace(SOME, slots=1, own_ids=False, ends=("last apart", "two a turn")),
    "rounds": replace(SOME, ends=("rounds", "rounds")),
    "rounds, three ids": replace(SOME, slots=3, ends=("rounds", "rounds")),
}
WRONG = {
    "reads the next": replace(FEW, shift=1), "reads the next, ids in turn": replace(SOME, shift=1),
    "tells before it stores": replace(SOME, early=True), "one place for all": replace(FEW, one_place=True),
    "two in a turn, reads the next": replace(SOME, ends=("two a turn", "plain"), shift=1),
    "rounds, tells before": replace(SOME, ends=("rounds", "rounds"), early=True),
}


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("kernel", RIGHT.values(), ids=RIGHT)
def test_tiles_in_places_of_their_own_need_no_answer(kernel: Row) -> None:
    result = judged(kernel.text(), "a2a3")
    assert {o.verdict for o in result.obligations if o.rule in ("RACE-CORE", "EVENT-CORES")} == {PROVED}
    assert not seen(kernel.text(), "a2a3", range(4), ("program", "late"), 2)


@pytest.mark.requirement("EV-06")
@pytest.mark.parametrize("kernel", WRONG.values(), ids=WRONG)
def test_a_tile_that_is_read_elsewhere_or_too_early_is_shown(kernel: Row) -> None:
    shown(kernel.text(), "RACE-CORE")
