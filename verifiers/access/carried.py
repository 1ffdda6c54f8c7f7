"""What loops carry from one turn to the next, argument by argument: scalars as `induction` tells them, buffers as
`buffers` does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pypto_verified.index import Cond, Expr
from pypto_verified.pto.module import Block, Op, Value
from pypto_verified.pto.types import ScalarType
from verifiers.access.buffers import Buffers
from verifiers.access.handles import is_buffer
from verifiers.access.induction import carried_value, evenly, going_on, in_turn, rotated, while_value
from verifiers.access.program import Carried, Scalar
from verifiers.access.symbols import SymbolKind


def handed_over(block: Block, name: str) -> tuple[Value, ...]:
    """The operands of the op `name` that ends a region; none if another one does."""
    if not block.ops or block.ops[-1].name != name:
        return ()
    return tuple(block.ops[-1].operands())


class CarriedValues:
    """Enters carried values into the environment."""

    def __init__(self, buffers: Buffers, producers: Mapping[Value, Op]) -> None:
        self.buffers = buffers
        self.symbols = buffers.symbols
        self.known = buffers.handles.scalars
        self.producers = producers

    def of_for(self, op: Op, counter: Expr, trips: Expr | None) -> list[Scalar]:
        """Values of the carried arguments in the body; returns those of the results."""
        args, inits = op.regions[0].args[1:], op.args.get("init", ())
        yields = handed_over(op.regions[0], "scf.yield")
        results: list[Scalar] = []
        turns = rotated(args, yields, self._starts(args, inits), {})
        for arg, result, init, handed in zip(args, op.results, inits, yields, strict=False):
            if arg in turns:
                self.known[arg] = in_turn(turns[arg], counter)
                results.append(
                    in_turn(turns[arg], trips) if trips is not None
                    else self.symbols.new(arg.name, SymbolKind.OPAQUE))
                continue
            if not isinstance(arg.type, ScalarType):
                self.buffers.carry(op, (arg, result), init, handed)
                results.append(None)
                continue
            start = self.known.get(init)
            inside: Scalar
            after: Scalar
            if isinstance(start, Cond):
                inside, after = self.symbols.opaque(arg.name), self.symbols.opaque(arg.name)
            else:
                inside, after = carried_value(
                    self.symbols, arg, start, handed, counter, trips, self.producers, self.known)
            self.known[arg] = inside
            results.append(after)
        return results

    def into_while(self, op: Op, counter: Expr) -> set[Value]:
        """Values of the carried arguments where a while loop computes its condition; returns those that are told of
        turns only which no flag has ended."""
        before, after = op.regions
        inits = op.args.get("init", ())
        passed, handed = handed_over(before, "scf.condition"), handed_over(after, "scf.yield")
        links = dict(zip(after.args, passed[1:], strict=False))
        turns = rotated(before.args, handed, self._starts(before.args, inits), links)
        plain = all(x.name.startswith("arith.") or x.name == "scf.condition" for x in before.ops)
        on = going_on(before.args, handed, passed[0], self.producers) if plain and passed else {}
        until: set[Value] = set()
        for arg, init, nxt in zip(before.args, inits, handed, strict=False):
            if is_buffer(arg):
                self.buffers.carry(op, (arg, *(v for v, passed_in in links.items() if passed_in is arg)), init, nxt)
                continue
            start = self.known.get(init)
            if arg in turns:
                self.known[arg] = in_turn(turns[arg], counter)
                continue
            even = evenly(
                self.symbols, arg, start, on[arg], counter, links, self.producers, self.known,
            ) if arg in on else None
            if even is not None:
                # What it is once a flag has ended the loop makes no difference to the condition, which denies the flag.
                self.known[arg] = even
                until.add(arg)
                continue
            self.known[arg] = self.symbols.opaque(arg.name) if isinstance(start, Cond) else while_value(
                self.symbols, arg, start, nxt, counter, links, self.producers, self.known)
        return until

    def into_body(self, op: Op) -> None:
        """What the condition of a while loop passes on to its body."""
        before, after = op.regions
        for arg, value in zip(after.args, handed_over(before, "scf.condition")[1:], strict=False):
            if is_buffer(arg):
                self.buffers.rename(arg, value)
            else:
                self.known[arg] = self.known.get(value)

    def out_of_while(self, op: Op, until: set[Value]) -> tuple[tuple[str, Scalar], ...]:
        """Values of the results of a while loop; returns what `named` does of them."""
        before = op.regions[0]
        passed = handed_over(before, "scf.condition")[1:]
        ends = [None if until and (v in until or v not in before.args) else self.known.get(v) for v in passed]
        for result, value, end in zip(op.results, passed, ends, strict=True):
            if is_buffer(result):
                self.buffers.rename(result, value)
            elif isinstance(end, Cond):
                self.known[result] = self.symbols.opaque(result.name)
            elif isinstance(result.type, ScalarType) and result.type.dtype.is_integer:
                self.known[result] = self.symbols.new(result.name, SymbolKind.OPAQUE)
        return self.named([self.known.get(r) for r in op.results], ends)

    def own(self, args: Iterable[Value], inits: Iterable[Value], handed: Iterable[Value]) -> tuple[Carried, ...]:
        """The carried scalars that are symbols of their own."""
        return tuple(
            Carried(name, self.known.get(init), self.known.get(following))
            for arg, init, following in zip(args, inits, handed, strict=False)
            if (name := self.symbols.own_name(self.known.get(arg))) is not None)

    def named(self, results: Iterable[Scalar], ends: Iterable[Scalar]) -> tuple[tuple[str, Scalar], ...]:
        """The results that are symbols of their own, with what they are where the loop ends."""
        pairs = zip(results, ends, strict=False)
        return tuple((name, end) for result, end in pairs if (name := self.symbols.own_name(result)) is not None)

    def _starts(self, args: Iterable[Value], inits: Iterable[Value]) -> dict[Value, Scalar]:
        return {arg: self.known.get(init) for arg, init in zip(args, inits, strict=False)}
