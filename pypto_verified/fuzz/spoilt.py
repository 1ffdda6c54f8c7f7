"""Modules that go wrong: a compiled kernel is spoilt in one known way, and where a run shows it, the rules must not
prove it.

    rules: missed    PROVED, though a run of the spoilt module goes wrong

Generated kernels are right, so a rule that lets everything pass would never be noticed on them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import TypeAlias

from pypto_verified import simulator
from pypto_verified.compiler import Artifact, MemoryPlanner, compile_function
from pypto_verified.differential import simulate
from pypto_verified.errors import NotModelled
from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.oracles import Find, compared
from pypto_verified.layouts import Space
from pypto_verified.pto.module import Func, Op, Value
from pypto_verified.pto.types import TileBufType
from pypto_verified.pto.walk import walk_ops
from pypto_verified.records import dataclass
from pypto_verified.targets import Target
from pypto_verified.trials import Array, Trial
from verifiers import Options, verify

_TRIED = 4
"""Places of a module that are spoilt until a run shows it."""

Spoil: TypeAlias = Callable[[Func, random.Random], str]
"""Changes a function; what was done in words, '' where nothing can be."""
Place: TypeAlias = tuple[Space, int, int]
"""A memory, and the bytes of it from the first to behind the last."""


@dataclass(frozen=True, slots=True)
class Way:
    """`kind`: of the error in a run that a rule has to see, '' for another result too."""

    spoil: Spoil
    kind: str


def examine(
    kernel: Kernel, chip: Target, trial: Trial, expected: Mapping[str, Array], loose: set[str], assume: tuple[str, ...]
) -> Iterator[Find]:
    """At most one find for each way."""
    draw = random.Random(len(kernel.function.body))
    for way in WAYS:
        for _ in range(_TRIED):
            artifact = compile_function(kernel.function, chip, MemoryPlanner(kernel.planner), read_back=False)
            what = way.spoil(artifact.module.funcs[0], draw)
            if not what:
                break
            shown = _shown(way, kernel, artifact, chip, trial, expected, loose)
            if shown is None:
                continue
            options = Options(assume, names={kernel.function.name: artifact.names})
            if all(o.verdict.value == "PROVED" for r in verify(artifact.module, chip, options) for o in r.obligations):
                yield Find("rules: missed", f"PROVED though {what}", shown.detail, trial)
            break


def _shown(
    way: Way, kernel: Kernel, artifact: Artifact, chip: Target, trial: Trial, expected: Mapping[str, Array],
    loose: set[str],
) -> Find | None:
    """What a run of the spoilt module does wrong in that way."""
    outcome = simulate(kernel.function, artifact, simulator.compile(artifact.module.funcs[0], chip), chip, trial)
    try:
        shown = compared(kernel.function, outcome, trial, expected, loose, "rules: missed")
    except NotModelled:
        return None
    return shown if not way.kind or way.kind in {e.kind for e in outcome.errors} else None


def _together(func: Func, draw: random.Random) -> str:
    """A tile at the address of another one of its memory. Whatever has bytes of the two is written by its own name and
    used in the outermost block alone: else two names of one place may be one variable, and the text can't say which
    value was meant."""
    assert func.body is not None
    inner = {id(value) for op in walk_ops(func) if op not in func.body.ops for value in op.operands()}
    written = {id(value) for op in func.body.ops for value in op.args.get("dst", ())}
    plain: list[tuple[Op, Place]] = []
    others: list[tuple[Op, Place]] = []
    for op, place in _places(func):
        (plain if id(op.result) in written - inner else others).append((op, place))
    found = [(op, place) for op, place in plain if not any(_meet(place, other) for _, other in others)]
    pairs = [(a, b) for (a, p), (b, q) in combinations(found, 2) if p[0] is q[0] and p[1] != q[1]]
    if not pairs:
        return ""
    one, other = draw.choice(pairs)
    other.args["addr"] = one.args["addr"]
    return "two tiles lie at one address"


def _unwritten(func: Func, draw: random.Random) -> str:
    """A tile that is not written, in bytes that no other tile ever has: its only write is left out."""
    assert func.body is not None
    places = _places(func)
    alone = {id(op.result) for op, place in places if all(o is op or not _meet(place, other) for o, other in places)}
    writes = [op for op in walk_ops(func) if "dst" in op.args and id(op.arg("dst")) in alone]
    only = [op for op in writes if op in func.body.ops and sum(w.arg("dst") is op.arg("dst") for w in writes) == 1]
    if not only:
        return ""
    gone = draw.choice(only)
    func.body.ops = [op for op in func.body.ops if op is not gone]
    return "a write is left out"


def _shorter(func: Func, draw: random.Random) -> str:
    """A tile that is declared valid on a row less than what is loaded into it, or computed from it."""
    assert func.body is not None
    numbers = _numbers(func)
    found = [op for op in func.body.ops if op.name == "pto.alloc_tile" and _number(op, "valid_row", numbers) > 1]
    if not found:
        return ""
    op = draw.choice(found)
    rows = Value("less", op.arg("valid_row").type)
    less = Op("arith.constant", attrs={"value": _number(op, "valid_row", numbers) - 1}, results=(rows,))
    op.args["valid_row"] = (rows,)
    func.body.ops = [less, *func.body.ops]
    return "a tile is valid on a row less"


def _numbers(func: Func) -> dict[int, int]:
    """The integer constants of a function, by their values' identity."""
    return {id(op.result): value for op in walk_ops(func)
            if op.name == "arith.constant" and isinstance(value := op.attrs["value"], int)}


def _number(op: Op, group: str, numbers: Mapping[int, int]) -> int:
    """An operand that is a constant; -1 for any other."""
    return numbers.get(id(op.opt(group)), -1)


def _places(func: Func) -> list[tuple[Op, Place]]:
    """Where each new tile lies; nowhere for all if that is not known of one."""
    numbers, found = _numbers(func), []
    for op in walk_ops(func):
        if op.name.startswith("pto.alloc"):
            type_, start = op.result.type, _number(op, "addr", numbers)
            if not isinstance(type_, TileBufType) or start < 0:
                return []
            found.append((op, (type_.loc, start, start + type_.bytes)))
    return found


def _meet(a: Place, b: Place) -> bool:
    return a[0] is b[0] and a[1] < b[2] and b[1] < a[2]


WAYS = (Way(_together, ""), Way(_unwritten, "uninitialised"),
        Way(_shorter, "uninitialised"))
