"""Which hypotheses matter to a goal: those that share symbols with it, directly or through each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pypto_verified.index import FALSE, TRUE, Cond, all_of, any_of, symbols_of


def names_of(c: Cond) -> frozenset[str]:
    """Names of the integers and of the opaque Booleans of a condition."""
    return frozenset(symbols_of(c)) | frozenset(booleans_of(c))


def with_truth(c: Cond, truth: bool) -> Cond:
    """A condition with all opaque Booleans of one truth."""
    return with_truths(c, dict.fromkeys(booleans_of(c), truth))


def with_truths(c: Cond, truths: Mapping[str, bool]) -> Cond:
    """A condition with truths for some of its opaque Booleans."""
    return with_conditions(c, {name: TRUE if truth else FALSE for name, truth in truths.items()})


def with_conditions(c: Cond, made: Mapping[str, Cond]) -> Cond:
    """A condition with others for some of its opaque Booleans."""
    if c.kind == "var" and c.name in made:
        return made[c.name]
    if c.kind == "not":
        return ~with_conditions(c.parts[0], made)
    if c.kind in ("and", "or"):
        parts = [with_conditions(p, made) for p in c.parts]
        return all_of(parts) if c.kind == "and" else any_of(parts)
    return c


def booleans_of(c: Cond) -> Iterable[str]:
    if c.kind == "var":
        yield c.name
    for p in c.parts:
        yield from booleans_of(p)


def conjuncts(c: Cond) -> tuple[Cond, ...]:
    """The conditions whose conjunction `c` is."""
    if c.kind == "and":
        return c.parts
    return () if c.kind == "true" else (c,)


def components(c: Cond) -> list[Cond]:
    """Conjunctions that share no symbol, whose conjunction `c` is: each can be decided, and remembered, alone."""
    groups: list[tuple[set[str], list[Cond]]] = []
    for part in conjuncts(c):
        names, members = set(names_of(part)), [part]
        apart: list[tuple[set[str], list[Cond]]] = []
        for other_names, others in groups:
            if names & other_names:
                names |= other_names
                members = others + members
            else:
                apart.append((other_names, others))
        groups = [*apart, (names, members)]
    return [all_of(members) for _, members in groups]


def split_by_relevance(hypotheses: Cond, seeds: frozenset[str]) -> tuple[Cond, Cond, frozenset[str]]:
    """(relevant conjuncts, the others, all names of the relevant part and of `seeds`)."""
    pending = [(part, names_of(part)) for part in conjuncts(hypotheses)]
    names = set(seeds)
    taken: list[Cond] = []
    changed = True
    while changed:
        changed = False
        rest: list[tuple[Cond, frozenset[str]]] = []
        for part, own in pending:
            if own & names or not own:
                names |= own
                taken.append(part)
                changed = True
            else:
                rest.append((part, own))
        pending = rest
    return all_of(taken), all_of(p for p, _ in pending), frozenset(names)
