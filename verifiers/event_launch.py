"""EVENT: barriers of all cores, and how many blocks a kernel is launched with. A launch that the kernel's file has is
known; of a text alone the number of blocks is not."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from pypto_verified.index import Cond, Expr, const, eq, symbols_of
from pypto_verified.index.cond import TRUE, as_cond
from pypto_verified.pto.lanes import first_lane_alone
from pypto_verified.pto.module import EnumAttr
from pypto_verified.records import dataclass
from pypto_verified.targets.pipes import Scope
from verifiers.access import Branch, Loop, Node, Sequence, Step, SymbolKind
from verifiers.access.symbols import user_name
from verifiers.cross_flags import named_flag
from verifiers.flags import kinds_of, sections_of
from verifiers.launched import limited
from verifiers.options import Launch
from verifiers.race.members import workspace_of
from verifiers.rule import SAFETY, Rule, Witness, always
from verifiers.sites import Context, Site, op_text
from verifiers.solver.cone import conjuncts, names_of

_OWN = frozenset({SymbolKind.BLOCK, SymbolKind.DATA, SymbolKind.OPAQUE})
"""Kinds of symbols whose values may be others on each core."""
_KINDS = {"aiv_only": ("vector",), "aic_only": ("cube",), "mix": ("cube", "vector")}


@dataclass(frozen=True, slots=True)
class LaunchSite(Site):
    """A barrier that waits until `cores` of a kind have come, in a launch of `blocks`. `absent`: the kind of core that
    it waits for and no text of the kernel is for, `alone`: and it waits for no other; `launch`: where it is known;
    `apart`: what may have cores come there less often than others; `most`: of a soft barrier, as many as the chip has
    cores for at one time, None where that is not asked (assumption FEW-BLOCKS); `named`: the text says for how many
    cores it waits, and `blocks` and `most` count cores too."""

    blocks: Expr
    cores: Expr
    absent: str = ""
    alone: bool = False
    launch: Launch | None = None
    apart: str = ""
    soft: bool = False
    named: bool = False
    most: Expr | None = None

    @property
    def together(self) -> bool:
        return self.soft or self.launch is None or self.launch.together

    @property
    def why(self) -> str:
        unknown = self.launch is not None and self.launch.blocks is None and not self.absent
        if unknown and self.launch is not None:
            return f"how many blocks line {self.launch.line} launches is not known"
        return self.apart


def _meetings(context: Context) -> Iterator[LaunchSite]:
    """Each such barrier, in each launch. A soft one asks for the cores of the launch, a hard one for those of the
    chip, and so does a flag of all cores of a kind, of which a hard one is made."""
    for step in context.program.steps:
        mode, flag = step.op.attrs.get("mode"), named_flag(step, context.target)
        told = flag is not None and flag.sets and flag.scope is Scope.KIND
        if not told and (step.op.name != "pto.syncall" or not isinstance(mode, EnumAttr)):
            continue
        blocks, apart = context.program.symbols.shown["block_num"].expr, comes_apart(context, step)
        if isinstance(mode, EnumAttr) and mode.member == "soft":
            yield from _soft(context, step, blocks, apart)
            continue
        cores, absent, alone = _awaited(context, step)
        for launch in context.launches or (None,):
            known = launch.blocks if launch is not None else None
            label = op_text(step.op) + (f" launched at line {launch.line}" if launch is not None else "")
            yield LaunchSite(
                context, step.op, step.path, label, const(known) if known is not None else blocks, cores, absent,
                alone, launch, apart)


def _soft(context: Context, step: Step, blocks: Expr, apart: str) -> Iterator[LaunchSite]:
    """A soft barrier waits for the cores of the launch, or for as many as it names: 0 are those of the launch (PTO-ISA
    syncall_soft.hpp). Blocks that begin when others have ended never come."""
    own, label = _kinds(context), op_text(step.op)
    given = next(iter(step.operands.get("used_cores", ())), None)
    cores = given if isinstance(given, Expr) else None
    named = "used_cores" in step.op.args and (cores is None or cores.value != 0)
    why = apart or ("for how many cores it waits is not expressed" if named and cores is None else "")
    wanted = _wanted(step)
    own = own or set(wanted)
    absent = "" if named else next((kind for kind in wanted if kind not in own), "")
    each = sum(context.target.lanes_per_cube if kind == "vector" and "cube" in own else 1 for kind in wanted) if (
        named) else 1
    asked = bool(context.launches) or limited(context) or context.strict
    room = const(_room(context, own) * each) if asked else None
    for launch in context.launches or (None,):
        known = const(launch.blocks) if launch is not None and launch.blocks is not None else blocks
        where = f" launched at line {launch.line}" if launch is not None else ""
        yield LaunchSite(
            context, step.op, step.path, label + where, known * each,
            cores if named and cores is not None else known * each, absent, own.isdisjoint(wanted), launch, why,
            soft=True, named=named, most=room)


def _room(context: Context, own: set[str]) -> int:
    """How many blocks of a kernel for such cores the chip runs at one time."""
    return context.target.cubes * (context.target.lanes_per_cube if own == {"vector"} else 1)


def _wanted(step: Step) -> tuple[str, ...]:
    """The kinds of cores that a barrier is for."""
    named = step.op.attrs.get("core_type")
    return _KINDS.get(named.member, ()) if isinstance(named, EnumAttr) else ()


def comes_apart(context: Context, step: Step) -> str:
    """Why cores may come to a step more or less often than others: each has a block and a lane of its own, and may read
    other data. '' if all come equally often."""
    program = context.program
    if step.op in first_lane_alone(program.func, context.target):
        return "the second vector core of each cube does not come to it"
    names: set[str] = set()
    for node in _around(program.body, step) or ():
        if isinstance(node, Branch):
            if _barriers(node.then, context) != _barriers(node.orelse, context):
                names |= names_of(node.cond)
        elif node.lower is None or node.upper is None or node.step is None:
            return f"the loop at line {program.location(node.op).line} is not counted, and cores may turn it less often"
        else:
            names |= symbols_of(node.lower, node.upper, node.step).keys()
    kinds, facts = program.symbols.kinds, [names_of(c) for c in conjuncts(program.symbols.facts)]
    reached, todo = set(names), [n for n in names if kinds.get(n) is SymbolKind.DEFINED]
    while todo:
        made = todo.pop()
        new = set().union(*(own for own in facts if made in own)) - reached
        reached |= new
        todo += [n for n in new if kinds.get(n) is SymbolKind.DEFINED]
    own = sorted(user_name(n) for n in reached if kinds.get(n, SymbolKind.OPAQUE) in _OWN)
    return f"cores may come to it less often than others: that depends on {', '.join(own)}" if own else ""


def _around(node: Node, step: Step) -> list[Branch | Loop] | None:
    """The branches and loops around a step; None if it is not in there."""
    if isinstance(node, Step):
        return [] if node is step else None
    if isinstance(node, Sequence):
        return next((found for item in node.items if (found := _around(item, step)) is not None), None)
    for inner in (node.then, node.orelse) if isinstance(node, Branch) else (node.body,):
        found = _around(inner, step)
        if found is not None:
            return [node, *found]
    return None


def _barriers(node: Node, context: Context) -> tuple[Hashable, ...]:
    """The barriers of cores that a core comes to, and the flags of its kind, in their order; equal for code that comes
    to the same."""
    if isinstance(node, Step):
        op, flag = node.op, named_flag(node, context.target)
        if flag is not None:
            named = flag.id.uid if flag.id is not None else id(node)
            return () if flag.between_kinds else ((flag.scope, flag.sets, named),)
        if op.name != "pto.syncall":
            return ()
        return ((str(op.attrs.get("mode")), str(op.attrs.get("core_type")), workspace_of(node, context.program.func)),)
    if isinstance(node, Sequence):
        return tuple(one for item in node.items for one in _barriers(item, context))
    if isinstance(node, Branch):
        then, orelse = _barriers(node.then, context), _barriers(node.orelse, context)
        return then if then == orelse else (("if", id(node)),)
    body = _barriers(node.body, context)
    if not body or node.lower is None or node.upper is None or node.step is None:
        return (("loop", id(node)),) if body else ()
    return (("for", node.lower.uid, node.upper.uid, node.step.uid, body),)


def _awaited(context: Context, step: Step) -> tuple[Expr, str, bool]:
    """How many blocks fill the chip, a kind of core that would have to come and does not run this kernel, and whether
    no other would. A block of a kernel for both kinds takes a cube with its vector cores, else it takes one core."""
    wanted = _wanted(step)
    if step.op.name != "pto.syncall":
        wanted = (kinds_of(context.program)(step) or "vector",)
    own = _kinds(context) or set(wanted)
    absent = next((kind for kind in wanted if kind not in own), "")
    return const(_room(context, own)), absent, own.isdisjoint(wanted)


def _kinds(context: Context) -> set[str]:
    """Kinds of cores that the kernel of a function says it is for."""
    module = context.module
    known = {f.kernel_kind for f in (module.funcs if module is not None else ()) if f.kernel_kind}
    return (known | {context.program.func.kernel_kind, *sections_of(context.program)}) - {""}


def _enough(s: LaunchSite) -> Cond:
    fits = eq(s.blocks, s.cores)
    fits = fits | eq(s.cores, 0) if s.named else fits
    return as_cond(s.together and not s.absent) & fits & (s.blocks <= s.most if s.most is not None else TRUE)


def _left_open(s: LaunchSite) -> bool:
    """Whether the number of blocks fits, or may be that of those that come, and it is open whether all of them do."""
    return bool(s.apart) and (s.named or _enough(s) is TRUE)


def _goal(s: LaunchSite) -> Cond:
    return _enough(s) & as_cond(not _left_open(s))


def _explain(s: LaunchSite, w: Witness) -> str:
    if s.absent and s.alone:
        return f"{op_text(s.op)} is a barrier of {s.absent} cores, and the kernel runs on none: nobody meets there"
    if s.absent:
        return f"{op_text(s.op)} waits for {s.absent} cores too, and the kernel runs on none: it waits for ever"
    where = f" (line {s.launch.line})" if s.launch is not None else ""
    if s.soft and w(s.blocks) == w(s.cores):
        what = "cores" if s.named else "blocks"
        return (f"{op_text(s.op)} waits for {w(s.cores)} {what} to come{where}, and some of them start only when "
                "others have ended: the chip has too few cores")
    if s.named:
        how = "some go on before others come" if w(s.blocks) > w(s.cores) else "each waits for ever"
        return f"{op_text(s.op)} waits for {w(s.cores)} cores, and {w(s.blocks)} come to it{where}: {how}"
    if w(s.blocks) == w(s.cores):
        return (f"{op_text(s.op)} waits for {w(s.cores)} blocks to come, and the launch{where} may start some of them "
                "only when others have ended")
    waits = s.op.name == "pto.syncall"
    return (f"{op_text(s.op)} {'waits for' if waits else 'is passed on when given by'} all {w(s.cores)} cores of the "
            f"chip, and {w(s.blocks)} blocks run{where}: {'it waits' if waits else 'who waits for it waits'} for ever")


def _help(s: LaunchSite) -> str:
    if s.absent:
        return f"name the kind of cores that run the kernel, not the {s.absent} cores"
    if s.named:
        return "leave the number of cores out: the barrier then waits for those of the launch"
    if s.launch is not None and not s.together and s.launch.blocks == s.cores.value:
        return "launch it with sync_start=True"
    if s.soft:
        return "launch no more blocks than the chip has cores for"
    return f"launch {s.cores!r} blocks, or use the soft form of syncall, which waits for those that are launched"


EVENT_LAUNCH: Rule[LaunchSite] = Rule(
    id="EVENT-LAUNCH",
    formula="blocks = cores, for a barrier that waits for all cores of the chip, and all run at one time",
    kind=SAFETY, observable=False, requires=("EV-06",), source="PTO-ISA SyncAll.hpp; pypto#1940",
    unseen="a replay runs one block",
    claim="a barrier of all cores is reached by as many cores as it waits for",
    sites=_meetings, applies=always, assumptions=("LAUNCH-ALONE", "FEW-BLOCKS"),
    unneeded=lambda s: () if s.soft and s.most is None else ("FEW-BLOCKS",), undecided=lambda s: s.why,
    given=lambda s: not _left_open(s), goal=_goal, explain=_explain, help=_help,
    mutant=lambda s: s.blocks <= s.cores,
)


RULES = (EVENT_LAUNCH,)
