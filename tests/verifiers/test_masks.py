"""DTYPE-MASK: a mask is not computed with wherever it surely is what an op reads; a slot that only may be the mask's is
not judged."""

from __future__ import annotations

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.targets import target
from tests.verifiers.kernels import alloc, fill, kernel, out, tile
from verifiers.engine import verify

_BYTES, _WIDE, _NUMBERS = tile(32, 32, "i8"), tile(32, 32, "f16"), tile(32, 64, "i32")
_SLOTS = f"!pto.multi_tile_buf<{_BYTES}, count=2>"


def _slot(name: str, index: str) -> str:
    return f"%{name} = pto.multi_tile_get %slots[{index}] : {_SLOTS} -> {_BYTES}"


def _kernel(written: str, read_: str, between: str = "") -> str:
    """A comparison writes one slot, and a cast reads one; `%j`, `%k` and `%c` are the caller's."""
    return kernel("\n".join((
        "%three = arith.constant 3 : i32", alloc("s", _NUMBERS), fill("s", _NUMBERS),
        "%turn = arith.remsi %k, %c2 : index", "%next = arith.addi %k, %c1 : index",
        "%other = arith.remsi %next, %c2 : index",
        f"%slots = pto.alloc_multi_tile valid_row = %c32 valid_col = %c8 : {_SLOTS}",
        _slot("a", written), _slot("b", read_),
        f"pto.tcmps ins(%s, %three {{cmpMode = #pto<cmp eq>}} : {_NUMBERS}, i32) outs(%a : {_BYTES})",
        between, alloc("d", _WIDE, cols="c8"),
        f"pto.tcvt ins(%b {{rmode = #pto<round_mode RINT>}} : {_BYTES}) outs(%d : {_WIDE})",
        out("d", _WIDE, "c32", "c8", "m", "f16"))), "%m: !pto.ptr<f16>, %k: index, %j: index, %c: i1")


_AGAIN = f"{_slot('e', '%k')}\n{fill('e', _BYTES)}"


@pytest.mark.parametrize(("text", "verdict"), [
    (_kernel("%k", "%k"), Verdict.REFUTED),
    (_kernel("%turn", "%turn"), Verdict.REFUTED),
    (_kernel("%c0", "%c1"), Verdict.PROVED),
    (_kernel("%turn", "%other"), Verdict.PROVED),
    (_kernel("%k", "%j"), Verdict.UNKNOWN),
    (_kernel("%k", "%k", _AGAIN), Verdict.PROVED),
    (_kernel("%k", "%k", f"scf.if %c {{\n{_AGAIN}\n}}"), Verdict.REFUTED),
    (_kernel("%k", "%k", f"{_slot('e', '%j')}\n{fill('e', _BYTES)}"), Verdict.UNKNOWN),
    (_kernel("%turn", "%turn", f"{_slot('e', '%other')}\n{fill('e', _BYTES)}"), Verdict.REFUTED),
], ids=["the slot", "the slot in turn", "the other slot", "the other slot in turn", "perhaps the slot", "written again",
        "written again on one path", "perhaps written again", "another slot written between"])
def test_a_slot_is_judged_by_what_surely_wrote_it_last(text: str, verdict: Verdict) -> None:
    found = [o.verdict for r in verify(read(text, "k.pto"), target("a2a3")) for o in r.obligations
             if o.rule == "DTYPE-MASK"]
    assert found == [verdict]


_READ = f"pto.tcvt ins(%a {{rmode = #pto<round_mode RINT>}} : {_BYTES}) outs(%d : {_WIDE})"
_MASK = f"pto.tcmps ins(%s, %three {{cmpMode = #pto<cmp eq>}} : {_NUMBERS}, i32) outs(%a : {_BYTES})"


def _if(condition: str, op: str) -> str:
    return f"scf.if {condition} {{\n{op}\n}}"


def _loop(head: tuple[str, ...], body: tuple[str, ...]) -> str:
    """A while loop of `%k` iterations; the head runs once more. `%a` holds numbers before it."""
    return kernel("\n".join((
        "%three = arith.constant 3 : i32", alloc("s", _NUMBERS), fill("s", _NUMBERS),
        "%some = arith.cmpi sgt, %k, %c0 : index", alloc("a", _BYTES, 32768, cols="c8"), fill("a", _BYTES),
        alloc("d", _WIDE, 65536, cols="c8"), "%end = scf.while (%w = %c0) : (index) -> index {", *head,
        "%more = arith.cmpi slt, %w, %k : index", "scf.condition(%more) %w : index", "} do {", "^bb0(%i: index):",
        *body, "%after = arith.addi %i, %c1 : index", "scf.yield %after : index", "}",
        out("d", _WIDE, "c32", "c8", "m", "f16"))), "%m: !pto.ptr<f16>, %k: index, %c: i1, %e: i1")


@pytest.mark.parametrize(("text", "verdict"), [
    (_loop((_READ, _if("%c", _MASK), _if("%e", fill("a", _BYTES))), ()), Verdict.UNKNOWN),
    (_loop((_if("%some", fill("a", _BYTES)), _READ), (_MASK,)), Verdict.UNKNOWN),
    (_loop((fill("a", _BYTES), _READ), (_MASK,)), Verdict.PROVED),
    (_loop((_READ,), (_MASK,)), Verdict.REFUTED),
], ids=["perhaps of the test before", "perhaps written again", "written again", "of the body before"])
def test_a_test_of_a_while_loop_finds_what_the_body_and_the_test_before_left(text: str, verdict: Verdict) -> None:
    """A mask that one test may have written the next one may read, whatever else that one may have written after it;
    and what a body wrote the next test may have written over before it reads."""
    found = [o.verdict for r in verify(read(text, "k.pto"), target("a2a3")) for o in r.obligations
             if o.rule == "DTYPE-MASK"]
    assert found == [verdict]
