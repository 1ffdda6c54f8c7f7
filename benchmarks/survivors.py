"""Mutants that nothing can notice: changes of the text that change no meaning, each with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.mutation import Mutant


@dataclass(frozen=True, slots=True)
class Equivalent:
    """Where a line of `path` reads `line`, `old` may become `new`. The line, not its number: files move."""

    path: str
    line: str
    old: str
    new: str
    why: str


EQUIVALENT = (
    Equivalent(
        "pypto_verified/simulator/schedule/clocks.py", "self.fresh = False", "False", "(True)",
        "the clocks are joined once more than needed, which gives the same clocks",
    ),
    Equivalent(
        "pypto_verified/passes/allocate_memory_addr.py",
        "order = sorted(table.values(), key=lambda b: (b.address is None, -b.total if may_share else 0))", "0", "1",
        "a key that is the same for all buffers leaves their order as it is",
    ),
    Equivalent(
        "pypto_verified/pto/rows_other.py",
        'row("pto.tile_valid_cols", "src", form=_CONVERT, pipe="", effect="pure", modelled=False),', "False", "(True)",
        "an op that touches no tile is no step, and only steps are asked whether they are modelled",
    ),
    Equivalent(
        "verifiers/access/program.py", "slots: int = 1", "1", "2",
        "only popped slots take the default, and they have no address by which to count what follows them",
    ),
    Equivalent(
        "pypto_verified/simulator/schedule/history.py", "if stride == width and not outer:", "not outer", "(outer)",
        "rows that lie side by side are counted one by one, which gives the same intervals",
    ),
    Equivalent(
        "pypto_verified/index/expr.py", "constant = total.pop((), 0)", "0", "1",
        "both factors have a constant, so their product always has one",
    ),
    Equivalent(
        "pypto_verified/index/cond.py", "found = Cond(kind, expr, parts, name, len(_COND_TABLE) + 1)",
        "len(_COND_TABLE) + 1", "(len(_COND_TABLE) - 1)", "numbers that tell conditions apart start somewhere else",
    ),
    Equivalent(
        "pypto_verified/passes/context.py",
        "scan: Scanner = field(default_factory=Scanner, compare=False, repr=False)", "False", "(True)",
        "nobody compares or prints the surroundings of a pass",
    ),
    Equivalent(
        "pypto_verified/passes/fold.py", "return True", "True", "(False)",
        "an expression that is settled already is gone through once more, and stays as it is",
    ),
    Equivalent(
        "pypto_verified/passes/resolve_backend_op_layouts.py",
        "if not isinstance(result.type, TileType) or result.type.shape != (1, n):",
        "not isinstance(result.type, TileType) or result.type.shape != (1, n)",
        "(not isinstance(result.type, TileType) and result.type.shape != (1, n))",
        "every op that is done on a row gives a row: the check is for ops that are yet to come",
    ),
    Equivalent(
        "pypto_verified/passes/flatten_tile_nd_to_2d.py",
        "partial: list[int] = [k for k, (v, d) in enumerate(zip(extents, leading, strict=True)) if not same_dim(v, d)]",
        "same_dim(v, d)", "(same_dim(d, v))", "whether two sizes are equal does not depend on which comes first",
    ),
    Equivalent(
        "pypto_verified/pto/legality_wise.py", "return list(zip(tiles[::2], tiles[1::2], strict=True))",
        "zip(tiles[::2], tiles[1::2], strict=True)", "(zip(tiles[1::2], tiles[::2], strict=True))",
        "the two of a couple are asked whether their valid shapes are equal",
    ),
    Equivalent(
        "pypto_verified/passes/legalize_tile_cast.py",
        '_FLOAT_FORMATS = {"FP32": (24, 8), "FP16": (11, 5), "BF16": (8, 8)}',
        "5", "6", "exponents are compared with those of 8 bits only, than which both are shorter",
    ),
    Equivalent(
        "verifiers/access/carried.py", "elif isinstance(result.type, ScalarType) and result.type.dtype.is_integer:",
        "isinstance(result.type, ScalarType) and result.type.dtype.is_integer",
        "(isinstance(result.type, ScalarType) or result.type.dtype.is_integer)",
        "a float that has a number of its own meets only ops on floats, all of which make something unknown of it",
    ),
)


def why_it_survives(root: Path, mutant: Mutant) -> str:
    """Why no test can notice a mutant of the tree at `root`; '' where none is known."""
    for e in EQUIVALENT:
        if (e.path, e.old, e.new) == (mutant.path, mutant.old, mutant.new):
            lines = (root / e.path).read_text(encoding="utf-8").splitlines()
            if mutant.line <= len(lines) and lines[mutant.line - 1].strip() == e.line:
                return e.why
    return ""
