"""A second opinion: cvc5 through SMT-LIB text, written by an encoder of its own (SMT-LIB's div and mod, not digits)."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from pypto_verified.index import Cond, Expr, symbols_of
from pypto_verified.index.expr import Atom
from verifiers.solver.answer import AGREES, CVC5_ALONE, DIFFERS, NEITHER, SECOND, Z3_ALONE, Answer
from verifiers.solver.cone import booleans_of

if TYPE_CHECKING:
    from verifiers.solver.smt import Smt


_BUDGET = 3_000_000
"""Resource units a claim, the same on a busy machine; the hardest claim takes a third."""


class SecondOpinion:
    """Asks cvc5 what z3 was asked. Where they do not agree nothing is believed, and the scripts of both are kept in
    `directory`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def ask(self, c: Cond, first: Answer, smt: Smt) -> tuple[Answer, str]:
        """The answer that stands, and what became of the comparison: one of AGREES, Z3_ALONE, CVC5_ALONE, NEITHER, or
        DIFFERS with the files. cvc5 alone may say that there is no model; one that z3 can't give is not taken."""
        try:
            second = satisfiable(c)
        except NotImplementedError:
            second = "unknown"
        if "unknown" in (first.status, second):
            if first.status != "unknown":
                return first, Z3_ALONE
            if second == "unsat":
                return replace(first, status="unsat", decider=SECOND), CVC5_ALONE
            return first, NEITHER
        if first.status == second:
            return first, AGREES
        kept = self._keep(c, smt)
        return Answer("unknown", decider=first.decider, rlimit=first.rlimit, why=(
            f"the solvers differ: z3 says {first.status}, cvc5 {second}; {kept}")), f"{DIFFERS}: {kept}"

    def _keep(self, c: Cond, smt: Smt) -> str:
        """Write both scripts; what is told of them."""
        scripts = {"z3": smt.script(c), "cvc5": smtlib(c)}
        name = sha256(scripts["cvc5"].encode()).hexdigest()[:16]
        self._directory.mkdir(parents=True, exist_ok=True)
        paths = []
        for solver, text in scripts.items():
            path = self._directory / f"{name}.{solver}.smt2"
            path.write_text(text + "\n", encoding="utf-8")
            paths.append(str(path))
        return f"their questions: {', '.join(paths)}"


def satisfiable(c: Cond) -> str:
    """'sat', 'unsat' or 'unknown'. Needs the optional package cvc5 (extra `cross`); ImportError without it."""
    import cvc5

    solver = cvc5.Solver()
    solver.setOption("rlimit-per", str(_BUDGET))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, smtlib(c), "claim")
    symbols = parser.getSymbolManager()
    answer = ""
    while True:
        command = parser.nextCommand()
        if command.isNull():
            return answer if answer in ("sat", "unsat") else "unknown"
        answer = command.invoke(solver, symbols).strip() or answer


def smtlib(c: Cond) -> str:
    """`c` as a complete SMT-LIB script. NotImplementedError where a divisor may be zero or a symbolic one negative."""
    lines = ["(set-logic ALL)"]
    for name, atom in symbols_of(c).items():
        lines.append(f"(declare-const |{name}| Int)")
        lines += [f"(assert (>= |{name}| {_number(atom.lo)}))"] if atom.lo is not None else []
        lines += [f"(assert (<= |{name}| {_number(atom.hi)}))"] if atom.hi is not None else []
    lines += [f"(declare-const |{name}| Bool)" for name in sorted(set(booleans_of(c)))]
    return "\n".join((*lines, f"(assert {_cond(c)})", "(check-sat)"))


def _number(n: int) -> str:
    return str(n) if n >= 0 else f"(- {-n})"


def _cond(c: Cond) -> str:
    if c.expr is not None:
        return f"({'>=' if c.kind == 'nonneg' else '='} {_expr(c.expr)} 0)"
    if c.parts:
        return f"({c.kind} {' '.join(map(_cond, c.parts))})"
    return f"|{c.name}|" if c.kind == "var" else c.kind


def _expr(e: Expr) -> str:
    if not e.terms:
        return _number(e.constant)
    terms = [f"(* {_number(k)} {' '.join(map(_atom, mono))})" for mono, k in e.terms]
    return f"(+ {' '.join(terms)} {_number(e.constant)})"


def _atom(a: Atom) -> str:
    if a.kind == "sym":
        return f"|{a.name}|"
    if a.kind in ("floordiv", "mod"):
        return _division(a.kind, *a.args)
    args = [_expr(x) for x in a.args]
    best = args[0]
    for other in args[1:]:
        best = f"(ite ({'<=' if a.kind == 'min' else '>='} {best} {other}) {best} {other})"
    return best


def _division(kind: str, e: Expr, d: Expr) -> str:
    """SMT-LIB's div and mod round towards negative infinity only for positive divisors: others change sides."""
    if d.hi is not None and d.hi < 0:
        e, d = -e, -d
        return f"(div {_expr(e)} {_expr(d)})" if kind == "floordiv" else f"(- (mod {_expr(e)} {_expr(d)}))"
    if d.lo is None or d.lo <= 0:
        raise NotImplementedError(f"a divisor that may not be positive: {d!r}")
    return f"({'div' if kind == 'floordiv' else 'mod'} {_expr(e)} {_expr(d)})"
