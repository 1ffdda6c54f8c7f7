"""A function runs on a core that has the pipes and the memories of its ops."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.examples_kind import computed, loaded
from tests.verifiers.kernels import alloc, check, fill, finding, kernel, obligations, tile, verdicts

LEFT = tile(32, 64, "f16", "left", "row_major", "row_major")
RIGHT = tile(64, 32, "f16", "right", "row_major", "col_major")
ACC = tile(32, 32, "f32", "acc", "col_major", "row_major", 1024)
MAT = tile(32, 64, "f32", "mat", "col_major", "row_major")


def _product(kind: str) -> str:
    return kernel("\n".join((
        alloc("l", LEFT), alloc("r", RIGHT, 0, "c64", "c32"), alloc("o", ACC, 0, "c32", "c32"),
        f"pto.tmatmul ins(%l, %r : {LEFT}, {RIGHT}) outs(%o : {ACC})")), kind=kind)


def _filled(type_: str, kind: str) -> str:
    return kernel("\n".join((alloc("t", type_), fill("t", type_))), kind=kind)


@pytest.mark.parametrize(("kind", "verdict"), [("cube", Verdict.PROVED), ("vector", Verdict.REFUTED)])
def test_a_vector_core_multiplies_no_matrices(kind: str, verdict: Verdict) -> None:
    assert verdicts(check(_product(kind), families="KIND"), "KIND-PIPE") == {verdict}


def test_the_pipe_and_the_kind_to_change_are_named() -> None:
    found = finding(check(computed("cube"), families="KIND"), "KIND-PIPE")
    assert found.message == "tneg runs on pipe V, which a cube core does not have"
    assert "kernel kind vector" in found.help


def test_a_load_runs_on_a_pipe_of_both_cores_and_its_memory_tells_them_apart() -> None:
    result = check(loaded("cube"), families="KIND")
    assert verdicts(result, "KIND-PIPE") == {Verdict.PROVED}
    assert verdicts(result, "KIND-SPACE") == {Verdict.REFUTED}


@pytest.mark.parametrize(("type_", "kind", "verdict"), [
    (MAT, "cube", Verdict.PROVED), (MAT, "vector", Verdict.REFUTED),
    (tile(), "vector", Verdict.PROVED), (tile(), "cube", Verdict.REFUTED),
])
def test_a_fill_belongs_to_the_core_whose_memory_it_fills(type_: str, kind: str, verdict: Verdict) -> None:
    assert verdicts(check(_filled(type_, kind), families="KIND"), "KIND-SPACE") == {verdict}


def test_a_function_without_a_kind_is_not_judged_but_its_sections_are() -> None:
    free = computed("vector").replace(" attributes {pto.kernel_kind = #pto.kernel_kind<vector>}", "")
    assert obligations(check(free, families="KIND"), "KIND-PIPE") == []
    start, end = free.index("    %x ="), free.index("    return")
    section = free[:start] + "    pto.section.cube {\n" + free[start:end] + "    }\n" + free[end:]
    assert Verdict.REFUTED in verdicts(check(section, families="KIND"), "KIND-PIPE")
