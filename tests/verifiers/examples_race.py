"""One passing and one violating kernel for each rule about races; the two texts differ in one field."""

from __future__ import annotations

from tests.verifiers.examples import Pair
from tests.verifiers.examples_event import computed, flag, loop
from tests.verifiers.examples_fifo import FREE, HALF, PUSH, pair_of_cores, pop, turns
from tests.verifiers.kernels import alloc, fill, kernel, load, store, tile, unary, view, window

VEC = tile()


def pipes(*body: str, args: str = "") -> str:
    """A kernel on tiles `a` at 0, `b` at 8192, `c` at 16384 and windows `%src` of %p, `%dst` of %q, 32 x 64 each."""
    return kernel("\n".join((
        view("pv", "p", "c512"), view("qv", "q", "c512"), window("src", "pv", "%c0, %c0", "%c32, %c64", "32x64"),
        window("dst", "qv", "%c0, %c0", "%c32, %c64", "32x64"),
        alloc("a", VEC), alloc("b", VEC, 8192), alloc("c", VEC, 16384), *body)), args)


def read(tile: str = "a") -> str:
    """A load of `%src`."""
    return load("src", tile, VEC, "32x64")


def write(tile: str = "a") -> str:
    """A store to `%dst`."""
    return store(tile, "dst", VEC, "32x64")


def exp(src: str, dst: str) -> str:
    """A vector op."""
    return unary("texp", src, dst, VEC)


def barrier(pipe: str) -> str:
    return f"pto.barrier <PIPE_{pipe}>"


def both(pair: str, id: int = 0) -> str:
    """A flag set and waited for at once."""
    return "\n".join((flag("set", id, pair), flag("wait", id, pair)))


def chain(*flags: str) -> str:
    """Load, exp, store: two flags order the three."""
    first, second = flags
    return pipes(read("a"), both(first), exp("a", "b"), both(second), write("b"))


def slots(waited: str) -> str:
    """Load and exp in a loop over two slots in turn; the load waits for the exp with flag `i % waited`."""
    return pipes(
        "%slot = arith.constant 8192 : index", flag("set", 0, "V MTE2"), flag("set", 1, "V MTE2"),
        loop(
            "M", "%id = arith.remsi %i, %c2 : index", f"%old = arith.remsi %i, %{waited} : index",
            "%off = arith.muli %id, %slot : index", "%at = arith.index_cast %off : index to i64",
            f"%t = pto.alloc_tile addr = %at valid_row = %c32 valid_col = %c64 : {VEC}",
            computed("wait", "old", "V MTE2"), load("src", "t", VEC, "32x64"), computed("set", "id", "MTE2 V"),
            computed("wait", "id", "MTE2 V"), unary("texp", "t", "c", VEC), computed("set", "old", "V MTE2"),
            barrier("V")),
        flag("wait", 0, "V MTE2"), flag("wait", 1, "V MTE2"),
        args="%M: index")


def scalar_store(between: str) -> str:
    """A scalar store to the window that a load reads next."""
    return pipes("pto.store_scalar %one, %p[%c0] : !pto.ptr<f32>, f32", between, both("S MTE2"), read("a"))


def notified(scope: str) -> str:
    """A store, a fence, a signal to another device."""
    signal = "!pto.partition_tensor_view<1xi32>"
    return pipes(
        "%word = arith.constant 1 : i32", fill("a", VEC), both("V MTE3"), write("a"),
        f"pto.fence.barrier_all #pto.fence_scope<{scope}>",
        "%sv = pto.make_tensor_view %s, shape = [%c1], strides = [%c1] : !pto.tensor_view<1xi32>",
        f"%sw = pto.partition_view %sv, offsets = [%c0], sizes = [%c1] : !pto.tensor_view<1xi32> -> {signal}",
        f"pto.comm.tnotify(%sw, %word : {signal}, i32) {{notifyOp = #pto<notify_op atomic_add>}}",
        args="%s: !pto.ptr<i32>")


def cores(*waited: int, told: int = 4) -> str:
    """A cube core sets flag `told`, stores a product to `%p` and sets flag 3; a vector core waits for the flags
    `waited`, for the last one after it has loaded the product."""
    first, last = (f"pto.sync.wait #pto.pipe<PIPE_MTE2>, {n}" for n in waited)
    acc, vec = tile(16, 16, "f32", "acc", "col_major", "row_major", 1024), tile(16, 16)
    text = kernel("\n".join((
        view("pv", "p", "c64", "c16"), "pto.section.cube {", alloc("acc", acc, 0, "c16", "c16"),
        window("cw", "pv", "%c0, %c0", "%c16, %c16", "16x16"), f"pto.sync.set #pto.pipe<PIPE_FIX>, {told}",
        store("acc", "cw", acc, "16x16"), "pto.sync.set #pto.pipe<PIPE_FIX>, 3", "}",
        "pto.section.vector {", alloc("t", vec, 0, "c16", "c16"),
        window("vw", "pv", "%c0, %c0", "%c16, %c16", "16x16"), first,
        load("vw", "t", vec, "16x16"), last, "}")))
    return text.replace(" attributes {pto.kernel_kind = #pto.kernel_kind<vector>}", "")


def given_back(after: str, slots: int = 2, stop: str = "%c8", memory: bool = False) -> str:
    """Lanes pop halves of tiles and store them; the flag `after` the store comes before the free."""
    type_ = "!pto.partition_tensor_view<16x64xf32>"
    return pair_of_cores(turns(stop, PUSH), "\n".join((
        "%rows = arith.constant 4096 : index", view("gv", "gm", "rows"),
        turns(
            stop, pop(), "%at = arith.muli %i, %c16 : index",
            window("w", "gv", "%at, %c0", "%c16, %c64", "16x64"), both("MTE2 MTE3"), both("V MTE3"), both("S MTE3"),
            f"pto.tstore ins(%t : {HALF}) outs(%w : {type_})", both(after), FREE))), memory, slots)


def told_often(turns: str) -> str:
    """A cube that tells its vector cores so many times before it needs an answer."""
    text = kernel("\n".join((
        "pto.section.cube {", loop(turns, "pto.sync.set #pto.pipe<PIPE_FIX>, 3"), "}",
        "pto.section.vector {", loop(turns, "pto.sync.wait #pto.pipe<PIPE_MTE2>, 3"), "}")))
    return text.replace(" attributes {pto.kernel_kind = #pto.kernel_kind<vector>}", "")


def _beside_a_pipe(id: int) -> str:
    """A flag of the cube and a pipe, which takes two."""
    return pair_of_cores(f"{PUSH}\npto.sync.set #pto.pipe<PIPE_FIX>, {id}",
                         f"{pop()}\n{FREE}\npto.sync.wait #pto.pipe<PIPE_MTE2>, {id}")


PAIRS: dict[str, Pair] = {
    "RACE-RAW": Pair(chain("MTE2 V", "V MTE3"), chain("MTE2 V", "V MTE2")),
    "RACE-WAR": Pair(
        pipes(read("a"), both("MTE2 V"), exp("a", "b"), both("V MTE2"), read("a")),
        pipes(read("a"), both("MTE2 V"), exp("a", "b"), both("V MTE3"), read("a"))),
    "RACE-WAW": Pair(
        pipes(read("a"), both("MTE2 V"), exp("c", "a")), pipes(read("a"), both("MTE2 MTE3"), exp("c", "a"))),
    "RACE-VISIBLE": Pair(
        scalar_store("pto.cmo.cacheinvalid all #pto.address_space<gm>"),
        scalar_store(barrier("ALL"))),
    "RACE-FREE": Pair(given_back("MTE3 V"), given_back("MTE3 MTE2"), "a5"),
    "EVENT-AGAIN": Pair(
        pipes(loop("M", both("MTE2 V"), both("V MTE2")), args="%M: index"),
        pipes(loop("M", both("MTE2 V"), both("V MTE3")), args="%M: index"), strict=True),
    "RACE-CORE": Pair(cores(3, 4), cores(4, 3)),
    "EVENT-CORES": Pair(cores(3, 5, told=5), cores(3, 5, told=6)),
    "EVENT-FIFO": Pair(_beside_a_pipe(2), _beside_a_pipe(1)),
    "EVENT-COUNT": Pair(told_often("c8"), told_often("c16")),
    "RACE-NOTIFY": Pair(notified("gm"), notified("local_memory")),
}
