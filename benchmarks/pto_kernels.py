"""What the whole check says about the `.pto` kernels of real models in an assembler checkout.

    python benchmarks/pto_kernels.py PTOAS_CHECKOUT [-j N] [--only TEXT] [--timeout S] [--json FILE]

Prints verdicts of files and obligations, the share of UNKNOWN by reason, and every safety refutation by rule. The
model kernels are the directories of `test/samples` that are named after a model.
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from pypto_verified.check import CheckOptions, check_paths
from pypto_verified.report.json_form import to_json
from pypto_verified.report.model import FileResult, Finding, Kind, Report, Verdict

MODELS = ("Deepseek", "Qwen")


def kernels(checkout: Path, only: str) -> list[Path]:
    """The `.pto` files of the model directories whose path holds `only`."""
    samples = checkout / "test" / "samples"
    found = (p for d in samples.iterdir() if d.name.startswith(MODELS) for p in d.rglob("*.pto"))
    return sorted(p for p in found if only in str(p.relative_to(checkout)))


def general(message: str) -> str:
    """A message without the names and numbers that differ from file to file."""
    return re.sub(r"%[\w$.#]+|@[\w$.]+|\b\d[\d,]*\b", "_", message)[:120]


def findings(report: Report) -> Iterator[tuple[FileResult, Finding]]:
    for file in report.files:
        for finding in [*file.findings, *(f for function in file.functions for f in function.findings)]:
            yield file, finding


def show(report: Report, checkout: Path) -> None:
    """Print the tables."""
    files = Counter(f.verdict.value for f in report.files)
    obligations = [o for f in report.files for function in f.functions for o in function.obligations]
    print(f"files: {len(report.files)}; {dict(files.most_common())}")
    for kind in Kind:
        counts = Counter(o.verdict.value for o in obligations if o.kind is kind)
        total = max(1, sum(counts.values()))
        print(f"{kind.value} obligations: {total}; {dict(counts.most_common())}; "
              f"UNKNOWN {100 * counts['UNKNOWN'] / total:.2f} %")
    reasons: Counter[str] = Counter()
    refuted: dict[tuple[str, str], list[str]] = {}
    replays: Counter[str] = Counter()
    for file, finding in findings(report):
        line = f"{finding.rule}: {general(finding.message)}"
        if finding.verdict is Verdict.REFUTED:
            path = Path(file.path).relative_to(checkout)
            where = f"{path}:{finding.line} {finding.message} [{finding.replay or 'no replay'}]"
            refuted.setdefault((finding.kind.value, finding.rule), []).append(where)
            replays[finding.replay.split(":")[0]] += finding.kind is Kind.SAFETY
        else:
            reasons[f"{finding.verdict.value} {line}"] += 1
    print("not proved, by reason:")
    for reason, count in reasons.most_common(40):
        print(f"  {count:6} {reason}")
    print(f"refuted, by rule (replays of safety findings: {dict(replays)}):")
    for (title, rule), places in sorted(refuted.items()):
        print(f"  {title} {rule}: {len(places)}")
        for place in places[:200]:
            print(f"    {place}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--only", default="", help="only paths that hold this text")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds a file")
    parser.add_argument("--json", type=Path, help="write the report here as well")
    options = parser.parse_args()
    paths = [str(p) for p in kernels(options.checkout, options.only)]
    begin = time.perf_counter()
    report = check_paths(paths, CheckOptions(jobs=options.jobs, timeout=options.timeout))
    print(f"{time.perf_counter() - begin:.1f} s for {len(paths)} files, {options.jobs} at a time")
    show(report, options.checkout)
    if options.json:
        options.json.write_text(to_json(report))


if __name__ == "__main__":
    main()
