"""WRITE: outputs are written. The text does not say which tensors are outputs: one that is only stored to is taken as
one; a tensor that is also read may be written in part.

Whether all of an output is written is for `write_grid.py`, whether two blocks write the same for `write_twice.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.index import Expr
from pypto_verified.index.cond import FALSE, TRUE
from pypto_verified.pto.module import Op
from pypto_verified.records import dataclass
from verifiers import write_block, write_grid, write_nest
from verifiers.access import Step, TileUse
from verifiers.global_memory import stored
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, Site


@dataclass(frozen=True, slots=True)
class FunctionSite(Site):
    """A function that works on tiles; `leaving`: ops that hand results out of the core."""

    name: str
    leaving: int


def _functions(context: Context) -> Iterator[FunctionSite]:
    program = context.program
    working = [s for s in program.steps if s.reads() or s.writes()]
    if not working or program.func.result_types:
        return
    leaving = sum(1 for s in program.steps if s.path is not FALSE and _leaves(s))
    yield FunctionSite(
        context, Op("func.func", loc=program.func.loc, line=program.func.line), TRUE, program.func.name,
        program.func.name, leaving)


def _leaves(step: Step) -> bool:
    """Stores, be it to a window that a caller passes, pushes to another core, what is printed, and whatever is not
    modelled: it may do any of these."""
    written = (o for p in step.phases for group in p.writes for o in step.operands.get(group, ()))
    return not step.modelled or any(not isinstance(o, TileUse) for o in written) or step.op.name.startswith(
        ("pto.tpush", "pto.store", "pto.tprint"))


WRITE_ANY: Rule[FunctionSite] = Rule(
    id="WRITE-ANY", kind=SAFETY, observable=True, requires=("VF-01",), source="PyPTO FAQ: an Out is only written by a "
    "store",
    claim="a function that computes hands something out: a store, or a push to another core",
    sites=_functions, applies=always,
    goal=lambda s: s.leaving > 0,
    explain=lambda s, w: f"function {s.name} computes on tiles but stores nothing: its outputs are never written",
    help=lambda s: "store the result: " + ("pl.store(tile, offsets, out)" if s.context.authored else "pto.tstore"),
    mutant=lambda s: s.leaving >= 0,
)


@dataclass(frozen=True, slots=True)
class OutputSite(Site):
    """A tensor that the author declared as an output; `stores`: reachable ops that write to it, or may."""

    name: str
    stores: int


def _outputs(context: Context) -> Iterator[OutputSite]:
    program = context.program
    if any(s.op.name.startswith("pto.tpush") for s in program.steps):
        return  # the core at the other end of the pipe may be the one that stores
    place = Op("func.func", loc=program.func.loc, line=program.func.line)
    for argument, name in context.outputs:
        stores = sum(
            1 for s in program.steps if s.path is not FALSE
            and (not s.modelled or s.op.name.startswith("pto.store") or argument in {
                w.view.base for w in stored(s) if not any(_none(n) for n in w.sizes)}))
        yield OutputSite(context, place, TRUE, name, name, stores)


def _none(size: Expr) -> bool:
    """Whether a window of that size is empty in every run."""
    return size.hi is not None and size.hi <= 0


WRITE_OUT: Rule[OutputSite] = Rule(
    id="WRITE-OUT", kind=SAFETY, observable=True, requires=("VF-01",),
    source="PyPTO: an Out is only written by a store; a plain assignment rebinds the name",
    claim="every tensor that is declared pl.Out is stored to",
    sites=_outputs, applies=always,
    goal=lambda s: s.stores > 0,
    explain=lambda s, w: f"{s.name} is declared pl.Out, but nothing is stored to it: it keeps what it held before",
    help=lambda s: f"store to it: {s.name} = pl.store(tile, offsets, {s.name}), or drop the parameter",
    mutant=lambda s: s.stores >= 0,
)


RULES = (WRITE_ANY, WRITE_OUT, *write_grid.RULES, *write_nest.RULES, *write_block.RULES)
