"""Pipes in the assembler's own form are judged as those of a front end."""

from __future__ import annotations

import pytest

from pypto_verified.pto import writer
from pypto_verified.pto.module import Module
from pypto_verified.pto.reader import read
from pypto_verified.pto.walk import walk_ops
from pypto_verified.report.model import FunctionResult, Verdict
from pypto_verified.targets import target
from tests.simulator.mixed import Mixed
from verifiers import Options, verify
from verifiers.race.remarks import sync_remarks
from verifiers.raised import raised

PIPES = ("FIFO-", "SPLIT-", "RACE-", "INIT-", "VALID-", "LAYOUT-")


def judged(mixed: Mixed, module: Module | None = None, explicit: bool = False) -> list[FunctionResult]:
    return verify(module or mixed.module, target(mixed.on), Options(explicit_sync=explicit))


def counts(results: list[FunctionResult]) -> dict[tuple[str, Verdict], int]:
    """How many obligations of each rule about tiles that cross have which verdict."""
    found: dict[tuple[str, Verdict], int] = {}
    for o in (o for r in results for o in r.obligations if o.rule.startswith(PIPES)):
        found[o.rule, o.verdict] = found.get((o.rule, o.verdict), 0) + 1
    return found


@pytest.mark.requirement("XC-09", "VF-02")
@pytest.mark.parametrize("chip", ["a2a3", "a5"])
@pytest.mark.parametrize(("direction", "split"), [(1, 1), (1, 0), (2, 1), (3, 1)])
def test_both_forms_of_a_kernel_have_the_same_verdicts(chip: str, direction: int, split: int) -> None:
    front, lowered = (Mixed(chip, direction=direction, split=split, lowered=form) for form in (False, True))
    results = judged(lowered)
    assert not any(o.rule == "MODEL-OP" for r in results for o in r.obligations)
    assert counts(results) == counts(judged(front))


@pytest.mark.requirement("XC-09")
@pytest.mark.parametrize("chip", ["a2a3", "a5"])
def test_two_pops_into_one_declared_tile_are_two_tiles(chip: str) -> None:
    """The extents for the second are set on the first, which is one more place where extents are set."""
    mixed = Mixed(chip, pushes=2, pops=2, frees=2, lowered=True)
    lines = writer.write(mixed.module, False).splitlines()
    second = next(n for n, line in enumerate(lines) if line.strip().startswith("%p1 = pto.declare_tile"))
    text = "\n".join((*lines[:second], *lines[second + 1:])).replace("%p1", "%p0")
    results = judged(mixed, read(text, "k.pto"))
    assert not any(o.rule == "MODEL-OP" for r in results for o in r.obligations)
    found, wanted = ({key: n for key, n in counts(r).items() if key[0] not in ("VALID-LOWER", "VALID-UPPER")}
                     for r in (results, judged(mixed)))
    assert found == wanted


@pytest.mark.parametrize(("popped_in", "fits"), [
    ("scf.if %yes {", True), ("scf.for %k = %c0 to %c1 step %c1 {", False)])
def test_a_tile_that_a_branch_may_have_popped_again_is_not_used_after_it(popped_in: str, fits: bool) -> None:
    """Used behind the block neither fits; in it, what was popped before is there in a branch, not in a loop."""
    lines = writer.write(Mixed("a2a3", pushes=2, pops=1, lowered=True).module, False).splitlines()
    pop = next(n for n, line in enumerate(lines) if "pto.tpop" in line)
    use = next(n for n in range(pop, len(lines)) if "pto.tadds" in lines[n])
    again = [popped_in, lines[use], lines[pop], "}"]
    head = next(n for n, line in enumerate(lines) if "func.func @" in line and "vector" in line) + 1
    yes = "%yes = arith.constant 1 : i1"
    inner = read("\n".join((*lines[:head], yes, *lines[head:use + 1], *again, *lines[use + 1:])), "k.pto")
    behind = read("\n".join((*lines[:head], yes, *lines[head:use + 1], *again, *lines[use:])), "k.pto")
    for module, expected in ((inner, fits), (behind, False)):
        found = verify(module, target("a2a3"), Options(families=frozenset({"FIFO"})))
        assert any(o.rule == "MODEL-OP" for r in found for o in r.obligations) is not expected


@pytest.mark.requirement("XC-09")
def test_both_forms_have_the_same_races() -> None:
    """Without their barriers the lanes of a5 give a slot back while a store reads it."""
    found = []
    for form in (False, True):
        mixed = Mixed("a5", lowered=form)
        lines = writer.write(mixed.module, False).splitlines()
        free = next(n for n, line in enumerate(lines) if "pto.tfree" in line)
        adds = next(n for n in range(free, 0, -1) if "pto.tadds" in lines[n])
        store = next(n for n in range(free, len(lines)) if "pto.tstore" in lines[n] and "%u" in lines[n])
        lines.insert(adds, lines.pop(store).replace("ins(%u", "ins(%p0"))
        text = "\n".join(line for line in lines if "pto.barrier" not in line)
        found.append(counts(judged(mixed, read(text, "k.pto"), explicit=True)))
    assert found[0] == found[1]
    assert found[0]["RACE-FREE", Verdict.REFUTED]


def test_both_forms_have_the_same_remarks() -> None:
    """Each function ends with a flag that nothing needs."""
    spare = "".join(f"pto.{what}_flag[<PIPE_S>, <PIPE_V>, <EVENT_ID0>]\n" for what in ("set", "wait"))
    found = []
    for form in (False, True):
        text = writer.write(Mixed("a2a3", lowered=form).module, False).replace("    return", f"    {spare}    return")
        remarks = sync_remarks(read(text, "k.pto"), target("a2a3"), Options())
        found.append([remark.split(" (")[0] for remark in remarks])
    assert found[0] == found[1]
    assert "redundant sync: flag S -> V" in found[0]


@pytest.mark.parametrize(("pops", "rule", "name"), [(2, "FIFO-POP", "pto.tpop"), (0, "FIFO-DRAIN", "pto.tpush")])
def test_what_is_wrong_is_refuted_at_the_line_of_the_text(pops: int, rule: str, name: str) -> None:
    mixed = Mixed("a2a3", pops=pops, lowered=True)
    module = mixed.module
    found = next(f for r in judged(mixed, module) for f in r.findings if f.rule == rule)
    assert found.verdict is Verdict.REFUTED
    assert found.text_line in {op.line for func in module.funcs for op in walk_ops(func) if op.name == name}


def test_a_pop_makes_its_tile_with_the_extents_that_were_set_for_it() -> None:
    module = raised(Mixed("a2a3", lowered=True).module, target("a2a3"))
    ops = list(walk_ops(next(f for f in module.funcs if f.kernel_kind == "vector")))
    (pop,) = (op for op in ops if op.name == "pto.tpop_from_aic")
    assert [pop.arg(g).name for g in ("valid_row", "valid_col")] == ["n", "m"]
    assert pop.result.name == "p0"
    assert not [op.name for op in ops if op.name in ("pto.declare_tile", "pto.tpop", "pto.set_validshape")]
    (buffer,) = (op for op in ops if op.name == "pto.reserve_buffer")
    assert buffer.attrs["base"] == 0


def test_a_text_of_a_front_end_is_left_alone() -> None:
    module = Mixed("a2a3").module
    assert raised(module, target("a2a3")) is module


@pytest.mark.parametrize(("old", "new"), [
    ("pto.tpop(%p0", "pto.tadds ins(%p0, %one : {}, f32) outs(%p0 : {})\n      pto.tpop(%p0"),
    ("dir_mask = 1", "dir_mask = 4"),
])
def test_what_does_not_fit_stays_and_is_not_modelled(old: str, new: str) -> None:
    """A tile that is used before it is popped; a direction that nobody knows."""
    text = writer.write(Mixed("a2a3", lowered=True).module, False)
    tile = next(line for line in text.splitlines() if "declare_tile" in line).partition("-> ")[2].strip()
    module = read(text.replace(old, new.format(tile, tile)), "k.pto")
    results = verify(module, target("a2a3"), Options())
    assert any(o.rule == "MODEL-OP" for r in results for o in r.obligations)
