"""RACE and EVENT on changed programs: each sync op of a proved kernel left out, barriers everywhere, other addresses.

The kernels are those of the corpus that are proved and order their own pipes.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pypto_verified.pto.reader import read
from pypto_verified.report.model import Verdict
from pypto_verified.targets import target
from verifiers import Options, verify
from verifiers.access import build_program
from verifiers.race.redundant import redundant
from verifiers.solver import Ladder

_ACCEPT = Path(__file__).parent.parent / "corpus" / "accept"
_SYNC = re.compile(r"\s*pto\.(set_flag|wait_flag|set_flag_dyn|wait_flag_dyn|barrier) ?[\[<]")
_WORK = re.compile(r"\s*pto\.(t(?!ensor|reshape|free)\w+)[ (.]")
KERNELS = sorted(
    p for p in _ACCEPT.glob("*.pto")
    if "pto.set_flag" in (text := p.read_text(encoding="utf-8")) and "section" not in text and "tpop" not in text)
each = pytest.mark.parametrize("path", KERNELS, ids=lambda p: p.stem)


def _verdict(text: str) -> Verdict:
    """Of the two families together."""
    chip = target("a5" if 'target_arch = "a5"' in text else "a2a3")
    *_, result = verify(read(text, "k.pto"), chip, Options(families=frozenset({"RACE", "EVENT"})))
    verdicts = {o.verdict for o in result.obligations}
    return next(v for v in (Verdict.REFUTED, Verdict.UNKNOWN, Verdict.VACUOUS, Verdict.PROVED) if v in verdicts)


def _redundant_lines(text: str) -> set[int]:
    chip = target("a5" if 'target_arch = "a5"' in text else "a2a3")
    *_, func = read(text, "k.pto").funcs
    found = redundant(build_program(func, "k.pto", chip.name), chip, Ladder())
    return {s.step.op.line for group in found for s in group.syncs}


def test_there_are_kernels() -> None:
    assert len(KERNELS) >= 10


@each
def test_without_any_one_needed_sync_op_a_kernel_is_refuted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    spare = _redundant_lines(text)
    last = max(n for n, line in enumerate(lines, 1) if _WORK.match(line))
    for number, line in enumerate(lines, 1):
        # A barrier that may go may go; a flag without its other half is refuted whether or not both may go.
        if _SYNC.match(line) and not ("barrier" in line and (number in spare or number > last)):
            without = "\n".join((*lines[:number - 1], "", *lines[number:]))
            assert _verdict(without) is Verdict.REFUTED, f"line {number}: {line}"


@each
def test_a_barrier_before_every_op_stays_proved(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = [f"pto.barrier <PIPE_ALL>\n{x}" if _WORK.match(x) else x for x in text.splitlines()]
    assert len("\n".join(lines).splitlines()) > len(lines)
    assert _verdict("\n".join(lines)) is Verdict.PROVED


@each
def test_other_addresses_leave_the_verdict(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    moved = re.sub(r"arith\.constant (\d+) : i64", lambda m: f"arith.constant {int(m[1]) + 32768} : i64", text)
    assert _verdict(moved) is _verdict(text) is Verdict.PROVED
