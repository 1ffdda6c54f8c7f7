"""The ends of cross-core pipes among a program's kernels: what each of them says is checked with the other in sight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pypto_verified.compiler import Artifact
from pypto_verified.pto.module import Module
from pypto_verified.pto.walk import walk_ops
from pypto_verified.report.model import FunctionResult, Verdict

_ENDS = frozenset({
    "pto.aic_initialize_pipe", "pto.aiv_initialize_pipe", "pto.import_reserved_buffer", "pto.reserve_buffer",
})
# Rules about both ends of a pipe: they say nothing where the other end could not be compiled.
_OF_BOTH_ENDS = frozenset({"LEGAL-PIPE-PAIR", "LEGAL-IMPORT-PEER"})


def has_pipe(artifact: Artifact) -> bool:
    """Whether a kernel is an end of a pipe."""
    return any(op.name in _ENDS for func in artifact.module.funcs for op in walk_ops(func))


def together(artifacts: Sequence[Artifact]) -> Module:
    """The module of several kernels: a peer is looked up by its name."""
    funcs = [func for artifact in artifacts for func in artifact.module.funcs]
    return Module(funcs, dict(artifacts[0].module.attrs))


def without_peer(result: FunctionResult) -> None:
    """Leave open what needs the peer function, which is not there."""
    result.obligations = [
        replace(o, verdict=Verdict.UNKNOWN) if o.rule in _OF_BOTH_ENDS and o.verdict is Verdict.REFUTED else o
        for o in result.obligations]
    result.findings = [
        replace(f, verdict=Verdict.UNKNOWN, message="not modelled: a cube-vector pair of which one end is missing",
                help="the peer must be a kernel of the same program that compiles")
        if f.rule in _OF_BOTH_ENDS and f.verdict is Verdict.REFUTED else f for f in result.findings]
