"""A pipe is initialised before its ops on every path: what the assembler asks for when it lowers them."""

from __future__ import annotations

import pytest

from pypto_verified.pto.legality import check_legality
from pypto_verified.pto.reader import read

FREE = "pto.tfree_from_aiv {split = 0}"
BACK = "pto.aic_initialize_pipe {dir_mask = 2, slot_size = 1024} (gm_slot_buffer = %gm : !pto.ptr<f32>, " \
       "v2c_consumer_buf = %z : i32)"
LOOP = "scf.for %i = %zero to %n step %one {"
NEVER = "scf.for %i = %zero to %zero step %one {"


def first(*lines: str) -> bool:
    """Whether the only op of a pipe in a cube function is found to come behind its initialisation."""
    body = "\n".join(("%z = arith.constant 0 : i32", "%zero = arith.constant 0 : index",
                      "%one = arith.constant 1 : index", *lines))
    text = f"""module {{
      func.func @f(%gm: !pto.ptr<f32>, %n: index, %c: i1) attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
        {body}
        return
      }}
    }}"""
    return "PIPE-FIRST" not in {found.id for found in check_legality(read(text), "a2a3")}


def test_in_one_block_the_order_of_the_text_counts() -> None:
    assert first(BACK, FREE)
    assert not first(FREE, BACK)


@pytest.mark.parametrize("around", [LOOP, NEVER, "scf.if %c {"])
def test_what_a_branch_or_loop_makes_is_there_inside_and_not_behind(around: str) -> None:
    """Also where the loop takes no turn, or each turn comes behind one that has made the pipe."""
    assert first(BACK, around, FREE, "}")
    assert first(around, BACK, FREE, "}")
    assert not first(around, BACK, "}", FREE)
    assert not first(around, FREE, BACK, "}")


def test_one_arm_makes_nothing_for_the_other() -> None:
    assert not first("scf.if %c {", BACK, "} else {", FREE, "}")


def test_the_condition_of_a_while_loop_runs_before_its_body_but_is_another_region() -> None:
    """MLIR: a region dominates no region beside it."""
    head = ["scf.while (%k = %zero) : (index) -> (index) {", BACK, "scf.condition(%c) %k : index", "} do {",
            "^bb0(%j: index):", FREE, "scf.yield %j : index", "}"]
    assert not first(*head)
    assert first(BACK, *(line for line in head if line != BACK))


def test_of_blocks_one_counts_that_every_way_goes_through() -> None:
    fork = ["cf.cond_br %c, ^left, ^right", "^left:"]
    join = ["cf.br ^end", "^right:", "cf.br ^end", "^end:"]
    assert first(BACK, *fork, *join, FREE)
    assert first(*fork, *join[:-1], "^end:", BACK, FREE)
    assert not first(*fork, BACK, *join, FREE)
    assert first("cf.br ^a", "^a:", BACK, "cf.br ^b", "^b:", FREE)


def test_a_loop_of_blocks_makes_nothing_for_its_first_turn() -> None:
    again = ["cf.cond_br %c, ^head, ^end", "^end:"]
    assert not first("cf.br ^head", "^head:", FREE, "cf.br ^made", "^made:", BACK, *again)
    assert first("cf.br ^head", "^head:", BACK, "cf.br ^used", "^used:", FREE, *again)
