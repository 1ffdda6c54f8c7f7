"""Names that stand for a tensor which was stored into: a store writes in place, so its value is the tensor itself.

`r = pl.store(t, offsets, out)` gives `out` a second name. Where `r` is set in a loop or branch and read after it, `r`
is translated as `out`: then it has a value also if the loop runs no trip, the same that it has on the machine.
"""

from __future__ import annotations

import ast


def stored_tensors(definition: ast.FunctionDef) -> dict[str, str]:
    """For each name that leaves a loop or branch and is only ever the value of stores into one parameter: that
    parameter."""
    assigned: dict[str, list[ast.expr]] = {}
    rebound: set[str] = set()
    for node in ast.walk(definition):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) | ast.AnnAssign(
                target=ast.Name(id=name), value=ast.expr() as value
            ):
                assigned.setdefault(name, []).append(value)
            case ast.Tuple(elts=elts, ctx=ast.Store()):
                rebound.update(e.id for e in elts if isinstance(e, ast.Name))
            case ast.For(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
                rebound.add(name)
            case _:
                pass
    parameters = {a.arg for a in (*definition.args.posonlyargs, *definition.args.args, *definition.args.kwonlyargs)}
    found: dict[str, str] = {}
    for name in _escaping(definition):
        root = _root(name, assigned, rebound, parameters, frozenset())
        if root is not None and root != name:
            found[name] = root
    return found


def _escaping(definition: ast.FunctionDef) -> set[str]:
    """Names that are assigned in one loop or branch only and read outside of it."""
    everywhere = _uses(definition)
    found: set[str] = set()
    for node in ast.walk(definition):
        if isinstance(node, ast.For | ast.While | ast.If):
            inside = _uses(node)
            found |= {
                name for name, (stores, loads) in inside.items()
                if stores and stores == everywhere[name][0] and loads < everywhere[name][1]
            }
    return found


def _uses(root: ast.AST) -> dict[str, tuple[int, int]]:
    """How often each name is assigned and read below a node."""
    counts: dict[str, tuple[int, int]] = {}
    for node in ast.walk(root):
        if isinstance(node, ast.Name):
            stores, loads = counts.get(node.id, (0, 0))
            is_store = isinstance(node.ctx, ast.Store)
            counts[node.id] = (stores + is_store, loads + (not is_store))
    return counts


def _root(
    name: str, assigned: dict[str, list[ast.expr]], rebound: set[str], parameters: set[str], visiting: frozenset[str]
) -> str | None:
    """The parameter that `name` is under another name; None if some assignment makes it anything else."""
    if name in rebound:
        return None
    roots = {name} if name in parameters else set()
    for value in assigned.get(name, []):
        target = _target(value)
        if target is None:
            return None
        if target != name and target not in visiting:
            root = _root(target, assigned, rebound, parameters, visiting | {name})
            if root is None:
                return None
            roots.add(root)
    return roots.pop() if len(roots) == 1 else None


def _target(value: ast.expr) -> str | None:
    """The tensor that a store names; None for any other expression."""
    match value:
        case ast.Call(func=ast.Attribute(attr="store"), args=[_, _, ast.Name(id=name), *_]):
            return name
        case ast.Call(func=ast.Attribute(attr="store"), keywords=keywords):
            named = [k.value for k in keywords if k.arg == "output_tensor"]
            return named[0].id if named and isinstance(named[0], ast.Name) else None
        case _:
            return None
