"""Mutants of small kernels: is one proved although a run of it shows a fault?

    python -m benchmarks.kernel_mutants tests/corpus/accept [--part 1/4]

Each mutant of a `.pto` text differs in one constant, in one field of one tile type, or in one line: left out, twice, or
after the next one. What the verifier proves is run: a fault that reaches a result, or a result that changes when tiles
have storage of their own or when operands are addressed as their types say, is a gap in the rules or a fault of the
simulator. A kernel that is proved and runs without either may still compute something else than its original.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from pypto_verified.check import CheckOptions, verify_module
from pypto_verified.errors import PtoError
from pypto_verified.pto.module import Func, Module
from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.simulator.replay import replay, replay_layout, replay_overlap
from pypto_verified.targets import Target, target

_CONSTANT = re.compile(r"arith\.constant (\d+) : (?:index|i64)")
_TILE = re.compile(r"!pto\.tile_buf<loc=[^>]*>")
_EXTENT = re.compile(r"(rows|cols|v_row|v_col)=(\d+)")
_FIELDS = (
    ("blayout=row_major", "blayout=col_major"), ("blayout=col_major", "blayout=row_major"),
    ("slayout=none_box", "slayout=row_major"), ("slayout=row_major", "slayout=none_box"),
    ("slayout=row_major", "slayout=col_major"), ("slayout=col_major", "slayout=row_major"),
    ("fractal=512", "fractal=1024"), ("fractal=1024", "fractal=512"), ("dtype=f32", "dtype=i32"),
    ("dtype=f32", "dtype=f16"), ("dtype=f16", "dtype=bf16"), ("dtype=bf16", "dtype=f16"), (", compact=1", ""),
    ("pad=0", "pad=1"), ("loc=vec", "loc=mat"), ("loc=mat", "loc=vec"))
_WITNESSES: tuple[dict[str, int], ...] = ({}, {"n": 3, "m": 3})
"""Values of arguments; others are chosen by the replay."""


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """(what is different, the text)."""
    for found in _CONSTANT.finditer(text):
        for value in _near(int(found.group(1))):
            yield f"{found.group()}: {value}", f"{text[:found.start(1)]}{value}{text[found.end(1):]}"
    for tile in sorted(set(_TILE.findall(text))):
        for other in sorted(_retyped(tile)):
            yield f"{tile} => {other}", text.replace(tile, other)
    lines = text.split("\n")
    ops = [i for i, line in enumerate(lines) if line.strip().startswith("pto.")]
    for i in ops:
        name = f"line {i + 1}"
        yield f"without {name}", "\n".join(lines[:i] + lines[i + 1:])
        yield f"{name} twice", "\n".join(lines[:i + 1] + lines[i:])
    for i, j in pairwise(ops):
        yield f"line {i + 1} and {j + 1} exchanged", "\n".join(
            [*lines[:i], lines[j], *lines[i + 1:j], lines[i], *lines[j + 1:]])


def _near(value: int) -> list[int]:
    near = {value + 1, value - 1, value * 2, value // 2, value + 16, value + 32, value + 512, value - 16}
    return sorted(v for v in near if v >= 0 and v != value)


def _retyped(tile: str) -> set[str]:
    made = {tile.replace(old, new) for old, new in _FIELDS}
    for field, digits in _EXTENT.findall(tile):
        for value in (int(digits) * 2, int(digits) // 2, int(digits) - 1):
            made.add(tile.replace(f"{field}={digits}", f"{field}={value}"))
    return made - {tile}


def fault(func: Func, chip: Target) -> str:
    """What a run of a function shows to be wrong, '' for nothing."""
    for witness in _WITNESSES:
        outcome = replay(func, witness, chip)
        if any(e.kind in ("not modelled", "step limit") for e in outcome.errors):
            continue
        if outcome.errors:
            return str(outcome.errors[0])
        changed = replay_overlap(func, witness, chip) or replay_layout(func, witness, chip)
        if changed is not None:
            return str(changed)
    return ""


def judged(text: str, chip: Target) -> tuple[str, str]:
    """('unread' | 'not proved' | 'proved' | 'proved, but a run shows a fault', the fault)."""
    try:
        module: Module = read(text, "mutant.pto")
        results = verify_module(module, chip, CheckOptions(simulate=False))
    except PtoError:
        return "unread", ""
    if any(r.verdict is not Verdict.PROVED for r in results):
        return "not proved", ""
    shown = next((f for func in module.funcs if func.body is not None and (f := fault(func, chip))), "")
    return ("proved, but a run shows a fault", shown) if shown else ("proved", "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--part", default="1/1", help="which part of the files, of how many")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    counts: Counter[str] = Counter()
    for path in sorted(options.folder.glob("*.pto"))[part - 1::parts]:
        text = path.read_text(encoding="utf-8")
        arch = re.search(r'target_arch = "(a2a3|a5)"', text)
        for what, mutant in mutants(text):
            outcome, shown = judged(mutant, target(arch.group(1) if arch else "a2a3"))
            counts[outcome] += 1
            if shown:
                print(f"{path.name}: {what}\n    {shown}", flush=True)
    for outcome, count in counts.most_common():
        print(f"{count:7,}  {outcome}")


if __name__ == "__main__":
    main()
