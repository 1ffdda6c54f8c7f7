"""Taking out the flags, events and barriers of a text: automatic mode ignores what the author wrote (EV-07)."""

from __future__ import annotations

from pypto_verified.pto.module import Block, Func, Module, Op

_WITHIN_A_CORE = frozenset({
    "pto.set_flag", "pto.wait_flag", "pto.set_flag_dyn", "pto.wait_flag_dyn", "pto.record_event", "pto.wait_event",
    "pto.barrier", "pto.barrier_sync",
})


def strip_sync(module: Module) -> Module:
    """A module that orders nothing within a core: what passes between cores stays. The given module is not changed."""
    funcs = [_function(f) for f in module.funcs]
    inner = tuple(strip_sync(m) for m in module.modules)
    return Module(funcs, dict(module.attrs), module.file, inner)


def _function(f: Func) -> Func:
    body = _block(f.body) if f.body is not None else None
    return Func(f.name, list(f.args), body, dict(f.attrs), f.result_types, f.loc, f.line, f.arg_attrs)


def _block(block: Block) -> Block:
    kept = [_op(op) for op in block.ops if op.name not in _WITHIN_A_CORE]
    return Block(block.args, kept, block.label, tuple(_block(b) for b in block.followers))


def _op(op: Op) -> Op:
    if not op.regions:
        return op
    regions = tuple(_block(r) for r in op.regions)
    return Op(op.name, op.args, op.attrs, op.results, regions, op.loc, op.line)
