"""Right by construction: whatever a program for one core does, its pipes are ordered, in one of several ways."""

from __future__ import annotations

from collections.abc import Callable

from pypto_verified.targets import target
from pypto_verified.targets.pipes import SCALAR
from tests.sync.hunt.draw import Draw
from tests.sync.hunt.nodes import Body, Do, For, If, Statement, While, walk
from tests.sync.hunt.vector_ops import EVENTS, FENCE, barrier, buffer, event, flag

CALL = Do("func.call @ordered() : () -> ()")
"""Of a function with a barrier for all pipes."""
_Way = Callable[[Do], Body]


def ordered(draw: Draw, chip: str, body: Body) -> Body:
    """The program with all that orders it, in a way that is drawn for it."""
    used = sorted({each.pipe for each in walk(body) if isinstance(each, Do) and each.pipe})
    ways: list[_Way] = [
        lambda do: (barrier("ALL"), do), lambda do: _by_flags(draw, chip, used, do, False),
        lambda do: _by_flags(draw, chip, used, do, True)]
    if chip == "a5" and EVENTS.keys() >= set(used):
        ways += [_by_buffers] * 3
    if draw.chance(8) and {"V", "MTE3"} & set(used):
        return _around(body, lambda do: (CALL, do))
    return _around(body, draw.choice(ways))


def _around(body: Body, way: _Way) -> Body:
    made: list[Statement] = []
    for each in body:
        match each:
            case Do() if each.pipe:
                made += way(each)
            case Do():
                made.append(each)
            case For():
                made.append(For(each.variable, each.low, each.high, _around(each.body, way), each.step, each.carried))
            case While():
                made.append(While(each.variable, each.low, each.high, _around(each.body, way), each.step, each.carried,
                                  _around(each.head, way)))
            case If():
                made.append(If(each.condition, _around(each.then, way), _around(each.otherwise, way)))
    return tuple(made)


def _by_flags(draw: Draw, chip: str, used: list[str], do: Do, events: bool) -> Body:
    """An op waits for all pipes, by flags that are set where they are waited for."""
    before: list[Statement] = []
    for pipe in used:
        if pipe == do.pipe:
            before += [barrier(pipe)] * (pipe in target(chip).barriers - {SCALAR})
            continue
        named = event if events and pipe in EVENTS and do.pipe in EVENTS else flag
        id = draw.choice((0, 0, 1))
        before += [named(does, (pipe, do.pipe), id) for does in ("set", "wait")]
    return (*before, do)


def _by_buffers(do: Do) -> Body:
    """An op holds the buffer of each tile that it works on, and one for global memory."""
    held = (*do.tiles, 9) if do.pipe != "V" else do.tiles
    return (*(buffer("get", do.pipe, id) for id in held), do, *(buffer("rls", do.pipe, id) for id in reversed(held)))


def visible(body: Body) -> Body:
    """The same with a clean cache around what the scalar pipe does to global memory."""
    def fenced(do: Do) -> Body:
        return (FENCE, do, FENCE) if "_scalar " in do.text else (do,)

    return _around(body, fenced)
