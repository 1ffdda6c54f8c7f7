"""Two meanings of a kernel as a list of stores, to compare a function before and after the passes.

`meaning` runs IR with plain variables: a value is a term that says how it was computed, and no memory exists. `placed`
runs lowered IR on byte arrays: every tile is read from and written to the bytes of its MemRef, so that two tiles that
share bytes while both are needed give a wrong term. An op is taken at its worst: it overwrites its scratch before it
reads and after it wrote, and where its declaration forbids result and operand to share bytes, or these hold their
elements in other places, it destroys the result's bytes before it reads that operand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from pypto_verified.ir.expr import Binary, BinaryOp, Call, Const, Expr, MakeTuple, Unary, UnaryOp, Var
from pypto_verified.ir.stmt import Assign, Break, Continue, Eval, For, Function, If, Return, Stmt, While, Yield
from pypto_verified.ir.types import TileType
from pypto_verified.layouts import Space
from pypto_verified.ops.registry import lookup

Term = object
Store = tuple[str, Term, Term]
"""(tensor, offsets, value)."""

_SCALAR_OPS = {
    BinaryOp.ADD: lambda a, b: a + b, BinaryOp.SUB: lambda a, b: a - b, BinaryOp.MUL: lambda a, b: a * b,
    BinaryOp.MOD: lambda a, b: a % b, BinaryOp.FLOORDIV: lambda a, b: a // b, BinaryOp.EQ: lambda a, b: a == b,
    BinaryOp.NE: lambda a, b: a != b, BinaryOp.LT: lambda a, b: a < b, BinaryOp.GT: lambda a, b: a > b,
    BinaryOp.AND: lambda a, b: a and b, BinaryOp.OR: lambda a, b: a or b, BinaryOp.LE: lambda a, b: a <= b,
}
_RELABELS = frozenset({"tile.reshape", "tile.set_validshape"})


class _Made:
    """What an op makes of values. Equal ones are one object: a value that is used twice at each of forty steps has too
    many parts to be compared."""

    def __init__(self, op: str, values: tuple[Term, ...]) -> None:
        self.op, self.values = op, values

    def __repr__(self, depth: int = 4) -> str:
        parts = (v.__repr__(depth - 1) if isinstance(v, _Made) else repr(v) for v in self.values)
        return f"{self.op}({', '.join(parts) if depth else '...'})"


_KNOWN: WeakValueDictionary[tuple[object, ...], _Made] = WeakValueDictionary()


def _made(op: str, *values: Term) -> _Made:
    made = _Made(op, values)
    return _KNOWN.setdefault((op, *(id(v) if isinstance(v, _Made) else v for v in values)), made)


class _Exit(Exception):
    pass


class _Broken(_Exit):
    pass


class _Continued(_Exit):
    pass


@dataclass
class _Run:
    env: dict[str, Term]
    stores: list[Store] = field(default_factory=list)

    def scalar(self, e: Expr) -> Term:
        match e:
            case Const():
                return e.value
            case Var():
                return self.env[e.name]
            case Binary():
                return _SCALAR_OPS[e.op](self.scalar(e.lhs), self.scalar(e.rhs))
            case Unary(op=UnaryOp.NOT):
                return not self.scalar(e.operand)
            case MakeTuple():
                return tuple(self.scalar(i) for i in e.items)
            case _:
                raise AssertionError(f"scalar {e}")

    def value(self, e: Expr) -> Term:
        return self.read(e) if isinstance(e, Var) and isinstance(e.type, TileType) else self._other(e)

    def _other(self, e: Expr) -> Term:
        if isinstance(e, Call):
            return self.result(e)
        return self.env.get(e.name) if isinstance(e, Var) and e.name not in self.env else self.scalar(e)

    def read(self, v: Var) -> Term:
        return self.env[v.name]

    def write(self, v: Var, value: Term) -> None:
        self.env[v.name] = value

    def before_reads(self, call: Call, result: Var | None) -> None:
        """What the op may destroy before it reads."""

    def after_write(self, call: Call) -> None:
        """What the op may destroy after it wrote its result."""

    def block(self, body: tuple[Stmt, ...]) -> tuple[Expr, ...]:
        for s in body:
            match s:
                case Assign(value=Call() as call, var=var):
                    self.call(call, var)
                case Assign(var=var, value=value):
                    self.write(var, self.value(value)) if isinstance(var.type, TileType) else self.bind(var, value)
                case Eval(call=call):
                    self.call(call, None)
                case For():
                    self.loop(s)
                case While():
                    self.while_loop(s)
                case If():
                    values = self.block(s.then if self.scalar(s.cond) else s.orelse)
                    self.carry(s.results, values)
                case Yield():
                    return s.values
                case Break():
                    raise _Broken
                case Continue():
                    raise _Continued
                case Return():
                    for e in s.values:
                        self.value(e)
        return ()

    def bind(self, var: Var, value: Expr) -> None:
        self.env[var.name] = self._other(value)

    def carry(self, targets: tuple[Var, ...], values: tuple[Expr, ...]) -> None:
        found = [self.value(e) for e in values]
        for v, value in zip(targets, found, strict=True):
            self.arrive(v, value)

    def arrive(self, v: Var, value: Term) -> None:
        self.env[v.name] = value

    def loop(self, s: For) -> None:
        carried = tuple(a.var for a in s.iter_args)
        self.carry(carried, tuple(a.init for a in s.iter_args))
        start, stop, step = self.scalar(s.start), self.scalar(s.stop), self.scalar(s.step)
        assert isinstance(start, int) and isinstance(stop, int) and isinstance(step, int)
        for i in range(start, stop, step):
            self.env[s.var.name] = i
            try:
                self.carry(carried, self.block(s.body))
            except _Continued:
                continue
            except _Broken:
                break
        self.carry(s.results, carried)

    def while_loop(self, s: While) -> None:
        carried = tuple(a.var for a in s.iter_args)
        self.carry(carried, tuple(a.init for a in s.iter_args))
        while True:
            self.block(s.prelude)
            if not self.scalar(s.cond):
                break
            try:
                self.carry(carried, self.block(s.body))
            except _Continued:
                continue
            except _Broken:
                break
        self.carry(s.results, carried)

    def call(self, call: Call, var: Var | None) -> None:
        self.before_reads(call, var)
        value = self.result(call)
        if var is not None:
            self.define(call, var, value)
        self.after_write(call)

    def result(self, call: Call) -> Term:
        if call.op == "tile.store":
            tile, offsets = call.args[:2]
            self.stores.append(("out", self.scalar(offsets), self.value(tile)))
            return "tensor"
        if call.op == "tile.create":
            return "undefined"
        if call.op == "tile.load":
            return _made("load", self.scalar(call.args[1]))
        scratch = {k for k, p in enumerate(lookup(call.op).params) if p.name.startswith("tmp")}
        values = tuple(self.value(a) for k, a in enumerate(call.args) if k not in scratch)
        return values[0] if call.op == "tile.move" or call.op in _RELABELS else _made(call.op, *values)

    def define(self, call: Call, var: Var, value: Term) -> None:
        self.write(var, value)


def meaning(function: Function, scalars: dict[str, int]) -> list[Store]:
    """The stores of a function, values as terms."""
    run = _Run(dict(scalars))
    run.block(function.body)
    return run.stores


_NOTHING: list[Term] = ["nothing"]


@dataclass
class _Placed(_Run):
    memory: dict[tuple[Space, int], list[Term]] = field(default_factory=dict)
    """By place what a write has left there: one list for all bytes of one write."""
    slices: dict[str, Call] = field(default_factory=dict)

    def _bytes(self, v: Var) -> list[tuple[Space, int]]:
        t = v.type
        assert isinstance(t, TileType) and t.space is not None and t.memref is not None
        start = t.memref.offset
        assert isinstance(start, int), f"{v.name} has no address"
        # One cell stands for 32 bytes: every address and every size here is a multiple of that.
        return [(t.space, b) for b in range(start, start + t.memref.size, 32)]

    def read(self, v: Var) -> Term:
        if v.name in self.slices:
            call = self.slices[v.name]
            return _made(call.op, *(self.value(a) for a in call.args))
        found = {id(x): x[0] for x in (self.memory.get(b, _NOTHING) for b in self._bytes(v))}
        return next(iter(found.values())) if len(found) == 1 else _made("mixed", *found.values())

    def write(self, v: Var, value: Term) -> None:
        written = [value]
        for b in self._bytes(v):
            self.memory[b] = written

    def arrive(self, v: Var, value: Term) -> None:
        # A carried tile is wherever its MemRef says: nothing moves at a back edge or at the end of a branch.
        if not isinstance(v.type, TileType):
            self.env[v.name] = value

    def define(self, call: Call, var: Var, value: Term) -> None:
        if call.op == "tile.slice":
            self.slices[var.name] = call
        elif call.op not in _RELABELS and call.op != "tile.create" and isinstance(var.type, TileType):
            self.write(var, value)
        elif not isinstance(var.type, TileType):
            self.env[var.name] = value

    def before_reads(self, call: Call, result: Var | None) -> None:
        decl = lookup(call.op)
        self.after_write(call)
        if result is None or not isinstance(result.type, TileType) or decl.view:
            return
        for k, a in enumerate(call.args):
            if not isinstance(a, Var) or not isinstance(a.type, TileType) or k == decl.inplace:
                continue
            whole = self._whole(a)
            assert isinstance(whole.type, TileType)
            if k in decl.noalias or whole.type.shape != result.type.shape:
                for b in set(self._bytes(result)) & set(self._bytes(whole)):
                    self.memory[b] = ["destroyed"]

    def _whole(self, v: Var) -> Var:
        while v.name in self.slices:
            source = self.slices[v.name].args[0]
            assert isinstance(source, Var)
            v = source
        return v

    def after_write(self, call: Call) -> None:
        for p, a in zip(lookup(call.op).params, call.args, strict=False):
            if p.name.startswith("tmp") and isinstance(a, Var):
                self.write(a, "scratch")


def placed(function: Function, scalars: dict[str, int]) -> list[Store]:
    """The stores of a lowered function run on the bytes that its MemRefs name."""
    run = _Placed(dict(scalars))
    run.block(function.body)
    return run.stores
