"""The text of one op after its name, from the same steps that the reader runs."""

from __future__ import annotations

from pypto_verified.errors import CodegenError
from pypto_verified.pto.asmformat import (
    AttrOf,
    Dict,
    Literal,
    Operands,
    Optional,
    Results,
    Spelling,
    Step,
    TypeOf,
    choose,
    spellings,
)
from pypto_verified.pto.attrtext import attr_text, dict_text
from pypto_verified.pto.module import AttrValue, Op, Value
from pypto_verified.pto.spec import Operand, OpRow
from pypto_verified.pto.typetext import type_text

_NO_BLANK_AFTER = frozenset("([{")
_NO_BLANK_BEFORE = frozenset(")]},")


class OpWriter:
    """Prints ops; `short` chooses the assembler's spelling of tile types."""

    def __init__(self, short: bool) -> None:
        self.short = short

    def values(self, values: tuple[Value, ...]) -> str:
        return ", ".join(f"%{v.name}" for v in values)

    def types(self, values: tuple[Value, ...]) -> str:
        return ", ".join(type_text(v.type, self.short) for v in values)

    def text(self, op: Op, row: OpRow) -> str:
        """Everything after the op's name. CodegenError if the op lacks what its row needs."""
        if row.form in ("dps", "dps_in"):
            return self._dps(op, row)
        spelling = self._choose(op, row)
        words: list[str] = []
        spelled: set[str] = set()
        for step in spelling.steps:
            if isinstance(step, AttrOf):
                spelled.add(step.name)
            elif isinstance(step, Optional) and not step.types_only:
                spelled.update(step.names)
        rest = {name: value for name, value in op.attrs.items() if name not in spelled}
        self._steps(op, row, spelling.steps, rest, words)
        return _join(words)

    def _choose(self, op: Op, row: OpRow) -> Spelling:
        present = op.args.keys() | op.attrs.keys()
        spelling = choose(row, present, op.args.keys())
        if spelling is not None:
            return spelling
        missing = sorted(set.intersection(*(set(s.needs - present) for s in spellings(row))))
        lacks = ", ".join(missing) or "a spelling for its operands"
        raise CodegenError(f"{op.name} cannot be written: it lacks {lacks}", op.loc)

    def _steps(
        self, op: Op, row: OpRow, steps: tuple[Step, ...], rest: dict[str, AttrValue], words: list[str]
    ) -> None:
        for step in steps:
            if isinstance(step, Literal):
                words.append(step.token)
            elif isinstance(step, Operands):
                if step.group.name in op.args:
                    words.append(self.values(op.args[step.group.name]))
            elif isinstance(step, TypeOf):
                values = op.args.get(step.groups[0], ())
                if values:
                    words.append(self.types(values[:1] if len(step.groups) > 1 else values))
            elif isinstance(step, AttrOf):
                words.append(attr_text(op.attrs[step.name], step.kind, clause=True))
            elif isinstance(step, Dict):
                if rest or step.clauses:
                    words.append(dict_text(rest, row.attrs, step.clauses))
                    rest = {}
            elif isinstance(step, Optional):
                if any(name in op.args or name in op.attrs or name == "@" for name in step.names):
                    self._steps(op, row, step.steps, rest, words)
            elif isinstance(step, Results):
                if step.fixed is None and not step.like:
                    words.append(self.types(op.results))
            else:
                words.append(self._operand_clauses(op, row))

    def _operand_clauses(self, op: Op, row: OpRow) -> str:
        parts = [f"{g.name} = {self.values(op.args[g.name])} : {self.types(op.args[g.name])}"
                 for g in row.operands if g.name in op.args]
        return f"({', '.join(parts)})"

    def _dps(self, op: Op, row: OpRow) -> str:
        attrs = dict_text(op.attrs, row.attrs) if op.attrs else ""
        inside = row.form == "dps_in"
        text = f" ins{self._list(op, row, row.ins, attrs if inside else '')}"
        if row.outs:
            text += f" outs{self._list(op, row, row.outs, '')}"
        return text if inside or not attrs else f"{text} {attrs}"

    def _list(self, op: Op, row: OpRow, groups: tuple[Operand, ...], attrs: str) -> str:
        values: list[Value] = []
        for group in groups:
            if group.name in op.args:
                values += op.args[group.name]
            elif not (group.optional or group.variadic):
                raise CodegenError(f"{row.name} cannot be written: it lacks operand '{group.name}'", op.loc)
        listed = tuple(values)
        blank = " " if attrs else ""
        return f"({self.values(listed)}{blank}{attrs} : {self.types(listed)})"


def _join(words: list[str]) -> str:
    """The words with blanks where a reader of MLIR expects them."""
    text, last = "", ""
    for word in words:
        bracket = word == "[" and last.startswith("%")
        call = word == "(" and (last == "" or last.isalpha() or last.startswith("%"))
        glued = word in _NO_BLANK_BEFORE or last in _NO_BLANK_AFTER or bracket or call
        text += word if glued else " " + word
        last = word
    return text
