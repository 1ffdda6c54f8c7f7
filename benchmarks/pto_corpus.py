"""How much of an assembler checkout's `.pto` files is read, how fast, and whether it survives being written.

    python benchmarks/pto_corpus.py PTOAS_CHECKOUT [--verdicts corpus.tsv] [--rules negative.tsv] [--show REASON]

`--verdicts`: a table with the columns path, flags, exit and reason, what the real assembler said about each file;
with it, legality findings are compared with its answers: a file that it accepts must have none. `--rules`: a table with
the columns path and rule, the rule for which each file must be rejected; a file counts as matched if it does not parse
or has a finding at an op that the assembler's message names (what it makes of an op counts as that op). Files that the
assembler refuses for its own options or environment break no rule and are left out. A third of the files, by the hash
of their paths, is held out from the writing of rows and counted apart.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from pypto_verified.errors import NotModelled, PtoError
from pypto_verified.pto.legality import check_legality
from pypto_verified.pto.module import Module
from pypto_verified.pto.reader import read
from pypto_verified.pto.writer import write

MADE_FROM = {
    "pto.initialize_l2l_pipe": ("pto.aic_initialize_pipe", "pto.aiv_initialize_pipe"),
    "pto.initialize_l2g2l_pipe": ("pto.aic_initialize_pipe", "pto.aiv_initialize_pipe"),
}
"""Op of a message -> the ops of the text that the assembler makes it from."""
OWN_TROUBLE = ("Error: ASCEND_HOME_PATH", "Error: invalid --")
ROOTS = ("test/lit/pto", "test/samples", "tools/ptobc/testdata")


@dataclass
class Tally:
    """What happened to the files of one root."""

    files: int = 0
    read: int = 0
    lines: int = 0
    seconds: float = 0.0
    unstable: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    shown: list[str] = field(default_factory=list)


def reason(error: PtoError) -> str:
    """The error's message without the names and numbers that differ from file to file."""
    return re.sub(r"%[\w$.#]+|@[\w$.]+|\b\d+\b", "_", f"{type(error).__name__}: {error.message}")[:110]


def survives(module: Module, text: str) -> bool:
    """Whether both spellings of the module read back as the same module."""
    return read(write(module)) == module and read(write(module, short=True)) == module


def measure(root: Path, checkout: Path, show: str) -> tuple[Tally, dict[str, Module]]:
    """Read every `.pto` file below `root`; the modules by their path within the checkout."""
    tally, modules = Tally(), {}
    for path in sorted(root.rglob("*.pto")):
        tally.files += 1
        text = path.read_text(errors="replace")
        name = str(path.relative_to(checkout))
        begin = time.perf_counter()
        try:
            module = read(text, name)
        except PtoError as error:
            why = reason(error)
            tally.reasons[why] += 1
            if show and show in why:
                tally.shown.append(f"{error}\n      {error.source_line.strip()[:200]}")
            continue
        tally.seconds += time.perf_counter() - begin
        tally.lines += text.count("\n")
        tally.read += 1
        modules[name] = module
        try:
            if not survives(module, text):
                tally.unstable.append(name)
        except PtoError as error:
            tally.unstable.append(f"{name}: {error}")
    return tally, modules


def verdicts(table: Path) -> dict[str, tuple[bool, str, str]]:
    """path within the checkout -> (accepted, first error, flags)."""
    with table.open(newline="") as lines:
        return {
            line["path"]: (line["exit"] == "0", line["reason"] or "", line["flags"] or "")
            for line in csv.DictReader(lines, delimiter="\t")
        }


def target_of(module: Module, flags: str) -> str:
    """The target that the assembler takes: the module's, else the flag's, else a3; "a2a3" is none of its names."""
    spec = module.attrs.get("pto.device-spec")
    if isinstance(spec, str) and ("950" in spec or "910_95" in spec):
        return "a5"
    flag = re.search(r"--pto-arch=(a\d)", flags)
    name = module.arch if module.arch in ("a2", "a3", "a5") else flag[1] if flag else "a3"
    return "a5" if name == "a5" else "a2a3"


def compare(modules: dict[str, Module], answers: dict[str, tuple[bool, str, str]]) -> None:
    """Print how legality agrees with the assembler, and how fast it is."""
    wrong: Counter[str] = Counter()
    seconds, counts = 0.0, Counter[str]()
    missed: Counter[str] = Counter()
    for path, module in modules.items():
        if path not in answers:
            continue
        accepted, why, flags = answers[path]
        level = re.search(r"--pto-level=(level\d)", flags)
        begin = time.perf_counter()
        found = [illegal for unit in module.units()
                 for illegal in check_legality(unit, target_of(unit, flags), level[1] if level else "level2")]
        seconds += time.perf_counter() - begin
        counts["accepted" if accepted else "rejected"] += 1
        if accepted:
            wrong.update(f"{path}: {illegal.id}: {illegal.message}" for illegal in found)
        elif found:
            counts["matched"] += 1
        else:
            missed[re.sub(r".*?error: ", "", why)[:70]] += 1
    print(f"legality: {counts['accepted']} accepted files, {len(wrong)} findings on them; "
          f"{counts['matched']} of {counts['rejected']} rejected files that are read have a finding; {seconds:.1f} s")
    for line, count in [*wrong.most_common(10), *missed.most_common(25)]:
        print(f"  {count:5} {line}")


def held_out(path: str) -> bool:
    """Whether a file belongs to the third that rows are not written for."""
    return int(hashlib.sha256(path.encode()).hexdigest(), 16) % 3 == 0


def compare_rules(
    table: Path, checkout: Path, modules: dict[str, Module], answers: dict[str, tuple[bool, str, str]]
) -> None:
    """Print how many of the files that break a rule of the assembler are rejected here, and at the same op."""
    with table.open(newline="") as lines:
        paths = sorted({line["path"] for line in csv.DictReader(lines, delimiter="\t")})
    counts: Counter[tuple[bool, str]] = Counter()
    for path in paths:
        accepted, why, flags = answers.get(path, (True, "", ""))
        if accepted or not path.startswith(ROOTS) or not (checkout / path).exists() or why.startswith(OWN_TROUBLE):
            continue
        part = held_out(path)
        counts[part, "files"] += 1
        module = modules.get(path)
        if module is None:
            try:
                read((checkout / path).read_text(errors="replace"), path)
            except NotModelled:
                continue
            except PtoError:
                counts[part, "rejected"] += 1
                counts[part, "matched"] += 1
            continue
        level = re.search(r"--pto-level=(level\d)", flags)
        ops = {illegal.op for unit in module.units()
               for illegal in check_legality(unit, target_of(unit, flags), level[1] if level else "level2")}
        named = re.search(r"'(pto\.[\w.]+)' op", why)
        counts[part, "rejected"] += bool(ops)
        counts[part, "matched"] += bool(ops) and (named is None or bool(ops & {named[1], *MADE_FROM.get(named[1], ())}))
    for part, name in ((False, "files that rows were written for"), (True, "held-out files")):
        total = counts[part, "files"]
        print(f"{name}: {counts[part, 'rejected']} of {total} rejected, {counts[part, 'matched']} at the same op "
              f"({100 * counts[part, 'matched'] / max(1, total):.0f} %)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--verdicts", type=Path)
    parser.add_argument("--rules", type=Path)
    parser.add_argument("--show", default="", help="print the errors whose reason holds this text")
    options = parser.parse_args()
    answers = verdicts(options.verdicts) if options.verdicts else {}
    everything: dict[str, Module] = {}
    for root in ROOTS:
        tally, modules = measure(options.checkout / root, options.checkout, options.show)
        everything |= modules
        rate = tally.lines / tally.seconds if tally.seconds else 0.0
        print(f"{root}: {tally.read} of {tally.files} files read, {rate:,.0f} lines/s, "
              f"{len(tally.unstable)} do not survive being written")
        for why, count in tally.reasons.most_common(25):
            print(f"  {count:5} {why}")
        for line in tally.unstable[:10] + tally.shown[:20]:
            print(f"    {line}")
    accepted = [p for p, (ok, _, _) in answers.items()
                if ok and p.startswith(ROOTS) and (options.checkout / p).exists()]
    if accepted:
        print(f"accepted by the assembler: {len(accepted)}, read here: {sum(p in everything for p in accepted)}")
        compare(everything, answers)
    if options.rules:
        compare_rules(options.rules, options.checkout, everything, answers)


if __name__ == "__main__":
    main()
