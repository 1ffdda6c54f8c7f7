"""Which blocks of a launch are compared, where a rule speaks of two."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pypto_verified.index import Cond, Expr, all_of, eq, ne, symbol
from pypto_verified.report.model import Verdict
from verifiers.access import BLOCKS
from verifiers.sites import Context
from verifiers.solver.cone import names_of

OTHER_BLOCK = "other_block_idx"
"""What a witness calls the index of the second of two blocks."""
TWO = 2
"""The fewest that can disturb each other."""
ANY = 0
"""Stands for a number of blocks that nobody tells."""


def block_numbers(context: Context) -> tuple[int, ...]:
    """How many blocks there may be: of each launch, if all are known, else the one number that callers keep to. Empty
    if that is not one; then all numbers are meant that callers may launch."""
    told = {launch.blocks for launch in context.launches}
    numbers = sorted(n for n in told if n is not None)
    if numbers and None not in told:
        return tuple(n for n in numbers if n >= TWO)
    if not limited(context):
        return ()
    count = symbol(BLOCKS, 1)
    found = context.ladder.satisfiable(context.assumed & (count >= TWO))
    number = found.model.get(BLOCKS) if found.verdict is Verdict.PROVED else None
    return (number,) if number is not None and context.ladder.entails(context.assumed, eq(count, number)) else ()


def limited(context: Context) -> bool:
    """Whether callers keep to something about the number of blocks."""
    return BLOCKS in names_of(context.assumed)


def one_block(context: Context) -> bool:
    """Whether no launch has a second block."""
    return bool(context.launches) and all(launch.blocks == 1 for launch in context.launches)


def two_blocks(one: Expr, other: Expr, number: int, alike: bool) -> Cond:
    """Two different blocks of a launch of so many, or of ANY number. `alike`: it makes no difference which is first."""
    count = symbol(BLOCKS, 1)
    many = eq(count, number) if number else count >= TWO
    if number == TWO:
        return all_of((many, eq(one, 0), eq(other, 1)) if alike else (many, one >= 0, other >= 0, eq(one + other, 1)))
    return all_of((many, one >= 0, other >= 0, one < count, other < count, one < other if alike else ne(one, other)))


def counts_to_judge(context: Context, holds: Callable[[int], bool]) -> Iterator[tuple[int, bool]]:
    """The numbers of blocks to judge, each with whether it stands for others too (assumption FEW-BLOCKS): where nobody
    says how many there are, and what is claimed does not hold for ANY, there are as many as the chip has cores for, or
    else two. `holds`: whether it does."""
    if one_block(context):
        return
    numbers = block_numbers(context)
    if numbers:
        yield from ((n, False) for n in numbers)
    elif context.strict or limited(context) or holds(ANY):
        yield ANY, False
    else:
        full = _of_the_chip(context)
        yield full if holds(full) else TWO, True


def _of_the_chip(context: Context) -> int:
    """As many blocks as the chip has cores for: vector cores for a kernel without a cube."""
    kinds = {f.kernel_kind for f in context.module.funcs} if context.module is not None else set()
    alone = context.program.func.kernel_kind == "vector" and "cube" not in kinds
    return context.target.cubes * (context.target.lanes_per_cube if alone else 1)
