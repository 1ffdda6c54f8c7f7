"""What the rules say of a module as it stands, and the module without one of its ops."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_verified.pto.module import Block, Func, Module, Op
from pypto_verified.pto.walk import walk_ops
from pypto_verified.targets import target
from verifiers import Options, verify


def verdicts(module: Module, chip: str, strict: bool = False) -> set[str]:
    """The verdicts of RACE and EVENT, the file taken as it stands."""
    options = Options(strict=strict, families=frozenset({"RACE", "EVENT"}), explicit_sync=True)
    return {o.verdict.value for r in verify(module, target(chip), options) for o in r.obligations}


def sync_ops(module: Module) -> Iterator[Op]:
    """The flags and barriers, in text order."""
    for func in module.funcs:
        yield from (op for op in walk_ops(func) if "_flag" in op.name or op.name == "pto.barrier")


def without(module: Module, gone: Op) -> Module:
    """The module without an op; the given one is not changed."""
    funcs = [
        Func(f.name, list(f.args), _without(f.body, gone) if f.body is not None else None, dict(f.attrs),
             f.result_types, f.loc, f.line, f.arg_attrs) for f in module.funcs]
    return Module(funcs, dict(module.attrs), module.file)


def _without(block: Block, gone: Op) -> Block:
    kept = [
        Op(op.name, op.args, op.attrs, op.results, tuple(_without(r, gone) for r in op.regions), op.loc, op.line)
        if op.regions else op for op in block.ops if op is not gone]
    return Block(block.args, kept, block.label, tuple(_without(b, gone) for b in block.followers))
