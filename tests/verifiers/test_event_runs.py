"""EVENT against plain execution: random protocols of two flags, run for every trip count up to twelve, and with while
loops, other bounds of loops and numbers further on for those up to twenty."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import eq, ge, lt, ne
from random import Random

import pytest

from pypto_verified.report.model import FunctionResult, Verdict
from tests.verifiers.examples_event import computed, flag, flags
from tests.verifiers.kernels import check, verdicts

RUNS = range(13)
FAR_RUNS = range(21)


@dataclass(frozen=True)
class Use:
    """A set or a wait of flag `id`, or, where that is None, of flag i % 2 of the innermost loop."""

    what: str
    id: int | None


@dataclass(frozen=True)
class If:
    """`body` where the innermost counter, or the trip count outside of loops, relates to a number, or to the last
    iteration if `number` is None."""

    relation: str
    number: int | None
    body: tuple[Node, ...]


@dataclass(frozen=True)
class For:
    """`body` for the numbers from `first` to below `above`, each `step` after the one before."""

    body: tuple[Node, ...]
    above: str
    first: str = "c0"
    step: str = "c1"


@dataclass(frozen=True)
class While:
    """`body` as often as the trip count, in an `scf.while`; `head` before each test, so once more."""

    head: tuple[Node, ...]
    body: tuple[Node, ...]


Node = Use | If | For | While

_NUMBERS: dict[str, Callable[[int], int]] = {
    "M": lambda m: m, "most": lambda m: min(m, 2), "least": lambda m: max(m, 1), "c0": lambda m: 0, "c1": lambda m: 1,
    "c2": lambda m: 2, "c3": lambda m: 3}
"""What the bounds of loops may be, by the trip count."""
_DEFINED = ("%most = arith.minsi %M, %c2 : index", "%least = arith.maxsi %M, %c1 : index")

_RELATIONS: dict[str, Callable[[int, int], bool]] = {"slt": lt, "sge": ge, "eq": eq, "ne": ne}


def _bounds(random: Random) -> tuple[str, str, str]:
    """Often of one iteration or none, or such that one number alone is within them."""
    return (
        random.choice(("c1", "c2", "c3", "M", "most")), random.choice(("c0", "c1", "most", "least", "M")),
        random.choice(("c1", "c1", "c2", "c3", "least")))


def _protocol(random: Random, depth: int, in_loop: bool, far: bool = False) -> tuple[Node, ...]:
    found: list[Node] = []
    for _ in range(random.randint(1, 3)):
        kind = random.random()
        if depth and far and kind < 0.2:
            head = _protocol(random, 0, True) if random.random() < 0.3 else ()
            found.append(While(head, _protocol(random, depth - 1, True, far)))
        elif depth and kind < 0.35:
            above = random.choice(("M", "M", "c3"))
            bounds = _bounds(random) if far and random.random() < 0.5 else (above,)
            found.append(For(_protocol(random, depth - 1, True, far), *bounds))
        elif depth and kind < 0.6:
            number = random.choice((None, 0, 1, 2, *((8, 16, 17) if far else ()))) if in_loop else random.randint(0, 3)
            found.append(If(random.choice(sorted(_RELATIONS)), number, _protocol(random, depth - 1, in_loop, far)))
        else:
            ids = (0, 0, 1, None) if in_loop else (0, 0, 1)
            id = random.choice(ids)
            # Mostly a pair, so that some protocols are right.
            first = random.choice(("set", "wait"))
            found.append(Use(first, id))
            if random.random() < 0.6:
                found.append(Use("wait" if first == "set" else "set", id))
    return tuple(found)


def _text(nodes: tuple[Node, ...], counter: str, trips: str, names: Iterator[int]) -> Iterator[str]:
    for node in nodes:
        n = next(names)
        if isinstance(node, Use):
            if node.id is None:
                yield f"%id{n} = arith.remsi %{counter}, %c2 : index"
                yield computed(node.what, f"id{n}")
            else:
                yield flag(node.what, node.id)
        elif isinstance(node, If):
            if node.number is None:
                yield f"%last{n} = arith.subi %{trips}, %c1 : index"
            bound = f"last{n}" if node.number is None else f"c{node.number}"
            yield f"%if{n} = arith.cmpi {node.relation}, %{counter}, %{bound} : index"
            yield f"scf.if %if{n} {{"
            yield from _text(node.body, counter, trips, names)
            yield "}"
        elif isinstance(node, While):
            yield f"%end{n} = scf.while (%h{n} = %c0) : (index) -> index {{"
            yield from _text(node.head, f"h{n}", "M", names)
            yield f"%more{n} = arith.cmpi slt, %h{n}, %M : index"
            yield f"scf.condition(%more{n}) %h{n} : index"
            yield "} do {"
            yield f"^bb0(%i{n}: index):"
            yield from _text(node.body, f"i{n}", "M", names)
            yield f"%next{n} = arith.addi %i{n}, %c1 : index"
            yield f"scf.yield %next{n} : index"
            yield "}"
        else:
            yield f"scf.for %i{n} = %{node.first} to %{node.above} step %{node.step} {{"
            yield from _text(node.body, f"i{n}", node.above, names)
            yield "}"


def _fails(nodes: tuple[Node, ...], trips: int) -> set[str]:
    """The rules that a run with that trip count breaks: it sets a set flag, waits for a free one, or leaves one set.
    What follows a failure goes on as if it had not happened."""
    held = {0: False, 1: False}
    broken: set[str] = set()

    def run(body: tuple[Node, ...], counter: int, upper: int) -> None:
        for node in body:
            if isinstance(node, Use):
                id = counter % 2 if node.id is None else node.id
                if held[id] is (node.what == "set"):
                    broken.add(f"EVENT-{node.what.upper()}")
                held[id] = node.what == "set"
            elif isinstance(node, If):
                if _RELATIONS[node.relation](counter, upper - 1 if node.number is None else node.number):
                    run(node.body, counter, upper)
            elif isinstance(node, While):
                for i in range(trips):
                    run(node.head, i, trips)
                    run(node.body, i, trips)
                run(node.head, trips, trips)
            else:
                first, above, step = (_NUMBERS[name](trips) for name in (node.first, node.above, node.step))
                for i in range(first, above, step):
                    run(node.body, i, above)

    run(nodes, trips, trips)
    return broken | ({"EVENT-EXIT"} if any(held.values()) else set())


def _checked(nodes: tuple[Node, ...]) -> FunctionResult:
    return check(flags(*_DEFINED, *_text(nodes, "M", "M", iter(range(10_000)))), families="EVENT", assume=("M >= 0",))


def _agree(seed: int, far: bool = False) -> str:
    """The verdict, after a comparison with all runs."""
    runs = FAR_RUNS if far else RUNS
    nodes = _protocol(Random(seed), 3, False, far)
    result = _checked(nodes)
    by_rule = {rule: verdicts(result, rule) for rule in ("EVENT-SET", "EVENT-WAIT", "EVENT-EXIT")}
    found = set().union(*by_rule.values())
    broken = {m: _fails(nodes, m) for m in runs}
    failing = [m for m in runs if broken[m]]
    for rule, own in by_rule.items():
        wrong = [m for m in runs if rule in broken[m]]
        assert not wrong or not own <= {Verdict.PROVED}, f"seed {seed}: {rule} is proved and fails at {wrong}"
    if Verdict.REFUTED in found:
        named = [dict(f.witness).get("M") for f in result.findings if f.verdict is Verdict.REFUTED]
        assert failing, f"seed {seed}: refuted at {named}, never fails"
        # What follows a failure is judged as if it had not happened; some refutation is of the first failure.
        assert any(m is None or m in failing or m not in runs for m in named), f"seed {seed}: {named}, {failing}"
    return "refuted" if Verdict.REFUTED in found else "proved" if found <= {Verdict.PROVED} else "unknown"


@pytest.mark.parametrize("start", [0, 25])
@pytest.mark.requirement("VF-01")
def test_verdicts_agree_with_runs(start: int) -> None:
    outcomes = [_agree(seed) for seed in range(start, start + 25)]
    assert outcomes.count("unknown") <= 2
    assert {"proved", "refuted"} <= set(outcomes)


@pytest.mark.parametrize("start", [0, 20, 40])
@pytest.mark.requirement("VF-01")
def test_verdicts_agree_with_runs_of_while_loops_and_far_numbers(start: int) -> None:
    """Many are not followed, but what is proved never fails, and what is refuted does."""
    outcomes = [_agree(seed, far=True) for seed in range(start, start + 10)]
    assert {"proved", "refuted", "unknown"} <= set(outcomes)
