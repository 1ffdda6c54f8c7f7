"""One thing wrong in a text: a sync op dropped, moved, doubled, swapped, guarded or with another number; another slot,
address or bound. A text that no longer reads is no mutant."""

from __future__ import annotations

import re
from collections.abc import Callable

from pypto_verified.errors import PtoError
from pypto_verified.pto import reader
from tests.sync.hunt.draw import Draw

SYNC = re.compile(r"^\s*pto\.(set_|wait_|record_|barrier|get_buf|rls_buf|sync\.|syncall|tfree|tpush|cmo)")
_NUMBER = re.compile(r"^\s*%\w+ = arith\.constant (\d+) : (?:index|i64)$")
_ID = re.compile(r"(?<=EVENT_ID)\d+|(?<=>, )\d+(?=[,\] {]|$)")
_PIPE = re.compile(r"(?<=PIPE_)(?:MTE2|MTE3|V)\b")
_VALUE = re.compile(r"%\w+")
_BORDER = re.compile(r"func\.func|pto\.section|initialize_pipe")
_COUPLES = (("set_flag", "wait_flag"), ("record_event", "wait_event"), ("get_buf", "rls_buf"),
            ("sync.set", "sync.wait"), ("set_cross_block", "wait_cross_block"))
Lines = list[str]
_TRIES = 8


def mutant(draw: Draw, text: str) -> str:
    """The text with one thing wrong; the text itself where nothing fits."""
    ordered = any(map(SYNC.match, text.splitlines()))
    for _ in range(_TRIES):
        lines = text.splitlines()
        draw.choice(_MUTATIONS if ordered else (_another_number,))(draw, lines)
        changed = "\n".join(lines) + "\n"
        if changed == text:
            continue
        try:
            reader.read(changed, "k.pto")
        except PtoError:
            continue
        return changed
    return text


def _sync(draw: Draw, lines: Lines) -> int:
    """The place of a sync op, of which there is one."""
    return draw.choice([i for i, line in enumerate(lines) if SYNC.match(line)])


def _dropped(draw: Draw, lines: Lines) -> None:
    del lines[_sync(draw, lines)]


def _pair_dropped(draw: Draw, lines: Lines) -> None:
    """A set and the next wait for it, or a buffer that is taken and given back: what is left hangs nowhere."""
    at = _sync(draw, lines)
    for first, second in _COUPLES:
        if first in lines[at]:
            wanted = _VALUE.sub("", lines[at].replace(first, second))
            after = next((i for i in range(at + 1, len(lines)) if _VALUE.sub("", lines[i]) == wanted), None)
            if after is not None and not _apart(lines, at, after):
                del lines[after], lines[at]
            return


def _apart(lines: Lines, one: int, other: int) -> bool:
    """Whether two lines are of two cores, or one stands before a pipe is made that the other may use."""
    return any(_BORDER.search(line) for line in lines[min(one, other):max(one, other) + 1])


def _moved(draw: Draw, lines: Lines) -> None:
    at = _sync(draw, lines)
    to = max(2, min(len(lines) - 3, at + draw.choice((-6, -4, -3, -2, -1, 1, 2, 3, 4, 6))))
    if not _apart(lines, at, to):
        lines.insert(to, lines.pop(at))


def _doubled(draw: Draw, lines: Lines) -> None:
    at = _sync(draw, lines)
    lines.insert(at, lines[at])


def _swapped(draw: Draw, lines: Lines) -> None:
    one, other = _sync(draw, lines), _sync(draw, lines)
    if not _apart(lines, one, other):
        lines[one], lines[other] = lines[other], lines[one]


def _renumbered(draw: Draw, lines: Lines) -> None:
    at = _sync(draw, lines)
    lines[at] = _ID.sub(lambda found: str(int(found[0]) ^ 1), lines[at], count=1)


def _elsewhere(draw: Draw, lines: Lines) -> None:
    """A flag of another pipe."""
    at, pipe = _sync(draw, lines), draw.choice(("MTE2", "MTE3", "V"))
    lines[at] = _PIPE.sub(pipe, lines[at], count=1)


def _another_number(draw: Draw, lines: Lines) -> None:
    """A slot, an address, a bound, a step, or a first turn."""
    found = [i for i, line in enumerate(lines) if _NUMBER.match(line) and not line.strip().startswith(("%c", "%a"))]
    if not found:
        return
    at = draw.choice(found)
    head, number, tail = lines[at].partition(" = arith.constant ")
    value, _, type_ = tail.partition(" : ")
    by = draw.choice((-1, 1, 1)) if int(value) < 64 else draw.choice((-2, 2)) * int(value) // 4
    lines[at] = f"{head}{number}{max(0, int(value) + by)} : {type_}"


def _guarded(draw: Draw, lines: Lines) -> None:
    """A sync op that is left out for some callers."""
    at = _sync(draw, lines)
    argument, relation = draw.choice(("%M", "%N")), draw.choice(("ne", "eq", "sgt"))
    if f"{argument}: index" in "\n".join(lines):
        name = f"%when_{draw.randrange(1000)}"
        test = f"{name} = arith.cmpi {relation}, {argument}, %c0 : index"
        lines[at:at + 1] = [test, f"scf.if {name} {{", lines[at], "}"]


_MUTATIONS: tuple[Callable[[Draw, Lines], None], ...] = (
    _dropped, _dropped, _pair_dropped, _pair_dropped, _pair_dropped, _pair_dropped, _moved, _moved, _doubled, _swapped,
    _renumbered, _elsewhere, _another_number, _another_number, _guarded)
