"""A find as a folder that stands alone, and the replay of one.

    README.md                                 what was found, and how to look at it again
    kernel.py, kernel.pto                     the kernel and its text, if it compiles and that is no risk
    inputs.npz, expected.npz, actual.npz      one run's arrays by parameter, if the find is about a run
    find.json                                 what was found, how to compile and run it
    test_find.py                              a test that fails as long as the find is there
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

from pypto_verified import language
from pypto_verified.compiler import MemoryPlanner, compile_function
from pypto_verified.errors import InputError, Location, PtoError
from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.faults import switched_on
from pypto_verified.fuzz.limit import SECONDS
from pypto_verified.fuzz.oracles import Find
from pypto_verified.fuzz.records import Found
from pypto_verified.fuzz.work import DEEP, NOTHING, SHRINK_RUNS, examined
from pypto_verified.ir.printer import print_program
from pypto_verified.ir.stmt import Program
from pypto_verified.ir.types import TensorType
from pypto_verified.records import dataclass
from pypto_verified.targets import target
from pypto_verified.trials import Array, Scalar, Trial, stored

_TEST = '''"""{title}"""

from pathlib import Path

from pypto_verified.fuzz.folder import replay


def test_the_find_is_gone() -> None:
    assert replay(Path(__file__).parent) == []
'''


@dataclass(frozen=True, slots=True)
class Record:
    """The contents of find.json. `seed` and `example` name the kernel that it was found in, before it was shrunk;
    `timeout`: seconds of a processor that it may take; `replay`: the command, beside the folder; `fault`: a planted one
    that was on."""

    oracle: str
    cause: str
    detail: str
    target: str
    planner: str
    ranges: Mapping[str, tuple[int, ...]]
    seed: int
    example: int
    statements: int
    kind: str
    scalars: Mapping[str, int | float]
    replay: str
    timeout: float = SECONDS
    fault: str = ""


def write(found: Found, corpus: Path, timeout: float = SECONDS, fault: str = "") -> Path:
    """Write a find into a folder of its own below `corpus` and return it. OSError when it can't be written."""
    find, kernel = found.find, found.kernel
    folder = corpus / _slug(found)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernel.py").write_text(_printed(kernel), encoding="utf-8")
    text, lacking = _compiled(found)
    if lacking:
        (folder / "kernel.pto").unlink(missing_ok=True)
    else:
        (folder / "kernel.pto").write_text(text, encoding="utf-8")
    scalars: dict[str, int | float] = {}
    if find.trial is not None:
        arrays = {n: v for n, v in find.trial.values.items() if isinstance(v, np.ndarray)}
        scalars = {n: v for n, v in find.trial.inputs.items() if not isinstance(v, np.ndarray)}
        for name, values in (("inputs", arrays), ("expected", find.expected), ("actual", find.actual)):
            _save(folder / f"{name}.npz", values)
    record = Record(
        find.oracle, find.cause, find.detail, kernel.target, kernel.planner, kernel.ranges, found.seed, found.example,
        found.statements, find.trial.kind if find.trial is not None else "", scalars,
        f"pypto-verify fuzz --replay {folder.name}", timeout, fault,
    )
    (folder / "find.json").write_text(json.dumps(asdict(record), indent=2) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(_told(found, record, lacking), encoding="utf-8")
    title = re.sub(r"[\\\"]", "'", f"{find.oracle}: {find.cause}")
    (folder / "test_find.py").write_text(_TEST.format(title=title), encoding="utf-8")
    return folder


def _compiled(found: Found) -> tuple[str, str]:
    """The kernel's `.pto`, or why there is none."""
    kernel = found.kernel
    if found.hazardous:
        return "", "compiling it may hold or end the process that does it"
    if kernel == NOTHING:
        return "", "there is no kernel: making it failed, and `kernel.py` is an empty one"
    try:
        chip, planner = target(kernel.target), MemoryPlanner(kernel.planner)
        return compile_function(kernel.function, chip, planner, False).text, ""
    except Exception as error:  # a find may be that the compiler fails, in whatever way
        return "", f"the kernel does not compile: {_words(error)}"


def _printed(kernel: Kernel) -> str:
    """The kernel's text, or as a comment why there is none."""
    try:
        return print_program(Program("Find", (kernel.function,)))
    except Exception as error:  # a find may be that the printer fails
        return f"# the kernel has no text: {' '.join(_words(error).split())}\n"


def _words(error: Exception) -> str:
    return str(error) if isinstance(error, PtoError) else f"{type(error).__name__}: {error}"


def _told(found: Found, record: Record, lacking: str) -> str:
    find = found.find
    rows = ["- `kernel.py`: the kernel, as small as it got"]
    rows.append(f"- no `kernel.pto`: {' '.join(lacking.split())}" if lacking else
                f"- `kernel.pto`: its text for {record.target}, addresses by {record.planner}")
    if find.trial is not None:
        rows.append("- `inputs.npz`, `expected.npz`, `actual.npz`: the arrays of a run by parameter")
    rows.append("- `find.json`: the same for programs, and how to compile and run it")
    rows.append("- `test_find.py`: a test that fails as long as the find is there")
    fault = f", with the planted fault {record.fault}" if record.fault else ""
    return (f"# {find.oracle}: {' '.join(find.cause.split())}\n\n"
            f"Found in example {found.example} of seed {found.seed}{fault}; {found.statements} statements.\n\n"
            + "".join(f"    {line}\n" for line in find.detail.splitlines())
            + "\nLook at it again, beside this folder:\n\n    " + record.replay + "\n\n" + "\n".join(rows) + "\n")


def _slug(found: Found) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", f"{found.find.oracle} {found.find.cause}".lower()).strip("-")[:40].rstrip("-")
    return f"{words}-{zlib.crc32(found.cause.encode()):08x}"


def _save(path: Path, arrays: Mapping[str, Array]) -> None:
    """Arrays as numpy can read them without further packages: bfloat16 as its bits."""
    plain = {n: a.view(np.uint16) if a.dtype.kind == "V" or a.dtype.name == "bfloat16" else a
             for n, a in arrays.items()}
    with path.open("wb") as file:
        np.savez(file, **plain)  # type: ignore[arg-type]  # numpy's own keyword allow_pickle is no array


def load(folder: Path) -> tuple[Kernel, Record, Trial | None]:
    """A written find. InputError for a folder that is none."""
    try:
        record = Record(**json.loads((folder / "find.json").read_text(encoding="utf-8")))
        programs = language.load_file(folder / "kernel.py").programs
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"no find in this folder: {error}", Location(str(folder))) from None
    function = programs[0].functions[0]
    ranges = {name: tuple(values) for name, values in record.ranges.items()}
    kernel = Kernel(function, ranges, record.target, record.planner)
    if not (folder / "inputs.npz").exists():
        return kernel, record, None
    arrays: dict[str, Array | Scalar] = {}
    with np.load(folder / "inputs.npz") as saved:
        for p in function.params:
            if isinstance(p.var.type, TensorType):
                arrays[p.var.name] = saved[p.var.name].view(stored(p.var.type.dtype))
    sizes = {name: int(value) for name, value in record.scalars.items() if name in function.dynamic}
    values = {**arrays, **{n: v for n, v in record.scalars.items() if n not in sizes}}
    return kernel, record, Trial(record.kind, values, sizes)


def replay(folder: Path, fault: str = "") -> list[Find]:
    """The finds that the kernel of a folder still gives, on the recorded inputs if there are some. `fault`: a planted
    one, by default that of the folder, if it has one."""
    kernel, record, trial = load(folder)
    deep = record.oracle.startswith(DEEP)
    given = None if trial is None else [trial]
    with switched_on(fault or record.fault):
        return examined(kernel, record.example, SHRINK_RUNS, deep, given, record.timeout).finds
