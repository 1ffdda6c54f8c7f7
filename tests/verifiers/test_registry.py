"""Which rules a module is asked: those about the order of pipes and cores only where something orders or connects."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.targets import target
from tests.verifiers.kernels import kernel
from verifiers import Options, engine, registry, verify
from verifiers.catalogue import module_of
from verifiers.examples import all_examples
from verifiers.raised import raised
from verifiers.registry import family, has_order, selected

ROOT = Path(__file__).parents[2]
ABOUT_ORDER = {r.id for order, modules in registry._MODULES if order for r in registry._rules(modules)}


def test_order_is_what_flags_pipes_and_two_kinds_of_cores_have() -> None:
    barrier = "pto.barrier <PIPE_V>"
    inside = f"scf.for %i = %c0 to %c2 step %c1 {{\n{barrier}\n}}"
    for body, expected in (("", False), (barrier, True), (inside, True)):
        assert has_order(read(kernel(body), "k.pto")) is expected
    one = read(kernel("", kind="vector"), "k.pto")
    other = read(kernel("", kind="cube"), "k.pto")
    one.funcs += other.funcs
    assert has_order(one)


def test_rules_about_order_are_asked_where_there_is_some_or_nobody_else_sees_to_it() -> None:
    everything = [r.id for r in registry.all_rules()]
    assert [r.id for r in selected(frozenset(), order=True)] == everything
    assert [r.id for r in selected(frozenset(), order=False)] == [i for i in everything if i not in ABOUT_ORDER]
    assert {"RACE-RAW", "EVENT-WAIT", "FIFO-POP", "SPLIT-LANES"} <= ABOUT_ORDER


@pytest.mark.parametrize("violating", [False, True])
def test_what_is_not_asked_has_nothing_to_say(violating: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every example without order is judged as if it had some."""
    monkeypatch.setattr(engine, "has_order", lambda module: True)
    families = frozenset(family(i) for i in ABOUT_ORDER)
    asked = 0
    for example in all_examples().values():
        module, chip = module_of(example, violating), target(example.target)
        if not has_order(raised(module, chip)):
            asked += 1
            for result in verify(module, chip, Options(families=families, strict=True)):
                assert not [o.rule for o in result.obligations if o.rule in ABOUT_ORDER]
    assert asked > 100


def test_a_kernel_without_order_loads_none_of_their_code(tmp_path: Path) -> None:
    """It would be a fifth of the command's time; so would be what a cache of `.pto` files wants to know."""
    code = (f"import sys; from pypto_verified.cli import main; main(['examples/multiply_32x32.py', '--timeout', '0', "
            f"'--cache', {str(tmp_path)!r}]); print([n for n in sys.modules if n.startswith(('verifiers.race.f', "
            "'verifiers.fifo', 'verifiers.event', 'verifiers.pipes', 'pypto_verified.sync', 'z3', "
            "'importlib.metadata'))])")
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.splitlines()[-1] == "[]"
