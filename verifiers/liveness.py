"""Who wrote what a tile reads: a byte-exact flow over the access program, from `.pto` text alone.

The text has handles and addresses, no values. What counts as a clobber is defined on handles (one per alloc; views
count as their root). A read of handle A sees bytes that were last written through another handle B, and:

1. A had been written at those bytes before B was: B destroyed A's value. Two exceptions when B is exactly A's bytes
   and holds elements of A's type, the two ways in which compilers print one buffer under several names:
   - carried: the write came around a loop in which that buffer is also read before it, or nothing reads B by its own
     name, so it is the next value of a loop-carried tile (whether the right value is carried is a question of
     translation, not of placement);
   - merged: A's own writes come from earlier iterations, and B wrote in a branch that has ended, an arm producing A.
2. A was never written through itself, so it stands for what others write (a branch or loop result, a relabelled tile):
   what B wrote before A was declared is what A was declared for, and B in a region nested inside A's is an arm that
   produces A. B at A's own level after A's declaration is a clobber.

Reuse after the last read is never seen, since nothing reads. Zero-trip loops are joined in; a write at a constant
place replaces what was there, a write at a symbolic place may. A write replaces its tile's physical bytes: whether the
valid part covers what is read later is for the VALID rules. The assembler places roots without addresses apart.
"""

from __future__ import annotations

from dataclasses import field, replace
from functools import lru_cache

from pypto_verified.layouts import BLayout
from pypto_verified.records import dataclass
from verifiers.access import AccessProgram, Branch, Loop, Node, Root, Sequence, Step, TileUse
from verifiers.access.overlap import is_identity, needed, possible_bytes, touched
from verifiers.clobber import Clobber, clobber_of
from verifiers.reaching import around
from verifiers.regions import MERGING
from verifiers.write_state import Reach, Source, State, Write, same_arena, same_extent


@dataclass(slots=True, eq=False)
class Read:
    """A read of `tile` at `step` and all that may spoil it. `written`: some write of those bytes may reach it. `lent`:
    writes through other handles that the handle stands for."""

    step: Step
    tile: TileUse
    clobbers: dict[Source, Clobber] = field(default_factory=dict)
    lent: dict[Write, None] = field(default_factory=dict)
    written: bool = False


class Flow:
    """The result: one `Read` for each tile operand that an op reads."""

    def __init__(self, program: AccessProgram) -> None:
        self.reads: dict[tuple[int, int], Read] = {}
        self._writes: dict[tuple[int, int], Write] = {}
        self._heads: dict[Loop, State] = {}
        self._homes = {d.tile.root: d for d in reversed(program.defined)}
        self._program = program
        self._last_reads = _last_reads(program)
        self._run(program.body, State())

    def _run(self, node: Node, state: State) -> State:
        if isinstance(node, Step):
            self._step(node, state)
            return state
        if isinstance(node, Sequence):
            for item in node.items:
                state = self._run(item, state)
            return state
        if isinstance(node, Branch):
            other = self._run(node.orelse, state.copy())
            state = self._run(node.then, state)
            state.join(other)
            return state
        return self._loop(node, state)

    def _loop(self, loop: Loop, state: State) -> State:
        """The least state at the head that holds on entry and after any number of iterations.

        A loop keeps its head from visit to visit, for loops around it come by with states that only grow: the least
        fixpoint over all loops at once is the one of loops within loops, and no body runs again for a known entry.
        """
        head = self._heads.get(loop)
        if head is None:
            head = self._heads[loop] = state.copy()
        elif not head.join(state):
            return self._left(loop, head.copy())
        while head.join(self._around(self._run(loop.body, head.copy()), loop)):
            pass
        return self._left(loop, head.copy())

    def _left(self, loop: Loop, state: State) -> State:
        """The state behind a loop. The head after the last iteration is also the exit, entered zero times it is the
        entry; a while loop computes its condition once more."""
        return self._run(Sequence(loop.body.items[:loop.head]), state)

    def _step(self, step: Step, state: State) -> None:
        merging = step.writes() if step.op.name in MERGING else ()
        for i, tile in enumerate(step.reads()):
            if tile not in merging:
                self._read(step, i, needed(step, tile), state)
        if any(is_identity(step, a, b) for a in step.reads() if a not in merging for b in step.writes()):
            return
        for i, tile in enumerate(step.writes()):
            write = self._writes.get((step.index, i))
            if write is None:
                write = self._writes[step.index, i] = Write(step, _written(step, tile))
            self._forget_unread(state, step)
            state.write(write)

    def _forget_unread(self, state: State, step: Step) -> None:
        """Drop what handles wrote themselves that no step from here on reads: nobody asks who destroyed it."""
        for key in [key for key in state.own if self._last_reads.get(key[0], -1) < step.index]:
            del state.own[key]

    def _read(self, step: Step, number: int, tile: TileUse, state: State) -> None:
        read = self.reads.setdefault((step.index, number), Read(step, tile))
        wanted = possible_bytes(tile)
        fresh, carried = state.own.get((tile.root, False), 0), state.own.get((tile.root, True), 0)
        for source, reach in state.reach.items():
            other = source.write.tile
            if not same_arena(tile.root, other.root) or not reach.bytes & wanted:
                continue
            read.written = True
            if other.root is tile.root or tile.root in reach.renewed:
                continue
            if self._is_clobber(read, source, reach, wanted, bool(fresh | carried)):
                read.clobbers.setdefault(source, clobber_of(step, tile, source))
            elif not fresh | carried:
                read.lent[source.write] = None

    def _is_clobber(self, read: Read, source: Source, reach: Reach, wanted: int, own: bool) -> bool:
        """`wanted`: bytes of the read; `own`: the handle has been written through itself."""
        root, write = read.tile.root, source.write
        home = self._homes.get(root)
        nested = home is not None and _inside(write.step.region, home.region)
        shared = reach.bytes & wanted
        fresh, carried = (reach.victims.get((root, came), 0) & shared for came in (False, True))
        if fresh or carried:
            if not same_extent(root, write.tile.root):
                return True
            arm = write.step.region
            merged = nested and not fresh and read.step.region[:len(arm)] != arm
            return not merged and not self._is_carried(source)
        if own or home is None:
            return False
        # In a later iteration of a loop around the declaration, what came around that loop is older.
        older = write.step.index < home.position or any(id(x) in source.around for x in home.loops)
        return not older and not nested

    def _is_carried(self, source: Source) -> bool:
        """Whether the write came around a loop in which the buffer is read before, under whichever name; or which it
        only leaves for others to read."""
        write = source.write
        left_to_others = write.tile.root not in self._last_reads
        return any(
            id(loop) in source.around and (left_to_others or any(
                loop in around(self._program, r.step) and r.step.index <= write.step.index
                and same_extent(r.tile.root, write.tile.root) for r in self.reads.values()))
            for loop in write.step.loops)

    def _around(self, end: State, loop: Loop) -> State:
        """What the next iteration, or what follows the loop, sees: writes of the body have come around it, and handles
        made in the body are new ones."""
        made = State()
        for source, reach in end.reach.items():
            inside = any(x is loop for x in source.write.step.loops)
            moved = Source(source.write, source.around | {id(loop)}) if inside else source
            left = Reach(
                reach.bytes, frozenset(r for r in reach.renewed if not self._made_in(r, loop)),
                {v: lost for v, lost in reach.victims.items() if not self._made_in(v[0], loop)})
            known = made.reach.get(moved)
            if known is None:
                made.reach[moved] = left
            else:
                known.merge(left)
        for (root, came), bytes_ in end.own.items():
            if not self._made_in(root, loop):
                key = (root, came or self._written_in(root, loop))
                made.own[key] = made.own.get(key, 0) | bytes_
        return made

    def _written_in(self, root: Root, loop: Loop) -> bool:
        return any(w.tile.root is root and loop in w.step.loops for w in self._writes.values())

    def _made_in(self, root: Root, loop: Loop) -> bool:
        home = self._homes.get(root)
        return home is not None and any(x is loop for x in home.loops)


@lru_cache(maxsize=1)
def flow_of(program: AccessProgram) -> Flow:
    """The flow of a program; the rules that ask for it do so one after the other."""
    return Flow(program)


def _last_reads(program: AccessProgram) -> dict[Root, int]:
    """The index of the last step before which each handle may still be read, over all iterations of loops."""
    ends = {loop: step.index for step in program.steps for loop in around(program, step)}
    found: dict[Root, int] = {}
    for step in program.steps:
        last = max((ends[loop] for loop in around(program, step)), default=step.index)
        found |= {tile.root: max(last, found.get(tile.root, last)) for tile in step.reads()}
    return found


def _inside(inner: tuple[int, ...], outer: tuple[int, ...]) -> bool:
    """Whether one region lies strictly within another."""
    return len(inner) > len(outer) and inner[:len(outer)] == outer


def _written(step: Step, tile: TileUse) -> TileUse:
    """The part of a tile that counts as written: of a window that a move fills its valid elements, where their number
    is known, for what lies beside them is still the tile's; all that the op touches elsewhere."""
    part = touched(step, tile)
    rows, cols = tile.valid_rows.value, tile.valid_cols.value
    if part is not tile or step.op.name != "pto.tmov" or tile.how != "subview" or rows is None or cols is None:
        return part
    if tile.type.boxed or tile.type.blayout is not BLayout.ROW or tile.rect.rows != tile.type.rows:
        return part
    return replace(tile, rect=replace(tile.rect, rows=rows, row_bytes=cols * tile.type.dtype.bytes))
