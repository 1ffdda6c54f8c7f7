"""What automatic synchronisation costs, beside one barrier an op and beside what the real assembler inserts.

    python -m benchmarks.sync_compare KERNELS [--assembled DIR] [--target a2a3|a5]

KERNELS is a directory of kernels (`.py`) or of modules (`.pto`), whose own flags are left out. `--assembled` names a
directory of `NAME.<a3|a5>[.PLAN].sync.cpp`, the assembler's C++ for the same kernels. Counted are set and wait ops and
barriers, each once however often it runs; the assembler's barrier at the end of a kernel is left out. Only a `.pto`
that the assembler took too compares the insertion alone, at the addresses that the C++ has: one whose tiles lie
elsewhere is not compared. There the assembler's own flags are judged too. A `.py` is lowered here, by another plan of
its memory. Exit code 1 if a kernel has more of them than the assembler's and `EXPLAINED` does not say why.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.assembled import placed, with_sync
from pypto_verified import language
from pypto_verified.compiler import compile_function, kernels_of
from pypto_verified.errors import NotModelled, PtoError
from pypto_verified.pto import reader, writer
from pypto_verified.pto.module import Module
from pypto_verified.pto.rows import TABLE
from pypto_verified.pto.walk import walk_ops
from pypto_verified.report.model import Verdict, worst
from pypto_verified.sync import insert_sync
from pypto_verified.targets import Target, target
from verifiers import Options, verify

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


def modules(root: Path, chip: Target) -> Iterator[tuple[Path, list[Module] | str]]:
    """Each kernel's file and its modules, or why there are none. Modules of the other target are passed over."""
    for path in sorted(root.glob("*.py")):
        try:
            programs = language.load_file(path).programs
            yield path, [
                compile_function(f, chip, read_back=False).module for p in programs for f in kernels_of(p)]
        except PtoError as e:
            yield path, e.message
    for path in sorted(root.glob("*.pto")):
        try:
            module = reader.read(path.read_text(encoding="utf-8"))
        except PtoError as e:
            yield path, e.message
            continue
        if module.attrs.get("pto.target_arch", chip.name) == chip.name:
            yield path, [module]


def texts(path: Path, others: Path | None, chip: Target) -> list[Path]:
    """The assembler's C++ of a kernel: of its plan of the memory where that has one of its own, of each of its units
    where the source is one file."""
    name, plan = path.name.split(".")[0], path.suffixes[-2] if len(path.suffixes) > 1 else ""
    names = (f"{name}.{chip.arch}{plan}.sync.cpp", f"{name}.{chip.arch}.sync.cpp", f"{name}__*.{chip.arch}.sync.cpp")
    found = (sorted(others.glob(n)) for n in names) if others is not None else iter(())
    return next((files for files in found if files), [])


def judged(module: Module, text: str, chip: Target) -> tuple[str, str]:
    """What EVENT and RACE say of the flags of the C++, and of what; or why they are not asked."""
    try:
        text = writer.write(with_sync(module, text))
    except PtoError as e:
        return e.message, ""
    options = Options(families=frozenset({"EVENT", "RACE"}), explicit_sync=True)
    results = verify(reader.read(text), chip, options)
    found = [o.verdict for r in results for o in r.obligations]
    told = [f"{f.rule}: {f.message}" for r in results for f in r.findings if f.verdict is Verdict.REFUTED]
    return (worst(found).value if found else "nothing to order"), "; ".join(told[:1])


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
    print(f"{'kernel':28} {'flags+barriers':>15} {'assembler':>10} {'one each':>9}  the assembler's are")
    ours = theirs = each = Cost(0, 0)
    worse: list[str] = []
    verdicts: Counter[str] = Counter()
    for path, found in modules(kernels, chip):
        name = path.name.removesuffix(".pto").removesuffix(".py")
        try:
            if isinstance(found, str):
                raise NotModelled(found)
            files = texts(path, others, chip)
            verdict = told = ""
            if files and path.suffix == ".pto":
                text = files[0].read_text(encoding="utf-8")
                found = [placed(found[0], text)]
                verdict, told = judged(found[0], text, chip)
                verdicts[verdict] += 1
            own = sum((cost(insert_sync(m, chip)) for m in found), Cost(0, 0))
        except PtoError as e:
            print(f"{name:28} not compared: {e.message[:80]}")
            continue
        other = sum(map(assembled, files), Cost(0, 0)) if files else None
        alone = sum(map(one_each, found), Cost(0, 0))
        mark = " more" if other is not None and own.total > other.total else ""
        print(f"{name:28} {own!s:>15} {other if other is not None else '-'!s:>10} {alone.barriers:>9}  {verdict}{mark}")
        if told:
            print(f"  {told}")
        if other is not None:
            ours, theirs, each = ours + own, theirs + other, each + alone
            why = EXPLAINED.get((name, chip.name)) if path.suffix == ".py" else None
            if mark and why is not None:
                print(f"  {why}")
            elif mark:
                worse.append(name)
    print(f"{'all that both have':28} {ours!s:>15} {theirs!s:>10} {each.barriers:>9}")
    print(f"more than the assembler: {', '.join(worse) or 'none'}")
    for verdict, count in verdicts.most_common():
        print(f"{count:5} of the assembler's: {verdict}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
