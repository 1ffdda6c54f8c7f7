"""The reader: `.pto` text -> Module. It reads what the dialect's assembler reads at tile level, and checks it.

Operands, attributes and types are parsed, never kept as text; an op below the tile level raises NotModelled.
"""

from __future__ import annotations

from pypto_verified.errors import Location
from pypto_verified.pto.attrread import read_dict, read_symbol
from pypto_verified.pto.generic_regions import read_signature, read_special
from pypto_verified.pto.lexer import Cursor, check_input
from pypto_verified.pto.module import AttrValue, Block, Func, Module, Symbol, Value
from pypto_verified.pto.opreader import OpReader, value_name
from pypto_verified.pto.regions import SPECIAL
from pypto_verified.pto.types import Type
from pypto_verified.pto.typetext import type_text

_FUNC_ATTRS = {"pto.kernel_kind": "enum:kernel_kind"}
_MODULE_ATTRS = {"pto.target_arch": "str", "pto.device-spec": "str", "pto.kernel_kind": "enum:kernel_kind"}


def read(text: str, file: str = "") -> Module:
    """The module of a `.pto` text. `file` names it in locations of errors and in `Module.file`.

    Raises InputError (too large, binary), ParseError (not the dialect), NotModelled (ops below the tile level and other
    features that this version only recognises); each with file, line and column.
    """
    check_input(text, file)
    reader = OpReader(Cursor(text, file), SPECIAL, read_special)
    return _ModuleReader(reader, file).text()


class _ModuleReader:
    def __init__(self, reader: OpReader, file: str) -> None:
        self.reader = reader
        self.cursor = reader.cursor
        self.file = file
        self.funcs: dict[str, Func] = {}
        self.modules: list[Module] = []
        self.attrs: dict[str, AttrValue] = {}

    def text(self) -> Module:
        """The whole text: one module, or functions and modules that no module is written around."""
        cursor = self.cursor
        self._aliases()
        while cursor.next and cursor.next[:1] not in "#!":
            self._item()
            self._aliases()
        if cursor.next:
            cursor.fail(f"expected the end of the text, found {cursor.shown()}")
        if len(self.modules) == 1 and not self.funcs:
            return self.modules[0]
        return self._made()

    def _item(self) -> None:
        cursor = self.cursor
        generic = cursor.next[:1] == '"'
        if cursor.next == '"func.func"':
            self._generic_func()
            return
        if cursor.next not in ("module", "builtin.module", '"builtin.module"'):
            self._func()
            return
        cursor.pos += 1
        self.reader.scope.enter()
        calls, self.reader.calls = self.reader.calls, []
        inner = _ModuleReader(self.reader, self.file)
        self.modules.append(inner.generic() if generic else inner.module())
        self.reader.calls = calls
        self.reader.scope.leave()

    def module(self) -> Module:
        """What follows the word `module`."""
        cursor = self.cursor
        if cursor.next[:1] == "@":
            self.attrs["sym_name"] = read_symbol(cursor).name
        if cursor.accept("attributes"):
            read_dict(cursor, _MODULE_ATTRS, self.attrs)
        cursor.expect("{")
        while not cursor.accept("}"):
            self._item()
        self.reader.locations.optional()
        return self._made()

    def generic(self) -> Module:
        """What follows `"builtin.module"`."""
        cursor = self.cursor
        for token in "()":
            cursor.expect(token)
        if cursor.accept("<"):
            read_dict(cursor, _MODULE_ATTRS, self.attrs)
            cursor.expect(">")
        for token in "({":
            cursor.expect(token)
        if cursor.next[:1] == "^":
            cursor.pos += 1
            cursor.expect(":")
        while not cursor.accept("}"):
            self._item()
        cursor.expect(")")
        self._generic_end(self.attrs, _MODULE_ATTRS)
        return self._made()

    def _generic_end(self, attrs: dict[str, AttrValue], kinds: dict[str, str]) -> Location:
        """`{attrs} : () -> () loc(...)`."""
        cursor = self.cursor
        if cursor.next == "{":
            read_dict(cursor, kinds, attrs)
        for token in (":", "(", ")", "->", "(", ")"):
            cursor.expect(token)
        return self.reader.locations.optional()

    def _generic_func(self) -> None:
        cursor, reader = self.cursor, self.reader
        start = cursor.pos
        cursor.pos += 1
        for token in "()":
            cursor.expect(token)
        attrs, types, results = read_signature(reader)
        name = str(attrs.pop("sym_name"))
        if name in self.funcs:
            cursor.fail(f"@{name} is defined twice", start)
        reader.scope.enter()
        cursor.expect("(")
        body, args = None, [Value("", type_) for type_ in types]
        if cursor.next == "{" and cursor.texts[cursor.pos + 1] != "}":
            body = self._body(name, results)
            args, body.args = body.args, []
            if [a.type for a in args] != types:
                cursor.fail(f"the body of @{name} takes other arguments than its function_type says", start)
        else:
            for token in "{}":
                cursor.expect(token)
        cursor.expect(")")
        reader.scope.leave()
        loc = self._generic_end(attrs, _FUNC_ATTRS)
        self.funcs[name] = Func(name, args, body, attrs, tuple(results), loc, cursor.line(start))

    def _made(self) -> Module:
        self._check_symbols()
        return Module(list(self.funcs.values()), self.attrs, self.file, tuple(self.modules))

    def _aliases(self) -> None:
        cursor = self.cursor
        while cursor.next[:1] in ("#", "!") and cursor.texts[cursor.pos + 1 : cursor.pos + 2] == ["="]:
            name = cursor.take()
            cursor.pos += 1
            if name[0] == "!":
                self.reader.scope.aliases[name] = self.reader.scope.type()
            elif cursor.next == "loc":
                self.reader.locations.read()
            else:
                cursor.not_modelled(f"the attribute alias {name}")

    def _func(self) -> None:
        cursor, reader = self.cursor, self.reader
        start = cursor.pos
        if cursor.next != "func.func":
            cursor.fail(f"expected func.func, found {cursor.shown()}")
        cursor.pos += 1
        attrs: dict[str, AttrValue] = {}
        if cursor.next in ("private", "public", "nested"):
            attrs["sym_visibility"] = cursor.take()
        name_at = cursor.pos
        name = read_symbol(cursor).name
        if name in self.funcs:
            cursor.fail(f"@{name} is defined twice", name_at)
        reader.scope.enter()
        args, arg_attrs = self._arguments()
        results = reader.scope.types() if cursor.accept("->") else []
        if cursor.accept("attributes"):
            read_dict(cursor, _FUNC_ATTRS, attrs)
        body = self._body(name, results) if cursor.next == "{" else None
        reader.scope.leave()
        loc = reader.locations.optional()
        self.funcs[name] = Func(name, args, body, attrs, tuple(results), loc, cursor.line(start), arg_attrs)

    def _arguments(self) -> tuple[list[Value], dict[int, dict[str, AttrValue]]]:
        """The arguments, and by position the attributes of those that have some."""
        cursor, scope = self.cursor, self.reader.scope
        cursor.expect("(")
        args: list[Value] = []
        attrs: dict[int, dict[str, AttrValue]] = {}
        while not cursor.accept(")"):
            if args:
                cursor.expect(",")
            at = cursor.pos
            if cursor.next[:1] == "%":
                name = value_name(cursor)
                cursor.expect(":")
                args.append(scope.define(name, scope.type(), at))
            else:
                args.append(Value("", scope.type()))
            if cursor.next == "{":
                read_dict(cursor, {}, attrs.setdefault(len(args) - 1, {}))
            self.reader.locations.optional()
        return args, attrs

    def _body(self, name: str, results: list[Type]) -> Block:
        cursor = self.cursor
        block = self.reader.region([])
        ends = [b.ops[-1] if b.ops else None for b in (block, *block.followers)]
        if not block.followers and (ends[0] is None or ends[0].name != "func.return"):
            cursor.fail(f"the body of @{name} must end in return", cursor.pos - 1)
        for end in ends:
            found = [v.type for v in end.args.get("values", ())] if end is not None else []
            if end is not None and end.name == "func.return" and found != results:
                shown = ", ".join(type_text(t, True) for t in found) or "nothing"
                cursor.fail(f"@{name} returns {shown}, its declaration differs", cursor.pos - 1)
        return block

    def _check_symbols(self) -> None:
        """Calls and peers must name functions of the module; a call's types must be the callee's."""
        for op, at in self.reader.calls:
            callee = op.attrs["callee"]
            assert isinstance(callee, Symbol)
            func = self.funcs.get(callee.name)
            if func is None:
                self.cursor.fail(f"@{callee.name} is not defined in this module", at)
            operands = [v.type for v in op.args.get("operands", ())]
            if operands != [a.type for a in func.args] or [r.type for r in op.results] != list(func.result_types):
                self.cursor.fail(f"the call's types are not those of @{callee.name}", at)
