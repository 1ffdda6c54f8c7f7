"""Run the cases of PTO-ISA's own tests on both oracles and list every difference.

    python benchmarks/isa_goldens.py CHECKOUT [--suite a2a3|a5] [--keep DIR] [TESTCASE ...]

CHECKOUT is a copy of the PTO-ISA repository. Each bound test case's generator script runs in a folder of its own; the
arrays that it writes (inputs and expected results, plain numpy) and the parameters it has in hand at that moment become
conformance cases: the simulator runs them for the suite's target, the interpreter where IR has the op. A binding is one
row of `ROWS`: the test cases that share a form, and the form. Their goldens are formulas, not device captures: sums and
functions are compared within 1e-3. Exit code 1 if a difference has no explanation in EXPLAINED.
"""

from __future__ import annotations

import json
import os
import random
import re
import runpy
import subprocess
import sys
import types
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.isa_bindings import FORMS
from benchmarks.isa_case import Golden, Unbound
from pypto_verified.errors import NotModelled, PtoError
from tests.conformance import ir_kernel, pto_kernel
from tests.conformance.case import INTERPRETER, Case

_ZERO = "integer division by zero: the golden fixes a result, the ISA leaves it to the target, here it is a fault"
_REMAINDER = "IR's % takes the divisor's sign; a5's 64-bit TREMS truncates, which the simulator follows"
_F32_SCALAR = "the scalar reaches the kernel as f32, which holds 24 bits of it; the golden used all of them"
_SHIFTS = "shift counts up to 31 for 8 and 16 bits: the ISA leaves them undefined, the golden is the host's shift"
EXPLAINED: tuple[tuple[str, str], ...] = (
    (r"a5/trems/\w+\.case_int64_4x16@interpreter", _REMAINDER),
    (r"/tsh[lr]/", _SHIFTS),
    (r"a5/(tdivs?|trems?|tfmods?)/.*int", _ZERO),
    (r"a5/t(adds|subs)/\w+\.case[37]@", _F32_SCALAR),
)
"""(pattern of `suite/testcase/case@oracle`, the cause) of the known differences."""


def generate(script: Path, folder: Path) -> None:
    """Run a generator inside `folder` and write `cases.json`: each case's folder and the parameters then at hand."""
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    change = os.chdir
    found: dict[str, dict[str, Any]] = {}

    def chdir(path: str) -> None:
        frame = sys._getframe(1)
        change(path)
        here = Path.cwd()
        if here != folder and here.parent == folder:
            found[here.name] = _parameters({**frame.f_globals, **frame.f_locals}, len(set(found) - {here.name}))

    random.seed(0)
    # Most scripts leave their numbers to chance: equal ones, which their unstable sort reorders, would come and go.
    np.random.seed(0)
    os.chdir = chdir  # type: ignore[assignment]
    sys.argv, sys.path = [str(script)], [str(script.parent), *sys.path]
    try:
        runpy.run_path(str(script), run_name="__main__")
    finally:
        change(folder)
        (folder / "cases.json").write_text(json.dumps(found))


def _parameters(scope: dict[str, Any], position: int) -> dict[str, Any]:
    """What the names in scope say: numbers and types, those of objects, those of the list's object at `position`."""
    found: dict[str, Any] = {}
    for name, value in scope.items():
        if name.startswith("__") or isinstance(value, types.ModuleType | types.FunctionType | type):
            continue
        if isinstance(value, list | tuple) and position < len(value) and hasattr(value[position], "__dict__"):
            found |= {n: _simple(v) for n, v in vars(value[position]).items()}
    for name, value in scope.items():
        if name in ("param", "case", "case_params") and hasattr(value, "__dict__"):
            found |= {n: _simple(v) for n, v in vars(value).items()}
    return found


def _simple(value: Any) -> Any:
    if isinstance(value, bool | int | float | str) or value is None:
        return value
    if isinstance(value, type | np.dtype):
        try:
            return f"np:{np.dtype(value).name}"
        except TypeError:
            return str(value)
    return str(value)[:80]


def goldens(checkout: Path, suite: str, testcase: str, work: Path) -> Iterator[Golden]:
    """The cases of one test case, generated under `work` unless they are there already."""
    script = checkout / f"tests/npu/{suite}/src/st/testcase/{testcase}/gen_data.py"
    if not script.exists():
        return
    folder = work / suite / testcase
    if not (folder / "cases.json").exists():
        subprocess.run([sys.executable, __file__, "--generate", str(script), str(folder.resolve())], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
    packs = re.search(r"pack\(\s*['\"]f", script.read_text()) is not None
    if (folder / "cases.json").exists():
        for name, params in json.loads((folder / "cases.json").read_text()).items():
            yield Golden(suite, testcase, name, folder / name, params, packs)


def judge(case: Case, oracle: str) -> str:
    """'' when the oracle agrees, else what is different; NotModelled where it has no such meaning."""
    wrong = ir_kernel.run(case) if oracle == INTERPRETER else pto_kernel.run(case, oracle)
    return "; ".join(wrong)


def main() -> int:
    if sys.argv[1:2] == ["--generate"]:
        generate(Path(sys.argv[2]), Path(sys.argv[3]))
        return 0
    parser = ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("checkout", type=Path)
    parser.add_argument("testcases", nargs="*")
    parser.add_argument("--suite", choices=("a2a3", "a5"))
    parser.add_argument("--keep", type=Path, help="generate into this folder and use what it holds")
    options = parser.parse_intermixed_args()
    with TemporaryDirectory() as scratch:
        return report(options.checkout, options.testcases or list(FORMS), options.suite, options.keep or Path(scratch))


def report(checkout: Path, testcases: list[str], suite: str | None, work: Path) -> int:
    """Print a line for each test case and for each difference; 1 if one is not explained."""
    totals: Counter[str] = Counter()
    unexplained = 0
    for on in (suite,) if suite else ("a2a3", "a5"):
        for testcase in testcases:
            counts: Counter[str] = Counter()
            for golden in goldens(checkout, on, testcase, work):
                unexplained += _one(golden, counts)
            if not counts:
                continue
            totals += counts
            print(f"{on}/{testcase}: " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items())))
    print("total: " + ", ".join(f"{n} {what}" for what, n in sorted(totals.items())))
    return 1 if unexplained else 0


def _one(golden: Golden, counts: Counter[str]) -> int:
    """Judge one case on its oracles, count what came out, print differences; how many are not explained."""
    try:
        case = FORMS[golden.testcase](golden)
    except (Unbound, ValueError, KeyError) as reason:
        counts["not bound"] += 1
        print(f"  {golden.suite}/{golden.testcase}/{golden.name}: not bound: {reason}")
        return 0
    counts["bound"] += 1
    unexplained = 0
    for oracle in case.oracles:
        key = f"{golden.suite}/{golden.testcase}/{golden.name}@{oracle}"
        who = "interpreter" if oracle == INTERPRETER else "simulator"
        try:
            wrong = judge(case, oracle)
        except (NotModelled, PtoError) as error:
            counts[f"{who}: not modelled"] += 1
            print(f"  {key}: {error}")
            continue
        if not wrong:
            counts[f"{who}: agree"] += 1
            continue
        cause = next((why for pattern, why in EXPLAINED if re.search(pattern, key)), "")
        counts[f"{who}: differ"] += 1
        unexplained += not cause
        print(f"  {key}: {wrong[:200]}{f' [{cause}]' if cause else ''}")
    return unexplained


if __name__ == "__main__":
    sys.exit(main())
