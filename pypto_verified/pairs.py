"""The ends of cross-core pipes among a program's kernels: what each of them says is checked with the other in sight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pypto_verified.compiler import Artifact
from pypto_verified.pto.module import Func, Module, Value
from pypto_verified.pto.partners import has_partner
from pypto_verified.pto.reader import read
from pypto_verified.pto.types import Type
from pypto_verified.pto.walk import walk_ops
from pypto_verified.records import dataclass
from pypto_verified.report.model import FunctionResult, Verdict

_ENDS = frozenset({
    "pto.aic_initialize_pipe", "pto.aiv_initialize_pipe", "pto.import_reserved_buffer", "pto.reserve_buffer",
})
# Rules about both ends of a pipe: they say nothing where the other end could not be compiled.
_OF_BOTH_ENDS = frozenset({"LEGAL-PIPE-PAIR", "LEGAL-IMPORT-PEER"})


def has_pipe(artifact: Artifact) -> bool:
    """Whether a kernel is an end of a pipe."""
    return any(op.name in _ENDS for func in artifact.module.funcs for op in walk_ops(func))


def by_flags(artifacts: Sequence[Artifact]) -> list[list[Artifact]]:
    """Kernels without a pipe, those together that flags or barriers between cores join: of one name but for the core's,
    also where one of the two has none, or the only two that have any."""
    flagged = {a.function for a in artifacts if any(has_partner(func) for func in a.module.funcs)}
    if not flagged:
        return [[a] for a in artifacts]
    from pypto_verified.simulator.schedule.launch import groups

    own = {a.function: a for a in artifacts}
    found: list[list[Artifact]] = []
    for group in groups(together(artifacts)):
        members = [own[f.name] for f in group.functions]
        found += [members] if flagged & {a.function for a in members} else [[a] for a in members]
    return found


def together(artifacts: Sequence[Artifact]) -> Module:
    """The module of several kernels: a peer is looked up by its name."""
    funcs = [func for artifact in artifacts for func in artifact.module.funcs]
    return Module(funcs, dict(artifacts[0].module.attrs))


def with_shared_arguments(artifacts: Sequence[Artifact]) -> list[Artifact]:
    """The kernels with one list of arguments, as one launch passes it to all of them: those of all, each under its
    author's name. What two kernels call alike is the same, as in a run (`simulate`); what the code generator adds is
    matched in order."""
    known: dict[tuple[str, str], Argument] = {}
    own = [_arguments(a) for a in artifacts]
    for argument in (x for arguments in own for x in arguments.values()):
        known.setdefault((argument.author, repr(argument.type)), argument)
    if len({author for author, _ in known}) < len(known):
        return list(artifacts)  # of two types: no launch passes that
    return [_renamed(a, list(known.values())) for a in artifacts]


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of the text: its name there, and the author's or one of its own."""

    ssa: str
    author: str
    type: Type


def _arguments(artifact: Artifact) -> dict[str, Argument]:
    """By name in the text."""
    (func,) = artifact.module.funcs
    added = [a.name for a in func.args if a.name not in artifact.names]
    return {a.name: Argument(a.name, artifact.names.get(a.name) or f"_added{added.index(a.name)}", a.type)
            for a in func.args}


def _renamed(artifact: Artifact, arguments: Sequence[Argument]) -> Artifact:
    """A copy with these arguments, some of which it does not use."""
    module = read(artifact.text)
    (func,) = module.funcs
    own = {x.author: x.ssa for x in _arguments(artifact).values()}
    values = {a.name: a for a in func.args}
    taken = {x.author for x in arguments}
    for value in _made(func):
        while value.name in taken:
            value.name += "_"
    attrs = {func.args[i].name: attrs for i, attrs in func.arg_attrs.items()}
    args = [values[own[x.author]] if x.author in own else Value(x.author, x.type) for x in arguments]
    func.arg_attrs = {i: attrs[a.name] for i, a in enumerate(args) if a.name in attrs}
    for value, argument in zip(args, arguments, strict=True):
        value.name = argument.author
    func.args = args
    return replace(
        artifact, module=module, names={author: author for author in artifact.names.values()},
        outputs=tuple(artifact.names[o] for o in artifact.outputs))


def _made(func: Func) -> Iterator[Value]:
    """All values of a function but its arguments."""
    for op in walk_ops(func):
        yield from op.results
        for region in op.regions:
            for block in (region, *region.followers):
                yield from block.args


def without_peer(result: FunctionResult) -> None:
    """Leave open what needs the peer function, which is not there."""
    result.obligations = [
        replace(o, verdict=Verdict.UNKNOWN) if o.rule in _OF_BOTH_ENDS and o.verdict is Verdict.REFUTED else o
        for o in result.obligations]
    result.findings = [
        replace(f, verdict=Verdict.UNKNOWN, message="not modelled: a cube-vector pair of which one end is missing",
                help="the peer must be a kernel of the same program that compiles")
        if f.rule in _OF_BOTH_ENDS and f.verdict is Verdict.REFUTED else f for f in result.findings]
