"""Equality of modules: names, types, attributes, locations and structure; not the lines of the text."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_verified.pto.module import AttrValue, Block, DictAttr, Func, Module, Op, Value


def same_module(a: Module, b: Module) -> bool:
    """Whether two modules say the same. An attribute's default is not the same as its absence."""
    return (
        _same_attrs(a.attrs, b.attrs)
        and len(a.funcs) == len(b.funcs)
        and all(_same_func(x, y) for x, y in zip(a.funcs, b.funcs, strict=True))
        and len(a.modules) == len(b.modules)
        and all(same_module(x, y) for x, y in zip(a.modules, b.modules, strict=True))
    )


def _same_func(a: Func, b: Func) -> bool:
    return (
        a.name == b.name
        and a.loc == b.loc
        and a.result_types == b.result_types
        and _same_attrs(a.attrs, b.attrs)
        and _same_values(a.args, b.args)
        and a.arg_attrs.keys() == b.arg_attrs.keys()
        and all(_same_attrs(attrs, b.arg_attrs[at]) for at, attrs in a.arg_attrs.items())
        and (a.body is None) == (b.body is None)
        and (a.body is None or b.body is None or _same_block(a.body, b.body))
    )


def _same_block(a: Block, b: Block) -> bool:
    return (
        a.label == b.label
        and _same_values(a.args, b.args)
        and len(a.ops) == len(b.ops)
        and all(_same_op(x, y) for x, y in zip(a.ops, b.ops, strict=True))
        and len(a.followers) == len(b.followers)
        and all(_same_block(x, y) for x, y in zip(a.followers, b.followers, strict=True))
    )


def _same_op(a: Op, b: Op) -> bool:
    return (
        a.name == b.name
        and a.loc == b.loc
        and a.args.keys() == b.args.keys()
        and _same_attrs(a.attrs, b.attrs)
        and _same_values(a.results, b.results)
        and all(_same_values(values, b.args[group]) for group, values in a.args.items())
        and len(a.regions) == len(b.regions)
        and all(_same_block(x, y) for x, y in zip(a.regions, b.regions, strict=True))
    )


def _same_values(a: Sequence[Value], b: Sequence[Value]) -> bool:
    return len(a) == len(b) and all(x.name == y.name and x.type == y.type for x, y in zip(a, b, strict=True))


def _same_attrs(a: dict[str, AttrValue], b: dict[str, AttrValue]) -> bool:
    return a.keys() == b.keys() and all(_same_attr(value, b[name]) for name, value in a.items())


def _same_attr(a: AttrValue, b: AttrValue) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return repr(a) == repr(b)  # 0.0 is not -0.0, a NaN is itself
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(_same_attr(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, DictAttr) and isinstance(b, DictAttr):
        return _same_attrs(a.entries, b.entries)
    return type(a) is type(b) and a == b
