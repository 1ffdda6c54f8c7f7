"""Where the comparison of a run with open results says nothing, and where it does."""

from __future__ import annotations

import pytest

from pypto_verified.differential import compare, compare_passes
from pypto_verified.openness import OPEN, is_open
from pypto_verified.passcheck import check_passes
from pypto_verified.targets import target
from tests.interpreter.kernels import tensor
from tests.passes.build import kernel

PARAMETERS = ",\n".join([
    tensor("a", (16, 32)), tensor("b", (16, 32)), "n: pl.Scalar[pl.INDEX]", tensor("out", (16, 32), out=True)])
CAST = "pl.cast(pl.cast({}, target_type=pl.INT32, mode='rint'), target_type=pl.FP32)"


def _is_open(body: str) -> bool:
    text = f"""
        x = pl.load(a, [0, 0], [16, 32])
        y = pl.load(b, [0, 0], [16, 32])
        t: pl.Tile[[16, 32], pl.FP32] = pl.tile.create([16, 32], dtype=pl.FP32)
{body}
        return pl.store(z, [0, 0], out)
    """
    return is_open(kernel(PARAMETERS, text), {"tile.exp"})


JUMPS = {
    "remainder": """
        z = pl.tile.rem(pl.exp(x), y, t)
    """,
    "cast": f"""
        z = {CAST.format("pl.exp(x)")}
    """,
    "over other ops": f"""
        u = pl.exp(x)
        v = pl.tile.row_expand_add(y, pl.row_max(u, t))
        z = {CAST.format("pl.add(v, y)")}
    """,
    "a later turn": f"""
        z = {CAST.format("y")}
        for i in pl.range(2):
            z = {CAST.format("y")}
            y = pl.exp(y)
    """,
    "carried": f"""
        for i, (u, v) in pl.range(2, init_values=(x, y)):
            u, v = pl.yield_(v, pl.exp(u))
        z = {CAST.format("u")}
    """,
    "merged": f"""
        if n == 1:
            u = pl.yield_(pl.exp(x))
        else:
            u = pl.yield_(x)
        z = {CAST.format("u")}
    """,
    "written": f"""
        u = pl.exp(y)
        pl.tile.write(x, [0, 0], pl.tile.read(u, [0, 0]))
        z = {CAST.format("x")}
    """,
}
NO_JUMPS = {
    "no jump": """
        z = pl.add(pl.exp(x), y)
    """,
    "before": f"""
        z = pl.add({CAST.format("x")}, pl.exp(y))
    """,
    "beside": f"""
        u = pl.exp(y)
        z = pl.mul(u, {CAST.format("x")})
    """,
    "to another float": """
        z = pl.cast(pl.cast(pl.exp(x), target_type=pl.FP16, mode='rint'), target_type=pl.FP32)
    """,
}


@pytest.mark.parametrize("name", JUMPS)
def test_what_jumps_where_a_result_is_open_is_open(name: str) -> None:
    assert _is_open(JUMPS[name])


@pytest.mark.parametrize("name", NO_JUMPS)
def test_what_jumps_elsewhere_is_compared(name: str) -> None:
    assert not _is_open(NO_JUMPS[name])


def test_without_open_results_everything_is_compared() -> None:
    function = kernel(PARAMETERS, f"""
        x = pl.load(a, [0, 0], [16, 32])
        return pl.store({CAST.format('pl.exp(x)')}, [0, 0], out)
    """)
    assert not is_open(function, set())


def test_what_one_core_leaves_in_a_tensor_is_open_where_the_other_reads_it() -> None:
    writer, reader, other = (kernel(PARAMETERS, text) for text in (
        """
        return pl.store(pl.exp(pl.load(a, [0, 0], [16, 32])), [0, 0], out)
        """,
        *(f"""
        return pl.store({CAST.format(f'pl.load({name}, [0, 0], [16, 32])')}, [0, 0], out)
        """ for name in ("out", "b"))))
    assert is_open(writer, {"tile.exp"}, reader)
    assert not is_open(writer, {"tile.exp"}, other)


def test_a_comparison_says_why_a_run_tells_nothing() -> None:
    function = kernel(PARAMETERS, f"""
        x = pl.load(a, [0, 0], [16, 32])
        return pl.store({CAST.format('pl.exp(x)')}, [0, 0], out)
    """)
    found = compare(function, target("a2a3"), runs=2, attempts=6)
    assert found.difference is None
    assert (found.agreed, set(found.undefined)) == (0, {OPEN})
    assert compare_passes(function, target("a2a3"), runs=2).agreed == 2
    finding, note = check_passes(function, target("a2a3"), seed=0)
    assert finding is None
    assert "passes agree" in note and OPEN in note
