"""The kinds of texts: which generator makes each, and how it is launched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pypto_verified.targets import target
from tests.sync.hunt import blocks, cube_core, fifo, one_core, rings, turns, two_cores
from tests.sync.hunt.draw import Draw
from tests.sync.hunt.mutations import mutant
from tests.sync.hunt.subject import Subject

CHIPS = ("a2a3", "a5")
SPOILT = 55
"""Percent of texts with something wrong."""
STRICT = 10
"""Percent of texts that are judged by the stricter readings."""
Generator = Callable[[Draw, str], Subject]


def _one_core(draw: Draw, chip: str) -> Subject:
    return Subject("one core", chip, one_core.made(draw, chip))


def _inserted(draw: Draw, chip: str) -> Subject:
    return Subject("inserted", chip, one_core.inserted(draw, chip))


def _cube_core(draw: Draw, chip: str) -> Subject:
    return Subject("cube core", chip, cube_core.made(draw, chip))


def _rings(draw: Draw, chip: str) -> Subject:
    return Subject("rings", chip, rings.made(draw, chip))


def _two_cores(draw: Draw, chip: str) -> Subject:
    text, function = two_cores.made(draw, chip)
    return Subject("two cores", chip, text, function, target(chip).cubes)


def _turns(draw: Draw, chip: str) -> Subject:
    text, function = turns.made(draw, chip)
    return Subject("turns", chip, text, function)


def _fifo(draw: Draw, chip: str) -> Subject:
    return Subject("fifo", chip, fifo.made(draw, chip), "cube")


def _blocks(draw: Draw, chip: str) -> Subject:
    text = blocks.made(draw, chip)
    return Subject("blocks", chip, text, "k", _vector_cores(chip) if "syncall" in text else 2, (0, 1))


def _group(draw: Draw, chip: str) -> Subject:
    return Subject("group", chip, blocks.group(draw, chip), "k", _vector_cores(chip), (0, 1))


def _vector_cores(chip: str) -> int:
    return target(chip).cubes * target(chip).lanes_per_cube


GENERATORS: dict[str, Generator] = {
    "one core": _one_core, "cube core": _cube_core, "inserted": _inserted, "rings": _rings, "two cores": _two_cores,
    "turns": _turns, "fifo": _fifo, "blocks": _blocks, "group": _group}
IN_TURN = (
    "one core", "rings", "fifo", "cube core", "one core", "blocks", "two cores", "inserted", "rings", "turns", "fifo",
    "group", "rings")
"""The common kinds more often."""


def drawn(seed: int, number: int, kinds: Sequence[str] = IN_TURN) -> Subject:
    """The text of a seed and a number; chips and kinds take turns."""
    draw, chip = Draw(seed, number), CHIPS[number % 2]
    subject = GENERATORS[kinds[number // 2 % len(kinds)]](draw, chip)
    subject = replace(subject, strict=draw.chance(STRICT))
    return spoilt(draw, subject) if draw.chance(SPOILT) else subject


def spoilt(draw: Draw, subject: Subject) -> Subject:
    text = mutant(draw, subject.text)
    return replace(subject, text=text, right=text == subject.text)
