"""Scalars carried by loops: arithmetic progressions and values that go round or change places exactly, geometric ones
by their invariants, others as OPAQUE."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import gcd

from pypto_verified.index import Cond, Expr, all_of, any_of, const, eq, substitute_cond, symbol, symbols_of
from pypto_verified.pto.module import Op, Value
from verifiers.access.program import Scalar
from verifiers.access.scalars import Scalars
from verifiers.access.symbols import SymbolKind, Symbols
from verifiers.solver.cone import conjuncts, names_of

_LONGEST_ROUND = 16
"""Values after which a carried scalar must be back at its start to be seen to go round."""
_CARRIED = "carried value"
"""Stands for a carried value in what a body makes of it. No symbol of a text has a space in its name."""


def _handed_on(
    arg: Value, handed: Value, links: Mapping[Value, Value], producers: Mapping[Value, Op],
    known: Mapping[Value, Scalar], value: int | None = None,
) -> tuple[Expr, Scalar]:
    """(placeholder for the carried value, what the body hands on in terms of it); only scalar ops are looked
    through. With `value`, what it hands on where that is the carried value."""
    scratch = Symbols()
    placeholder = symbol(_CARRIED)
    values: dict[Value, Scalar] = {arg: placeholder if value is None else const(value)}
    scalars = Scalars(scratch)

    def value_of(v: Value) -> Scalar:
        if v in values:
            return values[v]
        if v in links:
            return value_of(links[v])
        if v in known:
            return known[v]
        op = producers.get(v)
        if op is None or not op.name.startswith("arith.") or op.regions:
            return None
        values[v] = scalars.evaluate(op, [value_of(x) for x in op.operands()])
        return values[v]

    found = value_of(handed)
    # What the body makes of something unknown to the scratch registry is not a known function of the carried value.
    if isinstance(found, Expr) and any(n in scratch.kinds for n in symbols_of(found)):
        return placeholder, None
    return placeholder, found


def carried_value(
    symbols: Symbols, arg: Value, start: Scalar, handed: Value, counter: Expr, trips: Expr | None,
    producers: Mapping[Value, Op], known: Mapping[Value, Scalar],
) -> tuple[Scalar, Scalar]:
    """(value in the body, value after the loop) of an `scf.for` iter_arg: `start + step*counter` if it grows by what
    does not change inside the loop."""
    placeholder, found = _handed_on(arg, handed, {}, producers, known)
    if isinstance(start, Expr) and isinstance(found, Expr):
        step = found - placeholder
        if _stays(symbols, step, counter):
            if trips is None:
                after: Scalar = symbols.new(arg.name, SymbolKind.OPAQUE)
            else:
                after = start + step * trips
            return start + step * counter, after
    if isinstance(start, Expr) and start.value is not None and trips is not None:
        values = _round(arg, handed, {}, producers, known, start.value)
        if values is not None:
            return in_turn(values, counter), in_turn(values, trips)
    if isinstance(start, Expr):
        return symbols.new(arg.name, SymbolKind.OPAQUE), symbols.new(arg.name, SymbolKind.OPAQUE)
    return None, None


def _stays(symbols: Symbols, step: Expr, counter: Expr) -> bool:
    """Whether a step is the same in each iteration: what changes there is not older than the counter, such as what the
    loop carries beside it."""
    inner = symbols_of(counter)  # none: it turns once
    return all(
        n != _CARRIED and (not inner or any(symbols.is_older(n, c) for c in inner)) for n in symbols_of(step))


def _choices(handed: Value, producers: Mapping[Value, Op]) -> list[Value]:
    """What a value can be when branches choose it."""
    op = producers.get(handed)
    if op is None or op.name != "scf.if":
        return [handed]
    place = next(i for i, r in enumerate(op.results) if r is handed)
    ends = [region.ops[-1].args["values"][place] for region in op.regions]
    return [choice for end in ends for choice in _choices(end, producers)]


def _branching_value(
    symbols: Symbols, arg: Value, start: Expr, handed: Value, links: Mapping[Value, Value],
    producers: Mapping[Value, Op], known: Mapping[Value, Scalar],
) -> Scalar:
    """The value at the head when branches choose the step, as a lowered `break` does: steps that are constants >= 0
    keep `x >= start` and every common divisor of start and the steps."""
    steps: list[int] = []
    for choice in _choices(handed, producers):
        placeholder, found = _handed_on(arg, choice, links, producers, known)
        step = (found - placeholder).value if isinstance(found, Expr) else None
        if step is None or step < 0:
            return symbols.new(arg.name, SymbolKind.OPAQUE)
        steps.append(step)
    value = symbols.new(arg.name, SymbolKind.OPAQUE, start.lo)
    divisor = gcd(*steps, start.value) if start.value is not None else 1
    if divisor > 1:
        symbols.require(eq(value % divisor, 0))
    return value


def _round(
    arg: Value, handed: Value, links: Mapping[Value, Value], producers: Mapping[Value, Op],
    known: Mapping[Value, Scalar], start: int,
) -> list[Expr] | None:
    """The values that a carried scalar takes in turn, if it comes back to its start and they have a form."""
    values = [const(start)]
    while len(values) <= _LONGEST_ROUND:
        _, found = _handed_on(arg, handed, links, producers, known, values[-1].value)
        if not isinstance(found, Expr) or found.value is None:
            return None
        if found.value == start:
            return values if in_turn(values, values[0]) is not None else None
        values.append(found)
    return None


def rotated(
    args: Iterable[Value], handed: Iterable[Value], starts: Mapping[Value, Scalar], links: Mapping[Value, Value]
) -> dict[Value, list[Expr]]:
    """Of carried scalars that change places, as the ids of two buffers in turn do: the values that each one takes, from
    the first iteration on. `starts`: values before the loop; `links`: what stands for an argument further down."""
    following: dict[Value, Value] = {}
    for arg, value in zip(args, handed, strict=False):
        while value in links:
            value = links[value]
        following[arg] = value
    found: dict[Value, list[Expr]] = {}
    for arg in following:
        turn = [arg]
        while following[turn[-1]] is not arg and following[turn[-1]] in following and len(turn) <= _LONGEST_ROUND:
            turn.append(following[turn[-1]])
        values = [v for a in turn if isinstance(v := starts.get(a), Expr)]
        if following[turn[-1]] is arg and 1 < len(turn) == len(values) and in_turn(values, values[0]) is not None:
            found[arg] = values
    return found


def in_turn(values: list[Expr], counter: Expr) -> Expr | None:
    """The value in iteration `counter` of one that takes these again and again; None if that has no form: two, or
    numbers that go up in equal steps, wherever they begin."""
    first, count = values[0], len(values)
    if count <= 2:
        return first + (values[-1] - first) * (counter % 2)
    numbers = [v.value for v in values if v.value is not None]
    low, step = min(numbers, default=0), (max(numbers, default=0) - min(numbers, default=0)) // (count - 1)
    for shift in range(count):
        for sign in (step, -step):
            least = low if sign > 0 else low + step * (count - 1)
            if numbers == [least + sign * ((i + shift) % count) for i in range(count)]:
                return least + sign * ((counter + shift) % count)
    return None


def while_value(
    symbols: Symbols, arg: Value, start: Scalar, handed: Value, counter: Expr, links: Mapping[Value, Value],
    producers: Mapping[Value, Op], known: Mapping[Value, Scalar],
) -> Scalar:
    """The value at the head of a while loop. `x -> m*x + b` with m >= 1, b >= 0 from a constant start keeps `x >=
    start` and every common divisor of start and b; that is more than its true values, so the symbol is OPAQUE."""
    placeholder, found = _handed_on(arg, handed, links, producers, known)
    if not isinstance(start, Expr):
        return None
    if found is None:
        return _branching_value(symbols, arg, start, handed, links, producers, known)
    if isinstance(found, Expr):
        step = found - placeholder
        if _stays(symbols, step, counter):
            return start + step * counter
        values = _round(arg, handed, links, producers, known, start.value) if start.value is not None else None
        if values is not None:
            return in_turn(values, counter)
        factor = dict(found.terms).get(placeholder.terms[0][0])
        first, grow = start.value, found.constant
        growing = factor is not None and factor >= 1 and grow >= 0 and len(found.terms) == 1
        if first is not None and first >= 0 and growing:
            value = symbols.new(arg.name, SymbolKind.OPAQUE, first)
            divisor = gcd(first, grow)
            if divisor > 1:
                symbols.require(eq(value % divisor, 0))
            return value
    return symbols.new(arg.name, SymbolKind.OPAQUE)


def going_on(
    args: Sequence[Value], handed: Sequence[Value], condition: Value, producers: Mapping[Value, Op]
) -> dict[Value, Value]:
    """Of carried values that a while loop hands on by a branch over a flag which ends it, as a lowered `break` does:
    what each is in the next turn, if there is one. `condition`: of the loop, in which the flags are denied."""
    flags = {flag for part in _parts(condition, producers) if (flag := _denied(part, producers)) in args}
    told = {value: arg for arg, value in zip(args, handed, strict=False) if arg in flags}
    found: dict[Value, Value] = {}
    for arg, value in zip(args, handed, strict=False):
        op = producers.get(value)
        if op is None or op.name not in ("scf.if", "arith.select"):
            continue
        asked = op.arg("cond")
        denied = _denied(asked, producers)
        if denied not in told and asked not in told:
            continue
        if op.name == "scf.if":
            place = next(i for i, r in enumerate(op.results) if r is value)
            ways = [region.ops[-1].args["values"][place] for region in op.regions]
        else:
            ways = [op.arg("true_value"), op.arg("false_value")]
        found[arg] = ways[0] if denied in told else ways[1]
    return found


def _parts(condition: Value, producers: Mapping[Value, Op]) -> Iterator[Value]:
    op = producers.get(condition)
    if op is not None and op.name == "arith.andi":
        for part in op.operands():
            yield from _parts(part, producers)
    else:
        yield condition


def _denied(value: Value, producers: Mapping[Value, Op]) -> Value | None:
    """What a value is the opposite of: `x ^ true`."""
    op = producers.get(value)
    if op is None or op.name != "arith.xori":
        return None
    first, second = op.operands()
    made = producers.get(second)
    return first if made is not None and made.name == "arith.constant" and made.attrs.get("value") is True else None


def evenly(
    symbols: Symbols, arg: Value, start: Scalar, handed: Value, counter: Expr, links: Mapping[Value, Value],
    producers: Mapping[Value, Op], known: Mapping[Value, Scalar],
) -> Expr | None:
    """`start + step*counter` for a value of a while loop that goes up in equal steps; None for any other."""
    placeholder, found = _handed_on(arg, handed, links, producers, known)
    if isinstance(start, Expr) and isinstance(found, Expr) and _stays(symbols, found - placeholder, counter):
        return start + (found - placeholder) * counter
    return None


def passed_before(symbols: Symbols, condition: Cond, counter: Expr) -> Cond:
    """What holds wherever a while loop computes its `condition`: it does so for the first time, or the last test has
    passed. Of that test the parts are told that nothing but the `counter` changes from one to the next."""
    (own,) = symbols_of(counter)
    known = (c for c in conjuncts(condition) if all(n == own or symbols.is_older(n, own) for n in names_of(c)))
    return any_of((counter <= 0, all_of(substitute_cond(c, {own: counter - 1}) for c in known)))
