"""Which functions of a text run together, and which of several kernels a run takes."""

from __future__ import annotations

import numpy as np
import pytest

from pypto_verified.errors import InputError
from pypto_verified.pto.reader import read
from pypto_verified.simulator import schedule
from pypto_verified.simulator.schedule.launch import groups
from pypto_verified.targets import target


def _func(name: str, value: int, kind: str = "vector") -> str:
    """Stores `value` to `%out`."""
    return f"""
  func.func @{name}(%out: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}} {{
    %c0 = arith.constant 0 : index
    %v = arith.constant {value}.0 : f32
    pto.store_scalar %v, %out[%c0] : !pto.ptr<f32>, f32
    return
  }}"""


DECLARED = "\n  func.func private @elsewhere(index)"


def _module(*functions: str) -> str:
    return "module {" + "".join(functions) + "\n}\n"


def _stored(text: str, function: str = "") -> float:
    out = np.zeros((1, 1), np.float32)
    outcome = schedule.run(read(text), target("a2a3"), {"out": out}, function=function)
    assert outcome.clean
    return float(outcome.outputs["out"][0, 0])


@pytest.mark.parametrize("text", [
    _module(_func("k", 2)), _module(DECLARED, _func("k", 2)), _module(_module(_func("k", 2), DECLARED)),
    _module(_module(DECLARED), _module(DECLARED, _func("k", 2))), _module(_module(), _module(_func("k", 2))),
])
def test_the_only_kernel_needs_no_name(text: str) -> None:
    assert _stored(text) == 2
    assert _stored(text, "k") == 2


@pytest.mark.parametrize("text", [
    _module(_func("k", 2), _func("m", 3)), _module(_module(_func("k", 2)), _module(_func("m", 3), DECLARED)),
])
def test_of_several_one_is_named(text: str) -> None:
    assert (_stored(text, "k"), _stored(text, "m")) == (2, 3)
    for wrong in ("", "n"):
        with pytest.raises(InputError, match="which kernel"):
            _stored(text, wrong)


def test_the_message_lists_the_kernels() -> None:
    with pytest.raises(InputError, match="this module has: k, m"):
        _stored(_module(_func("k", 2), _func("m", 3)))
    with pytest.raises(InputError, match="no function with a body"):
        schedule.run(read(_module(DECLARED)), target("a2a3"), {})


def _end(name: str, kind: str) -> str:
    """A function that sets up a pipe whose form names no peer."""
    return f"""
  func.func @{name}(%g: !pto.ptr<f32>) attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}} {{
    %p = pto.initialize_l2g2l_pipe {{dir_mask = 1, slot_size = 1024, slot_num = 8}}(%g : !pto.ptr<f32>) -> !pto.pipe
    return
  }}"""


@pytest.mark.parametrize(("functions", "together"), [
    ((_func("k_aic", 1, "cube"), _func("k_aiv", 2)), [("k_aic", "k_aiv")]),
    ((_func("k_vector", 1), _func("k_cube", 2, "cube")), [("k_cube", "k_vector")]),
    ((_func("k_cube", 1, "cube"), _func("k_vec", 2)), [("k_cube", "k_vec")]),
    ((_func("k_aic", 1, "cube"), _func("m_aiv", 2)), [("k_aic",), ("m_aiv",)]),
    ((_func("k_aic", 1), _func("k_aiv", 2)), [("k_aic",), ("k_aiv",)]),
    # the only two that have an end of a pipe
    ((_end("sends", "cube"), _end("takes", "vector")), [("sends", "takes")]),
    ((_end("takes", "vector"), _func("other", 3), _end("sends", "cube")), [("sends", "takes"), ("other",)]),
    ((_end("a", "cube"), _end("b", "vector"), _end("c", "vector")), [("a",), ("b",), ("c",)]),
    ((_func("k", 1), _func("m", 2, "cube")), [("k",), ("m",)]),
])
def test_functions_of_two_kinds_run_together_by_their_names_or_their_pipe(
    functions: tuple[str, ...], together: list[tuple[str, ...]]
) -> None:
    found = groups(read(_module(*functions)))
    assert [tuple(f.name for f in g.functions) for g in found] == together
