"""What automatic synchronisation costs, beside one barrier an op and beside what the real assembler inserts.

    python -m benchmarks.sync_compare KERNELS [--assembled DIR] [--target a2a3|a5]

KERNELS is a directory of kernels (`.py`) or of modules without flags (`.pto`). `--assembled` names a directory of
`NAME.<a3|a5>.sync.cpp`, the assembler's C++ for the same kernels. Counted are set and wait ops and barriers, each
once however often it runs; the assembler's barrier at the end of a kernel is left out. Only a `.pto` that the assembler
took too compares the insertion alone: a `.py` is lowered here, by another plan of its memory. Exit code 1 if a kernel
has more of them than the assembler's and `EXPLAINED` does not say why.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pypto_verified import language
from pypto_verified.compiler import compile_function, kernels_of
from pypto_verified.errors import PtoError
from pypto_verified.pto import reader
from pypto_verified.pto.module import Module
from pypto_verified.pto.rows import TABLE
from pypto_verified.pto.walk import walk_ops
from pypto_verified.sync import insert_sync
from pypto_verified.targets import Target, target

_FLAGS = frozenset({"pto.set_flag", "pto.wait_flag", "pto.set_flag_dyn", "pto.wait_flag_dyn"})

EXPLAINED: dict[tuple[str, str], str] = {
    ("loop_swap", "a2a3"): "tiles that trade places need two copies; the other compiler loses one, and its barrier",
    ("col_reduce", "a5"): "the other compiler's last reduction writes over the tile that it reduces; our planner asks "
                          "for equal elements at equal addresses and takes the tile that the store before must leave",
}
"""(kernel, target) -> why its lowering from `.py` needs more sync than the other compiler's."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Sync ops of a text: `flags` counts sets and waits."""

    flags: int
    barriers: int

    @property
    def total(self) -> int:
        return self.flags + self.barriers

    def __str__(self) -> str:
        return f"{self.flags}+{self.barriers}"

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.flags + other.flags, self.barriers + other.barriers)


def cost(module: Module) -> Cost:
    """The sync ops of a module."""
    ops = [op.name for func in module.funcs for op in walk_ops(func)]
    return Cost(sum(name in _FLAGS for name in ops), ops.count("pto.barrier"))


def one_each(module: Module) -> Cost:
    """What a barrier before each op that touches memory costs."""
    rows = [TABLE.get(op.name) for func in module.funcs for op in walk_ops(func)]
    return Cost(0, sum(row is not None and row.effect == "compute" for row in rows))


def assembled(path: Path) -> Cost:
    """The sync calls of the assembler's C++."""
    text = path.read_text(encoding="utf-8")
    return Cost(
        len(re.findall(r"\b(?:set|wait)_flag(?:_dyn)?\(", text)), len(re.findall(r"\bpipe_barrier\(", text)))


def modules(root: Path, chip: Target) -> Iterator[tuple[str, list[Module] | str]]:
    """Each kernel's name and its modules without flags, or why there are none."""
    for path in sorted(root.glob("*.py")):
        try:
            programs = language.load_file(path).programs
            yield path.stem, [
                compile_function(f, chip, read_back=False).module for p in programs for f in kernels_of(p)]
        except PtoError as e:
            yield path.stem, e.message
    for path in sorted(root.glob("*.pto")):
        try:
            yield path.name.split(".")[0], [reader.read(path.read_text(encoding="utf-8"))]
        except PtoError as e:
            yield path.stem, e.message


def main(argv: list[str]) -> int:
    """Print a row a kernel and the sums."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("kernels", type=Path)
    options.add_argument("--assembled", type=Path)
    options.add_argument("--target", default="a2a3")
    chosen = options.parse_args(argv)
    chip = target(chosen.target)
    return report(chosen.kernels, chosen.assembled, chip)


def report(kernels: Path, others: Path | None, chip: Target) -> int:
    """The table; 1 if a kernel of ours has more sync ops than the assembler's."""
    print(f"{'kernel':28} {'flags+barriers':>15} {'assembler':>10} {'one each':>9}")
    ours = theirs = each = Cost(0, 0)
    worse: list[str] = []
    source = any(kernels.glob("*.py"))
    for name, found in modules(kernels, chip):
        if isinstance(found, str):
            print(f"{name:28} not compared: {found[:80]}")
            continue
        try:
            own = sum((cost(insert_sync(m, chip)) for m in found), Cost(0, 0))
        except PtoError as e:
            print(f"{name:28} not compared: {e.message[:80]}")
            continue
        files = sorted(others.glob(f"{name}.{chip.arch}.sync.cpp")) if others is not None else []
        files = files or (sorted(others.glob(f"{name}__*.{chip.arch}.sync.cpp")) if others is not None else [])
        other = sum(map(assembled, files), Cost(0, 0)) if files else None
        alone = sum(map(one_each, found), Cost(0, 0))
        mark = " more" if other is not None and own.total > other.total else ""
        print(f"{name:28} {own!s:>15} {other if other is not None else '-'!s:>10} {alone.barriers:>9}{mark}")
        if other is not None:
            ours, theirs, each = ours + own, theirs + other, each + alone
            why = EXPLAINED.get((name, chip.name)) if source else None
            if mark and why is not None:
                print(f"  {why}")
            elif mark:
                worse.append(name)
    print(f"{'all that both have':28} {ours!s:>15} {theirs!s:>10} {each.barriers:>9}")
    print(f"more than the assembler: {', '.join(worse) or 'none'}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
