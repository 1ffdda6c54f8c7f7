"""The text of a program."""

from __future__ import annotations

import re
from collections.abc import Sequence
from string import Template

from tests.sync.hunt.nodes import Body, Carried, Cond, Do, Expr, For, If, Statement, While

_OPS = {"+": "addi", "-": "subi", "*": "muli", "/": "divsi", "%": "remsi", "min": "minsi", "max": "maxsi",
        "ceil": "ceildivsi", "and": "andi", "xor": "xori"}
_MADE = re.compile(r"^\$(\w+) =", re.M)
Names = dict[str, str]
"""Values by the names that a program has for them."""


class Writer:
    """Collects the lines of a function."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0

    def new(self, word: str) -> str:
        self.count += 1
        return f"%{word}_{self.count}"

    def line(self, text: str) -> None:
        self.lines.append(text)

    def number(self, expr: Expr, names: Names) -> str:
        """The value of an expression."""
        if isinstance(expr, str):
            return names[expr]
        made = self.new("k" if isinstance(expr, int) else "e")
        if isinstance(expr, int):
            self.line(f"{made} = arith.constant {expr} : index")
            return made
        op, left, right = expr
        if op == "odd":
            return self._odd(self.number(("%", left, right), names), made)
        a, b = self.number(left, names), self.number(right, names)
        self.line(f"{made} = arith.{_OPS[op]} {a}, {b} : index")
        return made

    def _odd(self, rest: str, made: str) -> str:
        """1 where a rest is not 0, else 0, by a select."""
        zero, one, condition = self.number(0, {}), self.number(1, {}), self.new("is")
        self.line(f"{condition} = arith.cmpi ne, {rest}, {zero} : index")
        self.line(f"{made} = arith.select {condition}, {one}, {zero} : index")
        return made

    def condition(self, condition: Cond, names: Names) -> str:
        relation, *operands = condition
        a, b = (self.number(each, names) for each in operands)
        made = self.new("is")
        self.line(f"{made} = arith.cmpi {relation}, {a}, {b} : index")
        return made

    def body(self, body: Body, names: Names) -> Names:
        """The statements of a region; the names that hold at its end."""
        own = dict(names)
        for each in body:
            self.statement(each, own)
        return own

    def statement(self, each: Statement, names: Names) -> None:
        match each:
            case Do():
                values = {f"v{i}": self.number(v, names) for i, v in enumerate(each.values)}
                names.update({made: self.new(made) for made in _MADE.findall(each.text)})
                self.lines += Template(each.text).substitute(names | values).splitlines()
            case If():
                self.line(f"scf.if {self.condition(each.condition, names)} {{")
                self.body(each.then, names)
                if each.otherwise:
                    self.line("} else {")
                    self.body(each.otherwise, names)
                self.line("}")
            case For():
                self._for(each, names)
            case While():
                self._while(each, names)

    def _for(self, loop: For, names: Names) -> None:
        low, high, step = (self.number(e, names) for e in (loop.low, loop.high, loop.step))
        variable = self.new(loop.variable)
        results, args, inner = self._carried(loop.carried, names)
        head = f"scf.for {variable} = {low} to {high} step {step}"
        if loop.carried:
            inits = ", ".join(f"{inner[c.name]} = {first}" for c, first in zip(loop.carried, args, strict=True))
            head = f"{', '.join(results)} = {head} iter_args({inits}) -> ({_types(loop.carried)})"
        self.line(f"{head} {{")
        end = self.body(loop.body, {**names, **inner, loop.variable: variable})
        self._yield(loop.carried, end)
        self.line("}")

    def _while(self, loop: While, names: Names) -> None:
        low, step = self.number(loop.low, names), self.number(loop.step, names)
        results, firsts, inner = self._carried(loop.carried, names)
        heads = [self.new(c.name) for c in loop.carried]
        tested, variable, last = self.new(loop.variable), self.new(loop.variable), self.new("last")
        kinds = ["index", *(c.type for c in loop.carried)]
        types = ", ".join(kinds)
        inits = ", ".join(f"{a} = {b}" for a, b in zip((tested, *heads), (low, *firsts), strict=True))
        self.line(f"{', '.join((last, *results))} = scf.while ({inits}) : ({types}) -> ({types}) {{")
        at_test = {**names, **{c.name: h for c, h in zip(loop.carried, heads, strict=True)}, loop.variable: tested}
        at_test = self.body(loop.head, at_test)
        goes = self.condition(("slt", loop.variable, loop.high), at_test)
        self.line(f"scf.condition({goes}) {', '.join((tested, *heads))} : {types}")
        self.line("} do {")
        args = ", ".join(f"{a}: {t}" for a, t in zip((variable, *inner.values()), kinds, strict=True))
        self.line(f"^bb0({args}):")
        end = self.body(loop.body, {**names, **inner, loop.variable: variable})
        after = self.new("e")
        self.line(f"{after} = arith.addi {end[loop.variable]}, {step} : index")
        self._yield(loop.carried, end, after)
        self.line("}")

    def _carried(self, carried: Sequence[Carried], names: Names) -> tuple[list[str], list[str], Names]:
        """Results, first values, and the names within a loop. After it the results go by `name` and `_out`."""
        results = [self.new(f"{c.name}_out") for c in carried]
        firsts = [self.number(c.first, names) for c in carried]
        names.update({f"{c.name}_out": r for c, r in zip(carried, results, strict=True)})
        return results, firsts, {c.name: self.new(c.name) for c in carried}

    def _yield(self, carried: Sequence[Carried], end: Names, *before: str) -> None:
        values = [*before, *(self.number(c.following, end) for c in carried)]
        if values:
            types = ", ".join([*["index"] * len(before), *(c.type for c in carried)])
            self.line(f"scf.yield {', '.join(values)} : {types}")


def _types(carried: Sequence[Carried]) -> str:
    return ", ".join(c.type for c in carried)


def function(name: str, kind: str, args: str, head: Sequence[str], lines: Sequence[str]) -> str:
    """A function for cores of a kind; '' for one with a section for each."""
    attrs = f" attributes {{pto.kernel_kind = #pto.kernel_kind<{kind}>}}" if kind else ""
    text = "".join(f"    {line}\n" for line in (*head, *lines))
    return f"  func.func @{name}({args}){attrs} {{\n{text}    return\n  }}\n"


def module(chip: str, *functions: str) -> str:
    return f'module attributes {{pto.target_arch = "{chip}"}} {{\n{"".join(functions)}}}\n'
