"""Who wrote what is read is found in time proportional to a kernel's length."""

from __future__ import annotations

from pypto_verified.pto import reader
from tests.calls import calls
from tests.verifiers.kernels import alloc, fill, kernel, tile, unary
from verifiers.access import AccessProgram, build_program
from verifiers.liveness import Flow

VEC = tile()


def _chain(length: int) -> AccessProgram:
    """Each op reads the tile before and writes a new one; the tiles take turns at three places."""
    places = (0, 8192, 16384)
    lines = [alloc("t0", VEC, 0), fill("t0", VEC)]
    for k in range(1, length):
        lines += [alloc(f"t{k}", VEC, places[k % 3]), unary("texp", f"t{k - 1}", f"t{k}", VEC)]
    return build_program(reader.read(kernel("\n".join(lines))).funcs[0], "k.pto", "a2a3")


def test_twice_as_many_tiles_cost_little_more_than_twice_as_much() -> None:
    short, long = _chain(400), _chain(800)
    calls(lambda: Flow(long), limit=2.2 * calls(lambda: Flow(short)))
