"""What is generated: the same for equal draws, well typed, as varied as promised, and nothing silently left out."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from pypto_verified import language
from pypto_verified.fuzz.builder import Kernel
from pypto_verified.fuzz.command import excluded
from pypto_verified.fuzz.coverage import FLOORS, features
from pypto_verified.fuzz.draw import Seeded, chance, weighted
from pypto_verified.fuzz.exclusions import EXCLUDED_OPS, KNOWN, REFUSALS
from pypto_verified.fuzz.generator import kernel
from pypto_verified.fuzz.oracles import examine
from pypto_verified.fuzz.strategies import kernels
from pypto_verified.ir.printer import print_program
from pypto_verified.ir.stmt import Program
from verifiers.catalogue import catalogue

ROOT = Path(__file__).parents[2]
KERNELS = 1500


@cache
def _shares() -> Counter[str]:
    found: Counter[str] = Counter()
    for example in range(KERNELS):
        found.update(features(kernel(Seeded(17, example))))
    return found


def test_equal_seeds_give_equal_kernels_and_others_do_not() -> None:
    first = [kernel(Seeded(3, example)) for example in range(20)]
    assert first == [kernel(Seeded(3, example)) for example in range(20)]
    assert len({k.function for k in first}) == 20
    assert first != [kernel(Seeded(4, example)) for example in range(20)]


@pytest.mark.parametrize("feature", FLOORS)
def test_every_feature_has_its_share(feature: str) -> None:
    assert _shares()[feature] / KERNELS >= FLOORS[feature]


def test_the_table_of_what_is_left_out_gives_reason_and_source() -> None:
    lines = excluded().splitlines()
    assert len(lines) > len(EXCLUDED_OPS)
    heads = ("no kernel has ", "the compiler may refuse ", "counted, not found anew: ")
    for line in lines:
        said, _, source = line.removesuffix("]").partition(" [")
        assert said.startswith(heads)
        assert re.fullmatch(r"[^:]+: [^:]+", said.removeprefix(heads[-1])), f"one thing, one reason: {said}"
        files = re.findall(r"[\w/]+\.py", source)
        rules = re.findall(r"\b[A-Z0-9]+(?:-[A-Z0-9]+){2,}", source)
        assert files or rules or source.startswith("PTO-ISA"), line
        assert all((ROOT / file).exists() or (ROOT / "pypto_verified" / file).exists() for file in files), source
        assert set(rules) <= {rule.id for rule in catalogue()}, source


def test_no_row_shows_the_words_by_which_an_error_is_told() -> None:
    """They are pieces of messages, not of sentences."""
    table = excluded()
    assert not [met.text for met in (*REFUSALS, *KNOWN) if met.text in table]


@pytest.mark.parametrize("example", range(0, 40, 5))
def test_the_text_of_a_kernel_loads_as_the_kernel(example: int) -> None:
    program = Program("Generated", (kernel(Seeded(1, example)).function,))
    assert language.load_source(print_program(program), "kernel.py").programs[0].functions == program.functions


@pytest.mark.requirement("VF-04")
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(kernels())
def test_both_meanings_agree_on_what_hypothesis_draws(k: Kernel) -> None:
    assert examine(k).finds == []


def test_weights_are_shares() -> None:
    draw = Seeded(0, 0)
    picked = Counter(weighted(draw, (("often", 3), ("seldom", 1))) for _ in range(4000))
    assert 2800 < picked["often"] < 3200
    assert 300 < sum(chance(draw, 10) for _ in range(4000)) < 500
