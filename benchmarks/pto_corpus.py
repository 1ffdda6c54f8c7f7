"""How much of an assembler checkout's `.pto` files is read, how fast, and whether it survives being written.

    python benchmarks/pto_corpus.py PTOAS_CHECKOUT [--verdicts corpus.tsv] [--show REASON]

`--verdicts`: a table with the columns path, flags, exit and reason, what the real assembler said about each file;
with it, legality findings are compared with its answers.
"""

from __future__ import annotations

import argparse
import csv
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from pypto_verified.errors import PtoError
from pypto_verified.pto.module import Module
from pypto_verified.pto.reader import read
from pypto_verified.pto.writer import write

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--verdicts", type=Path)
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
    accepted = [p for p, (ok, _, _) in answers.items() if ok and p.startswith(ROOTS)]
    if accepted:
        print(f"accepted by the assembler: {len(accepted)}, read here: {sum(p in everything for p in accepted)}")


if __name__ == "__main__":
    main()
