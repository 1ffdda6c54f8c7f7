"""A wrong meaning of any one op, on either side, is seen: neither side can be wrong alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from pypto_verified.compiler import compile_function
from pypto_verified.differential import SIMULATOR, compare
from pypto_verified.interpreter import Tensor, Tile
from pypto_verified.interpreter.meaning import MEANINGS, Site, Value
from pypto_verified.pto.walk import walk_ops
from pypto_verified.simulator import registry
from pypto_verified.simulator import tile as machine
from pypto_verified.targets import target
from tests.differential.kernels import BODIES, function, ops_of

ARCH = "a5"

WITHOUT_A_VALUE = frozenset({"tile.create", "tensor.dim"})
"""What a tile that nothing wrote holds can't be wrong; a dim is folded before anything is generated."""


def _cases(names_of: Callable[[str], Iterator[str]]) -> list[tuple[str, str]]:
    """(op, first kernel that uses it)."""
    found: dict[str, str] = {}
    for kernel in BODIES:
        for op in names_of(kernel):
            found.setdefault(op, kernel)
    return sorted(found.items())


@cache
def _pto_ops(kernel: str) -> tuple[str, ...]:
    module = compile_function(function(kernel), target(ARCH)).module
    return tuple(sorted({o.name for o in walk_ops(module.funcs[0]) if o.name.startswith("pto.t")}))


def _off_by_one(tile: Tile) -> Tile:
    """Every element of the valid region has another value."""
    data = tile.data.copy()
    region = data[tile.window()]
    region[...] = np.where(np.isfinite(region), region + 1, 0)
    return Tile(data, tile.poison, tile.valid, tile.dtype, None if tile.bits is None else ~tile.bits, tile.bit_poison)


def _wrong(right: Callable[[Site], Value]) -> Callable[[Site], Value]:
    def apply(site: Site) -> Value:
        value = right(site)
        if isinstance(value, Tile):
            return _off_by_one(value)
        if isinstance(value, int | float):
            return value + 1
        tensor = next(a for a in site.args if isinstance(a, Tensor))
        tensor.data.reshape(-1)[0] += 1
        return value

    return apply


@pytest.mark.parametrize(
    ("op", "kernel"), [c for c in _cases(ops_of) if c[0] not in WITHOUT_A_VALUE], ids=lambda x: str(x)
)
def test_a_wrong_op_of_the_interpreter_is_found(op: str, kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MEANINGS, op, _wrong(MEANINGS[op]))
    found = compare(function(kernel), target(ARCH), runs=6)
    assert found.difference is not None, f"{op} may be wrong unnoticed"


def _spoilt(meaning: registry.Meaning) -> registry.Meaning:
    """The handler, and then every element of a destination tile (or the first of a tensor) has another value."""

    def run(site: registry.Site, *operands: Any) -> Any:
        value = meaning.handler(site, *operands)
        for group, operand in zip(meaning.groups, operands, strict=True):
            for out in operand if isinstance(operand, tuple) else (operand,):
                if group in ("dst", "dsts*"):
                    _spoil(out)
        if isinstance(value, machine.Tile):
            _spoil(value)
        return value + 1 if isinstance(value, int | float) else value

    return registry.Meaning(run, meaning.groups)


def _spoil(out: machine.Tile | machine.Tensor) -> None:
    if isinstance(out, machine.Tensor):
        window = out.window(1, 1, True)
        window[...] = window + np.ones((), window.dtype)
    elif out.rows and out.cols:
        view = out.writes(out.rows, out.cols)
        bad = view.bad()
        view.put(view.get() + np.ones((), out.kind))
        view.mark(bad)


@pytest.mark.parametrize(("op", "kernel"), _cases(lambda k: iter(_pto_ops(k))), ids=lambda x: str(x))
def test_a_wrong_op_of_the_simulator_is_found(op: str, kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.MEANINGS, op, _spoilt(registry.MEANINGS[op]))
    found = compare(function(kernel), target(ARCH), runs=6)
    assert found.difference is not None, f"{op} may be wrong unnoticed"
    assert found.difference.stage == SIMULATOR
