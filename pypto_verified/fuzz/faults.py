"""Planted faults: known mistakes that can be switched on by name, to see that campaigns find them.

Each is the root cause of a mistake that compilers of this kind have made, put where it was made: while it is on, one
function or table entry of the product is another one.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from pypto_verified.errors import InputError

Change: TypeAlias = Callable[[object], object]
"""From the right value of a name to a wrong one."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One mistake. `module` and `name` (`TABLE[key]` for an entry of a table) say where it sits; `shared`: in a room
    that both meanings stand on, so that comparing them alone can't see it."""

    id: str
    module: str
    name: str
    what: str
    change: Change
    shared: bool = False


def _always(value: object) -> Change:
    return lambda right: lambda *args, **kwargs: value


def _without(name: str) -> Change:
    """A pipeline without one pass."""

    def change(passes: object) -> object:
        assert isinstance(passes, tuple)
        return tuple(p for p in passes if p.name != name)

    return change


def _no_interference(right: object) -> object:
    from pypto_verified.passes.interference import Interference

    return lambda *args, **kwargs: Interference()


def _copies_in_order(right: object) -> object:
    def one_after_another(self, transfers, span):  # type: ignore[no-untyped-def]  # stands for a method
        return [self._copy(t, t.var.type, span) for t in transfers if t.needed]

    return one_after_another


def _once(right: object) -> object:
    """A loop's liveness by one pass over its body: what a later trip reads is not live."""

    def loop(self, iter_args, prelude, body, tested, live, depth, record, span):  # type: ignore[no-untyped-def]
        from pypto_verified.passes.buffers import base_of

        carried = [base_of(a.var) for a in iter_args]
        start = self.block(body, live, carried, depth + 1, record)
        inits = [(p, base_of(a.init)) for p, a in zip(carried, iter_args, strict=True) if p]
        return self.transfer(inits, start | live, depth, record, span)

    return loop


def _no_column_offset(right: object) -> object:
    """A window that starts at the first column."""
    assert callable(right)

    def subview(kernel, source, offsets, *rest):  # type: ignore[no-untyped-def]  # stands for a function of codegen
        return right(kernel, source, (offsets[0], 0), *rest)

    return subview


def _entry(module: str, table: str, key: object) -> Change:
    """Another entry of a table."""

    def change(right: object) -> object:
        entries = getattr(importlib.import_module(module), table)
        return next(value for k, value in entries.items() if _spelt(k) == key)

    return change


def _may_share(right: object) -> object:
    """An op that is safe in place."""
    from pypto_verified.ops.decl import OpDecl

    assert isinstance(right, OpDecl)
    return replace(right, noalias=())


def _whole_window(right: object) -> object:
    """A window is valid on all of itself."""
    assert callable(right)

    def read_window(a, source, valid, offsets, window, requested, **rest):  # type: ignore[no-untyped-def]
        right(a, source, valid, offsets, window, requested, **rest)
        return tuple(requested or window)

    return read_window


def _without_accumulator(right: object) -> object:
    """`acc + a @ b` as `a @ b`."""
    from pypto_verified.interpreter.meaning import MEANINGS, Site

    def product(site: Site) -> object:
        plain = Site(site.args[1:], site.call, site.block, site.lane, site.loose)
        return MEANINGS["tile.matmul"](plain)

    return product


def _left(right: object) -> object:
    return lambda a, b: a


FAULTS: dict[str, Fault] = {}


def _add(*faults: Fault) -> None:
    FAULTS.update({f.id: f for f in faults})


_PASSES, _CODEGEN = "pypto_verified.passes", "pypto_verified.codegen"
_INTERPRETER, _SIMULATOR = "pypto_verified.interpreter.meaning", "pypto_verified.simulator.registry"
_add(
    Fault("reuse-all", f"{_PASSES}.memory_reuse", "interference", "all buffers of a space share bytes",
          _no_interference),
    Fault("reuse-loop-once", f"{_PASSES}.interference", "_Flow.loop", "what a later trip reads is not live", _once),
    Fault("in-place-always", f"{_PASSES}.interference", "may_stand_on",
          "every result may stand on every operand", _always(True)),
    Fault("swap-in-order", f"{_PASSES}.materialize_semantic_aliases", "_Copies.parallel",
          "copies at the end of a loop overwrite each other", _copies_in_order),
    Fault("no-copy-before-write", f"{_PASSES}.pipeline", "PASSES",
          "a tile that is read again is overwritten in place", _without("CopyOverwrittenTiles")),
    Fault("slice-offset-lost", f"{_CODEGEN}.emit_views", "_subview", "a window loses its column offset",
          _no_column_offset),
    Fault("sub-is-add", f"{_CODEGEN}.emit_dps", "ROWS[tile.sub]", "a subtraction is emitted as an addition",
          _entry(f"{_CODEGEN}.emit_dps", "ROWS", "tile.add")),
    Fault("less-or-equal", f"{_CODEGEN}.expr", "_COMPARE[LE]", "<= is emitted as <",
          _entry(f"{_CODEGEN}.expr", "_COMPARE", "LT")),
    Fault("min-is-max", f"{_CODEGEN}.expr", "_ARITH[MIN]", "min of sizes is emitted as max",
          _entry(f"{_CODEGEN}.expr", "_ARITH", "MAX")),
    Fault("column-max-is-min", _SIMULATOR, "MEANINGS[pto.tcolmax]", "the machine takes the least of a column",
          _entry(_SIMULATOR, "MEANINGS", "pto.tcolmin")),
    Fault("row-max-is-min", _INTERPRETER, "MEANINGS[tile.row_max]", "the interpreter takes the least of a row",
          _entry(_INTERPRETER, "MEANINGS", "tile.row_min")),
    Fault("mul-is-add", f"{_CODEGEN}.emit_dps", "ROWS[tile.muls]", "a product with a scalar is emitted as a sum",
          _entry(f"{_CODEGEN}.emit_dps", "ROWS", "tile.adds")),
    Fault("row-sum-is-max", f"{_CODEGEN}.emit_dps", "ROWS[tile.row_sum]", "a row sum is emitted as a row maximum",
          _entry(f"{_CODEGEN}.emit_dps", "ROWS", "tile.row_max")),
    Fault("equal-is-less", f"{_CODEGEN}.expr", "_COMPARE[EQ]", "== is emitted as <",
          _entry(f"{_CODEGEN}.expr", "_COMPARE", "LT")),
    Fault("fold-minus", f"{_PASSES}.fold", "_ARITHMETIC[MUL]", "constant products fold as sums",
          _entry(f"{_PASSES}.fold", "_ARITHMETIC", "ADD")),
    Fault("absolute-is-negative", _SIMULATOR, "MEANINGS[pto.tabs]", "the machine negates instead of taking the "
          "absolute value", _entry(_SIMULATOR, "MEANINGS", "pto.tneg")),
    Fault("minimum-is-maximum", _INTERPRETER, "MEANINGS[tile.minimum]", "the interpreter takes the greater",
          _entry(_INTERPRETER, "MEANINGS", "tile.maximum")),
    Fault("product-forgets", _INTERPRETER, "MEANINGS[tile.matmul_acc]", "a product onto an accumulator is one without",
          _without_accumulator),
    Fault("reciprocal-in-place", "pypto_verified.ops.registry", "OPS[tile.recip]",
          "a reciprocal is declared safe in place", _may_share, shared=True),
    Fault("window-all-valid", "pypto_verified.ops.views", "read_window",
          "a slice of a partial tile is wholly valid", _whole_window, shared=True),
    Fault("minimum-is-left", "pypto_verified.index", "minimum", "the minimum of two sizes is the first", _left,
          shared=True),
    Fault("greatest-is-left", "pypto_verified.index", "maximum", "the maximum of two sizes is the first", _left,
          shared=True),
)


def _spelt(key: object) -> object:
    """A table's key as a fault names it."""
    return key.name if isinstance(key, Enum) else key


@contextmanager
def switched_on(name: str) -> Iterator[None]:
    """Run with a planted fault; '' is none. InputError for a name that no fault has."""
    fault = known(name)
    if fault is None:
        yield
        return
    owner, attribute = _place(fault)
    if attribute.endswith("]"):
        table, _, key = attribute[:-1].partition("[")
        entries = getattr(owner, table)
        entry = next(k for k in entries if _spelt(k) == key)
        right = entries[entry]
        entries[entry] = fault.change(right)
        try:
            yield
        finally:
            entries[entry] = right
        return
    right = getattr(owner, attribute)
    setattr(owner, attribute, fault.change(right))
    try:
        yield
    finally:
        setattr(owner, attribute, right)


def _place(fault: Fault) -> tuple[object, str]:
    owner: object = importlib.import_module(fault.module)
    *outer, last = fault.name.split(".") if "[" not in fault.name else [fault.name]
    for part in outer:
        owner = getattr(owner, part)
    return owner, last


def known(name: str) -> Fault | None:
    """The fault of that name, None for ''. InputError for a name that no fault has."""
    if name and name not in FAULTS:
        raise InputError(f"no planted fault {name}", help="pypto-verify fuzz --fault list names them")
    return FAULTS[name] if name else None


def listed() -> str:
    """The table of planted faults."""
    rows = ((f.id, f.what, f"{f.module.removeprefix('pypto_verified.')}:{f.name}") for f in FAULTS.values())
    return "".join(f"{name:<24}{what}  [{where}]\n" for name, what, where in rows)
