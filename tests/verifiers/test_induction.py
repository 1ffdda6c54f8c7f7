"""What loops carry: numbers that grow evenly, go round, grow by a factor or by steps that branches choose, at every
iteration and after the loop."""

from __future__ import annotations

import pytest

from pypto_verified.index import FALSE, TRUE, Cond, Expr, all_of, evaluate, holds, symbols_of
from pypto_verified.pto.reader import read
from tests.verifiers.kernels import alloc, fill, kernel, tile, unary
from verifiers.access import AccessProgram, Loop, SymbolKind, build_program
from verifiers.solver.cone import conjuncts

VEC = tile()


def _program(*body: str, args: str = "%M: index, %N: index, %d: !pto.ptr<i32>") -> AccessProgram:
    return build_program(read(kernel("\n".join(body), args), "k.pto").funcs[0], "k.pto", "a2a3")


def _read(name: str) -> str:
    """Makes the value of `%name` an operand that can be looked up."""
    return f"%at_{name} = pto.load_scalar %p[%{name}] : !pto.ptr<f32> -> f32"


def _values(made: AccessProgram) -> dict[str, Expr]:
    found: dict[str, Expr] = {}
    for step in made.steps:
        if step.op.name == "pto.load_scalar":
            (offset,) = step.operands["offset"]
            assert isinstance(offset, Expr)
            found[step.op.result.name.removeprefix("at_")] = offset
    return found


def _for(start: str, *following: str, bounds: str = "%c0 to %M step %c1") -> AccessProgram:
    """A loop that carries `%x` from `start` to `%y`, which the body computes; `%r` is the result."""
    return _program(
        f"%r = scf.for %i = {bounds} iter_args(%x = %{start}) -> (index) {{", _read("x"), *following,
        "scf.yield %y : index", "}", _read("r"))


@pytest.mark.parametrize(("start", "body", "at"), [
    ("c3", "%y = arith.addi %x, %c2 : index", lambda k: 3 + 2 * k),
    ("c3", "%y = arith.subi %x, %c1 : index", lambda k: 3 - k),
    ("N", "%y = arith.addi %x, %c2 : index", lambda k: 7 + 2 * k),
    ("c3", "%y = arith.addi %x, %N : index", lambda k: 3 + 7 * k),
    ("N", "%y = arith.addi %x, %c0 : index", lambda k: 7),
    ("c0", "%y = arith.subi %c1, %x : index", lambda k: k % 2),
    ("c3", "%y = arith.subi %c4, %x : index", lambda k: 3 - 2 * (k % 2)),
    ("c0", "%z = arith.addi %x, %c1 : index\n%y = arith.remsi %z, %c3 : index", lambda k: k % 3),
    ("c0", "%z = arith.addi %x, %c1 : index\n%y = arith.remsi %z, %c16 : index", lambda k: k % 16),
    ("c1", "%z = arith.addi %x, %c1 : index\n%y = arith.remsi %z, %c3 : index", lambda k: (k + 1) % 3),
    ("c1", "%z = arith.addi %x, %c2 : index\n%y = arith.remsi %z, %c3 : index", lambda k: (1 + 2 * k) % 3),
])
def test_a_number_that_is_followed_exactly(start: str, body: str, at: object) -> None:
    """In iteration k, and after M iterations; `%N` is 7."""
    assert callable(at)
    made = _values(_for(start, body))
    for k in range(20):
        assert evaluate(made["x"], {"i": k, "N": 7}) == at(k)
        assert evaluate(made["r"], {"M": k, "N": 7}) == at(k)


@pytest.mark.parametrize(("bounds", "trips"), [
    ("%c2 to %M step %c1", lambda m: m - 2), ("%c1 to %M step %c4", lambda m: -(-(m - 1) // 4)),
    ("%c0 to %c3 step %c2", lambda m: 2),
    ("%N to %M step %c1", lambda m: max(m - 7, 0)),
])
def test_iterations_count_from_zero(bounds: str, trips: object) -> None:
    assert callable(trips)
    made = _values(_for("c3", "%y = arith.addi %x, %c2 : index", bounds=bounds))
    for m in range(2, 16):
        assert evaluate(made["r"], {"M": m, "N": 7}) == 3 + 2 * trips(m)


@pytest.mark.parametrize(("start", "body"), [
    ("c3", "%y = arith.addi %x, %i : index"),
    ("c1", "%z = arith.addi %x, %c3 : index\n%y = arith.remsi %z, %c8 : index"),
    ("c0", "%z = arith.addi %x, %c1 : index\n%y = arith.remsi %z, %c17 : index"),
    ("c3", "%y = arith.muli %x, %c2 : index"),
    ("N", "%y = arith.subi %c1, %x : index"), ("c0", "%y = arith.ori %x, %c1 : index"),
    ("c0", "%w = pto.load_scalar %p[%i] : !pto.ptr<f32> -> f32\n%y = arith.fptosi %w : f32 to index"),
])
def test_a_number_that_is_not_followed_is_two_unknown_ones(start: str, body: str) -> None:
    program = _for(start, body)
    made = _values(program)
    for name in ("x", "r"):
        (symbol,) = symbols_of(made[name])
        assert program.symbols.kinds[symbol] is SymbolKind.OPAQUE and made[name].lo is None
    assert made["x"] is not made["r"]


def test_how_often_a_loop_turns_by_a_step_of_the_caller_is_not_known() -> None:
    program = _for("c3", "%y = arith.addi %x, %c2 : index", bounds="%c0 to %M step %N")
    made = _values(program)
    (symbol,) = symbols_of(made["r"])
    assert program.symbols.kinds[symbol] is SymbolKind.OPAQUE
    assert evaluate(made["x"], {"i_trip": 5}) == 13


def test_a_carried_condition_is_one_that_nobody_knows() -> None:
    program = _program(
        "%yes = arith.constant 1 : i1",
        "%r = scf.for %i = %c0 to %M step %c1 iter_args(%x = %yes) -> (i1) {",
        "scf.if %x {", _read("i"), "}", "scf.yield %x : i1", "}", "scf.if %r {", _read("M"), "}")
    first, last = (s.path for s in program.steps if s.op.name == "pto.load_scalar")
    asked = [next(c for c in (p.parts or (p,)) if c.kind == "var") for p in (first, last)]
    assert asked[0] is not asked[1]


@pytest.mark.parametrize(("starts", "handed"), [
    ((0, 1), (1, 0)), ((3, 17), (1, 0)), ((0, 1, 2), (1, 2, 0)), ((0, 1, 2), (2, 0, 1)), ((2, 4, 0), (1, 2, 0)),
    ((8, 4, 0), (1, 2, 0)), ((0, 1, 8, 16), (1, 0, 3, 2)), ((0, 1, 2), (1, 0, 2)),
])
@pytest.mark.parametrize("loop", ["for", "while"])
def test_numbers_that_change_places_are_followed_exactly(
    loop: str, starts: tuple[int, ...], handed: tuple[int, ...]
) -> None:
    """`handed`: which of them each one is in the next iteration."""
    names = range(len(starts))
    types = ", ".join("index" for _ in names)
    reads = [_read(f"x{n}") for n in names]
    if loop == "for":
        made = _values(_program(
            f"{', '.join(f'%r{n}' for n in names)} = scf.for %i = %c0 to %M step %c1 iter_args("
            f"{', '.join(f'%x{n} = %c{s}' for n, s in enumerate(starts))}) -> ({types}) {{", *reads,
            f"scf.yield {', '.join(f'%x{n}' for n in handed)} : {types}", "}", *(_read(f"r{n}") for n in names)))
    else:
        made = _values(_program(
            f"%k_, {', '.join(f'%r{n}' for n in names)} = scf.while (%k = %c0, "
            f"{', '.join(f'%x{n} = %c{s}' for n, s in enumerate(starts))}) : (index, {types}) -> (index, {types}) {{",
            *reads, "%more = arith.cmpi slt, %k, %M : index",
            f"scf.condition(%more) %k, {', '.join(f'%x{n}' for n in names)} : index, {types}", "} do {",
            f"^bb0(%j: index, {', '.join(f'%z{n}: index' for n in names)}):", "%next = arith.addi %j, %c1 : index",
            f"scf.yield %next, {', '.join(f'%z{n}' for n in handed)} : index, {types}", "}"))
    now = list(starts)
    for k in range(12):
        assert [evaluate(made[f"x{n}"], {"i": k, "k__trip": k}) for n in names] == now
        if loop == "for":
            assert [evaluate(made[f"r{n}"], {"M": k}) for n in names] == now
        now = [now[n] for n in handed]


@pytest.mark.parametrize(("starts", "handed"), [
    (("c0", "c1", "c4"), ("x1", "x2", "x0")), (("N", "M", "c0"), ("x1", "x2", "x0")), (("c0", "c1"), ("x1", "y")),
    (("c0", "c1", "c2"), ("x1", "x2", "x1")),
])
def test_other_numbers_that_change_places_are_not_followed(starts: tuple[str, ...], handed: tuple[str, ...]) -> None:
    types = ", ".join("index" for _ in starts)
    program = _program(
        f"{', '.join(f'%r{n}' for n in range(len(starts)))} = scf.for %i = %c0 to %M step %c1 iter_args("
        f"{', '.join(f'%x{n} = %{s}' for n, s in enumerate(starts))}) -> ({types}) {{", _read("x0"),
        "%y = arith.muli %x0, %c2 : index", f"scf.yield {', '.join(f'%{v}' for v in handed)} : {types}", "}")
    (symbol,) = symbols_of(_values(program)["x0"])
    assert program.symbols.kinds[symbol] is SymbolKind.OPAQUE


def test_a_tile_that_a_loop_carries_is_the_same_buffer() -> None:
    text = _program(
        alloc("a", VEC), fill("a", VEC), alloc("b", VEC, 8192),
        f"%r = scf.for %i = %c0 to %M step %c1 iter_args(%x = %a) -> ({VEC}) {{", unary("texp", "x", "b", VEC),
        f"scf.yield %x : {VEC}", "}")
    (step,) = (s for s in text.steps if s.op.name == "pto.texp")
    (src,) = step.tiles("src")
    assert src.root.address is not None and src.root.address.value == 0
    assert not text.gaps


def test_a_tile_that_changes_from_one_iteration_to_the_next_is_not_modelled() -> None:
    text = _program(
        alloc("a", VEC), fill("a", VEC), alloc("b", VEC, 8192), fill("b", VEC),
        f"%r = scf.for %i = %c0 to %M step %c1 iter_args(%x = %a) -> ({VEC}) {{", unary("texp", "x", "b", VEC),
        f"scf.yield %b : {VEC}", "}")
    assert [what for _, what in text.gaps] == ["%x, a buffer that changes from one iteration to the next"]


def _while(start: str, *body: str, more: str = "%more = arith.cmpi slt, %x, %M : index") -> AccessProgram:
    """`while more: x = y`, from `start`."""
    return _program(
        f"%r = scf.while (%x = %{start}) : (index) -> index {{", more, _read("x"), "scf.condition(%more) %x : index",
        "} do {", "^bb0(%z: index):", *body, "scf.yield %y : index", "}")


@pytest.mark.parametrize(("start", "body", "at"), [
    ("c3", "%y = arith.addi %z, %c2 : index", lambda k: 3 + 2 * k),
    ("N", "%y = arith.addi %z, %c1 : index", lambda k: 7 + k),
    ("N", "%y = arith.subi %z, %c4 : index", lambda k: 7 - 4 * k),
    ("c0", "%y = arith.addi %z, %N : index", lambda k: 7 * k),
    ("c0", "%y = arith.muli %z, %c2 : index", lambda k: 0),
    ("c0", "%y = arith.subi %c1, %z : index", lambda k: k % 2),
    ("c4", "%y = arith.subi %c0, %z : index", lambda k: 4 if k % 2 == 0 else -4),
    ("c2", "%w = arith.addi %z, %c1 : index\n%y = arith.remsi %w, %c4 : index", lambda k: (k + 2) % 4),
])
def test_a_while_loop_that_counts_is_followed_exactly(start: str, body: str, at: object) -> None:
    assert callable(at)
    made = _values(_while(start, body))
    for k in range(10):
        assert evaluate(made["x"], {"r_trip": k, "N": 7}) == at(k)


def _known(program: AccessProgram, name: str) -> Cond:
    """What holds of this number alone."""
    return all_of(c for c in conjuncts(program.symbols.facts) if symbols_of(c).keys() == {name})


def _choice(*steps: str) -> str:
    """`%y`: `%z` and a step, by `%N`."""
    first, second, *rest = steps
    arms = [f"%y{n} = arith.addi %z, %{s} : index" for n, s in enumerate((first, second))]
    other = arms[1]
    if rest:
        other = "\n".join((
            "%big = arith.cmpi sgt, %N, %c8 : index", "%y1 = scf.if %big -> (index) {",
            f"%y2 = arith.addi %z, %{second} : index", "scf.yield %y2 : index", "} else {",
            f"%y3 = arith.addi %z, %{rest[0]} : index", "scf.yield %y3 : index", "}"))
    return "\n".join((
        "%some = arith.cmpi sgt, %N, %c4 : index", "%y = scf.if %some -> (index) {", arms[0], "scf.yield %y0 : index",
        "} else {", other, "scf.yield %y1 : index", "}"))


@pytest.mark.parametrize(("start", "body", "lo", "divisor"), [
    # derivation: x >= start stays true; what divides the start and what is added, divides every value
    ("c16", "%y = arith.muli %z, %c2 : index", 16, 16), ("c1", "%y = arith.muli %z, %c2 : index", 1, 1),
    ("c4", "%w = arith.muli %z, %c3 : index\n%y = arith.addi %w, %c2 : index", 4, 2),
    ("c4", _choice("c2", "c0"), 4, 2), ("c4", _choice("c8", "c16"), 4, 4), ("c4", _choice("c8", "c16", "c2"), 4, 2),
    ("c3", _choice("c2", "c4"), 3, 1), ("c0", _choice("c8", "c4"), 0, 4),
])
def test_what_is_kept_of_a_number_that_is_not_counted(start: str, body: str, lo: int, divisor: int) -> None:
    program = _while(start, body)
    value = _values(program)["x"]
    (name,) = symbols_of(value)
    assert program.symbols.kinds[name] is SymbolKind.OPAQUE
    assert value.lo == lo
    allowed = [n for n in range(64) if holds(_known(program, name), {name: n})]
    assert allowed == list(range(0, 64, divisor))


@pytest.mark.parametrize(("start", "body"), [
    ("N", "%y = arith.muli %z, %c2 : index"),
    ("c4", "%w = arith.muli %z, %c2 : index\n%y = arith.subi %w, %c1 : index"),
    ("c4", "%w = arith.subi %c0, %z : index\n%y = arith.muli %w, %c2 : index"),
    ("c4", _choice("N", "c2")), ("N", _choice("c2", "c4")),
    ("c4", "%y = arith.divsi %z, %c2 : index"),
    ("c4", _choice("c2", "c0").replace("arith.addi %z, %c2", "arith.subi %z, %c2")),
    ("c4", _choice("c2", "c0").replace("arith.addi %z, %c2", "arith.muli %z, %c2")),
])
def test_of_other_numbers_nothing_is_known(start: str, body: str) -> None:
    program = _while(start, body)
    value = _values(program)["x"]
    (name,) = symbols_of(value)
    assert program.symbols.kinds[name] is SymbolKind.OPAQUE
    assert value.lo is None and _known(program, name) is TRUE


@pytest.mark.parametrize(("more", "chosen"), [
    ("%more = arith.cmpi slt, %x, %M : index", True), ("%more = arith.cmpi ne, %x, %M : index", False),
    ("%odd = arith.remsi %x, %c2 : index\n%far = arith.muli %odd, %c8 : index\n"
     "%more = arith.cmpi sle, %x, %far : index", False),
    ("%f = pto.load_scalar %d[%x] : !pto.ptr<i32> -> i32\n%far = arith.index_cast %f : i32 to index\n"
     "%more = arith.cmpi sle, %x, %far : index", False),
])
def test_counts_behind_the_exit_are_not_chosen(more: str, chosen: bool) -> None:
    """`x < M` fails for good once it fails; after `x != M` has failed, larger counts make it true again. `x <= 8 * (x %
    2)` holds for 0, 1, 3, 5 and 7, and fails for 2; what is read for each test may be anything."""
    program = _while("c0", "%y = arith.addi %z, %c1 : index", more=more)
    assert (program.symbols.kinds["r_trip"] is SymbolKind.TRIP) is chosen


@pytest.mark.parametrize("order", [("k", "x"), ("x", "k")])
@pytest.mark.parametrize("form", ["for", "while"])
def test_a_sum_of_numbers_that_change_does_not_grow_evenly(form: str, order: tuple[str, str]) -> None:
    """x takes k, which grows by one (in a for loop, halves), at each turn: 0, 0, 1, 3 and not k times k."""
    carried = ", ".join(f"%{n} = %{'c1' if form == 'for' and n == 'k' else 'c0'}" for n in order)
    names, kinds = ", ".join(f"%{n}" for n in order), "(index, index)"
    turn = ("%x_next = arith.addi %x, %k : index",
            "%k_next = arith.divsi %k, %c2 : index" if form == "for" else "%k_next = arith.addi %k, %c1 : index",
            f"scf.yield {', '.join(f'%{n}_next' for n in order)} : index, index", "}")
    if form == "for":
        made = _program(f"%r:2 = scf.for %i = %c0 to %M step %c1 iter_args({carried}) -> {kinds} {{", _read("x"), *turn)
    else:
        made = _program(
            f"%r:2 = scf.while ({carried}) : {kinds} -> {kinds} {{", "%more = arith.cmpi slt, %k, %M : index",
            f"scf.condition(%more) {names} : index, index", "} do {",
            f"^bb0({', '.join(f'%{n}: index' for n in order)}):".replace("%x", "%w").replace("%k", "%j"),
            "%at_x = pto.load_scalar %p[%w] : !pto.ptr<f32> -> f32",
            *(line.replace("%x,", "%w,").replace("%k ", "%j ").replace("%k,", "%j,") for line in turn))
    (name,) = symbols_of(_values(made)["x"])
    assert made.symbols.kinds[name] is SymbolKind.OPAQUE


def test_a_loop_over_nothing_has_no_body() -> None:
    program = _program("scf.for %i = %c4 to %c4 step %c1 {", _read("i"), "}")
    (step,) = (s for s in program.steps if s.op.name == "pto.load_scalar")
    assert step.path is FALSE


def test_the_counter_stays_within_the_bounds() -> None:
    program = _program("scf.for %i = %c2 to %c8 step %c4 {", _read("i"), "}", "scf.for %j = %c2 to %c8 step %c1 {",
        _read("j"), "}")
    made = _values(program)
    assert (made["i"].lo, made["i"].hi) == (2, 6) and (made["j"].lo, made["j"].hi) == (2, 7)


@pytest.mark.parametrize(("first", "above"), [("c0", "c1"), ("c3", "c4")])
def test_a_loop_that_one_start_alone_enters_counts_one_iteration(first: str, above: str) -> None:
    made = _program(
        f"%l = arith.maxsi %M, %{first} : index", f"scf.for %i = %l to %{above} step %c1 {{", _read("i"), "}")
    (loop,) = (node for node in made.body.items if isinstance(node, Loop))
    assert _values(made)["i"].value == int(first[1:])
    assert loop.counter is not None and loop.counter.value == 0
    assert [holds(loop.inside, {"M": m}) for m in range(-1, 6)] == [m <= int(first[1:]) for m in range(-1, 6)]


def test_a_step_of_the_caller_is_at_least_one() -> None:
    program = _program("scf.for %i = %c2 to %M step %N {", _read("i"), "}")
    (step,) = (s for s in program.steps if s.op.name == "pto.load_scalar")
    assert isinstance(step.path, Cond)
    env = {"i": 8, "i_trip": 2, "M": 9, "N": 3}
    assert holds(step.path, env)
    for name, wrong in (("i", 5), ("i_trip", 1), ("M", 8), ("N", 0), ("N", 2)):
        assert not holds(step.path, {**env, name: wrong}), name
    assert holds(step.path, {"i": 2, "i_trip": 0, "M": 3, "N": 5})
