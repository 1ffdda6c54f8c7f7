"""Cross-core pipes: what one core pushes and another pops, end against end, lane by lane.

The ends of a pipe are functions that initialise it over the same reserved buffer. Transfers are matched in program
order where they stand in the same loops and branches; else they only match if all pushes are of one shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from pypto_verified.dtypes import DType
from pypto_verified.errors import NotModelled
from pypto_verified.index import Cond, Expr, IntLike, all_of, substitute, substitute_cond, symbols_of
from pypto_verified.index.cond import FALSE
from pypto_verified.pto.legality_context import INITS, pipe_id
from pypto_verified.pto.legality_context import Context as ModuleFacts
from pypto_verified.pto.module import Func, Module
from pypto_verified.records import dataclass
from pypto_verified.targets import Target, target
from pypto_verified.targets.split import SPLITS, Split
from verifiers.access import BLOCK, BLOCKS, AccessProgram, Loop, Step, SymbolKind, TileUse, build_program
from verifiers.access.program import Pointer
from verifiers.access.symbols import user_name
from verifiers.pipe_nest import nest_of
from verifiers.race.accesses import accesses_of
from verifiers.recurrence import counted, trips
from verifiers.same_truths import same_truths
from verifiers.solver.cone import conjuncts

LANE = "subblock_idx"
LANES = (0, 1)
_SHARED = (SymbolKind.DIM, SymbolKind.SIZE, SymbolKind.PARAM)
"""Kinds of symbols that the functions of a kernel have in common: they get the same arguments."""


@dataclass(frozen=True, slots=True, eq=False)
class Transfer:
    """A push or a pop of `program` as one lane does it: the valid extents of its own tile. `path` holds there."""

    program: AccessProgram
    lane: int
    step: Step
    tile: TileUse
    split: Split
    path: Cond
    rows: Expr
    cols: Expr


@lru_cache(maxsize=8)
def _of_lane(program: AccessProgram, lane: int) -> tuple[Mapping[str, IntLike], Cond]:
    """The lane's own values: what its index is, and a symbol for each selection that depends on the index, with what
    is known of these."""
    symbols = program.symbols
    there: dict[str, IntLike] = {LANE: lane}
    facts = conjuncts(symbols.facts)
    grown = True
    while grown:
        named = [symbols_of(c) for c in facts]
        depending = {n: a for own in named if not there.keys().isdisjoint(own) for n, a in own.items()}
        new = [a for n, a in depending.items() if n not in there and symbols.kinds.get(n) is SymbolKind.DEFINED]
        there.update({a.name: symbols.new(f"{a.name}_of_lane_{lane}", SymbolKind.DEFINED, a.lo, a.hi) for a in new})
        grown = bool(new)
    rest = (c for c in facts if not there.keys().isdisjoint(symbols_of(c)))
    return there, all_of(substitute_cond(c, there) for c in rest)


@lru_cache(maxsize=32)
def transfers(program: AccessProgram, op: str, id: int, lane: int) -> tuple[Transfer, ...]:
    """The pushes or pops named `op` of pipe `id` that a lane may run, in program order. A cube core has no lanes."""
    found: list[Transfer] = []
    there, facts = _of_lane(program, lane)
    for step in program.steps:
        code = step.op.attrs.get("split")
        tile = step.made if step.made is not None else next(iter(step.tiles("tile")), None)
        if step.op.name != op or pipe_id(step.op) != id or tile is None or not isinstance(code, int):
            continue
        path = substitute_cond(step.path, there)
        if path is not FALSE and 0 <= code < len(SPLITS):
            rows, cols = (substitute(e, there) for e in (tile.valid_rows, tile.valid_cols))
            found.append(Transfer(program, lane, step, tile, SPLITS[code], path & facts, rows, cols))
    return tuple(found)


def used(program: AccessProgram, op: str) -> list[int]:
    """Ids of the pipes that a function uses `op` on."""
    return sorted({pipe_id(s.op) for s in program.steps if s.op.name == op})


@dataclass(frozen=True, slots=True)
class Match:
    """A transfer at this end and the one at the other; `why` says what keeps them from being compared."""

    own: Transfer
    other: Transfer
    why: str


def matched(
    own: Sequence[Transfer], others: Sequence[Transfer], peer: Peer | None = None
) -> Iterator[Match]:
    """Each transfer of one end with its counterpart at the other, of the function `peer`; without it, of another lane
    of the same function."""
    if not own or not others:
        return
    alike = len({(t.rows, t.cols, t.split, *_box(t)) for t in others}) == 1
    in_step = _in_step(own, others, peer)
    for i, transfer in enumerate(own):
        other = others[i] if in_step else others[0]
        yield Match(transfer, other, "" if in_step or alike else "the two ends transfer tiles in different orders")


def _box(transfer: Transfer) -> tuple[int, int, DType]:
    type_ = transfer.tile.type
    return type_.rows, type_.cols, type_.dtype


def _in_step(own: Sequence[Transfer], others: Sequence[Transfer], peer: Peer | None) -> bool:
    """Whether the n-th tile of each transfer is that of the transfer at its place at the other end."""
    if len(own) != len(others):
        return False
    if all(a.step is b.step for a, b in zip(own, others, strict=True)):
        return True
    mine, theirs = (
        nest_of(ts[0].program, [t.step for t in ts], {LANE: ts[0].lane, **reads})
        for ts, reads in zip((own, others), peer.reads if peer is not None else ({}, {}), strict=True))
    return mine is not None and mine == theirs and (peer is None or mine.names <= peer.known)


@dataclass(frozen=True, slots=True, eq=False)
class Peer:
    """The function at the other end, what it calls the pipe, and the symbols that mean the same in both. `reads`: in
    this function and in that one, numbers that are read where one of `shared` was. `truths`: opaque Booleans that mean
    the same."""

    program: AccessProgram
    shared: frozenset[str]
    id: int
    reads: tuple[Mapping[str, Expr], Mapping[str, Expr]] = ({}, {})
    truths: frozenset[str] = frozenset()

    @property
    def known(self) -> frozenset[str]:
        """Whatever means the same in both."""
        return self.shared | self.truths

    def comparable(self, *extents: Expr) -> bool:
        return all(n in self.shared for e in extents for n in symbols_of(e))


@lru_cache(maxsize=4)
def peers(program: AccessProgram, facts: ModuleFacts, id: int) -> tuple[Peer, ...]:
    """The functions at the other end of a pipe: those that initialise one over the same buffer, by whatever number
    (PTOAS, lowering of frontend pipes)."""
    found: list[Peer] = []
    for init in facts.funcs[program.func].inits.get(id, []):
        names = facts.buffer_names(init)
        for func, other in facts.funcs.items():
            ends = [theirs for theirs, inits in other.inits.items()
                    if any(op.name != init.name and facts.buffer_names(op) & names for op in inits)]
            made = _program(func, program, facts.target) if ends else None
            if made is not None:
                shared = shared_names(program, made, target(facts.target))
                more, reads = same_reads(program, made, target(facts.target), shared)
                truths = same_truths(program, made, _same_arguments(program, made))
                found += [Peer(made, more, theirs, reads, truths) for theirs in ([id] if id in ends else ends)]
    return tuple(found)


def _program(func: Func, own: AccessProgram, target: str) -> AccessProgram | None:
    if func is own.func:
        return own
    try:
        return build_program(func, own.file, target)
    except NotModelled:
        return None


def shared_names(a: AccessProgram, b: AccessProgram, chip: Target) -> frozenset[str]:
    """Symbols of arguments that both functions have, in the same place, those of the block, which both run for, and of
    what both read at one place of a tensor that neither writes."""
    same = _same_arguments(a, b)
    shared = {BLOCK, BLOCKS, *(
        n for n in same if a.symbols.kinds.get(n) in _SHARED and b.symbols.kinds.get(n) in _SHARED)}
    loads, others = _loaded(a), _loaded(b)
    written = {x.place.arena for p in (a, b) for own in accesses_of(p, chip).values() for x in own if x.writes}
    for name in loads.keys() & others.keys():
        (base, place, _), (other, there, _) = loads[name], others[name]
        if base == other and base in same and ("gm", base) not in written and place.uid == there.uid and (
                shared.issuperset(symbols_of(place))):
            shared.add(name)
    return frozenset(shared)


def _same_arguments(a: AccessProgram, b: AccessProgram) -> frozenset[str]:
    """Arguments that both functions have, in the same place."""
    return frozenset(
        x.name for x, y in zip(a.func.args, b.func.args, strict=False) if x.name == y.name and x.type == y.type)


Reads = tuple[Mapping[str, Expr], Mapping[str, Expr]]


def same_reads(
    a: AccessProgram, b: AccessProgram, chip: Target, shared: frozenset[str]
) -> tuple[frozenset[str], Reads]:
    """(`shared` and names of numbers that `a` and `b` read at one place of a tensor that neither writes; for `a` and
    for `b`, what else is read there, as that number). Only the first number that `a` read at a place keeps its name."""
    same = _same_arguments(a, b)
    written = {x.place.arena for p in (a, b) for own in accesses_of(p, chip).values() for x in own if x.writes}
    first: dict[tuple[str, int, Turns], Expr] = {}
    reads: tuple[dict[str, Expr], dict[str, Expr]] = ({}, {})
    for program, made in zip((a, b), reads, strict=True):
        known: dict[str, Turns] = dict.fromkeys(shared, ())
        for name, (base, place, loops) in _loaded(program).items():
            at = substitute(place, made)
            turns = _turns(symbols_of(at), loops, known, made)
            if base not in same or ("gm", base) in written or turns is None:
                continue
            if program is a:
                first.setdefault((base, at.uid, turns), program.symbols.shown[name].expr)
            if (base, at.uid, turns) in first:
                made[name] = first[base, at.uid, turns]
                known.update(dict.fromkeys(symbols_of(made[name]), turns))
    mine, theirs = reads
    read = {n for e in theirs.values() for n in symbols_of(e)}
    taken = {n for n in read if n in b.symbols.kinds and (n not in theirs or n not in symbols_of(theirs[n]))}
    if taken:
        return shared, ({}, {})  # the name means something else there
    return shared | read, (mine, theirs)


Turns = tuple[tuple[str, int, int], ...]
"""Loops in which a number may be another one in each turn, outermost first: counter, its start, how many turns."""


def _turns(
    names: Iterable[str], loops: Sequence[Loop], known: Mapping[str, Turns], made: Mapping[str, Expr]
) -> Turns | None:
    """The turns on which a number depends that is computed from `names` within `loops`; None if it depends on more than
    on those and on what is `known`."""
    found: list[tuple[str, int, int]] = []
    for loop in loops:
        own, times = counted(loop), trips(loop)
        times = substitute(times, made) if times is not None else None
        if own is None or times is None or not known.keys() >= symbols_of(times, own.base).keys():
            break
        found.append((own.name, own.base.uid, times.uid))
    depth = 0
    for name in names:
        at = next((n for n, turn in enumerate(found, 1) if turn[0] == name), None)
        if at is None and (name not in known or known[name] != tuple(found[:len(known[name])])):
            return None
        depth = max(depth, at if at is not None else len(known[name]))
    return tuple(found[:depth])


def _loaded(program: AccessProgram) -> dict[str, tuple[str, Expr, tuple[Loop, ...]]]:
    """What is read from memory as a number: the pointer, the element and the loops around, by the name of the
    number."""
    found: dict[str, tuple[str, Expr, tuple[Loop, ...]]] = {}
    twice: set[str] = set()
    for step in program.steps:
        if step.op.name == "pto.load_scalar":
            name = user_name(step.op.result.name)
            pointer, index = (next(iter(step.operands.get(g, ())), None) for g in ("ptr", "offset"))
            if name in found:
                twice.add(name)
            if isinstance(pointer, Pointer) and isinstance(index, Expr):
                found[name] = pointer.base, pointer.offset + index, step.loops
    return {n: x for n, x in found.items() if n not in twice and program.symbols.kinds.get(n) is SymbolKind.DATA}


@lru_cache(maxsize=1)
def facts_of(key: int, funcs: tuple[Func, ...], target: str) -> ModuleFacts:
    """What a module says of its pipes; `key` tells modules apart."""
    return ModuleFacts(Module(list(funcs)), target, "")


def through_memory(program: AccessProgram, id: int) -> bool:
    """Whether the slots of a pipe lie in global memory."""
    inits = [s.op for s in program.steps if s.op.name in INITS and pipe_id(s.op) == id]
    return any("gm_slot_buffer" in op.args or "gm_slot_tensor" in op.args for op in inits)
