"""One passing and one violating kernel for each rule about flags; the two texts differ in one field."""

from __future__ import annotations

from tests.verifiers.examples import Pair
from tests.verifiers.kernels import alloc, fill, kernel, out, tile

VEC = tile()
COLUMN = tile(32, 8)


def flag(what: str, id: int = 0, pair: str = "MTE2 V") -> str:
    """`set_flag` or `wait_flag` with a constant id."""
    src, dst = pair.split()
    return f"pto.{what}_flag[<PIPE_{src}>, <PIPE_{dst}>, <EVENT_ID{id}>]"


def computed(what: str, id: str, pair: str = "MTE2 V") -> str:
    """`set_flag_dyn` or `wait_flag_dyn` with the id in a value."""
    src, dst = pair.split()
    return f"pto.{what}_flag_dyn[#pto.pipe<PIPE_{src}>, #pto.pipe<PIPE_{dst}>, %{id}]"


def loop(trips: str, *body: str, lower: str = "c0") -> str:
    """`for i in lower .. trips`."""
    return "\n".join((f"scf.for %i = %{lower} to %{trips} step %c1 {{", *body, "}"))


def branch(condition: str, *body: str) -> str:
    """`body` where the comparison holds."""
    name = "".join(c for c in condition + "".join(body) if c.isalnum())
    return "\n".join((f"%if_{name} = arith.cmpi {condition} : index", f"scf.if %if_{name} {{", *body, "}"))


def flags(*body: str) -> str:
    """A kernel of `M` iterations with these flags."""
    return kernel("\n".join(body), "%M: index")


def _balanced(waited: int) -> str:
    """Each iteration sets flag 0 and waits for one."""
    return flags(loop("M", flag("set", 0), flag("wait", waited)))


def _passed_on(last: str) -> str:
    """A flag set before a loop of four; each iteration waits for it, those before `last` set it again."""
    return flags(flag("set"), loop("c4", flag("wait"), branch(f"slt, %i, %{last}", flag("set"))))


def _in_turn(ids: str) -> str:
    """Flags taken in turn, `ids` of them."""
    return flags(loop(
        "M", f"%id = arith.remsi %i, %{ids} : index", computed("set", "id"), computed("wait", "id")))


def _reducing(last: str) -> str:
    """A flag of the row sum's own pair of pipes is passed on; the sum runs in the iterations before `last`."""
    return flags(
        alloc("x", VEC), fill("x", VEC), alloc("t", VEC, 8192), alloc("s", COLUMN, 16384, cols="c1"),
        loop("c4",
             branch(f"slt, %i, %{last}", f"pto.trowsum ins(%x, %t : {VEC}, {VEC}) outs(%s : {COLUMN})"),
             branch("sge, %i, %c1", flag("wait", 0, "V S")), branch("slt, %i, %c3", flag("set", 0, "V S"))),
        out("x", VEC))


def _cross(id: int) -> str:
    """A cube core's flag for its vector cores."""
    return kernel(f"pto.sync.set #pto.pipe<PIPE_FIX>, {id}", kind="cube")


def _named(pipe: str) -> str:
    """A barrier of a vector core."""
    return kernel(f"pto.barrier <PIPE_{pipe}>")


def _buffers(returned: int) -> str:
    """Each iteration takes buffer 1 for V and gives one back."""
    return flags(loop("M", "pto.get_buf[#pto.pipe_event_type<TVEC>, 1]",
                      f"pto.rls_buf[#pto.pipe_event_type<TVEC>, {returned}]"))


def _meeting(kind: str) -> str:
    """All cube cores meet, in a kernel for cores of a kind."""
    return kernel(
        "pto.syncall() mode = #pto.sync_all_mode<hard>, core_type = #pto.sync_core_type<aic_only>", kind=kind)


def _group(waited: int) -> str:
    """All vector cores tell each other, and wait for a flag."""
    return kernel(f"pto.set_cross_block <PIPE_MTE3>, 3\npto.wait_cross_block <PIPE_MTE2>, {waited}")


PAIRS: dict[str, Pair] = {
    "EVENT-SET": Pair(_balanced(0), _balanced(1)),
    "EVENT-WAIT": Pair(_passed_on("c3"), _passed_on("c2")),
    "EVENT-EXIT": Pair(_balanced(0), _balanced(1)),
    "EVENT-ID": Pair(_in_turn("c8"), _in_turn("c16")),
    "EVENT-LIBRARY": Pair(_reducing("c1"), _reducing("c2")),
    "EVENT-CROSS": Pair(_cross(10), _cross(11)),
    "EVENT-BUFFER": Pair(_buffers(1), _buffers(2), chip="a5"),
    "EVENT-GROUP": Pair(_group(3), _group(4), assume=("block_num == 48",)),
    "EVENT-LAUNCH": Pair(_meeting("cube"), _meeting("vector"), assume=("block_num == 24",)),
    "EVENT-PIPE": Pair(_named("MTE3"), _named("FIX")),
}
