"""Accesses of two blocks of a launch that may be in conflict, and what orders blocks."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from itertools import product

from pypto_verified.index import FALSE, Cond, Expr, IntLike, all_of, eq, substitute_cond, symbol, symbols_of
from pypto_verified.pto.module import EnumAttr
from pypto_verified.targets import Target
from pypto_verified.targets.pipes import Scope
from verifiers.access import BLOCK, BLOCKS, AccessProgram, Loop, Node, Step, SymbolKind
from verifiers.access import Sequence as Nodes
from verifiers.access.calls import reached
from verifiers.access.symbols import UNCONSTRAINED
from verifiers.cross_flags import named_flag
from verifiers.global_memory import adds
from verifiers.launched import TWO, counts_to_judge, two_blocks
from verifiers.pipes import shared_names
from verifiers.race.accesses import Access, accesses_of, is_global
from verifiers.race.block_values import of_the_block
from verifiers.race.blocks import OTHER, BlockSite
from verifiers.race.parts import Part, parts_of
from verifiers.race.paths import nodes
from verifiers.race.places import Box, apart, names
from verifiers.race.shown import hidden, taken_to_see
from verifiers.sites import Context, op_text
from verifiers.solver.cone import conjuncts, names_of
from verifiers.write_twice import judged, related, through_loops

_SAME = frozenset({SymbolKind.DIM, SymbolKind.SIZE, SymbolKind.PARAM, SymbolKind.LAUNCH})
"""Kinds of symbols that stand for the same in all blocks."""
_CALLERS = frozenset({SymbolKind.PARAM, SymbolKind.SIZE})
"""Kinds of symbols that a caller chooses, for all blocks alike."""


def pairs(context: Context) -> Iterator[BlockSite]:
    """Pairs of which this function has the second one; without a partner it has both."""
    own = context.program
    parts = parts_of(context) or [Part(own.func.kernel_kind, own, frozenset())]
    if not any(BLOCK in p.program.symbols.kinds for p in parts):
        return
    seen: set[Hashable] = set()
    for one, two in product(parts, (p for p in parts if p.program is own)):
        barriers = [_barriers(p, one.kind == two.kind) for p in (one, two)]
        ordered = next(filter(None, (_unfollowed(p, context.target) for p in (one, two))), "")
        for a, b in product(_global(one, context.target), _global(two, context.target)):
            parted = barriers[0][a.step.index] != barriers[1][b.step.index]
            if one.kind != two.kind and ordered:
                parted = False  # two texts, and which barriers of theirs are one depends on turns of loops
            first = barriers[0][a.step.index] < barriers[1][b.step.index]
            unseen = _unseen(context, *((one, a, two, b) if first else (two, b, one, a))) if parted else ""
            ends, alike = (_key(one, a), _key(two, b)), (parted, unseen, a is b and a.scalar)
            if (*ends, *alike) not in seen and _meet(one.program, a, b):
                seen.add((*ends, *alike))
                if one.program is own:
                    seen.add((*ends[::-1], *alike))
                yield from _compared(context, one, a, b, parted and not unseen, unseen or ordered)


def _unseen(context: Context, one: Part, a: Access, two: Part, b: Access) -> str:
    """Why what an access writes before a barrier need not be what another one reads behind it."""
    cores = ((p.program, p.foreign) for p in (one, two))
    return hidden(a, next(cores), b, next(cores), context.target, context.strict)


def _compared(context: Context, one: Part, a: Access, b: Access, parted: bool, ordered: str) -> Iterator[BlockSite]:
    def site(number: int) -> BlockSite:
        return _site(context, one, a, b, parted, ordered, number)

    def holds(number: int) -> bool:
        made = site(number)
        if made.by_data:
            return site(TWO).by_data
        return parted or context.ladder.entails(made.both & made.path & context.assumed, made.apart, brief=True)

    for number, few in counts_to_judge(context, holds):
        yield replace(site(number), few=few)


def _key(part: Part, access: Access) -> Hashable:
    """Equal for accesses of which one stands for the other, as far as no barrier stands between them."""
    return part.kind, access.place.key(), access.writes, access.step.path, _differ(part.program, access)


def _global(part: Part, target: Target) -> list[Access]:
    return [a for own in accesses_of(part.program, target).values() for a in own
            if is_global(a) and a.step.op not in part.foreign]


def _meet(program: AccessProgram, a: Access, b: Access) -> bool:
    """Whether two accesses of two blocks may be in conflict, if they share bytes. One op that both write by may be
    WRITE-TWICE's."""
    if a.place.arena != b.place.arena or not (a.writes or b.writes) or (adds(a.step) and adds(b.step)):
        return False
    return a.step is not b.step or not (a.writes and b.writes) or not judged(program.symbols, a.step)


def _placed(program: AccessProgram, access: Access) -> frozenset[str]:
    """What says where an access is."""
    return related(program.symbols, through_loops(access.step, names(access.place)))


def _behind(program: AccessProgram, access: Access) -> frozenset[str]:
    """What an access depends on."""
    return related(program.symbols, _placed(program, access) | names_of(access.step.path))


def _site(
    context: Context, one: Part, a: Access, b: Access, parted: bool, ordered: str, number: int
) -> BlockSite:
    """`number` of blocks, or ANY."""
    own, other = context.program, one.program
    involved = _behind(other, a) | _behind(own, b)
    count = {BLOCKS: number} if number else {}
    renamed: dict[str, IntLike] = {**_renamed(own, other, context.target, a), **count}
    place, path = a.place.at(renamed), substitute_cond(a.step.path, renamed)
    block, theirs = symbol(BLOCK, 0), symbol(BLOCK + OTHER, 0)
    both = all_of((
        *(substitute_cond(c, count) for c in conjuncts(own.symbols.facts)),
        *(substitute_cond(c, renamed) for c in conjuncts(other.symbols.facts)), path,
        two_blocks(block, theirs, number, alike=False)))
    here, share_none = substitute_cond(b.step.path, count), apart(place, b.place.at(count))
    kinds = {n: own.symbols.kinds.get(n) or other.symbols.kinds.get(n) for n in involved - {BLOCKS}}
    given = frozenset(n for n, k in kinds.items() if k in UNCONSTRAINED)
    somewhere, known = a.somewhere or b.somewhere, both & here & context.assumed
    # Where a loop walks over the places of other blocks, one op is taken to write there what theirs does.
    walks = a is b and a.scalar and BLOCK in involved - related(own.symbols, names(a.place))
    open_ = bool(walks or given or BLOCK not in involved or somewhere) and not parted
    by_data = open_ and not context.ladder.entails(known, share_none, brief=True)
    if by_data and not walks and not somewhere and {kinds[n] for n in given} <= _CALLERS:
        own_values = BLOCK in involved or _differ(other, a) or _differ(own, b)
        by_data = not (own_values and _always_share(context, known, share_none, (a, b), involved))
    if ordered and not parted and context.ladder.entails(known, share_none, brief=True):
        ordered = ""
    line = other.location(a.step.op).line
    does = "written" if a.writes else "read"
    return BlockSite(
        context, b.step.op, here, f"{op_text(b.step.op)} of what another block has {does} by {op_text(a.step.op)} line "
        f"{line}", b.what, a.step.op, line, (a.writes, b.writes), both, share_none, parted, ordered, by_data,
        frozenset({BLOCKS}) | (frozenset() if by_data else given),
        parted and not context.strict and (taken_to_see(a, b) or taken_to_see(b, a)))


def _differ(program: AccessProgram, access: Access) -> bool:
    """Whether blocks write different values."""
    return access.writes and access.step.index in of_the_block(program)


def _always_share(
    context: Context, known: Cond, share_none: Cond, ends: tuple[Access, Access], involved: frozenset[str]
) -> bool:
    """Whether two accesses that both happen, of some bytes each, share bytes whatever the caller passes, one way round
    of the two blocks, in the same turns of the loops around both."""
    turns = (n for n, k in context.program.symbols.kinds.items() if k is SymbolKind.TRIP and n in involved)
    some = all_of(n > 0 for e in ends if isinstance(e.place, Box) for n in e.place.sizes)
    happens = all_of((known, some, *(eq(symbol(n, 0), symbol(n + OTHER, 0)) for n in turns)))
    first_two = happens & eq(symbol(BLOCK, 0) + symbol(BLOCK + OTHER, 0), 1)
    ways = (first_two & eq(symbol(BLOCK, 0), block) for block in (0, 1))
    entails = context.ladder.entails
    return any(entails(way, ~share_none) and not entails(way, FALSE) for way in ways)


def _renamed(own: AccessProgram, other: AccessProgram, target: Target, access: Access) -> dict[str, Expr]:
    """What the other block calls its own values."""
    kinds = other.symbols.kinds
    same = frozenset(n for n, k in kinds.items() if k in _SAME)
    if other is not own:
        same &= shared_names(own, other, target)
    parts: list[Cond | Expr] = [*access.place.exprs(), access.step.path, other.symbols.facts]
    atoms = {n: a for part in parts for n, a in symbols_of(part).items()}
    return {n: symbol(n + OTHER, a.lo, a.hi) for n, a in atoms.items() if n not in same}


# What orders blocks


def _top(node: Node) -> Iterator[Node]:
    """The steps, branches and loops that stand in no branch or loop."""
    if isinstance(node, Nodes):
        for item in node.items:
            yield from _top(item)
    else:
        yield node


def _barriers(part: Part, own_kind: bool) -> dict[int, int]:
    """How many barriers of all cores stand before each step that a core of this kind runs, of those which it comes to
    whatever its sizes are; `own_kind`: those of its kind alone count."""
    found: dict[int, int] = {}
    count = 0
    for item in _top(part.program.body):
        found.update({node.index: count for node in nodes(item) if isinstance(node, Step)})
        if isinstance(item, Step) and item.op not in part.foreign and _meets(item, own_kind):
            count += 1
    return found


def _meets(step: Step, own_kind: bool) -> bool:
    """Whether a step is a barrier for the cores of both kinds, or of its own."""
    kinds = step.op.attrs.get("core_type")
    both = not isinstance(kinds, EnumAttr) or kinds.member == "mix"
    return step.op.name == "pto.syncall" and (both or own_kind)


def _unfollowed(part: Part, target: Target) -> str:
    """What may order blocks, and is not followed: a barrier in a loop or branch, a flag of all cores, or a loop that
    goes on until another block has written something."""
    plain = {item.op for item in _top(part.program.body) if isinstance(item, Step)}
    for step in part.program.steps:
        flag = named_flag(step, target)
        told = flag is not None and flag.scope is Scope.KIND
        if step.op not in part.foreign and (told or (step.op.name == "pto.syncall" and step.op not in plain)):
            line = part.program.location(step.op).line
            return f"whether {op_text(step.op)} at line {line} stands between the two is not followed"
    call = next(iter(reached(part.program.func, lambda name: name == "pto.syncall")), None)
    if call is not None:
        return f"the function that line {part.program.location(call).line} calls may wait for other blocks"
    return _polls(part.program.body, part.program)


def _polls(node: Node, program: AccessProgram) -> str:
    loop = next((n for n in nodes(node) if isinstance(n, Loop) and n.upper is None), None)
    return f"the loop at line {program.location(loop.op).line} may wait for another block" if loop is not None else ""
