"""Which source names are read later: backward liveness over structured code that is not SSA yet."""

from __future__ import annotations

from collections.abc import Callable

from pypto_verified.ir.stmt import COMPOUND, LOOPS, Assign, For, If, Stmt, While
from pypto_verified.ir.walk import blocks, definitions, names_in, operands, type_exprs

NameSet = frozenset[str]


def live_after(body: tuple[Stmt, ...], live_out: NameSet, wanted: Callable[[Stmt], bool]) -> dict[int, NameSet]:
    """For each statement of a block that is `wanted`, by position, the names read after it before they are assigned
    again, given those read after the block."""
    found: dict[int, NameSet] = {}
    first = next((i for i, s in enumerate(body) if wanted(s)), len(body))
    live = live_out
    for i in range(len(body) - 1, first - 1, -1):
        if wanted(body[i]):
            found[i] = live
        if i > first:
            live = _before(body[i], live)
    return found


def live_before(body: tuple[Stmt, ...], live_out: NameSet) -> NameSet:
    """The names read in or after the block before the block assigns them."""
    live = live_out
    for s in reversed(body):
        live = _before(s, live)
    return live


def loop_head(s: For | While, live_out: NameSet) -> NameSet:
    """The names read at the start of a trip or later, given those read after the loop: what is live at the loop's end
    too. A loop's own variables count."""

    # One turn from the loop's end reaches the fixpoint: what a block reads does not depend on what is live after it.
    start = live_before(s.body, live_out) | live_out
    return live_before(s.prelude, start | names_in(s.cond)) if isinstance(s, While) else start


def assigned_names(body: tuple[Stmt, ...]) -> dict[str, None]:
    """Names that a block leaves assigned for the code after it, in first-seen order: targets of assignments and results
    at any depth, but not a loop's own variable and carried variables."""
    found: dict[str, None] = {}
    for s in body:
        own = {v.name for v in definitions(s)} if isinstance(s, LOOPS) else set()
        for block in blocks(s):
            found.update({n: None for n in assigned_names(block) if n not in own})
        results = (s.var,) if isinstance(s, Assign) else s.results if isinstance(s, COMPOUND) else ()
        found.update({v.name: None for v in results})
    return found


def _before(s: Stmt, live: NameSet) -> NameSet:
    match s:
        case Assign():
            read = names_in(s.value)
            for dim in type_exprs(s.var.type):
                read |= names_in(dim)
            name = s.var.name
            if name in live and name not in read:
                live -= {name}
            return live if read <= live else live | read
        case If():
            base = live - {v.name for v in s.results}
            return live_before(s.then, base) | live_before(s.orelse, base) | names_in(s.cond)
        case For() | While():
            base = live - {v.name for v in s.results}
            own = {s.var.name} if isinstance(s, For) else set()
            own |= {a.var.name for a in s.iter_args}
            outer = (s.start, s.stop, s.step) if isinstance(s, For) else ()
            inits = frozenset[str]().union(*map(names_in, (*outer, *(a.init for a in s.iter_args))))
            return base | (loop_head(s, base) - own) | inits
        case _:
            return live.union(*(names_in(e) for e in operands(s)))
