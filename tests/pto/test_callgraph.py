"""Circles of calls, against the definition: two functions are in one circle if each reaches the other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pypto_verified.pto.callgraph import components

_NAMES = st.sampled_from("abcdefg")


def reaches(calls: dict[str, set[str]], start: str, goal: str) -> bool:
    seen, waiting = {start}, [start]
    while waiting:
        for callee in calls.get(waiting.pop(), set()) - seen:
            seen.add(callee)
            waiting.append(callee)
    return goal in seen


@given(st.dictionaries(_NAMES, st.sets(_NAMES)))
def test_components_are_the_circles(calls: dict[str, set[str]]) -> None:
    found = components(calls)
    names = set(calls) | {c for callees in calls.values() for c in callees}
    assert set(found) == names
    for a in names:
        for b in names:
            assert (found[a] == found[b]) == (reaches(calls, a, b) and reaches(calls, b, a))


def test_a_long_chain_is_no_recursion_of_ours() -> None:
    calls = {str(i): {str(i + 1)} for i in range(50_000)}
    assert len(set(components(calls).values())) == 50_001
