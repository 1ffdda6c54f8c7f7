"""What must hold for a generated kernel, and what is found where it does not.

    meaning    the simulated `.pto` gives what the interpreter gives, without a fault
    accepted   a well-typed kernel compiles
    text       its `.pto` reads back as it was written
    passes     the interpreter gives the same before and after each pass
    places     every planner's addresses give the same
    printed    the kernel's text loads as the kernel
    rules      what is PROVED runs without a fault, what is REFUTED shows it when it is replayed; a kernel that was made
               wrong is not PROVED (`cut`), nor is a module that was (`spoilt`)
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from pypto_verified import simulator
from pypto_verified.compiler import MemoryPlanner, compile_function
from pypto_verified.differential import Simulated, simulate
from pypto_verified.dtypes import BOOL
from pypto_verified.equality import coarsest, differing
from pypto_verified.errors import NotModelled, PtoError
from pypto_verified.fuzz.builder import REALS, Kernel
from pypto_verified.fuzz.exclusions import KNOWN, REFUSALS
from pypto_verified.interpreter import Undefined, interpret
from pypto_verified.ir.stmt import Function
from pypto_verified.ir.types import ScalarType, TensorType
from pypto_verified.openness import is_open
from pypto_verified.records import dataclass
from pypto_verified.simulator.errors import UninitialisedError, UnmodelledError
from pypto_verified.targets import target
from pypto_verified.trials import Array, Scalar, Trial, contents, extent

MAX_STEPS = 20_000
KINDS = ("small", "positive", "small", "normal", "units", "boundary")


@dataclass(frozen=True, slots=True)
class Find:
    """A broken promise. `cause` is equal for finds that are likely one fault; `trial` the inputs that show it."""

    oracle: str
    cause: str
    detail: str
    trial: Trial | None = None
    expected: Mapping[str, Array] = field(default_factory=dict)
    actual: Mapping[str, Array] = field(default_factory=dict)


@dataclass(slots=True)
class Verdict:
    """What examining one kernel gave. `agreed`: runs with equal results; `bitwise`: those without a tolerance;
    `undefined`: runs without a defined result; `left_out`: what no side models; `known`: explained finds."""

    finds: list[Find] = field(default_factory=list)
    agreed: int = 0
    bitwise: int = 0
    undefined: int = 0
    left_out: str = ""
    known: list[str] = field(default_factory=list)


def inputs(kernel: Kernel, seed: int, runs: int) -> Iterator[Trial]:
    """Inputs within the kernel's ranges."""
    random = np.random.Generator(np.random.PCG64(_UNSEEDED))  # type: ignore[arg-type]  # it takes any ISeedSequence
    for run in range(runs):
        chosen = {name: values[_number((seed, run), name) % len(values)] for name, values in kernel.ranges.items()}
        kind = KINDS[(seed + run) % len(KINDS)]
        values: dict[str, Array | Scalar] = {}
        for p in kernel.function.params:
            type_ = p.var.type
            if isinstance(type_, TensorType):
                shape = tuple(extent(d, chosen) for d in type_.shape)
                random.bit_generator.state = _state((seed, run), p.var.name)
                values[p.var.name] = contents(type_.dtype, shape, kind, random)
            elif isinstance(type_, ScalarType):
                name = p.var.name
                value = chosen[name] if name in chosen else REALS[_number((seed, run), name) % len(REALS)]
                values[name] = bool(value) if type_.dtype is BOOL else value
        yield Trial(kind, values, {name: chosen[name] for name in kernel.function.dynamic})


class _Unseeded(np.random.bit_generator.ISeedSequence):
    """Leaves a generator without a seed worth its price: each use sets the state."""

    def generate_state(self, n_words: int, dtype: npt.DTypeLike = np.uint32) -> npt.NDArray[Any]:
        return np.zeros(n_words, dtype)


_UNSEEDED = _Unseeded()


def _state(seed: tuple[int, int], name: str) -> dict[str, object]:
    """A generator's state that a name has: setting one costs an eighth of seeding a new generator."""
    digest = blake2b(f"{seed}:{name}".encode(), digest_size=16).digest()
    words = {"state": int.from_bytes(digest, "little"), "inc": 1}
    return {"bit_generator": "PCG64", "state": words, "has_uint32": 0, "uinteger": 0}


def _number(seed: tuple[int, int], name: str) -> int:
    """A number that a name has whatever else the kernel has, so that a smaller kernel runs on the same inputs."""
    return crc32(f"{seed}:{name}".encode())


def examine(
    kernel: Kernel, seed: int = 0, runs: int = 2, deep: bool = False, given: Sequence[Trial] | None = None
) -> Verdict:
    """Compile and run one kernel on `runs` inputs of its ranges, or on those `given`. `deep`: all oracles, else
    `meaning` and `accepted`, on the module as it was generated."""
    verdict = Verdict()
    try:
        _examine(kernel, inputs(kernel, seed, runs) if given is None else given, deep, verdict)
    except NotModelled as error:
        verdict.left_out = error.message
    except PtoError as error:
        if any(r.text in error.message for r in REFUSALS):
            verdict.left_out = f"refused: {pattern(error.message)}"
            return verdict
        verdict.finds.append(Find("accepted", f"{type(error).__name__}: {pattern(error.message)}", str(error)))
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        at = f"{Path(frame.filename).parent.name}/{Path(frame.filename).name}:{frame.name}"
        verdict.finds.append(Find("crash", f"{type(error).__name__} in {at}", traceback.format_exc()))
    for find in list(verdict.finds):
        name = f"{find.oracle}: {find.cause}"
        if any(name.startswith(k.text) for k in KNOWN):
            verdict.finds.remove(find)
            verdict.known.append(name)
    return verdict


def _examine(kernel: Kernel, chosen: Iterable[Trial], deep: bool, verdict: Verdict) -> None:
    chip = target(kernel.target)
    artifact = compile_function(kernel.function, chip, MemoryPlanner(kernel.planner), read_back=deep)
    program = simulator.compile(artifact.module.funcs[0], chip)
    trials: list[tuple[Trial, dict[str, Array]]] = []
    for trial in chosen:
        loose: set[str] = set()
        try:
            expected = interpreted(kernel.function, trial, loose)
        except Undefined as error:
            find = _unwritten(simulate(kernel.function, artifact, program, chip, trial), trial, str(error))
            if find is not None:
                verdict.finds.append(find)
                return
            verdict.undefined += 1
            continue
        outcome = simulate(kernel.function, artifact, program, chip, trial)
        find = compared(kernel.function, outcome, trial, expected, loose, "meaning")
        if find is not None:
            verdict.finds.append(find)
            return
        if is_open(kernel.function, loose):
            verdict.undefined += 1
            continue
        verdict.agreed += 1
        verdict.bitwise += not loose
        trials.append((trial, expected))
    if deep:
        from pypto_verified.fuzz import deeper

        verdict.finds.extend(deeper.examine(kernel, artifact, chip, trials))


def _unwritten(outcome: Simulated, trial: Trial, text: str) -> Find | None:
    """A value without definition that the machine too has from bytes that nothing wrote: no kernel is generated that
    reads those. What overflows has no defined value either, and is none of the kernel's fault."""
    error = next((e for e in outcome.errors if isinstance(e, UninitialisedError)), None)
    if error is None:
        return None
    return Find("meaning", f"{error.op} reads what nothing wrote", f"{text}; {error}", trial, {}, outcome.outputs)


def interpreted(function: Function, trial: Trial, loose: set[str] | None = None) -> dict[str, Array]:
    """The tensors that the kernel's own text says."""
    return interpret(function, trial.inputs, max_steps=MAX_STEPS, loose=loose)


def compared(
    function: Function, outcome: Simulated, trial: Trial, expected: Mapping[str, Array], loose: set[str], oracle: str
) -> Find | None:
    """What a run of a function's `.pto` did wrong; if its result is open, only faults count. NotModelled for an op that
    the simulator lacks."""
    for error in outcome.errors:
        if isinstance(error, UnmodelledError):
            raise NotModelled(f"{error.op}: {error.message} in the simulator")
    if outcome.errors:
        error = outcome.errors[0]
        cause = f"{error.kind} at {error.op}: {pattern(error.message)}"
        return Find(oracle, cause, str(error), trial, expected, outcome.outputs)
    if is_open(function, loose):
        return None
    least = coarsest([function], loose)
    for name, wanted in expected.items():
        got = outcome.outputs[name]
        wrong = differing(wanted, got, bool(loose), least)
        if len(wrong):
            at = tuple(int(i) for i in wrong[0])
            detail = f"{name}{list(at)} is {got[at]} instead of {wanted[at]}, {len(wrong)} elements differ [{trial}]"
            return Find(oracle, "another result", detail, trial, expected, outcome.outputs)
    return None


def pattern(message: str) -> str:
    """A message without its numbers and names, so that two of one cause are equal."""
    words = ("N" if any(c.isdigit() for c in w) else w for w in message.split())
    return " ".join(words)[:160]
