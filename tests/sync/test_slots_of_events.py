"""Events whose slots a loop takes in turn, from a kernel to its verdict and its runs."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

from pypto_verified.check import CheckOptions, verify_module
from pypto_verified.compiler import Artifact, compile_function
from pypto_verified.interpreter import interpret
from pypto_verified.pto.walk import walk_ops
from pypto_verified.report.model import Verdict
from pypto_verified.simulator import schedule
from pypto_verified.targets import target
from tests.interpreter.kernels import Array, tensor
from tests.passes.build import kernel

PARAMS = ",\n".join([tensor("a", (128, 64)), tensor("out", (128, 64), out=True)])
DOUBLED = """
    loaded = pl.Event("TLOAD", "TEXP", slots=2)
    taken = pl.Event("TEXP", "TLOAD", slots=2)
    done = pl.Event("TEXP", "TSTORE_VEC", slots=2)
    stored = pl.Event("TSTORE_VEC", "TEXP", slots=2)
    for k in pl.range(2):
        taken[k].record()
        stored[k].record()
    for i in pl.range(8):
        s = i % 2
        x: pl.Tile[[16, 64], pl.FP32, ins[i % 2]] = pl.load(
            a, [i * 16, 0], [16, 64], wait=taken[s], record=loaded[s])
        y: pl.Tile[[16, 64], pl.FP32, outs[i % 2]] = pl.exp(
            x, wait=(loaded[s], stored[s]), record=(taken[s], done[s]))
        out = pl.store(y, [i * 16, 0], out, wait=done[s], record=stored[s])
    for k in pl.range(2):
        taken[k].wait()
        stored[k].wait()
    return out
"""
RINGS = "ins = pl.MemRef(slots=2)\nouts = pl.MemRef(slots=2)"
A: Array = np.linspace(-1, 1, 128 * 64, dtype=np.float32).reshape(128, 64)


def compiled(chip: str, body: str = DOUBLED) -> Artifact:
    return compile_function(kernel(PARAMS, body, RINGS), target(chip))


def judged(made: Artifact, chip: str) -> tuple[set[Verdict], list[str]]:
    """The verdicts of the rules of order, and what replays say of refutations."""
    results = verify_module(made.module, target(chip), CheckOptions(level=3))
    of_order = [o for r in results for o in r.obligations if o.rule.split("-")[0] in ("EVENT", "RACE")]
    return {o.verdict for o in of_order}, [f.replay for r in results for f in r.findings]


@pytest.mark.requirement("EV-03", "EV-08")
@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_two_buffers_with_an_id_each_are_proved_and_run_clean(chip: str) -> None:
    made = compiled(chip)
    names = {op.name for op in walk_ops(made.module.funcs[0])}
    assert {"pto.set_flag_dyn", "pto.wait_flag_dyn"} <= names and "pto.set_flag" not in names
    assert judged(made, chip) == ({Verdict.PROVED}, [])
    wanted = np.asarray(interpret(kernel(PARAMS, DOUBLED, RINGS), {"a": A, "out": 0 * A})["out"], np.float32)
    for order in ("program", "eager", "late"):
        outcome = schedule.run(made.module, target(chip), {"arg0": A, "arg1": 0 * A}, schedule=order)
        assert outcome.clean
        np.testing.assert_allclose(np.asarray(outcome.outputs["arg1"], np.float32), wanted, rtol=1e-6)


@pytest.mark.requirement("EV-03", "EV-08")
@pytest.mark.parametrize(("old", "new", "missing"), [
    ("wait=taken[s], ", "", "a wait for the slot's last reader"),
    ("wait=(loaded[s], stored[s])", "wait=loaded[s]", "a wait for the slot's last store"),
    ("wait=done[s], ", "", "a wait for the result"),
    ("taken = pl.Event(\"TEXP\", \"TLOAD\", slots=2)", "taken = pl.Event(\"TEXP\", \"TLOAD\", slots=3)", ""),
    ("wait=taken[s]", "wait=taken[(i + 1) % 2]", "the other slot"),
])
def test_a_slot_that_is_not_waited_for_is_refuted_and_seen(old: str, new: str, missing: str) -> None:
    """A third id that nobody takes changes nothing."""
    assert old in DOUBLED
    verdicts, replays = judged(compiled("a2a3", DOUBLED.replace(old, new)), "a2a3")
    assert (Verdict.REFUTED in verdicts) is bool(missing)
    assert all(replay.startswith("confirmed") for replay in replays)


def around(start: str) -> str:
    """Its loop, from `start` on, in each turn of another one."""
    before, loop, body = DOUBLED.partition("    for i in pl.range(8):\n")
    inside, after = body[:body.index("    for k")], body[body.index("    for k"):]
    inner = loop.replace("8", f"{start}, n") + inside
    return before + "    for o in pl.range(n):\n" + textwrap.indent(inner, "    ") + after


STARTS = {
    "a number of the caller's": DOUBLED.replace("pl.range(8)", "pl.range(m, n)"),
    "a product": DOUBLED.replace("pl.range(8)", "pl.range(m * n, m * n + n)"),
    "its own offset": DOUBLED.replace("s = i % 2", "s = (i + m) % 2").replace("ins[i % 2]", "ins[(i + m) % 2]"),
    "the smaller of two": DOUBLED.replace("pl.range(8)", "pl.range(pl.min(m, n), n)"),
    "a half": DOUBLED.replace("pl.range(8)", "pl.range(m // 2, n)"),
    "the turn of a loop around": around("o"),
    "so many for each turn": around("o * m"),
    "a window before it": around("pl.max(o - m, 0)"),
    "no later than a number": around("pl.min(o, m)"),
    "a while loop": DOUBLED.replace("for i in pl.range(8):", "i = m\n    while i < n:").replace(
        "record=stored[s])", "record=stored[s])\n        i = i + 1"),
}


@pytest.mark.requirement("EV-03", "EV-08")
@pytest.mark.parametrize("body", STARTS.values(), ids=STARTS)
def test_turns_may_begin_with_any_slot(body: str) -> None:
    """Which slot is first depends on a number that nobody knows: each is a case. With one buffer for the results of
    both slots the stores of one are not over where the other one's begin."""
    params = ",\n".join([
        tensor("a", (128, 64)), "m: pl.Scalar[pl.INDEX]", "n: pl.Scalar[pl.INDEX]",
        tensor("out", (128, 64), out=True)])

    def found(text: str) -> set[tuple[str, Verdict]]:
        made = compile_function(kernel(params, text, RINGS), target("a2a3"))
        results = verify_module(made.module, target("a2a3"), CheckOptions(level=3), {"k": made.names})
        of_order = (o for r in results for o in r.obligations if o.rule.split("-")[0] in ("EVENT", "RACE"))
        return {(o.rule, o.verdict) for o in of_order}

    assert {verdict for _, verdict in found(body)} == {Verdict.PROVED}
    one_buffer = found(body.replace("outs[i % 2]", "outs[0]"))
    assert {v for rule, v in one_buffer if rule == "RACE-WAR"} - {Verdict.PROVED}
