"""Time to a verdict on a kernel with many sync ops in a three-deep loop nest.

    python -m benchmarks.sync_nest [SYNC_OPS]

Goal: 1,000 sync ops in 1 s, read to verdict, on one core.
"""

from __future__ import annotations

import sys
from time import process_time

from pypto_verified.pto.reader import read
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.targets import target
from verifiers import Options, verify

_TILE = "!pto.tile_buf<vec, 32x64xf32, valid=?x?>"
_WINDOW = "!pto.partition_tensor_view<32x64xf32>"
_SLOTS = 16
"""Slots of 8 KiB that tiles take in turn."""


def _flag(what: str, pair: str, id: int) -> str:
    src, dst = pair.split()
    return f"pto.{what}_flag[<PIPE_{src}>, <PIPE_{dst}>, <EVENT_ID{id}>]"


def _stage(number: int) -> list[str]:
    """Load, compute, store on one slot: nine sync ops, of which three flags go from one stage of a slot to the next."""
    slot, id = number % _SLOTS, number % 8
    return [
        _flag("wait", "MTE3 MTE2", id), f"pto.tload ins(%src : {_WINDOW}) outs(%t{slot} : {_TILE})",
        _flag("set", "MTE2 V", id), _flag("wait", "MTE2 V", id),
        f"pto.texp ins(%t{slot} : {_TILE}) outs(%t{slot} : {_TILE})", "pto.barrier <PIPE_V>",
        _flag("set", "V MTE3", id), _flag("wait", "V MTE3", id),
        f"pto.tstore ins(%t{slot} : {_TILE}) outs(%dst : {_WINDOW})", "pto.barrier <PIPE_MTE3>",
        _flag("set", "MTE3 MTE2", id),
    ]


def nest(sync_ops: int) -> str:
    """A kernel with about that many sync ops in the innermost of three loops of symbolic length."""
    body = [line for n in range(max(8, sync_ops // 8)) for line in _stage(n)]
    head = [
        "%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index", "%c32 = arith.constant 32 : index",
        "%c64 = arith.constant 64 : index",
        *(f"%a{n} = arith.constant {n * 8192} : i64" for n in range(_SLOTS)),
        *(f"%{view} = pto.make_tensor_view %{p}, shape = [%c32, %c64], strides = [%c64, %c1] "
          "{layout = #pto.layout<nd>} : !pto.tensor_view<?x?xf32>" for view, p in (("pv", "p"), ("qv", "q"))),
        *(f"%{window} = pto.partition_view %{view}, offsets = [%c0, %c0], sizes = [%c32, %c64] : "
          f"!pto.tensor_view<?x?xf32> -> {_WINDOW}" for window, view in (("src", "pv"), ("dst", "qv"))),
        *(f"%t{n} = pto.alloc_tile addr = %a{n} valid_row = %c32 valid_col = %c64 : {_TILE}" for n in range(_SLOTS)),
    ]
    loops = [f"scf.for %{i} = %c0 to %{n} step %c1 {{" for i, n in zip("ijk", "LMN", strict=True)]
    lines = [
        *head, *(_flag("set", "MTE3 MTE2", i) for i in range(8)), *loops, *body, *("}" * 3),
        *(_flag("wait", "MTE3 MTE2", i) for i in range(8))]
    return (
        "module {\n  func.func @k(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>, %L: index, %M: index, %N: index) attributes "
        "{pto.kernel_kind = #pto.kernel_kind<vector>} {\n    " + "\n    ".join(lines) + "\n    return\n  }\n}\n")


def checked(text: str) -> tuple[FunctionResult, float]:
    """The verdicts of EVENT and RACE, and the CPU seconds from text to verdict."""
    started = process_time()
    options = Options(families=frozenset({"EVENT", "RACE"}))
    (result,) = verify(read(text, "nest.pto"), target("a2a3"), options)
    return result, process_time() - started


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    text = nest(wanted)
    sync_ops = text.count("pto.set_flag") + text.count("pto.wait_flag") + text.count("pto.barrier")
    checked(nest(8))
    result, seconds = checked(text)
    proved = sum(o.verdict is Verdict.PROVED for o in result.obligations)
    print(f"{sync_ops} sync ops: {proved} of {len(result.obligations)} obligations proved in {seconds:.2f} s")


if __name__ == "__main__":
    main()
