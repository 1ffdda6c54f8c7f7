"""FIFO: what a run of the transfers goes through."""

from __future__ import annotations

from pypto_verified.pto.reader import read
from tests.verifiers.examples_fifo import FAR, crossing, turns
from verifiers.access import build_program
from verifiers.fifo_turns import in_order
from verifiers.race.values import Values


class _Noting(Values):
    """Notes which counters a run gives values to."""

    def __setitem__(self, name: str, value: int) -> None:
        self.noted: set[str]
        self.__dict__.setdefault("noted", set()).add(name)
        super().__setitem__(name, value)


def test_a_loop_that_transfers_nothing_is_not_gone_through() -> None:
    """However often it turns, and whatever is in it."""
    idle = turns("%n4k", "%some = arith.cmpi sgt, %n, %i : index", "scf.if %some {", "pto.barrier <PIPE_ALL>", "}",
                 turns("%n4k", "pto.barrier <PIPE_ALL>").replace("%i", "%k")).replace("%i", "%idle")
    text = crossing(FAR).replace("pto.tpush_to_aiv", f"{idle}\npto.tpush_to_aiv", 1)
    program = build_program(read(text).funcs[0], "", "a2a3")
    values = _Noting(program, {"n": 1})
    done = [step.op.name for step in in_order(program.body, values)]
    assert [done.count(name) for name in ("pto.tpush_to_aiv", "pto.tpop_from_aiv")] == [3, 3]
    assert "idle" not in values.noted and "k" not in values.noted and "i" in values.noted
