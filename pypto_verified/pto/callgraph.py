"""Which functions call each other in circles."""

from __future__ import annotations

from collections.abc import Mapping


def components(calls: Mapping[str, set[str]]) -> dict[str, int]:
    """Function -> the number of its strongly connected component. Linear in functions and calls (Tarjan), without
    recursion; callees that are no keys count as functions that call nothing."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    found: dict[str, int] = {}
    open_names: list[str] = []
    count = 0
    for root in calls:
        if root in order:
            continue
        order[root] = low[root] = len(order)
        open_names.append(root)
        path = [(root, iter(calls[root]))]
        while path:
            name, rest = path[-1]
            callee = next(rest, None)
            if callee is None:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[name])
                if low[name] == order[name]:
                    while name not in found:
                        found[open_names.pop()] = count
                    count += 1
            elif callee not in order:
                order[callee] = low[callee] = len(order)
                open_names.append(callee)
                path.append((callee, iter(calls.get(callee, ()))))
            elif callee not in found:
                low[name] = min(low[name], order[callee])
    return found
