"""Accumulators: the pitch that the matrix unit writes against the pitch that each reader expects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from proofs.symbolic import iff
from proofs.theorem import Claim, Mutant, Theorem, claim
from pypto_verified.index import IntLike, as_expr, eq, symbol
from pypto_verified.index.cond import CondLike
from pypto_verified.layouts import Compact
from pypto_verified.records import dataclass
from pypto_verified.targets import pitch
from pypto_verified.targets.pitch import READERS, Accumulator, Reader


@dataclass(frozen=True, slots=True)
class Pitches:
    """The pitch table that the product runs."""

    written: Callable[[IntLike], IntLike]
    read: Callable[[Reader, Accumulator, bool], IntLike]
    dense: Callable[[Reader, Accumulator, bool], bool]
    valid: Callable[[IntLike, IntLike, bool], CondLike]


def _accumulators() -> Iterator[tuple[str, Accumulator]]:
    """Any whole number of fractals; partly valid by the type, wholly valid by the type, or valid as an operand says."""
    rows = symbol("fractals", 1) * pitch.FRACTAL_ROWS
    partly = rows - symbol("invalid_rows", 1)
    for compact in (Compact.NULL, Compact.NORMAL):
        name = compact.name.lower()
        yield f"compact {name}, rows partly valid by type", Accumulator(rows, partly, compact, True)
        yield f"compact {name}, all rows valid by type", Accumulator(rows, rows, compact, True)
        yield f"compact {name}, valid rows at run time", Accumulator(rows, symbol("valid_rows", 1), compact, False)


def _equal(pitches: Pitches) -> Iterator[Claim]:
    written = symbol("written_pitch")
    for reader in READERS:
        for boxed in (False, True):
            for name, acc in _accumulators():
                valid = as_expr(acc.valid_rows)
                given = (valid >= 1) & (valid <= acc.rows) & eq(written, pitches.written(valid))
                accepted = pitches.valid(acc.rows, valid, pitches.dense(reader, acc, boxed))
                where = f"{reader.op} to {'boxed ' if boxed else ''}{reader.dst.value} on {reader.target}"
                yield claim(f"{where}, {name}", given, iff(eq(written, pitches.read(reader, acc, boxed)), accepted))


def _product() -> Pitches:
    return Pitches(pitch.written_pitch, pitch.read_pitch, pitch.dense, pitch.acc_compact_valid)


EQUAL: Theorem[Pitches] = Theorem(
    id="PITCH-EQUAL",
    statement="A reader finds the rows of an accumulator where the matrix unit put them exactly when AccCompactValid "
    "holds: it takes the pitch from the valid rows, or these reach into the last fractal.",
    formula="ceil(v/16)*16 = read_pitch(reader, R, v, compact, static, boxed)  <=>  dense or v > R - 16",
    ranges="any number of fractals R/16 >= 1, 1 <= v <= R valid rows; each reader of each target, compact or not, "
    "valid rows by type or at run time, boxed destination or not",
    rests=("PITCH-READ", "PITCH-ACC"),
    subject=_product,
    claims=_equal,
    mutants=(
        Mutant("the last fractal may be half empty only", lambda s: replace(
            s, valid=lambda rows, valid, dense: dense or valid > rows - 8)),
        Mutant("every reader heeds compact", lambda s: replace(
            s, dense=lambda reader, acc, boxed: acc.compact is Compact.NORMAL)),
        Mutant("the unit writes at the valid rows", lambda s: replace(s, written=lambda m: m)),
    ),
)

THEOREMS = (EQUAL,)
