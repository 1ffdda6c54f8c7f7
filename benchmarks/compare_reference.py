"""Compare our `.pto` with what another PyPTO compiler made of the same kernels, op by op.

    python benchmarks/compare_reference.py [--planner pypto|ptoas] DATA [KERNEL ...]

DATA holds `kernels/NAME.py` and `compiled/NAME[__UNIT].<a2a3|a5>.<planner>.pto`. Both texts are read into modules;
names, addresses, locations, constants and the order of allocs do not count. What is compared, in this order: the
sequence of `pto` and `scf` ops, then of each op the attributes, the types, the extents and offsets, and which tile is
which (tiles are numbered by first use). Scalar arithmetic is compared only through the operands that it feeds.
Exit code 1 if a difference has no explanation in EXPLAINED.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pypto_verified.codegen import generate
from pypto_verified.errors import PtoError
from pypto_verified.language import load_file
from pypto_verified.passes.pipeline import run
from pypto_verified.pto.module import Func, Module, Op, Value
from pypto_verified.pto.reader import read
from pypto_verified.pto.types import TileBufType
from pypto_verified.pto.typetext import type_text
from pypto_verified.pto.writer import write
from pypto_verified.targets import TARGETS

_BITWISE = "a bitwise scalar is a signless integer of the tile's width (CG-10); the other compiler casts it to i32"
_CLAMP = "a clamped load narrows its window with the tile; the other compiler looks past the tensor's edge (CG-06)"
_PIPELINE = "a pipelined loop runs as it is written; the other compiler copies the body for each stage"
_SCRATCH = "a ramp on a2a3 and a sort get the scratch that the assembler wants at level3; the other compiler gives none"
_NARROWED = "an operand moved into L0 with fewer valid rows is compact, as an extracted one is (CA-01)"
EXPLAINED: dict[tuple[str, str], str] = {
    ("activation", "types"): "a scalar operand has the tile's element type; the other compiler leaves this one FP32",
    ("bitwise_shift", "types"): _BITWISE,
    ("bitwise_shift", "extents"): _BITWISE,
    ("dynamic_clamp", "types"): _CLAMP,
    ("dynamic_clamp", "extents"): _CLAMP,
    **{("iota_ramp", what): _SCRATCH for what in ("types", "extents", "identity")},
    **{("sort_merge", what): _SCRATCH for what in ("types", "extents", "identity")},
    ("matmul_rows_runtime", "types"): _NARROWED,
    ("loop_swap", "op sequence"): "two carried tiles that trade places need two copies; the other compiler loses one",
    ("pipeline_loads", "op sequence"): _PIPELINE,
    ("pipeline_matmul", "op sequence"): _PIPELINE,
    ("row_column_math", "op sequence"): "a column relabelled as a row and back is printed as it is, not folded",
    ("scalar_arith", "op sequence"): "both branches write straight into the tile that leaves the branch; no copy",
}
"""(kernel, class of difference) -> why ours is as it is."""

_DROPPED = frozenset({"pto.alloc_tile", "pto.make_tensor_view", "func.return", "scf.yield"})


@dataclass(slots=True)
class Trace:
    """The comparable form of one function: an entry an op."""

    names: list[str] = field(default_factory=list)
    attributes: list[object] = field(default_factory=list)
    types: list[object] = field(default_factory=list)
    extents: list[object] = field(default_factory=list)
    identity: list[object] = field(default_factory=list)


class Tracer:
    """Walks a function and records its ops."""

    def __init__(self, func: Func) -> None:
        self.trace = Trace()
        self._made: dict[int, Op] = {}
        self._number: dict[int, int] = {}
        if func.body is not None:
            self._block(func.body.ops, 0)

    def _block(self, ops: list[Op], depth: int) -> None:
        for op in ops:
            for result in op.results:
                self._made[id(result)] = op
            if not op.name.startswith("arith.") and op.name not in _DROPPED:
                self._record(op, depth)
            for region in op.regions:
                self._block(region.ops, depth + 1)

    def _record(self, op: Op, depth: int) -> None:
        trace = self.trace
        trace.names.append("  " * depth + op.name)
        trace.attributes.append(tuple(sorted(op.attrs.items(), key=lambda item: item[0])))
        groups = op.args.items()
        trace.types.append(tuple((g, tuple(_type(v) for v in vs)) for g, vs in groups) + tuple(map(_type, op.results)))
        trace.extents.append(tuple((g, tuple(self._extent(v) for v in vs)) for g, vs in groups))
        trace.identity.append(tuple((g, tuple(self._who(v) for v in vs)) for g, vs in groups))

    def _extent(self, value: Value) -> object:
        """What is known of an operand: a constant, a tile's valid extents, or that it is computed."""
        op = self._made.get(id(value))
        if op is None:
            return "argument"
        if op.name == "arith.constant":
            return op.attrs["value"]
        if op.name == "pto.alloc_tile":
            return tuple(self._extent(op.args[g][0]) for g in ("valid_row", "valid_col") if g in op.args)
        if op.name == "arith.maxsi" and 0 in (self._extent(v) for v in op.operands()):
            return self._extent(next(op.operands()))  # the other compiler's clamp of an offset
        return op.name if op.name.startswith("pto.") else "computed"

    def _who(self, value: Value) -> int | None:
        if not isinstance(value.type, TileBufType):
            return None
        return self._number.setdefault(id(value), len(self._number))


def _type(value: Value) -> str:
    return type_text(value.type, short=True)


def differences(ours: Module, theirs: Module) -> Iterator[tuple[str, str]]:
    """(class, detail) of each way in which two modules differ."""
    mine = {f.name: f for f in ours.funcs}
    other = {f.name: f for f in theirs.funcs}
    if mine.keys() != other.keys():
        yield "functions", f"{sorted(mine)} against {sorted(other)}"
    for name in mine.keys() & other.keys():
        yield from _function(mine[name], other[name])


def _function(ours: Func, theirs: Func) -> Iterator[tuple[str, str]]:
    if [v.type for v in ours.args] != [v.type for v in theirs.args]:
        yield "signature", f"{[_type(v) for v in ours.args]} against {[_type(v) for v in theirs.args]}"
    if ours.kernel_kind != theirs.kernel_kind:
        yield "kernel kind", f"{ours.kernel_kind} against {theirs.kernel_kind}"
    views = [[o for o in f.body.ops if o.name == "pto.make_tensor_view"] if f.body else [] for f in (ours, theirs)]
    if [o.attrs for o in views[0]] != [o.attrs for o in views[1]]:
        yield "views", f"{len(views[0])} against {len(views[1])}, or another layout"
    mine, other = Tracer(ours).trace, Tracer(theirs).trace
    if mine.names != other.names:
        at = next((i for i, (a, b) in enumerate(zip(mine.names, other.names, strict=False)) if a != b), -1)
        counts = Counter(n.strip() for n in mine.names)
        counts.subtract(n.strip() for n in other.names)
        net = {n: c for n, c in counts.items() if c}
        yield "op sequence", f"from op {at}: {mine.names[at:at + 3]} against {other.names[at:at + 3]}; net {net}"
        return
    for what in ("attributes", "types", "extents", "identity"):
        for name, a, b in zip(mine.names, getattr(mine, what), getattr(other, what), strict=True):
            if a != b:
                yield what, f"{name.strip()}: {a} against {b}"
                break


@dataclass(slots=True)
class Result:
    """How one kernel fared on one target."""

    kernel: str
    target: str
    outcome: str
    found: list[tuple[str, str]] = field(default_factory=list)


def compare(data: Path, kernel: str, target: str, planner: str) -> Result | None:
    """Compile one kernel and compare it; None if there is nothing to compare with."""
    texts = sorted((data / "compiled").glob(f"{kernel}.{target}.{planner}.pto"))
    texts += sorted((data / "compiled").glob(f"{kernel}__*.{target}.{planner}.pto"))
    if not texts:
        return None
    theirs = [read(p.read_text(encoding="utf-8"), p.name) for p in texts]
    try:
        loaded = load_file(data / "kernels" / f"{kernel}.py")
        functions = [f for p in loaded.programs for f in p.functions]
        opaque = [f.opaque for f in functions if f.opaque]
        lowered = [f for f in functions if not f.opaque]
        if not lowered:
            return Result(kernel, target, f"not lowered: {opaque[0] if opaque else 'no kernel'}")
        chip, baked = TARGETS[target], planner == "pypto"
        ours = [generate([run(f, chip, planner.upper())], chip, emit_tile_addr=baked) for f in lowered]
    except PtoError as error:
        return Result(kernel, target, f"{type(error).__name__}: {error.message}")
    result = Result(kernel, target, "compared")
    for module in ours:
        if read(write(module)) != module:
            result.found.append(("round trip", "reading our text does not give our module back"))
    result.found += differences(_merged(ours), _merged(theirs))
    return result


def _merged(modules: list[Module]) -> Module:
    return Module([f for m in modules for f in m.funcs])


def main(arguments: list[str]) -> int:
    """Compare and print; the exit code says whether something is unexplained."""
    parser = ArgumentParser(description="Compare our .pto with another compiler's, op by op.")
    parser.add_argument("--planner", choices=("pypto", "ptoas"), default="pypto")
    parser.add_argument("data", type=Path)
    parser.add_argument("kernels", nargs="*")
    options = parser.parse_args(arguments)
    data: Path = options.data
    every = sorted(p.stem for p in (data / "kernels").glob("*.py") if not p.stem.startswith("bad_"))
    kernels: list[str] = options.kernels or every
    results = [r for k in kernels for t in TARGETS if (r := compare(data, k, t, options.planner)) is not None]
    same = [r for r in results if r.outcome == "compared" and not r.found]
    differing = [r for r in results if r.found]
    refused = [r for r in results if r.outcome != "compared"]
    unexplained = 0
    for r in differing:
        for what, detail in r.found:
            why = EXPLAINED.get((r.kernel, what), "")
            unexplained += not why
            print(f"{r.kernel} {r.target}: {what}: {why or 'UNEXPLAINED: ' + detail}")
    for r in refused:
        print(f"{r.kernel} {r.target}: {r.outcome}")
    print(f"{len(results)} compared: {len(same)} agree, {len(differing)} differ, {len(refused)} are not compiled; "
          f"{unexplained} differences without explanation")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
