"""DTYPE, for ops that compute: one element type throughout, an implementation on the target, a conversion it has.

What a row of LEGAL refuses at an op already is left to that row.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.dtypes import DTYPES, INT32, DType
from pypto_verified.pto.module import EnumAttr
from pypto_verified.records import dataclass
from pypto_verified.targets.dtypes import device_dtypes
from verifiers import elementwise
from verifiers.access import TileUse
from verifiers.op_sites import (
    COL_EXPANSION,
    COL_REDUCTION,
    PARTIAL,
    ROW_EXPANSION,
    ROW_REDUCTION,
    destination,
    names,
    sources,
    unless_refused,
)
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, OpSite, Site, op_sites, op_text

_TYPES = frozenset({"DTYPE", "TYPES", "TYPE", "WIDTH"})
"""Words of the assembler's rows about element types."""

_COMPARISON = names("tcmp tcmps")
_ARGUMENT = names("trowargmax trowargmin tcolargmax tcolargmin")
_ONE_TYPE = (
    (elementwise.OPS - {"pto.tcvt", "pto.taxpy"}) | PARTIAL | ROW_EXPANSION | COL_EXPANSION
    | ((ROW_REDUCTION | COL_REDUCTION) - _ARGUMENT) | names("trowexpand tcolexpand ttrans tconcat"))


def _plain(dtype: DType) -> DType:
    """Explicitly signed integers are the signless ones; both spellings of the 8-bit float are one type."""
    name = "FP8E4M3FN" if dtype.name == "FP8E4M3" else dtype.name.replace("SINT", "INT")
    return DTYPES.get(name, dtype)


def _values(step_tiles: tuple[TileUse, ...]) -> tuple[DType, ...]:
    return tuple(_plain(t.type.dtype) for t in step_tiles)


def _one_typed(context: Context) -> Iterator[OpSite]:
    return (s for s in op_sites(context) if s.op.name in _ONE_TYPE and destination(s.step) is not None)


def _operands(s: OpSite) -> tuple[TileUse, ...]:
    return (*sources(s.step), *s.step.tiles("dst"))


def _agree(s: OpSite) -> bool:
    return len(set(_values(_operands(s)))) == 1


def _list(s: OpSite) -> str:
    return ", ".join(f"{t.name} is {t.type.dtype.pto}" for t in _operands(s))


DTYPE_SAME: Rule[OpSite] = Rule(
    id="DTYPE-SAME", kind=SAFETY, observable=False, requires=("VF-01",),
    source="PTO-ISA: static asserts of the ops' headers; PTOAS checks some of the ops",
    claim="tile operands of an op that computes have one element type",
    unseen="the C++ of such a text does not compile (static asserts)",
    sites=_one_typed, applies=lambda s: unless_refused(s, _agree(s), _TYPES),
    goal=_agree,
    explain=lambda s, w: f"{op_text(s.op)}: {_list(s)}",
    help=lambda s: "convert with a cast (tcvt) first",
    mutant=lambda s: len({d.bits for d in _values(_operands(s))}) == 1,
)


@dataclass(frozen=True, slots=True)
class DeviceSite(Site):
    """An op and the element type that decides whether the target implements it. Floats of 8 bits and less are not
    judged: the table of implementations leaves them out."""

    word: str
    dtype: DType
    known: frozenset[DType]


def _tiny(dtype: DType) -> bool:
    return dtype.is_float and (dtype.bits <= 8 or "X2" in dtype.name)


def _device_sites(context: Context) -> Iterator[DeviceSite]:
    for step in context.program.steps:
        word = op_text(step.op)
        known = device_dtypes(word, context.target)
        deciding = (*step.tiles("src"), *step.tiles("src0"), *step.tiles("divisor"), *step.tiles("dst"))
        if known is not None and deciding and not _tiny(deciding[0].type.dtype):
            yield DeviceSite(
                context, step.op, step.path, f"{word} {deciding[0].name}", word, _plain(deciding[0].type.dtype), known)


def _implemented(s: DeviceSite) -> bool:
    return s.dtype in s.known


def _chip(s: DeviceSite) -> str:
    return s.context.target.name


def _on_device(s: DeviceSite) -> str:
    if not s.known:
        return f"{s.word} has no implementation on {_chip(s)}"
    return f"{s.word} of {s.dtype.pto} has no implementation on {_chip(s)}, which knows {_known(s)}"


def _known(s: DeviceSite) -> str:
    return ", ".join(sorted(d.pto for d in s.known))


DTYPE_DEVICE: Rule[DeviceSite] = Rule(
    id="DTYPE-DEVICE",
    formula="dtype in the types that the op computes on this target",
    kind=SAFETY, observable=False, requires=("VF-01",),
    source="PTO-ISA: static asserts of the target's headers; PTOAS accepts more",
    claim="the target implements the op for its element type",
    unseen="the C++ of such a text does not compile (static asserts)",
    sites=_device_sites, applies=lambda s: unless_refused(s, _implemented(s), _TYPES | {"TARGET"}),
    goal=_implemented,
    explain=lambda s, w: _on_device(s),
    help=lambda s: f"convert to one of {_known(s)}" if s.known else "build it from other ops",
    mutant=lambda s: len(s.known) > 0,
)


def _casts(context: Context) -> Iterator[OpSite]:
    return (s for s in op_sites(context) if s.op.name == "pto.tcvt" and s.step.tiles("src") and s.step.tiles("dst"))


def _ends(s: OpSite) -> tuple[DType, DType]:
    return _plain(s.step.tiles("src")[0].type.dtype), _plain(s.step.tiles("dst")[0].type.dtype)


def _tabled(s: OpSite) -> bool:
    """Whether the table of conversions knows both types at all; types that it leaves out are not judged."""
    known = {t for pair in s.context.target.casts for t in pair}
    return all(t in known or (t.bits >= 16 and "X2" not in t.name) for t in _ends(s))


def _targets_of(s: OpSite) -> str:
    start = _ends(s)[0]
    return ", ".join(sorted(b.pto for a, b in s.context.target.casts if a == start)) or "nothing"


DTYPE_CAST: Rule[OpSite] = Rule(
    id="DTYPE-CAST",
    formula="(dtype(source), dtype(result)) in casts(target)",
    kind=SAFETY, observable=False, requires=("VF-01",),
    source="PTO-ISA TCvt.hpp; PTOAS accepts any pair",
    claim="the target converts between these two element types in one instruction",
    unseen="the C++ of such a text does not compile (static asserts)",
    sites=_casts, applies=lambda s: _tabled(s) and unless_refused(s, _ends(s) in s.context.target.casts, _TYPES),
    goal=lambda s: _ends(s) in s.context.target.casts,
    explain=lambda s, w: (
        f"tcvt from {_ends(s)[0].pto} to {_ends(s)[1].pto}: {s.context.target.name} converts {_ends(s)[0].pto} to "
        f"{_targets_of(s)}"),
    help=lambda s: "convert in two steps, through a type that both ends know",
    mutant=lambda s: _ends(s)[0] != _ends(s)[1],
)



def _rounds(context: Context) -> Iterator[OpSite]:
    return (s for s in _casts(context) if any(t.is_float for t in _ends(s)))


DTYPE_ROUND: Rule[OpSite] = Rule(
    id="DTYPE-ROUND",
    formula="the mode of rounding is written, if types differ (--strict)",
    kind=SAFETY, observable=False, requires=("VF-01",), assumptions=("ROUNDING",),
    source="PTO-ISA TCvt.hpp",
    claim="with --strict, a conversion from or to floats says how it rounds",
    unseen="the simulator takes the default",
    sites=_rounds, applies=always, unneeded=lambda s: ("ROUNDING",) if "rmode" in s.op.attrs else (),
    goal=lambda s: "rmode" in s.op.attrs or not s.context.strict,
    explain=lambda s, w: f"{op_text(s.op)} from {_ends(s)[0].pto} to {_ends(s)[1].pto} has no rounding mode",
    help=lambda s: "write the mode: rmode = #pto<round_mode RINT>",
    mutant=lambda s: True,
)


def _orders(context: Context) -> Iterator[OpSite]:
    """Comparisons on a2a3 and their modes."""
    compares = context.target.name == "a2a3"
    return (s for s in op_sites(context) if compares and s.op.name in _COMPARISON and sources(s.step))


def _mode(s: OpSite) -> str:
    """The comparison's mode; without one it is equality."""
    mode = s.op.attrs.get("cmpMode")
    return mode.member if isinstance(mode, EnumAttr) else "eq"


def _compares(s: OpSite) -> bool:
    return _values(sources(s.step))[0] != INT32 or _mode(s) in ("eq", "ne")


DTYPE_COMPARE: Rule[OpSite] = Rule(
    id="DTYPE-COMPARE",
    formula="dtype(sources) != i32, or the mode is eq or ne",
    kind=SAFETY, observable=True, requires=("VF-01",),
    source="PTO-ISA TCmp.hpp: the unit compares i32 for equality, whatever the mode",
    claim="a2a3 compares i32 for equality or inequality only",
    sites=_orders, applies=always,
    goal=_compares,
    explain=lambda s, w: f"{op_text(s.op)} of i32 by {_mode(s)}: a2a3 would give the mask of eq",
    help=lambda s: "compare as f32, which is exact up to 2**24",
    mutant=lambda s: _mode(s) != "gt",
)

RULES = (DTYPE_SAME, DTYPE_DEVICE, DTYPE_CAST, DTYPE_ROUND, DTYPE_COMPARE)
