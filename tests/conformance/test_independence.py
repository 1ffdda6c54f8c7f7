"""The suite is sharp: give any one op of one oracle another op's meaning, and a case fails."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache

import pytest

from pypto_verified.errors import PtoError
from pypto_verified.interpreter.meaning import MEANINGS as IR_MEANINGS
from pypto_verified.interpreter.meaning import Meaning as IrMeaning
from pypto_verified.interpreter.meaning import Site as IrSite
from pypto_verified.interpreter.meaning import Value
from pypto_verified.ir.walk import calls
from pypto_verified.ops.registry import lookup
from pypto_verified.simulator.meanings import MEANINGS as PTO_MEANINGS
from pypto_verified.simulator.registry import Meaning
from tests.conformance.case import INTERPRETER, Case
from tests.conformance.ir_kernel import IrKernel
from tests.conformance.pto_kernel import PtoKernel
from tests.conformance.test_conformance import CASES, conform

SIMULATOR = "simulator"
_NEEDED = 8
"""Cases tried for one op: the first ones of each type, full regions first."""

ELSEWHERE = {
    INTERPRETER: {
        "tile.get_block_idx", "tile.get_block_num", "tile.get_subblock_idx", "tile.tpush_to_aic", "tile.tpush_to_aiv",
        "tile.tpop_from_aic", "tile.tpop_from_aiv",
    },
    SIMULATOR: {
        "pto.addptr", "pto.alloc_multi_tile", "pto.multi_tile_get", "pto.get_block_idx", "pto.get_block_num",
        "pto.get_subblock_idx", "pto.get_subblock_num", "pto.get_tensor_view_dim", "pto.get_tensor_view_stride",
        "pto.load_scalar", "pto.store_scalar", "pto.tile_valid_cols", "pto.tile_valid_rows",
        "pto.aic_initialize_pipe", "pto.aiv_initialize_pipe", "pto.tpush_to_aic",
        "pto.tpush_to_aiv", "pto.tpop_from_aic", "pto.tpop_from_aiv", "pto.tfree_from_aic", "pto.tfree_from_aiv",
        "pto.import_reserved_buffer", "pto.reserve_buffer", "pto.tfillpad_inplace", "pto.declare_local_array",
        "pto.local_array_get", "pto.local_array_set", "pto.syncall", "pto.get_validshape", "pto.declare_tile",
        "pto.tassign", "pto.castptr", "pto.declare_eventid_array", "pto.eventid_array_get", "pto.eventid_array_set",
        "pto.print", "pto.tprint", "pto.trap", "pto.tprefetch", "pto.tprefetch_async",
        "pto.make_prefetch_async_context", "pto.get_prefetch_async_session", "pto.comm.build_async_session",
        "pto.comm.tput", "pto.comm.tget", "pto.comm.tput_async", "pto.comm.tget_async", "pto.comm.wait_async_event",
        "pto.comm.test_async_event", "pto.comm.tnotify", "pto.comm.twait", "pto.comm.ttest",
    },
}
"""Ops without a case here: launch values, handles and pipes, whose results are no tiles, have tests of their own."""


@cache
def users(oracle: str) -> Mapping[str, list[Case]]:
    """Op name -> cases whose kernel uses it."""
    found: dict[str, list[Case]] = defaultdict(list)
    for case in sorted(CASES, key=lambda c: "-full" not in c.name):
        names: set[str] = set()
        if oracle == INTERPRETER and case.ir is not None:
            kernel = IrKernel(dict(case.inputs))
            case.ir(kernel)
            names = {c.op for c in calls(kernel.function.body)}
        elif oracle == SIMULATOR and case.pto is not None:
            text = PtoKernel(case.inputs, case.targets[0], case.scalars)
            case.pto(text)
            names = set(re.findall(r"\bpto\.[a-z_0-9.]+", text.text)) & set(PTO_MEANINGS)
        for name in names:
            if len(found[name]) < 40:
                found[name].append(case)
    return found


def _unchanged(site: IrSite) -> Value:
    """A meaning for an op that has no relative: its first operand."""
    return site.args[0] if site.args else None


def _nothing(*_: object) -> None:
    """The same for the simulator."""


def _ir_swap(op: str) -> IrMeaning:
    kinds = tuple(p.kind for p in lookup(op).params)
    family = sorted(n for n in IR_MEANINGS if n.startswith("tile.") and tuple(
        p.kind for p in lookup(n).params) == kinds)
    others = [n for n in family[family.index(op) + 1 :] + family if IR_MEANINGS[n] is not IR_MEANINGS[op]]
    return IR_MEANINGS[others[0]] if others else _unchanged


def _pto_swap(op: str) -> Meaning:
    own = PTO_MEANINGS[op]
    family = sorted(n for n, m in PTO_MEANINGS.items() if m.groups == own.groups)
    others = [n for n in family[family.index(op) + 1 :] + family if PTO_MEANINGS[n].handler is not own.handler]
    return PTO_MEANINGS[others[0]] if others else Meaning(_nothing, own.groups)


def _swaps() -> list[tuple[str, str]]:
    """Every op with a case."""
    return [(oracle, op) for oracle in (INTERPRETER, SIMULATOR) for op in sorted(users(oracle))]


@pytest.mark.parametrize(("oracle", "op"), _swaps())
def test_another_meaning_is_noticed(oracle: str, op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if oracle == INTERPRETER:
        monkeypatch.setitem(IR_MEANINGS, op, _ir_swap(op))
    else:
        monkeypatch.setitem(PTO_MEANINGS, op, _pto_swap(op))
    cases = users(oracle)[op]
    step = max(1, len(cases) // _NEEDED)
    assert any(_fails(c, oracle) for c in cases[::step]), f"no case notices another meaning of {op}"


def _fails(case: Case, oracle: str) -> bool:
    try:
        return conform(case, INTERPRETER if oracle == INTERPRETER else case.targets[0]) != []
    except (PtoError, ArithmeticError, ValueError, TypeError, LookupError, AttributeError, AssertionError):
        return True


def test_every_modelled_op_has_a_case() -> None:
    known = {INTERPRETER: {n for n in IR_MEANINGS if n.startswith("tile.")}, SIMULATOR: set(PTO_MEANINGS)}
    for oracle, names in known.items():
        missing = names - set(users(oracle))
        assert missing == ELSEWHERE[oracle] & names
