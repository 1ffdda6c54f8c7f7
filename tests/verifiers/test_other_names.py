"""Buffers under other names: a value that a loop hands on, a branch yields or `arith.select` picks. What is the same
buffer throughout is followed, what is not is told: no op on it goes unjudged."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.examples_race import VEC, both, pipes, read, write
from tests.verifiers.kernels import check, finding, obligations, verdicts

PART = "!pto.partition_tensor_view<32x64xf32>"


def _for(type_: str, init: str, handed: str, *body: str) -> str:
    return "\n".join((
        f"%r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %{init}) -> ({type_}) {{", *body,
        f"scf.yield %{handed} : {type_}", "}"))


def _while(*body: str) -> str:
    """Three turns with `%a`, which is `%v` in the head, `%w` in the body and `%r` behind it."""
    return "\n".join((
        f"%r:2 = scf.while (%k = %c0, %v = %a) : (index, {VEC}) -> (index, {VEC}) {{",
        "%more = arith.cmpi slt, %k, %c3 : index", f"scf.condition(%more) %k, %v : index, {VEC}", "} do {",
        f"^bb0(%j: index, %w: {VEC}):", *body, "%next = arith.addi %j, %c1 : index",
        f"scf.yield %next, %w : index, {VEC}", "}"))


def _if(first: str, second: str) -> str:
    return "\n".join((
        "%once = arith.cmpi eq, %n, %c1 : index", f"%r = scf.if %once -> ({VEC}) {{", f"scf.yield %{first} : {VEC}",
        "} else {", f"scf.yield %{second} : {VEC}", "}"))


def _select(first: str, second: str) -> str:
    return f"%once = arith.cmpi eq, %n, %c1 : index\n%r = arith.select %once, %{first}, %{second} : {VEC}"


def _raw(pair: str, *rest: str) -> set[Verdict]:
    """Of a store of `%a` by some name, which a flag of the pair stands before."""
    result = check(pipes(read("a"), both(pair), *rest, args="%n: index"), families="RACE")
    assert not obligations(result, "MODEL-OP")
    return verdicts(result, "RACE-RAW")


@pytest.mark.requirement("EV-02")
@pytest.mark.requirement("VF-10")
@pytest.mark.parametrize("rest", [
    (_for(VEC, "a", "v", write("v"), "pto.barrier <PIPE_MTE3>"),), (_for(VEC, "a", "v"), write("r")),
    (_for(VEC, "a", "a"), write("r")), (_while(write("w"), "pto.barrier <PIPE_MTE3>"),), (_while(), write("r#1")),
    (_if("a", "a"), write("r")), (_select("a", "a"), write("r"))])
def test_the_same_tile_under_another_name_is_ordered_like_it(rest: tuple[str, ...]) -> None:
    assert _raw("MTE2 MTE3", *rest) == {Verdict.PROVED}
    assert _raw("MTE2 V", *rest) == {Verdict.REFUTED}


@pytest.mark.requirement("VF-10")
@pytest.mark.parametrize("rest", [
    (_for(VEC, "a", "b"), write("r")), (_for(VEC, "a", "b", write("v")),), (_if("a", "b"), write("r")),
    (_select("a", "b"), write("r"))])
def test_one_of_two_tiles_is_told_and_not_passed_over(rest: tuple[str, ...]) -> None:
    text = pipes(read("a"), read("b"), both("MTE2 V"), *rest, args="%n: index")
    result = check(text, families="RACE")
    assert "a buffer" in finding(result, "MODEL-OP").message
    assert len(obligations(result, "MODEL-OP")) == 1
    assert result.verdict is not Verdict.PROVED


@pytest.mark.requirement("EV-02")
def test_a_window_that_a_loop_hands_on_is_the_same_bytes() -> None:
    """Two stores to it may land in either order."""
    rest = _for(PART, "dst", "v", f"pto.tstore ins(%a : {VEC}) outs(%v : {PART})")
    text = pipes(read("a"), both("MTE2 MTE3"), rest, args="%n: index")
    assert verdicts(check(text, families="RACE"), "RACE-WAW") == {Verdict.REFUTED}


@pytest.mark.requirement("VF-10")
def test_extents_of_a_tile_of_two_names_are_not_followed() -> None:
    """They are the tile's, whichever name is used."""
    rest = _for(VEC, "a", "v", f"pto.set_validshape %v, %c1, %c64 : {VEC}")
    result = check(pipes(read("a"), both("MTE2 MTE3"), rest, write("a"), args="%n: index"), families="RACE VALID")
    assert "another name" in finding(result, "MODEL-OP").message


@pytest.mark.requirement("VF-10")
@pytest.mark.parametrize(("type_", "use", "told"), [
    (VEC, write("x"), "tile argument %x"),
    (PART, f"pto.tstore ins(%a : {VEC}) outs(%x : {PART})", "tensor argument %x"),
    ("!pto.ptr<f32, vec>", "%f = pto.load_scalar %x[%c0] : !pto.ptr<f32, vec> -> f32",
     "%x, a buffer of which it is not known where it is")])
def test_arguments_that_are_no_tensors_of_their_own_are_told(type_: str, use: str, told: str) -> None:
    result = check(pipes(read("a"), both("MTE2 MTE3"), use, args=f"%x: {type_}"), families="RACE")
    assert [f.message for f in result.findings] == [f"not modelled: {told}"]
