"""Which tiles share bytes: a result takes the buffer of an operand that dies, where its op allows that."""

from __future__ import annotations

import pytest

from pypto_verified.language import load_source

from .buffers import PARAMS, address, checked
from .build import kernel, lower


def test_a_result_takes_the_buffer_of_an_operand_that_dies() -> None:
    f = checked(kernel(PARAMS, """
x = pl.load(a, [0, 0], [16, 64])
y = pl.exp(x)
z = pl.add(y, y)
return pl.store(z, [0, 0], out)
"""))
    assert address(f, "x") == address(f, "y") == address(f, "z") == 0


def test_an_op_that_forbids_it_gets_another_buffer() -> None:
    f = checked(kernel(PARAMS, """
x = pl.load(a, [0, 0], [16, 64])
y = pl.recip(x)
return pl.store(y, [0, 0], out)
"""))
    assert address(f, "x") == 0 and address(f, "y") == 16 * 64 * 4


def test_a_result_of_another_width_does_not_stand_on_its_operand() -> None:
    f = checked(kernel("""
        a: pl.Tensor[[256, 64], pl.FP32],
        n: pl.Scalar[pl.INDEX],
        out: pl.Out[pl.Tensor[[256, 64], pl.FP16]]
    """, """
x = pl.load(a, [0, 0], [16, 64])
y = pl.cast(x, target_type=pl.FP16, mode="rint")
return pl.store(y, [0, 0], out)
"""))
    assert address(f, "y") == 16 * 64 * 4


def test_a_result_does_not_stand_on_the_tile_whose_window_it_reads() -> None:
    f = checked(kernel(PARAMS, """
x = pl.load(a, [0, 0], [32, 64])
s = pl.tile.slice(x, [16, 64], [16, 0])
y = pl.exp(s)
return pl.store(y, [0, 0], out)
"""))
    assert address(f, "y") == 32 * 64 * 4


def test_a_tile_that_a_later_trip_reads_keeps_its_buffer_through_the_loop() -> None:
    f = checked(kernel(PARAMS, """
x = pl.load(a, [0, 0], [16, 64])
for i in pl.range(n):
    y = pl.exp(x)
    z = pl.exp(y)
    out = pl.store(z, [i * 16, 0], out)
return out
"""))
    assert address(f, "x") not in (address(f, "y"), address(f, "z"))
    assert address(f, "y") == address(f, "z")


POP = '''
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIV)
    def k(self, a: pl.Tensor[[16, 32], pl.FP32], out: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
        ring = pl.reserve_buffer(name="ring", size=16384, base=pl.AUTO)
        pl.aiv_initialize_pipe(ring, pl.const(0, pl.INT32), dir_mask=1, slot_size=2048)
        v: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(split=0)
        x = pl.load(a, [0, 0], [16, 32])
        y = pl.add(x, v)
        pl.tfree_to_aic(v)
        out = pl.store(y, [0, 0], out)
'''


@pytest.mark.requirement("MP-08")
@pytest.mark.parametrize(("arch", "shared"), [("a2a3", False), ("a5", True)])
def test_an_op_on_a_popped_tile_does_not_write_over_a_load_on_a2a3(arch: str, shared: bool) -> None:
    (program,) = load_source(POP, "k.py").programs
    f = lower(program.functions[0], arch)
    assert (address(f, "x") == address(f, "y")) is shared
    assert address(f, "v") is None, "the pipe's slot"
