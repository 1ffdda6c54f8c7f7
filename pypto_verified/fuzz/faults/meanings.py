"""Faults of one of the two meanings: the other one shows them."""

from __future__ import annotations

from pypto_verified.fuzz.faults.fault import Edit, Fault, other

_INTERPRETER, _SIMULATOR = "pypto_verified.interpreter", "pypto_verified.simulator"
_TEXT, _MACHINE = f"{_INTERPRETER}.meaning", f"{_SIMULATOR}.registry"


def _without_accumulator(right: object) -> object:
    """`acc + a @ b` as `a @ b`."""
    from pypto_verified.interpreter.meaning import MEANINGS, Site

    def product(site: Site) -> object:
        plain = Site(site.args[1:], site.call, site.block, site.lane, site.loose)
        return MEANINGS["tile.matmul"](plain)

    return product


FAULTS = (
    Fault("column-max-is-min", _MACHINE, "MEANINGS[pto.tcolmax]", "the machine takes the least of a column",
          other(_MACHINE, "MEANINGS", "pto.tcolmin")),
    Fault("absolute-is-negative", _MACHINE, "MEANINGS[pto.tabs]",
          "the machine negates instead of taking the absolute value", other(_MACHINE, "MEANINGS", "pto.tneg")),
    Fault("row-max-is-min", _TEXT, "MEANINGS[tile.row_max]", "the interpreter takes the least of a row",
          other(_TEXT, "MEANINGS", "tile.row_min")),
    Fault("minimum-is-maximum", _TEXT, "MEANINGS[tile.minimum]", "the interpreter takes the greater",
          other(_TEXT, "MEANINGS", "tile.maximum")),
    Fault("product-forgets", _TEXT, "MEANINGS[tile.matmul_acc]", "a product onto an accumulator is one without",
          _without_accumulator),
    Fault("round-half-away", f"{_INTERPRETER}.numbers", "round_integral", "ties round away from zero",
          Edit("np.rint(x)", "np.trunc(x + np.copysign(0.5, x))"), "pypto-lib#279, tilelang#2483"),
    Fault("narrow-wraps-late", f"{_INTERPRETER}.numbers", "wrap", "16-bit integers wrap like 17-bit ones",
          Edit("% (1 << dtype.bits)", "% (2 << dtype.bits)")),
    Fault("box-offset-in-bytes", f"{_SIMULATOR}.layout", "Layout.offset",
          "the place inside a box is scaled as a box is",
          Edit("in_col * self.inner_col", "in_col * self.inner_row"), "pto-isa@d2200247"),
    Fault("branch-taken-twice", f"{_SIMULATOR}.program", "Program._if", "the machine takes the other arm of a branch",
          Edit("0 if env[condition] else 1", "1 if env[condition] else 0")),
)
