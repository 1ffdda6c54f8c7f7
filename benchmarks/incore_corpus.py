"""How far the tool gets on every InCore function of a PyPTO checkout: `python -m benchmarks.incore_corpus CHECKOUT`.

The denominator is fixed by the source alone: every function under `examples/` and `tests/st/` that is decorated with
`@pl.function(type=...InCore)`. A function whose file does not load, or that the loader keeps opaque, counts as not
reached. Stages: load (AST to IR), lower (passes and code generation), read back (the text gives the generated module),
verdict. Each file runs in its own process with a time limit.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pypto_verified import language
from pypto_verified.check import CheckOptions, verify_module
from pypto_verified.compiler import compile_function
from pypto_verified.errors import CodegenError, PtoError
from pypto_verified.ir.stmt import Function
from pypto_verified.report.model import FunctionResult, Verdict, worst
from pypto_verified.targets import target
from pypto_verified.workers import Failure, Workers

STAGES = ("load", "lower", "read back", "verdict")


@dataclass(frozen=True, slots=True)
class Kernel:
    """One InCore function in the source; `line` is that of its `def`, `ops` are the `pl...` names it calls."""

    path: Path
    name: str
    line: int
    ops: frozenset[str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """How far a function got: stages passed, its verdict ('needs' is UNKNOWN with a condition for every open point),
    and why it got no further or was not decided."""

    stages: int
    verdict: str = ""
    reasons: tuple[str, ...] = ()


@dataclass(slots=True)
class Tally:
    """Counts over all kernels."""

    stages: Counter[int] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    op_sets: dict[frozenset[str], set[str]] = field(default_factory=dict)


def kernels(checkout: Path) -> Iterator[Kernel]:
    """The InCore functions of a checkout, in source order."""
    for folder in ("examples", "tests/st"):
        for path in sorted((checkout / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef) and any(map(_is_incore, node.decorator_list)):
                    yield Kernel(path, node.name, node.lineno, frozenset(_ops(node)))


def _is_incore(decorator: ast.expr) -> bool:
    return (
        isinstance(decorator, ast.Call)
        and ast.unparse(decorator.func).endswith("function")
        and any(k.arg == "type" and ast.unparse(k.value).endswith("InCore") for k in decorator.keywords)
    )


def _ops(function: ast.FunctionDef) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("pl."):
            yield ast.unparse(node.func)


_WORST_FIRST = ("ERROR", "REFUTED", "", "UNKNOWN", "needs", "PROVED")
"""Verdicts of what one function became; '' is one that was not reached."""


def run_file(path: Path, chip: str) -> dict[int, Outcome] | str:
    """The outcome of each function that the loader finds by the line of its `def`, or why the file does not load. Of
    what a factory made with several arguments the worst counts."""
    try:
        loaded = language.load_file(path)
    except Exception as error:
        return _reason(error)
    functions = [f for program in loaded.programs for f in program.functions]
    found: dict[int, Outcome] = {}
    for function in functions:
        outcome, before = _run_function(function, chip), found.get(function.span.line)
        if before is None or _WORST_FIRST.index(outcome.verdict) < _WORST_FIRST.index(before.verdict):
            found[function.span.line] = outcome
    return found


def _run_function(function: Function, chip: str) -> Outcome:
    if function.opaque:
        return Outcome(0, reasons=(plain(function.opaque),))
    try:
        artifact = compile_function(function, target(chip))
    except CodegenError as error:
        return Outcome(2 if "read back" in error.message else 1, _refusal(error), (_reason(error),))
    except Exception as error:
        return Outcome(1, _refusal(error), (_reason(error),))
    try:
        results = verify_module(artifact.module, target(chip), CheckOptions(), {function.name: artifact.names},
                                {function.name: artifact.outputs})
    except Exception as error:
        return Outcome(3, "", (_reason(error),))
    verdict, reasons = _verdict(results)
    return Outcome(4, verdict, reasons)


def _refusal(error: Exception) -> str:
    """A kernel that the compiler refuses with a located message has the verdict ERROR."""
    return "ERROR" if isinstance(error, PtoError) and not error.message.startswith("not modelled") else ""


def _verdict(results: list[FunctionResult]) -> tuple[str, tuple[str, ...]]:
    verdict = worst([r.verdict for r in results], Verdict.UNKNOWN)
    findings = [f for r in results for f in r.findings if f.verdict is verdict]
    if verdict is Verdict.UNKNOWN and findings and all(f.needs for f in findings):
        return "needs", ()
    return verdict.value, tuple(sorted({f"{f.rule}: {plain(f.message)}" for f in findings}))


def _reason(error: Exception) -> str:
    return plain(f"{type(error).__name__}: {error.message if isinstance(error, PtoError) else error}")


def plain(text: str) -> str:
    """A message without the places, names and numbers of one kernel, so that equal causes are counted together."""
    placeless = re.sub(r"\S+\.py(:\d+)+: ", "", " ".join(text.split()))
    return re.sub(r"\d+", "N", re.sub(r"[`'\"][^`'\"]*[`'\"]", "'…'", placeless))[:110]


def outcomes(found: list[Kernel], chip: str, jobs: int, timeout: float) -> list[Outcome]:
    """One outcome per kernel."""
    files = sorted({k.path for k in found})
    results = dict(zip(files, Workers(partial(run_file, chip=chip), jobs, timeout).run(files), strict=True))
    collected = []
    for kernel in found:
        result = results[kernel.path]
        if isinstance(result, Failure | str):
            reason = result if isinstance(result, str) else f"file: {result.reason}"
            collected.append(Outcome(0, reasons=(reason,)))
            continue
        collected.append(result.get(kernel.line) or Outcome(0, reasons=("the loader did not find it",)))
    return collected


def tally(found: list[Kernel], results: list[Outcome]) -> Tally:
    total = Tally()
    for kernel, outcome in zip(found, results, strict=True):
        total.stages.update(range(1, outcome.stages + 1))
        total.verdicts[outcome.verdict or "not reached"] += 1
        total.reasons.update(outcome.reasons)
        total.op_sets.setdefault(kernel.ops, set()).add(outcome.verdict)
    return total


def show(total: Tally, count: int, top: int) -> None:
    """Print the counts as shares of all kernels."""
    def share(n: int, of: int = count) -> str:
        return f"{n:4} of {of} ({n / of:.1%})"

    for number, stage in enumerate(STAGES, 1):
        print(f"{stage:<24} {share(total.stages[number])}")
    for verdict, n in total.verdicts.most_common():
        print(f"  {verdict:<22} {share(n)}")
    decided = total.verdicts["PROVED"] + total.verdicts["REFUTED"]
    print(f"{'PROVED or REFUTED':<24} {share(decided)}")
    print(f"{'... or UNKNOWN and needs':<24} {share(decided + total.verdicts['needs'])}")
    settled = sum(bool(v & {"PROVED", "REFUTED"}) for v in total.op_sets.values())
    print(f"{'distinct op sets decided':<24} {share(settled, len(total.op_sets))}")
    print("reasons for the rest:")
    for reason, n in total.reasons.most_common(top):
        print(f"  {n:4}  {reason}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--target", default="a2a3")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--top", type=int, default=40, help="how many reasons to print")
    options = parser.parse_args()
    found = list(kernels(options.checkout))
    if not found:
        parser.error(f"no InCore function under {options.checkout}")
    show(tally(found, outcomes(found, options.target, options.jobs, options.timeout)), len(found), options.top)
    return 0


if __name__ == "__main__":
    sys.exit(main())
