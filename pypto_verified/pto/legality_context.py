"""What legality rules ask about a module as a whole, gathered in one walk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pypto_verified.pto.callgraph import components
from pypto_verified.pto.dominance import Places
from pypto_verified.pto.module import AttrValue, Block, Func, Module, Op, Symbol, Value

INITS = ("pto.aic_initialize_pipe", "pto.aiv_initialize_pipe")
PIPES = (*INITS, "pto.initialize_l2l_pipe", "pto.initialize_l2g2l_pipe")
BUFFERS = ("pto.reserve_buffer", "pto.import_reserved_buffer")
_SETTERS = ("pto.set_quant_scalar", "pto.set_quant_vector")
_POINTERS = ("pto.inttoptr", "pto.declare_struct")
"""Ops whose results' users rules ask about."""
_SECTIONS = {"pto.section.cube": "cube", "pto.section.vector": "vector"}


def pipe_id(op: Op) -> int:
    """The id of the pipe that an op belongs to; 0 if it is not given."""
    value = op.attrs.get("id", 0)
    return value if isinstance(value, int) else 0


class FuncFacts:
    """One function: its pipes by id, the split codes and the pushes and pops on them, how often a buffer is made or
    imported, the functions it calls, the names of its ops."""

    def __init__(self) -> None:
        self.inits: dict[int, list[Op]] = {}
        self.splits: dict[int, set[int]] = {}
        self.transfers: dict[tuple[str, int], list[Op]] = {}
        self.calls: set[str] = set()
        self.buffers: Counter[tuple[str, AttrValue, AttrValue]] = Counter()
        self.names: set[str] = set()


class Context:
    """A module at a target and level: constants, who makes a value, the sections of ops, the facts of functions."""

    def __init__(self, module: Module, target: str, level: str) -> None:
        self.module = module
        self.target = target
        self.level = level
        self.constants: dict[Value, int] = {}
        self.producers: dict[Value, Op] = {}
        self.sections: dict[Op, str] = {}
        self.funcs: dict[Func, FuncFacts] = {}
        self.pipe_ends: dict[str, list[Op]] = {}
        self.users: dict[Value, list[Op]] = {}
        self.homes: dict[Op, Func] = {}
        self.handle_splits: dict[Value, set[int]] = {}
        self._components: dict[str, int] | None = None
        self._settings: set[tuple[Block, str, int]] = set()
        self._set_before: dict[Op, set[str]] = {}
        self._places: dict[Func, Places] = {}
        self._by_name = {func.name: func for func in module.funcs}
        for func in module.funcs:
            self.funcs[func] = FuncFacts()
            if func.body is not None:
                for op, section, block in _with_section(func.body):
                    self._gather(func, op, section)
                    if op.name in _SETTERS:
                        self._settings.add((block, op.name, pipe_id(op)))
                    elif op.name == "pto.tpush_to_aiv":
                        self._set_before[op] = {n for n in _SETTERS if (block, n, pipe_id(op)) in self._settings}

    def _gather(self, func: Func, op: Op, section: str) -> None:
        for result in op.results:
            self.producers[result] = op
        if op.name in _POINTERS:
            self.users[op.result] = []
        for value in op.operands():
            if value in self.users:
                self.users[value].append(op)
        self._gather_constant(op)
        if section:
            self.sections[op] = section
        facts = self.funcs[func]
        facts.names.add(op.name)
        if op.name in PIPES:
            self.homes[op] = func
            for name in self.buffer_names(op):
                self.pipe_ends.setdefault(name, []).append(op)
        if op.name in INITS:
            facts.inits.setdefault(pipe_id(op), []).append(op)
        split, handle = op.attrs.get("split"), op.opt("pipe_handle")
        if isinstance(split, int) and handle is not None:
            self.handle_splits.setdefault(handle, set()).add(split)
        elif isinstance(split, int):
            facts.splits.setdefault(pipe_id(op), set()).add(split)
            facts.transfers.setdefault((op.name, pipe_id(op)), []).append(op)
        callee = op.attrs.get("callee")
        if isinstance(callee, Symbol):
            facts.calls.add(callee.name)
        if op.name in BUFFERS:
            facts.buffers[op.name, op.attrs.get("name"), op.attrs.get("peer_func")] += 1

    def _gather_constant(self, op: Op) -> None:
        value = op.attrs.get("value")
        if op.name == "arith.constant" and isinstance(value, int) and not isinstance(value, bool):
            self.constants[op.result] = value

    def is_circular(self, caller: str, callee: str) -> bool:
        """Whether a call leads back to its caller, directly or not."""
        if self._components is None:
            self._components = components({f.name: facts.calls for f, facts in self.funcs.items()})
        return self._components.get(caller) == self._components.get(callee, -1)

    def dominates(self, func: Func, first: Op, then: Op) -> bool:
        """Whether `first` has run whenever `then` runs, both of one function."""
        if func not in self._places:
            self._places[func] = Places(func)
        return self._places[func].dominates(first, then)

    def splits_of(self, pipe: Op) -> set[int]:
        """The split codes of the ops on a pipe, in the function of this end."""
        if pipe.name in INITS:
            return self.funcs[self.homes[pipe]].splits.get(pipe_id(pipe), set())
        return self.handle_splits.get(pipe.result, set())

    def is_set(self, push: Op, setter: str) -> bool:
        """Whether the op `setter` stands in front of a push, in its block and for its pipe."""
        return setter in self._set_before.get(push, ())

    def buffer_names(self, init: Op) -> set[str]:
        """Names of the buffers that an end of a pipe reserves or imports."""
        makers = (self.producers.get(value) for value in init.operands())
        names = (maker.attrs.get("name") for maker in makers if maker is not None and maker.name in BUFFERS)
        return {name for name in names if isinstance(name, str)}

    def reserves(self, peer: AttrValue, name: AttrValue) -> bool:
        """Whether the function `peer` reserves a buffer of that name."""
        func = self._by_name.get(peer.name) if isinstance(peer, Symbol) else None
        return func is not None and self.funcs[func].buffers["pto.reserve_buffer", name, None] > 0


def _with_section(body: Block) -> Iterator[tuple[Op, str, Block]]:
    """Every op with the kind of the innermost section around it, '' outside of sections, and its block."""
    stack = [(iter(block.ops), "", block) for block in reversed((body, *body.followers))]
    while stack:
        ops, section, home = stack[-1]
        op = next(ops, None)
        if op is None:
            stack.pop()
            continue
        yield op, section, home
        inner = _SECTIONS.get(op.name, section)
        stack += [(iter(block.ops), inner, block)
                  for region in reversed(op.regions) for block in reversed((region, *region.followers))]
