"""A cube core and a vector core that run together, walked with numbers: what each has told the other.

One core stands for all of its kind: the lanes of a cluster run the same text. Only accesses to global memory count,
for the cores share no other memory. What a flag between cores, a push or a meeting of all cores tells is kept as in
`order`: the accesses that whoever learns it can't rely on.
"""

from __future__ import annotations

from collections.abc import Generator

from pypto_verified.index.cond import FALSE
from pypto_verified.targets.pipes import cross_flag
from verifiers.access import Branch, Loop, Node, Sequence, Step
from verifiers.race.accesses import is_global
from verifiers.race.dealings import Dealings
from verifiers.race.members import LANE, POPS, Member
from verifiers.race.rings import FREES
from verifiers.race.room import ALLOCATES, PUSHES
from verifiers.race.sync import sync_of
from verifiers.recurrence import counted
from verifiers.solver.cone import names_of


class Cluster(Dealings):
    """The walk. `symbolic`: places stay as the text says them, else they are numbers; `automatic`: each core's own
    order is the assembler's business and taken to be there. `pairs` by (kind and step of the earlier, of the later
    access); `stuck`: cores wait for ever, each in its step of `waiting`; `left`: sets of flags that nobody waits for in
    the end; `blind`: what is not followed, '' if nothing; `mixed`: what keeps the order of signals from being that of
    the text. `lane`: of the vector core. The core of `eager` kind goes on whenever it can; `over`: its sets that found
    a counter full; `touches`: its accesses are compared."""

    def run(self) -> None:
        """All ops of both cores."""
        going = [(m, self._walk(m, m.program.body)) for m in self.members]
        while going:
            left = []
            moved = False
            for member, walk in going:
                before = self._left
                try:
                    next(walk)
                    left.append((member, walk))
                except StopIteration:
                    moved = True
                    continue
                except ZeroDivisionError:
                    self.blind = "a division by zero"
                    return
                moved |= self._left < before
            if self._left <= 0:
                self.blind = "a run of it takes too long"
                return
            if left and not moved:
                self.stuck = True
                return
            going = left

    def _walk(self, member: Member, node: Node) -> Generator[None]:
        """Goes on until it has to wait for another core."""
        if isinstance(node, Step):
            if node.op not in member.foreign:
                yield from self._step(member, node)
        elif isinstance(node, Sequence):
            for item in node.items:
                yield from self._walk(member, item)
        elif self.symbolic and not self._orders(member, node):
            # Whatever runs of it, and how often: it moves data, and orders nothing.
            for inner in (node.then, node.orelse) if isinstance(node, Branch) else (node.body,):
                yield from self._walk(member, inner)
        elif isinstance(node, Branch):
            member.values.decide(node.cond)
            # Each lane is walked by itself: what it is asked of its own number is decided.
            open_ = not names_of(node.cond) <= {LANE} and (
                self._matters(member, node.then) or self._matters(member, node.orelse))
            if open_:
                member.why = member.why or f"of the branch at line {member.line(node.op)}"
            member.depth += open_
            yield from self._walk(member, node.then if member.values.holds(node.cond) else node.orelse)
            member.depth -= open_
        else:
            yield from self._loop(member, node)

    def _loop(self, member: Member, loop: Loop) -> Generator[None]:
        own = counted(loop)
        if not self._matters(member, loop.body):
            return
        if loop.inside is FALSE:
            yield from self._walk(member, Sequence(loop.body.items[:loop.head]))
            return
        if loop.lower is None or loop.upper is None or loop.step is None:
            self.blind = self.blind or f"the loop at line {member.line(loop.op)} is not counted"
            return
        values = member.values
        values.decide(loop.lower, loop.upper, loop.step)
        lower, upper, step = (values.of(e) for e in (loop.lower, loop.upper, loop.step))
        if any(e.value is None for e in (loop.lower, loop.upper, loop.step)):
            member.why = member.why or f"of the trip count of the loop at line {member.line(loop.op)}"
        for k in range(-((lower - upper) // step) if step > 0 else 0):
            if own is not None:
                values[own.name] = values.of(own.base) + k
            yield from self._walk(member, loop.body)
            if self._left <= 0:
                return
        if own is not None:
            values.pop(own.name, None)

    def _matters(self, member: Member, node: Node) -> bool:
        """Whether anything in there is seen by the other core."""
        key = (member.kind, id(node))
        known = self._seen_outside.get(key)
        if known is None:
            known = self._seen_outside[key] = self._matters_anew(member, node)
        return known

    def _matters_anew(self, member: Member, node: Node) -> bool:
        if isinstance(node, Step):
            accesses = self._accesses[member.kind].get(node.index, ())
            return node.op not in member.foreign and (
                any(is_global(a) for a in accesses) or sync_of(node, self.target) is not None or self._tells(node))
        if isinstance(node, Sequence):
            return any(self._matters(member, item) for item in node.items)
        if isinstance(node, Branch):
            return self._matters(member, node.then) or self._matters(member, node.orelse)
        return self._matters(member, node.body)

    def _orders(self, member: Member, node: Node) -> bool:
        """Whether anything in there says what is complete."""
        if isinstance(node, Step):
            own = not self.automatic and sync_of(node, self.target) is not None
            return node.op not in member.foreign and (own or self._tells(node))
        if isinstance(node, Sequence):
            return any(self._orders(member, item) for item in node.items)
        if isinstance(node, Branch):
            return self._orders(member, node.then) or self._orders(member, node.orelse)
        return self._orders(member, node.body)

    def _tells(self, step: Step) -> bool:
        name = step.op.name
        pipes = (*PUSHES, *POPS, *FREES.values(), *ALLOCATES)
        return name in (*pipes, "pto.syncall") or cross_flag(name, self.target.name) is not None
