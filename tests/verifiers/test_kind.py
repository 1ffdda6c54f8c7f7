"""A function runs on a core that has the pipes and the memories of its ops, and boxes of the size that it reads."""

from __future__ import annotations

import pytest

from pypto_verified.report.model import Verdict
from tests.verifiers.examples_kind import computed, loaded, product
from tests.verifiers.kernels import alloc, check, fill, finding, kernel, obligations, tile, verdicts

MAT = tile(32, 64, "f32", "mat", "col_major", "row_major")


def _filled(type_: str, kind: str) -> str:
    return kernel("\n".join((alloc("t", type_), fill("t", type_))), kind=kind)


def test_a_vector_core_multiplies_no_matrices() -> None:
    assert verdicts(check(product(), families="KIND"), "KIND-PIPE") == {Verdict.PROVED}
    flipped = product().replace("kernel_kind<cube>", "kernel_kind<vector>")
    assert verdicts(check(flipped, families="KIND"), "KIND-PIPE") == {Verdict.REFUTED}


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


@pytest.mark.parametrize(("text", "named"), [
    (product(acc=512), "operand o of tmatmul in acc has fractal 512"),
    (product(acc=32), "operand o of tmatmul in acc has fractal 32"),
    (product(left=1024), "operand l of tmov in left has fractal 1024"),
    (product(right=32), "operand r of tmatmul in right has fractal 32"),
    (product(mat=1024), "operand m of tmov in mat has fractal 1024"),
])
def test_boxes_of_another_size_are_named(text: str, named: str) -> None:
    messages = [f.message for f in check(text, families="LAYOUT").findings if f.rule == "LAYOUT-FRACTAL"]
    assert any(m.startswith(named) for m in messages)
    assert verdicts(check(product(), families="LAYOUT"), "LAYOUT-FRACTAL") == {Verdict.PROVED}
