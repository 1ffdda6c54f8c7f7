"""KIND: the core that a function is for has the pipes and the memories that its ops use."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.layouts import Space
from pypto_verified.records import dataclass
from pypto_verified.targets.events import FOREIGN_PIPES
from verifiers.access import Step
from verifiers.flags import sections_of
from verifiers.rule import SAFETY, Rule, always
from verifiers.sites import Context, Site, op_text

_FILL = "pto.texpands"
"""A fill of L1 is no vector op, though the assembler orders it by pipe V: its memory tells the core."""
_BY_MEMORY = ("pto.tload", "pto.tstore", _FILL)
_OTHER = {"cube": "vector", "vector": "cube"}


@dataclass(frozen=True, slots=True)
class KindSite(Site):
    """An op on a core of a kind ('cube' or 'vector'), with the pipe that one of its phases runs on."""

    kind: str
    pipe: str


@dataclass(frozen=True, slots=True)
class SpaceSite(Site):
    """A tile in `space` that an op on a core of a kind loads, stores or fills."""

    kind: str
    name: str
    space: Space


def _on_cores(context: Context) -> Iterator[tuple[Step, str]]:
    """Each op whose core is known, by the section around it or by the function."""
    program = context.program
    sections = {op: name for name, ops in sections_of(program).items() for op in ops}
    for step in program.steps:
        kind = sections.get(step.op, program.func.kernel_kind)
        if kind in _OTHER:
            yield step, kind


def _pipes(context: Context) -> Iterator[KindSite]:
    for step, kind in _on_cores(context):
        for pipe in dict.fromkeys(p.pipe for p in step.phases if p.pipe and step.op.name != _FILL):
            yield KindSite(context, step.op, step.path, f"{op_text(step.op)} {pipe}", kind, pipe)


KIND_PIPE: Rule[KindSite] = Rule(
    id="KIND-PIPE",
    formula="pipe in pipes(kind of core)",
    kind=SAFETY, observable=False, requires=("EV-05",), source="PTO-ISA machine model; PTOAS#1026",
    claim="an op runs on a pipe that its core has",
    unseen="a run has every pipe on every core",
    sites=_pipes, applies=always,
    goal=lambda s: s.pipe not in FOREIGN_PIPES[s.kind],
    explain=lambda s, w: f"{op_text(s.op)} runs on pipe {s.pipe}, which a {s.kind} core does not have",
    help=lambda s: f"move it to a {_OTHER[s.kind]} function, or give this one the kernel kind {_OTHER[s.kind]}",
    mutant=lambda s: s.pipe not in FOREIGN_PIPES[_OTHER[s.kind]],
)


def _spaces(context: Context) -> Iterator[SpaceSite]:
    for step, kind in _on_cores(context):
        if step.op.name in _BY_MEMORY:
            for tile in (*step.tiles("src"), *step.tiles("dst")):
                label = f"{op_text(step.op)} {tile.name}"
                yield SpaceSite(context, step.op, step.path, label, kind, tile.name, tile.type.loc)


KIND_SPACE: Rule[SpaceSite] = Rule(
    id="KIND-SPACE",
    formula="space = vec on a vector core, space != vec on a cube core",
    kind=SAFETY, observable=False, requires=("VF-01",), source="PTO-ISA machine model",
    claim="what an op loads, stores or fills lies in a memory of its core",
    unseen="a run has every memory on every core",
    sites=_spaces, applies=always,
    goal=lambda s: (s.space is Space.VEC) == (s.kind == "vector"),
    explain=lambda s, w: f"{op_text(s.op)} uses tile {s.name} in {s.space.value}, which a {s.kind} core does not have",
    help=lambda s: f"move it to a {_OTHER[s.kind]} function, or give this one the kernel kind {_OTHER[s.kind]}",
    mutant=lambda s: (s.space is Space.VEC) == (s.kind == "cube"),
)

RULES = (KIND_PIPE, KIND_SPACE)
