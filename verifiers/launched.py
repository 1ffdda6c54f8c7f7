"""How many blocks of a kernel run, where a rule needs a number."""

from __future__ import annotations

from pypto_verified.index import ne
from pypto_verified.report.model import Verdict
from verifiers.access import BLOCKS
from verifiers.sites import Context

TWO = 2
"""The fewest that can disturb each other."""


def block_numbers(context: Context) -> tuple[int, ...]:
    """The numbers of blocks to judge: those of all launches that are known, else one that callers keep to, two if they
    may launch two."""
    told = {launch.blocks for launch in context.launches}
    numbers = sorted(n for n in told if n is not None and n >= TWO)
    if numbers and None not in told:
        return tuple(numbers)
    count = context.program.symbols.shown.get(BLOCKS)
    if count is None or not context.ladder.entails(context.assumed, ne(count.expr, TWO)):
        return (TWO,)
    found = context.ladder.satisfiable(context.assumed & (count.expr > TWO))
    return (found.model.get(BLOCKS, TWO) if found.verdict is Verdict.PROVED else TWO,)
