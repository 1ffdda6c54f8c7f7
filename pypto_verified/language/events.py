"""Events in kernels: `pl.Event(src, dst)`, tokens, and the `wait=` and `record=` of any op.

    e = pl.Event("TLOAD", "TADD")           # its id is fixed here: the next one of its pair of pipes, in turn
    x = pl.load(a, [0, 0], [32, 64], record=e)
    y = pl.add(x, x, wait=e)                # or e.record() and e.wait() as statements
    z, done = pl.load(b, [0, 0], [32, 64], token="TADD")   # the same without a name for the event before
    ring = pl.Event("TADD", "TLOAD", slots=2)               # two ids, for the slots of a loop:
    ring[i % 2].wait()

An op waits first, then runs, then records (PTO-ISA Event.md). An event between cores has no id of its own: it needs
`auto_token=False` and an `event_id`, which may be an expression, as that of any event.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, Union

from pypto_verified.ir.expr import Attr, Call, Const, Expr, Span
from pypto_verified.ir.stmt import Eval, Stmt
from pypto_verified.ir.types import ScalarType
from pypto_verified.language.scope import Unsettled
from pypto_verified.language.values import is_expr, lift
from pypto_verified.ops import build
from pypto_verified.ops.args import type_of
from pypto_verified.ops.events import CROSS_IDS, EVENT_IDS, UnknownEvent, event_pipe, pair_of
from pypto_verified.records import dataclass

_Node: TypeAlias = Union[ast.expr, ast.stmt]

if TYPE_CHECKING:
    from pypto_verified.language.expressions import Expressions

_TOKEN_SOURCES = {"load": "TLOAD", "store": "TSTORE_VEC", "matmul": "TMATMUL", "matmul_acc": "TMATMUL"}
_NEEDS_FORM = frozenset({"move", "extract", "insert", "fillpad"})
"""Ops whose pipe depends on memories: their token's op must be named."""
_OWN_PIPES = {"load": ("MTE2",), "store": ("MTE3", "FIX"), "matmul": ("M",), "matmul_acc": ("M",)}
_SEVERAL_FORMS = frozenset({"gather", "scatter", "concat"})
"""Ops of the vector pipe that have forms on others too."""


@dataclass(frozen=True, slots=True)
class EventMark:
    """`pl.Event(src, dst)` while a kernel is translated. `id`: its first id, or, of an event with a token of its own,
    its number among those of its pair of pipes; None until it has a name. `slots`: ids that it takes; `slot`: which of
    them is meant, None for the only one. `named`: a statement of the kernel has given it its id."""

    src: str
    dst: str
    auto_token: bool = True
    id: int | None = None
    slots: int = 1
    slot: Expr | None = None
    named: bool = False

    def __getitem__(self, slot: object) -> EventMark:
        """`ring[i % 2]`. TypeError for what is no integer, IndexError for a slot that is not there."""
        e = _integer(slot)
        if e is None:
            raise TypeError(f"slot {slot} of an event is not an integer")
        if isinstance(e, Const) and not 0 <= int(e.value) < self.slots:
            raise IndexError(f"slot {e.value} of an event that has {self.slots}")
        return replace(self, slot=e)


def make_event(
    src: object, dst: object, *, auto_token: bool = True, event_id: object = None, slots: object = 1
) -> EventMark:
    """What `pl.Event(...)` gives. An id that is an expression is a slot of all that there are. TypeError for a number
    of slots that is none, and for an id that is no integer."""
    if not isinstance(slots, int):
        raise TypeError(f"takes a constant number of slots{'' if is_expr(slots) else f', not {slots!r}'}")
    if event_id is None or isinstance(event_id, int):
        return EventMark(str(src), str(dst), auto_token, event_id, slots)
    slot = _integer(event_id)
    if slot is None:
        raise TypeError(f"takes an integer for event_id{'' if is_expr(event_id) else f', not {event_id!r}'}")
    return EventMark(str(src), str(dst), auto_token, 0, EVENT_IDS, slot)


def _integer(value: object) -> Expr | None:
    """A value as an integer expression; None for any other."""
    e = lift(value)
    t = type_of(e) if e is not None else None
    return e if isinstance(t, ScalarType) and t.dtype.is_integer else None


class Events:
    """The events of one kernel."""

    def __init__(self) -> None:
        self._made: Counter[tuple[str, str]] = Counter()

    def fixed(self, x: Expressions, node: _Node, mark: EventMark) -> EventMark:
        """The event with its id. LanguageError for an unknown op, for one between cores without an id, and for ids that
        there are not."""
        if mark.named:
            return mark
        try:
            pair, crossing = pair_of(mark.src, mark.dst)
        except UnknownEvent as e:
            x.fail(node, f"no op {e.name} can record or wait for an event", e.help)
        if crossing and (mark.auto_token or mark.id is None):
            x.fail(node, f"an event {mark.src} -> {mark.dst} passes between cores: its id can't be chosen here",
                   "pl.Event(..., auto_token=False, event_id=N) with the id that the other core uses")
        if not mark.auto_token and mark.id is None:
            x.fail(node, "an event without a token of its own needs an id", "pl.Event(..., event_id=N)")
        if mark.id is not None:
            ids = CROSS_IDS if crossing else EVENT_IDS
            if not 0 <= mark.id <= ids - mark.slots:
                several = f" with {mark.slots} slots" if mark.slots > 1 else ""
                x.fail(node, f"event_id is {mark.id}{several}: {mark.src} -> {mark.dst} has ids 0 to {ids - 1}",
                       "take a lower one, or leave event_id out")
            return replace(mark, auto_token=False, named=True)
        if not 1 <= mark.slots <= EVENT_IDS:
            x.fail(node, f"an event of {mark.slots} slots: a pair of pipes has {EVENT_IDS} ids",
                   "pl.Event(..., slots=2)")
        self._made[pair] += mark.slots
        return replace(mark, auto_token=True, id=self._made[pair] - mark.slots, named=True)

    def record(self, x: Expressions, node: _Node, mark: EventMark) -> Stmt:
        """The statement that records an event."""
        return self._statement("system.event_record", x, node, mark)

    def wait(self, x: Expressions, node: _Node, mark: EventMark) -> Stmt:
        """The statement that waits for an event."""
        return self._statement("system.event_wait", x, node, mark)

    def _statement(self, op: str, x: Expressions, node: _Node, mark: EventMark) -> Stmt:
        if mark.slots > 1 and mark.slot is None:
            x.fail(node, f"an event of {mark.slots} slots, and none of them is named", "e[i % 2]")
        if mark.id is not None:
            mark = self.fixed(x, node, mark)
        else:
            x.fail(node, "an event has its id from the statement of the kernel that names it, and this one has none",
                   f'e = pl.Event("{mark.src}", "{mark.dst}") in the kernel, then e')
        span: Span = x.source.span(node)
        given: dict[str, Attr] = {"src_op": mark.src, "dst_op": mark.dst, "event_id": mark.id, "slots": mark.slots,
                                  "in_turn": mark.auto_token}
        call: Call = build.make_call(op, (mark.slot,) if mark.slot is not None else (), given, span)
        return Eval(call, span)


_Placed: TypeAlias = tuple[ast.expr, EventMark]


@dataclass(frozen=True, slots=True)
class Ordered:
    """A call without its event keywords: what it waits for and records, and the event that its token is, each where it
    is written."""

    call: ast.Call
    waits: tuple[_Placed, ...]
    records: tuple[_Placed, ...]
    token: _Placed | None


def ordered(x: Expressions, node: ast.expr) -> Ordered | None:
    """A call of an op with `wait=`, `record=` or `token=`; None for any other expression."""
    if not isinstance(node, ast.Call) or not any(k.arg in ("wait", "record", "token") for k in node.keywords):
        return None
    named = {k.arg: k.value for k in node.keywords}
    rest = [k for k in node.keywords if k.arg not in ("wait", "record", "token")]
    call = ast.copy_location(ast.Call(node.func, node.args, rest), node)
    token = (named["token"], _token(x, node, named["token"])) if "token" in named else None
    waits, records = _marks(x, named.get("wait")), _marks(x, named.get("record"))
    _require_own_pipe(x, node, waits, records)
    return Ordered(call, waits, records, token)


def _require_own_pipe(
    x: Expressions, node: ast.Call, waits: tuple[_Placed, ...], records: tuple[_Placed, ...]
) -> None:
    """What stands at an op is of its pipe, where the name of the op tells that: another one's flag neither holds it
    back nor tells of it, though it reads so. LanguageError at the event."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    vector = event_pipe(f"T{name.replace('_', '').upper()}") == "V" and name not in _SEVERAL_FORMS
    own = ("V",) if vector else _OWN_PIPES.get(name, ())
    for placed, end, what in ((waits, 1, "waits for it: the op would not"),
                              (records, 0, "records it: it would tell nothing of the op")):
        for at, mark in placed:
            pipe = event_pipe((mark.src, mark.dst)[end])
            if own and pipe and pipe not in own:
                x.fail(at, f"an event {mark.src} -> {mark.dst} at pl.{name}, which runs on {' or '.join(own)}: {pipe} "
                           f"{what}", "name an op of that pipe in pl.Event, or write e.wait() or e.record() alone")


def _marks(x: Expressions, node: ast.expr | None) -> tuple[_Placed, ...]:
    if node is None:
        return ()
    nodes = node.elts if isinstance(node, ast.List | ast.Tuple) else [node]
    found: list[_Placed] = []
    for each in nodes:
        mark = event_of(x, each)
        if mark is None:
            x.fail(each, f"{ast.unparse(each)} is not an event", 'e = pl.Event("TLOAD", "TADD") makes one')
        found.append((each, mark))
    return tuple(found)


def event_of(x: Expressions, node: ast.expr) -> EventMark | None:
    """The event that an expression names: `e`, `ring[i % 2]`, or `pl.Event(...)` itself; None for anything else.
    LanguageError for a slot that is not there."""
    mark = x.static(node)
    if isinstance(mark, EventMark):
        return mark
    if isinstance(mark, Unsettled):
        x.not_modelled(node, mark.why, mark.help)
    match node:
        case ast.Subscript() if isinstance(ring := x.static(node.value), EventMark):
            try:
                return ring[x.partial(node.slice)]
            except (TypeError, IndexError) as e:
                x.fail(node, str(e), "slots count from 0")
        case ast.Call() if x.static(node.func) is make_event:
            made = x.partial(node)
            return made if isinstance(made, EventMark) else None
    return None


def _token(x: Expressions, node: ast.Call, given: ast.expr) -> EventMark:
    """The event that a call's own completion is, for the op that `token=` names."""
    consumer = x.static(given)
    if not isinstance(consumer, str):
        x.fail(given, "token= names the op that waits", 'e.g. token="TADD"')
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    if name in _NEEDS_FORM:
        x.fail(node, f"the pipe of pl.{name} depends on its memories", 'name its form: pl.Event("TMOV_M2L", "TMATMUL")')
    return EventMark(_TOKEN_SOURCES.get(name, "VECTOR"), consumer)
