"""What becomes of a proved program when one of its sync ops is taken out.

    python -m benchmarks.sync_removals [--programs N] [--kernels N] [PATH...] [--each N] [--seed N]

Programs are random texts with loops, rings and branches, kernels those of the fuzzer, paths modules without flags
(`.pto`) or directories of them; all get the flags that they need first. Counted is what the rules then say of the
rest: refuted and replayed, proved where a remark had called the op redundant, or else the reason, one line each. What
some callers alone meet is UNKNOWN and tells what they have to keep to (`needs`): it counts as refuted where it is, and
replayed, for those who don't, and nothing is found for those who do.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pypto_verified.compiler import MemoryPlanner, compile_function
from pypto_verified.errors import NotModelled, PtoError
from pypto_verified.fuzz.deeper import assumptions
from pypto_verified.fuzz.draw import Seeded
from pypto_verified.fuzz.generator import kernel as generated
from pypto_verified.index import all_of
from pypto_verified.pto import reader, writer
from pypto_verified.pto.module import Module, Op
from pypto_verified.report.model import Finding, Verdict
from pypto_verified.sync import insert_sync
from pypto_verified.targets import TARGETS, target
from pypto_verified.witness import replayed
from tests.sync.judged import sync_ops, without
from tests.sync.programs import random_program
from verifiers import Options, verify
from verifiers.access import build_program
from verifiers.assume import assumptions_of
from verifiers.race.redundant import redundant
from verifiers.solver import Ladder

FAMILIES = frozenset({"RACE", "EVENT"})


@dataclass(frozen=True, slots=True)
class Proved:
    """A module with all the flags that it needs."""

    name: str
    chip: str
    module: Module
    options: Options


def programs(count: int) -> Iterator[Proved]:
    """Random texts, on the targets in turn, every other one with branches."""
    for seed in range(1000, 1000 + count):
        chip = sorted(TARGETS)[seed % len(TARGETS)]
        plain = random_program(seed, chip, branches=seed // 2 % 2 == 1)
        yield _with_flags(f"program {seed}", chip, plain, Options(families=FAMILIES, explicit_sync=True))


def kernels(count: int, seed: int) -> Iterator[Proved]:
    """Kernels of the fuzzer, on the targets in turn; what is refused or not modelled is left out."""
    for example in range(count):
        chip = sorted(TARGETS)[example % len(TARGETS)]
        kernel = generated(Seeded(seed, example), chip)
        try:
            artifact = compile_function(kernel.function, target(chip), MemoryPlanner(kernel.planner), read_back=False)
            yield _with_flags(f"kernel {seed}:{example}", chip, artifact.module, Options(
                assumptions(kernel), families=FAMILIES, explicit_sync=True,
                names={kernel.function.name: artifact.names}))
        except (NotModelled, PtoError):
            continue


def files(root: Path) -> Iterator[Proved]:
    """Modules for the targets that their texts name; those with flags of their own, or with a fault, are left out."""
    for path in sorted(root.rglob("*.pto")) if root.is_dir() else (root,):
        text = path.read_text(encoding="utf-8")
        chip = "a5" if 'target_arch = "a5"' in text else "a2a3"
        try:
            plain = reader.read(text, str(path))
            refuted = any(f.verdict is Verdict.REFUTED for r in verify(plain, target(chip)) for f in r.findings)
            if not refuted and not any(True for _ in sync_ops(plain)):
                yield _with_flags(path.name, chip, plain, Options(families=FAMILIES, explicit_sync=True))
        except (NotModelled, PtoError):
            continue


def _with_flags(name: str, chip: str, plain: Module, options: Options) -> Proved:
    return Proved(name, chip, reader.read(writer.write(insert_sync(plain, target(chip)))), options)


def told(proved: Proved) -> set[int]:
    """Lines of the text whose sync ops a remark calls redundant."""
    found: set[int] = set()
    for func in proved.module.funcs:
        program = build_program(func, proved.module.file, proved.chip, proved.options.names.get(func.name))
        assumed = all_of(c for _, c in assumptions_of(program.symbols, proved.options.assume))
        for group in redundant(program, target(proved.chip), Ladder(), assumed=assumed, explicit=True):
            found |= {s.step.op.line for s in group.syncs}
    return found


def _found(module: Module, proved: Proved, *assumed: str) -> list[Finding]:
    """All findings, those that are refuted replayed."""
    options, found = replace(proved.options, assume=(*proved.options.assume, *assumed)), []
    for result in verify(module, target(proved.chip), options):
        found += replayed(result, module, target(proved.chip), 0, options.names.get(result.name, {})).findings
    return found


def _shown(found: list[Finding]) -> bool:
    """Whether one is refuted and a run shows it."""
    return any(f.verdict is Verdict.REFUTED and f.replay.startswith("confirmed") for f in found)


def outcome(proved: Proved, op: Op, spare: set[int]) -> str:
    """What the rules say without an op; it begins with 'refuted' or 'redundant' where all is well."""
    rest = without(proved.module, op)
    found = _found(rest, proved)
    if _shown(found):
        return "refuted and replayed"
    if not found:
        return "redundant, and noted" if op.line in spare else "PROVED without a note"
    needs = " and ".join(dict.fromkeys(f"({f.needs})" for f in found if f.needs))
    cases = [" and ".join(f"{n} == {v}" for n, v in f.witness) for f in found if f.needs and f.witness]
    fails = bool(needs) and any(_shown(_found(rest, proved, case)) for case in (f"not ({needs})", *cases))
    if fails and not _found(rest, proved, needs):
        return "refuted and replayed for callers who don't keep to what is needed"
    first = min(found, key=lambda f: f.verdict is not Verdict.REFUTED)
    told_needs = f" (needs: {first.needs})" if first.needs else ""
    return f"{first.verdict.value} {first.rule}: {first.replay or first.message}{told_needs}"


def main(argv: list[str]) -> int:
    """Print each removal that is neither refuted and replayed nor noted before, and the sums; 1 if there is one."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("paths", nargs="*", type=Path)
    options.add_argument("--programs", type=int, default=0)
    options.add_argument("--kernels", type=int, default=0)
    options.add_argument("--each", type=int, default=10, help="sync ops of a module that are taken out")
    options.add_argument("--seed", type=int, default=11)
    chosen = options.parse_args(argv)
    sources = [programs(chosen.programs), kernels(chosen.kernels, chosen.seed), *map(files, chosen.paths)]
    sums: Counter[str] = Counter()
    for proved in (p for source in sources for p in source):
        spare = told(proved)
        ops = list(sync_ops(proved.module))
        for op in random.Random(chosen.seed).sample(ops, min(chosen.each, len(ops))):
            became = outcome(proved, op, spare)
            well = became.startswith(("refuted", "redundant"))
            sums[became if well else became.split(":")[0]] += 1
            if not well:
                print(f"{proved.name} line {op.line} {op.name}: {became}", flush=True)
    for word, count in sums.most_common():
        print(f"{count:6} {word}")
    return int(any(not word.startswith(("refuted", "redundant")) for word in sums))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
