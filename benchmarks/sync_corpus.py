"""What EVENT and RACE say of every `.pto` with explicit synchronisation in a checkout or directory.

    python -m benchmarks.sync_corpus PATH... [--target a2a3|a5] [--strict] [--all]

One line a file with the verdict of each of the two families, then each refutation and each reason of an UNKNOWN; a
table by rule at the end. `--all`: files without any flag or barrier too, as if they ordered their own pipes.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from pypto_verified.errors import PtoError
from pypto_verified.pto.reader import read
from pypto_verified.report.model import SEVERITY, Verdict, worst
from pypto_verified.targets import target
from verifiers import Options, verify

_EXPLICIT = re.compile(
    r"^[^/]*pto\.(set_flag|wait_flag|record_event|wait_event|barrier|get_buf|rls_buf|sync\.|syncall|(set|wait)_(intra|cross)"
    r"|tpush|tpop)", re.M)
_FAMILIES = ("EVENT", "RACE", "FIFO")


def _files(paths: list[str], everything: bool) -> Iterator[tuple[Path, str]]:
    for path in map(Path, paths):
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.suffix == ".pto" or file.name.endswith(".ir.txt"):
                text = file.read_text(encoding="utf-8", errors="replace")
                if everything or _EXPLICIT.search(text):
                    yield file, text


def _chip(text: str, name: str, given: str | None) -> str:
    if given is not None:
        return given
    written = re.search(r'target_arch\s*=\s*"(\w+)"|--pto-arch[= ](\w+)', text)
    word = next((g for g in written.groups() if g), "") if written else ""
    return "a5" if word == "a5" or ".a5." in name else "a2a3"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--target", choices=("a2a3", "a5"))
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    by_rule: Counter[tuple[str, Verdict]] = Counter()
    reasons: Counter[str] = Counter()
    files = unread = 0
    total = 0.0
    for file, text in _files(given.paths, given.all):
        chip = target(_chip(text, file.name, given.target))
        started = perf_counter()
        try:
            options = Options(strict=given.strict, families=frozenset(_FAMILIES), explicit_sync=given.all)
            results = [r for unit in read(text, str(file)).units() for r in verify(unit, chip, options)]
        except PtoError as error:
            unread += 1
            print(f"{file}: not read: {error}")
            continue
        elapsed = perf_counter() - started
        total += elapsed
        files += 1
        obligations = [o for r in results for o in r.obligations]
        by_rule.update((o.rule, o.verdict) for o in obligations)
        shown = []
        for family in _FAMILIES:
            own = [o.verdict for o in obligations if o.rule.startswith(family)]
            shown.append(f"{family} {worst(own).value if own else '-'}")
        print(f"{file} [{chip.name}]: {', '.join(shown)} ({1000 * elapsed:.0f} ms)")
        for finding in (f for r in results for f in r.findings if f.rule != "MODEL-OP"):
            if finding.verdict is Verdict.UNKNOWN:
                reasons[finding.message] += 1
            print(f"    {finding.line}: {finding.verdict.value} {finding.rule}: {finding.message}"
                  + (f" [{', '.join(f'{n} = {v}' for n, v in finding.witness)}]" if finding.witness else ""))
    print(f"\n{files} files, {unread} not read, {total:.1f} s")
    for rule in sorted({rule for rule, _ in by_rule}):
        print(f"{rule:16}" + "".join(f" {v.value} {by_rule[rule, v]}" for v in SEVERITY if by_rule[rule, v]))
    for reason, count in reasons.most_common(20):
        print(f"{count:5} {reason}")


if __name__ == "__main__":
    main()
