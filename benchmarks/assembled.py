"""The assembler's C++ of a kernel beside its `.pto`: the addresses that it gave to tiles, and the flags that it set.

Source: PTOAS PTOToEmitC.cpp, whose text names each statement's SSA values in a comment (`// pto: %x`) and keeps the
order of ops and the nesting of loops and branches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from pypto_verified.dtypes import INDEX, INT64
from pypto_verified.errors import NotModelled
from pypto_verified.pto.module import Block, EnumAttr, Func, Module, Op, Value
from pypto_verified.pto.rows import TABLE
from pypto_verified.pto.types import ScalarType, TileBufType
from pypto_verified.pto.walk import walk_ops
from pypto_verified.sync import strip_sync

_FUNCTION = re.compile(r"^AICORE void (\w+)\(", re.M)
_NUMBER = re.compile(r"const int64_t (v\d+) = (-?\d+);|\b(v\d+) = (\d+);")
_ADDRESS = re.compile(
    r"// pto: (.+)\n(?:\s*;\n)?\s*(?:uint64_t )?(v\d+) = \(uint64_t\) (?:(v\d+)|\(.+\? (v\d+) : (v\d+)\)|.+);"
    r"\s*TASSIGN\(v\d+, \2\);")
_STATEMENT = re.compile(
    r"^\s*(?:(?P<open>(?:for|while|if) \(.*\{|\} else \{)|(?P<close>\})|(?P<what>set|wait)_flag\(PIPE_(?P<src>\w+), "
    r"PIPE_(?P<dst>\w+), (?P<id>\w+)\)|pipe_barrier\(PIPE_(?P<pipe>\w+)\)|(?P<jump>goto) "
    r"|(?P<call>T(?!ASSIGN|RESHAPE)[A-Z_0-9]+)\b[(<]|(?:.* = )?v\d+\.(?P<access>[GS]etValue)\()", re.M)
_ONE_LANE = "if (get_subblockid() == 0) {"
_CALLS = {"pto.tgetval": "GetValue", "pto.tsetval": "SetValue"}
"""Ops that the C++ calls by another name."""

_ADD_TO_IT = ("pto.tadd", {"src0": "dst", "src1": "src2"})
_STEPS = {
    "pto.taddc": (("pto.tadd", {"src0": "src0", "src1": "src1"}), _ADD_TO_IT),
    "pto.tsubc": (("pto.tsub", {"src0": "src0", "src1": "src1"}), _ADD_TO_IT),
    "pto.taddsc": (("pto.tadds", {"src": "src0", "scalar": "scalar"}), ("pto.tadd", {"src0": "dst", "src1": "src1"})),
    "pto.tsubsc": (("pto.tsubs", {"src": "src0", "scalar": "scalar"}), ("pto.tadd", {"src0": "dst", "src1": "src1"})),
}
"""Ops that the C++ does in two steps, each with its operands: the second one adds to what the first one wrote."""

_FLAGS = frozenset({"pto.set_flag", "pto.wait_flag", "pto.barrier"})


def placed(module: Module, text: str) -> Module:
    """The module without flags, its tiles where the C++ has them. NotModelled for one that lies elsewhere there: the
    C++ is that of another memory plan. A tile that the C++ does not have is put behind all others."""
    made = strip_sync(module)
    for func in made.funcs:
        if func.body is not None:
            _Placing(func, _function(text, func.name)).place()
    return made


class _Placing:
    def __init__(self, func: Func, text: str) -> None:
        assert func.body is not None
        self.body = func.body
        self.numbers = {a or b: int(n or m) for a, n, b, m in _NUMBER.findall(text)}
        self.found: dict[str, tuple[int, ...]] = {}
        for names, _, *at in _ADDRESS.findall(text):
            held = tuple(self.numbers[v] for v in reversed(at) if v in self.numbers)
            self.found[names.split(", ")[-1].removeprefix("%")] = held
        self.constants = {op.result: op.attrs["value"] for op in walk_ops(func) if op.name == "arith.constant"}
        self.rings = {op.result: op for op in walk_ops(func) if op.name == "pto.alloc_multi_tile"}
        self.behind = max((max(at, default=0) for at in self.found.values()), default=0) + 65536

    def place(self) -> None:
        head: list[Op] = []
        self.block(self.body, head)
        self.body.ops[:0] = head

    def block(self, block: Block, head: list[Op]) -> None:
        ops: list[Op] = []
        for op in block.ops:
            if op.name == "pto.alloc_tile":
                self.tile(op, head)
            if op.name == "pto.multi_tile_get":
                ops += self.slot(op, head)
            elif op.name != "pto.alloc_multi_tile":
                ops.append(op)
            for region in op.regions:
                self.block(region, head)
        block.ops = ops

    def tile(self, op: Op, head: list[Op]) -> None:
        at, address = self.found.get(op.result.name), op.opt("addr")
        if address is not None:
            if at and self.constants.get(address, at[0]) != at[0]:
                raise NotModelled(f"the C++ has %{op.result.name} at {at[0]}")
        else:
            if not at:
                assert isinstance(op.result.type, TileBufType)
                at, self.behind = (self.behind,), self.behind + op.result.type.bytes
            op.args["addr"] = (_constant(at[0], INT64.name, head),)

    def slot(self, op: Op, head: list[Op]) -> list[Op]:
        """One of two slots as a tile at an address that is computed."""
        at = self.found.get(op.result.name, ())
        if len(at) != 2:
            raise NotModelled("slots that the assembler places")
        pitch, first = (_constant(n, INDEX.name, head) for n in (at[1] - at[0], at[0]))
        ahead, there, address = (
            Value(f"{op.result.name}__{name}", ScalarType(dtype))
            for name, dtype in (("ahead", INDEX), ("there", INDEX), ("at", INT64)))
        ring = self.rings[op.arg("source")]
        extents = {name: values for name, values in ring.args.items() if name != "addr"}
        return [
            Op("arith.muli", {"lhs": (op.arg("slot"),), "rhs": (pitch,)}, results=(ahead,)),
            Op("arith.addi", {"lhs": (ahead,), "rhs": (first,)}, results=(there,)),
            Op("arith.index_cast", {"in": (there,)}, results=(address,)),
            Op("pto.alloc_tile", {"addr": (address,), **extents}, results=op.results, loc=op.loc)]


def _constant(number: int, dtype: str, head: list[Op]) -> Value:
    made = Value(f"at{len(head)}_{dtype.lower()}", ScalarType(INDEX if dtype == INDEX.name else INT64))
    head.append(Op("arith.constant", attrs={"value": number}, results=(made,)))
    return made


def with_sync(module: Module, text: str) -> Module:
    """A module with the flags and barriers of the C++. NotModelled if the two do not have the same ops, and for ids
    that are computed and loops that have become jumps."""
    made = strip_sync(module)
    for func in made.funcs:
        own = _function(text, func.name)
        if func.body is not None:
            rest = _STATEMENT.finditer(own.replace(_ONE_LANE, ""))
            end = _fill(func.body, rest)
            if end is not None and (_ONE_LANE not in own or next(rest, None) is not None):
                raise NotModelled("the C++ has more ops")
    return made


def _fill(block: Block, statements: Iterator[re.Match[str]]) -> re.Match[str] | None:
    """Put flags into a block; the statement that ends it, None at the end of the function."""
    ops, filled, end = (step for op in block.ops for step in _steps(op)), list[Op](), None
    for m in statements:
        if m["close"] or (m["open"] or "").startswith("}"):
            end = m
            break
        if m["open"]:
            op = _next(ops, filled, lambda o: bool(o.regions))
            for region in op.regions:
                ended = _fill(region, statements)
                if ended is None or ended["close"]:
                    break
            filled.append(op)
        elif wanted := m["call"] or m["access"]:
            op = _next(ops, filled, lambda o: _call(o) is not None)
            if _call(op) != wanted:
                raise NotModelled(f"{op.name} where the C++ has {wanted}")
            filled.append(op)
        else:
            filled.append(_sync(m))
    rest = list(ops)
    missed = next((o for o in rest if o.regions or _call(o) is not None), None)
    if missed is not None:
        raise NotModelled(f"the C++ has no {missed.name}")
    block.ops = [*filled, *rest]
    return end


def _steps(op: Op) -> list[Op]:
    """What the C++ does for an op."""
    return [
        Op(name, {group: op.args[own] for group, own in (*groups.items(), ("dst", "dst"))}, loc=op.loc, line=op.line)
        for name, groups in _STEPS[op.name]] if op.name in _STEPS else [op]


def _next(ops: Iterator[Op], filled: list[Op], wanted: Callable[[Op], bool]) -> Op:
    """The next op of a kind. Flags that stand before it come right before it, after the scalar ops on the way."""
    held: list[Op] = []
    while filled and filled[-1].name in _FLAGS:
        held.insert(0, filled.pop())
    for op in ops:
        if wanted(op):
            filled += held
            return op
        filled.append(op)
    raise NotModelled("the C++ has more ops")


def _call(op: Op) -> str | None:
    """What an op is called in the C++; None for one that is no call."""
    row = TABLE.get(op.name)
    if op.name in _CALLS:
        return _CALLS[op.name]
    if row is None or not op.name.startswith("pto.t") or row.effect not in ("compute", "sync"):
        return None
    stem = re.sub(r"_(from|to)_ai[cv]$", "", op.name.removeprefix("pto."))
    return stem.replace(".", "_").upper()


def _sync(m: re.Match[str]) -> Op:
    if m["jump"]:
        raise NotModelled("a loop that has become jumps")
    if m["pipe"]:
        return Op("pto.barrier", attrs={"pipe": EnumAttr("pipe", f"PIPE_{m['pipe']}")})
    if not m["id"].startswith("EVENT_ID"):
        raise NotModelled("an event id that is computed")
    pipes = {"src_pipe": EnumAttr("pipe", f"PIPE_{m['src']}"), "dst_pipe": EnumAttr("pipe", f"PIPE_{m['dst']}")}
    return Op(f"pto.{m['what']}_flag", {}, {**pipes, "event_id": EnumAttr("event", m["id"])})


def _function(text: str, name: str) -> str:
    """The body of one function, up to the barrier that ends every kernel."""
    starts = {m[1]: m.start() for m in _FUNCTION.finditer(text)}
    if name not in starts:
        raise NotModelled(f"the C++ has no {name}")
    end = min((s for s in starts.values() if s > starts[name]), default=len(text))
    return text[text.index("\n", starts[name]):end].split("ptoas_auto_sync_tail")[0].split("#endif")[0]
