"""Functions that a kernel calls: each is verified alone, and what one does beside the caller's own ops is left open."""

from __future__ import annotations

import re

import pytest

from pypto_verified.check import CheckOptions, verify_module
from pypto_verified.pto.reader import read
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.verifiers.examples_fifo import FREE, PUSH, pair_of_cores, pop
from tests.verifiers.examples_race import VEC, barrier, both, exp, pipes, write
from tests.verifiers.examples_race import read as load_a
from tests.verifiers.examples_split import ACC
from tests.verifiers.kernels import alloc, kernel, load, store, tile, view, window
from tests.verifiers.test_both_sides import LOAD, STORE, crossing, goes_wrong, run
from tests.verifiers.test_cores_wait import heard, told
from tests.verifiers.test_group_flags import give, take

PROVED, UNKNOWN = Verdict.PROVED, Verdict.UNKNOWN
ON_TILE, NOTHING, POINTER = f"({VEC}) -> ()", "() -> ()", "(!pto.ptr<f32>) -> ()"


def with_function(text: str, body: str, args: str = "") -> str:
    """The kernel `@k` of a text beside a function `@called`."""
    lines = "\n".join(f"    {line.strip()}" for line in body.splitlines())
    return text.replace("module {\n", f"module {{\n  func.func @called({args}) {{\n{lines}\n    return\n  }}\n", 1)


def judged(text: str) -> FunctionResult:
    results = verify_module(read(text, "k.pto"), target("a2a3"), CheckOptions())
    return next(r for r in results if r.name == "k")


def races(text: str) -> int:
    return len(schedule.replay(read(text, "k.pto"), "k", {}, target("a2a3")).races)


ADD_ONE = "%one = arith.constant 1 : index\n%n = arith.addi %x, %one : index"
IN_PLACE = f"pto.texp ins(%t : {VEC}) outs(%t : {VEC})"


@pytest.mark.requirement("VF-10")
@pytest.mark.parametrize("ordered", [False, True])
def test_what_a_function_does_to_a_tile_is_not_passed_over(ordered: bool) -> None:
    """The function works on the tile that the load brings; without a flag the two race."""
    text = with_function(pipes(
        load_a("a"), *([both("MTE2 V")] * ordered), f"func.call @called(%a) : {ON_TILE}", barrier("ALL"), write("a"),
        both("MTE2 V", 1)), IN_PLACE, f"%t: {VEC}")
    assert bool(races(text)) is not ordered
    result = judged(text)
    assert {f.verdict for f in result.findings} == {UNKNOWN}
    assert any(f.rule == "MODEL-OP" and "func.call" in f.message for f in result.findings)


@pytest.mark.requirement("VF-10")
def test_a_function_may_order_or_write_what_the_caller_does_not() -> None:
    """A flag in the function orders load and exp; the other function fills the tile that is stored. Neither is
    refuted."""
    flags = with_function(
        pipes(load_a("a"), f"func.call @called() : {NOTHING}", exp("a", "b"), both("V MTE3"), write("b")),
        both("MTE2 V"))
    filled = with_function(
        pipes(f"func.call @called(%a) : {ON_TILE}", both("V MTE3"), write("a")),
        f"%v = arith.constant 1.0 : f32\npto.texpands ins(%v : f32) outs(%t : {VEC})", f"%t: {VEC}")
    for text in (flags, filled):
        assert races(text) == 0
        assert {f.verdict for f in judged(text).findings} == {UNKNOWN}


@pytest.mark.requirement("VF-10")
def test_a_race_behind_a_call_is_refuted_all_the_same() -> None:
    text = with_function(
        pipes(f"func.call @called() : {NOTHING}", load_a("a"), exp("a", "b"), both("V MTE3"), write("b")),
        both("MTE2 V"))
    result = judged(text)
    raw = [f for f in result.findings if f.rule == "RACE-RAW"]
    assert [f.verdict for f in raw] == [Verdict.REFUTED]
    assert raw[0].replay.startswith("confirmed")


def _open(result: FunctionResult) -> bool:
    return any(f.rule == "MODEL-OP" for f in result.findings)


@pytest.mark.parametrize(("body", "args", "call", "modelled"), [
    (ADD_ONE, "%x: index", "func.call @called(%c1) : (index) -> ()", True),
    ("%v = arith.constant 1.0 : f32\n%z = arith.constant 0 : index\npto.store_scalar %v, %o[%z] : !pto.ptr<f32>, f32",
     "%o: !pto.ptr<f32>", f"func.call @called(%p) : {POINTER}", False)])
def test_only_what_touches_memory_or_orders_pipes_is_asked_about(
    body: str, args: str, call: str, modelled: bool
) -> None:
    result = judged(with_function(pipes(call, load_a("a"), both("MTE2 MTE3"), write("a")), body, args))
    assert _open(result) is not modelled
    alone = judged(with_function(kernel(call), body, args))
    assert not _open(alone), "a wrapper does nothing else"
    twice = judged(with_function(kernel(f"{call}\n{call}"), body, args))
    assert _open(twice) is not modelled


@pytest.mark.parametrize(("table", "more", "open_"), [
    ("%s", "", False), ("%p", "", True), ("%s", "%w = pto.load_scalar %s[%c1] : !pto.ptr<f32> -> f32", True)])
def test_a_number_may_be_looked_up_in_a_table_that_the_caller_leaves_alone(table: str, more: str, open_: bool) -> None:
    """The kernel loads from `%p`."""
    text = with_function(pipes(
        f"func.call @called({table}) : {POINTER}", *([more] if more else []), load_a("a"), both("MTE2 MTE3"),
        write("a"), args="%s: !pto.ptr<f32>"),
        "%z = arith.constant 0 : index\n%v = pto.load_scalar %o[%z] : !pto.ptr<f32> -> f32", "%o: !pto.ptr<f32>")
    assert _open(judged(text)) is open_


def test_a_wrapper_may_tell_first_where_the_counters_are() -> None:
    set_up = "pto.set_ffts %s : !pto.ptr<f32>"
    call = f"func.call @called(%p) : {POINTER}"
    body = ("%v = arith.constant 1.0 : f32\n%z = arith.constant 0 : index\n"
            "pto.store_scalar %v, %o[%z] : !pto.ptr<f32>, f32")
    text = with_function(kernel(f"{set_up}\n{call}", "%s: !pto.ptr<f32>"), body, "%o: !pto.ptr<f32>")
    assert not _open(judged(text))


@pytest.mark.requirement("VF-10")
@pytest.mark.parametrize(("way", "open_"), [
    ("%t = pto.addptr %s, %c1 : !pto.ptr<f32> -> !pto.ptr<f32>", False),
    ("%t = pto.addptr %p, %c1 : !pto.ptr<f32> -> !pto.ptr<f32>", True),
    ("%more = arith.cmpi eq, %c1, %n : index\n%t = arith.select %more, %p, %p : !pto.ptr<f32>", True),
    ("%t = scf.for %i = %c0 to %n step %c1 iter_args(%v = %p) -> (!pto.ptr<f32>) {\n"
     "scf.yield %v : !pto.ptr<f32>\n}",
     True)])
def test_a_table_may_be_the_callers_tensor_under_another_name(way: str, open_: bool) -> None:
    """The kernel stores to `%p` what the function looks up there."""
    text = with_function(pipes(
        way, load_a("a"), both("MTE2 MTE3"), write("a").replace("%dst", "%back"), f"func.call @called(%t) : {POINTER}",
        args="%s: !pto.ptr<f32>, %n: index").replace("%dst = ", "%back = ").replace(
            "make_tensor_view %q", "make_tensor_view %p"),
        "%z = arith.constant 0 : index\n%v = pto.load_scalar %o[%z] : !pto.ptr<f32> -> f32", "%o: !pto.ptr<f32>")
    assert _open(judged(text)) is open_


@pytest.mark.requirement("VF-10", "EV-06")
@pytest.mark.parametrize("chip", ["a2a3", "a5"])
@pytest.mark.parametrize("nested", [False, True])
def test_what_a_function_tells_the_other_core_is_not_passed_over(chip: str, nested: bool) -> None:
    """The cube sets the flag that the vector core waits for in a function, or in one that this one calls."""
    call = f"func.call @called() : {NOTHING}"
    text = with_function(crossing((STORE, call), (heard(3), LOAD)), call.replace("@called", "@tells"))
    text = with_function(text if nested else crossing((STORE, call), (heard(3), LOAD)), told(3))
    text = text.replace("@called() {", "@tells() {", 1) if nested else text
    outcome = run(read(text, "k.pto"), chip, 1, 0)
    assert not goes_wrong(outcome) and not outcome.races
    found = next(r for r in verify_module(read(text, "k.pto"), target(chip), CheckOptions()) if r.name == "k")
    about = {o.rule: o.verdict for o in found.obligations if o.rule in ("EVENT-CORES", "EVENT-COUNT", "RACE-CORE")}
    assert about and set(about.values()) == {UNKNOWN}


@pytest.mark.requirement("VF-10", "XC-09")
def test_tiles_that_a_function_pushes_are_not_passed_over() -> None:
    text = with_function(
        pair_of_cores(f"func.call @called(%c) : ({ACC}) -> ()", pop() + "\n" + FREE), PUSH, f"%c: {ACC}")
    found = {(o.rule, o.verdict) for r in verify_module(read(text, "k.pto"), target("a2a3"), CheckOptions())
             for o in r.obligations if o.rule == "FIFO-POP"}
    assert found == {("FIFO-POP", UNKNOWN)}


@pytest.mark.requirement("VF-10", "EV-06")
def test_a_flag_that_a_function_gives_to_its_group_is_not_passed_over() -> None:
    text = with_function(kernel(f"func.call @called() : {NOTHING}\n{take()}"), give())
    found = next(r for r in verify_module(read(text, "k.pto"), target("a2a3"), CheckOptions()) if r.name == "k")
    assert {o.verdict for o in found.obligations if o.rule == "EVENT-GROUP"} == {UNKNOWN}


@pytest.mark.requirement("EV-08", "VF-10")
@pytest.mark.parametrize(("first", "second", "open_"), [
    ("%p", "%q", False), ("%p", "%p", True), ("%p", "%later", True), ("%q", "%q", True)])
def test_tensors_that_a_call_hands_over_twice_do_not_lie_apart(first: str, second: str, open_: bool) -> None:
    """The called kernel stores to one tensor and then loads from the other, in no order."""
    called = pipes(load_a("a"), both("MTE2 MTE3"), write("a"), load_a("b")).replace("@k", "@called")
    outer = (
        "  func.func @k(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>) {\n    %c8 = arith.constant 8 : index\n"
        "    %later = pto.addptr %p, %c8 : !pto.ptr<f32> -> !pto.ptr<f32>\n"
        f"    func.call @called({first}, {second}) : (!pto.ptr<f32>, !pto.ptr<f32>) -> ()\n    return\n  }}\n}}\n")
    text = called.rstrip().removesuffix("}") + outer
    assert bool(races(text)) is open_
    found = [f for f in judged(text).findings if f.rule == "MODEL-OP"]
    assert bool(found) is open_
    assert all(f.verdict is UNKNOWN and f.message.endswith("more than one argument of a call") for f in found)


@pytest.mark.requirement("VF-10")
def test_a_tensor_that_is_only_read_may_be_handed_over_twice() -> None:
    called = pipes(load_a("a")).replace("@k", "@called").rstrip().removesuffix("}")
    text = called + (
        "  func.func @k(%p: !pto.ptr<f32>) {\n    func.call @called(%p, %p) : (!pto.ptr<f32>, !pto.ptr<f32>) -> ()\n"
        "    return\n  }\n}\n")
    assert not [f for f in judged(text).findings if f.rule == "MODEL-OP"]


def ends(name: str) -> str:
    """A cube kernel that stores to %p and a vector kernel that loads from what it calls `name`, in no order."""
    window_of = window("w", "pv", "%c0, %c0", "%c16, %c16", "16x16")
    acc = tile(16, 16, "f32", "acc", "col_major", "row_major", 1024)
    cube = (view("pv", "p", "c64", "c16"), alloc("t", acc, 0, "c16", "c16"), window_of, store("t", "w", acc, "16x16"))
    vector = (view("pv", "p", "c64", "c16"), alloc("t", tile(16, 16), 0, "c16", "c16"), window_of,
              load("w", "t", tile(16, 16), "16x16"))
    bodies = (kernel("\n".join(body), kind=kind).replace("@k(", f"@k_{end}(")
              for body, kind, end in ((cube, "cube", "aic"), (vector, "vector", "aiv")))
    first, second = (body.removeprefix("module {\n").rstrip().removesuffix("}") for body in bodies)
    return first + re.sub(r"%p\b", f"%{name}", second)


@pytest.mark.requirement("EV-06", "VF-10")
@pytest.mark.parametrize(("name", "given", "open_"), [
    ("p", "%p, %q", False), ("x", "%p, %q", True), ("x", "%later, %q", True), ("x", "%r, %q", False)])
def test_a_tensor_that_both_cores_are_given_needs_one_name(name: str, given: str, open_: bool) -> None:
    """By two names no rule knows that it is one tensor; a run of the caller shows the race."""
    pointers = "(!pto.ptr<f32>, !pto.ptr<f32>) -> ()"
    text = "module {\n" + ends(name) + (
        "  func.func @k(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>, %r: !pto.ptr<f32>) {\n"
        "    %c8 = arith.constant 8 : index\n    %later = pto.addptr %p, %c8 : !pto.ptr<f32> -> !pto.ptr<f32>\n"
        f"    func.call @k_aic(%p, %q) : {pointers}\n    func.call @k_aiv({given}) : {pointers}\n"
        "    return\n  }\n}\n")
    found = [f for f in judged(text).findings if f.rule == "MODEL-OP"]
    assert bool(found) is open_
    assert all(f.verdict is UNKNOWN and f.message.endswith("the other core is given by another name") for f in found)
    assert bool(races(text)) is (open_ or name == "p")
