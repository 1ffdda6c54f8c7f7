"""The writer: Module -> `.pto` text that the reader and the assembler read back as the same module."""

from __future__ import annotations

from collections.abc import Callable

from pypto_verified.dtypes import INDEX
from pypto_verified.errors import CodegenError, Location
from pypto_verified.pto.attrtext import attr_text, dict_text, float_text, symbol_text
from pypto_verified.pto.lexer import quote
from pypto_verified.pto.module import Block, Func, IntArray, Module, Op, Symbol, Value
from pypto_verified.pto.opwrite import OpWriter
from pypto_verified.pto.rows import TABLE
from pypto_verified.pto.spec import OpRow
from pypto_verified.pto.types import ScalarType, Type
from pypto_verified.pto.typetext import type_text

_FUNC_WORDS = ("sym_visibility",)
_MODULE_WORDS = ("sym_name",)


def write(module: Module, locs: bool = True, short: bool = False) -> str:
    """The text of a module: `read(write(m)) == m` for every module that the reader makes.

    `locs`: with the `loc("file":line:col)` of the ops. `short`: tile types as the assembler prints them
    (`!pto.tile_buf<vec, 32x64xf32>`) instead of as the compiler does. CodegenError for an op without a row, or one that
    lacks an operand.
    """
    return _Writer(locs, short).module(module)


class _Writer:
    def __init__(self, locs: bool, short: bool) -> None:
        self._locs = locs
        self._ops = OpWriter(short)
        self._short = short
        self._lines: list[str] = []
        self._special: dict[str, Callable[[Op, str], None]] = {
            "constant": self._constant, "scf.for": self._for, "scf.if": self._if, "scf.while": self._while,
            "func.call": self._call, "section": self._section, "fusion": self._fusion,
            "scf.execute_region": self._execute, "cf.br": self._branch, "cf.cond_br": self._choice,
        }

    def module(self, module: Module) -> str:
        """The whole text."""
        self._module(module, "")
        return "\n".join(self._lines) + "\n"

    def _module(self, module: Module, indent: str) -> None:
        attrs = {k: v for k, v in module.attrs.items() if k not in _MODULE_WORDS}
        name = module.attrs.get("sym_name")
        head = f"{indent}module"
        if isinstance(name, str):
            head += f" {symbol_text(Symbol(name))}"
        if attrs:
            head += f" attributes {dict_text(attrs, {})}"
        bare = len(module.modules) > 1 and not (module.funcs or module.attrs or indent)
        if bare:
            for inner in module.modules:
                self._module(inner, "")
            return
        self._lines.append(head + " {")
        for func in module.funcs:
            self._func(func, indent + "  ")
        for inner in module.modules:
            self._module(inner, indent + "  ")
        self._lines.append(indent + "}")

    def _func(self, func: Func, indent: str) -> None:
        attrs = {k: v for k, v in func.attrs.items() if k not in _FUNC_WORDS}
        visibility = func.attrs.get("sym_visibility")
        head = f"{indent}func.func {visibility} " if isinstance(visibility, str) else f"{indent}func.func "
        args = ", ".join(self._argument(func, at) for at in range(len(func.args)))
        head += f"{symbol_text(Symbol(func.name))}({args})"
        if func.result_types:
            head += f" -> {self._tuple(func.result_types)}"
        if attrs:
            head += f" attributes {dict_text(attrs, {})}"
        if func.body is None:
            self._lines.append(head + self._loc(func.loc))
            return
        self._lines.append(head + " {")
        self._block(func.body, indent + "  ")
        self._lines.append(indent + "}" + self._loc(func.loc))

    def _argument(self, func: Func, at: int) -> str:
        arg, attrs = func.args[at], func.arg_attrs.get(at)
        text = f"%{arg.name}: {self._type(arg.type)}" if arg.name else self._type(arg.type)
        return text if attrs is None else f"{text} {dict_text(attrs, {})}"

    def _block(self, block: Block, indent: str) -> None:
        for op in block.ops:
            self._op(op, indent)
        for follower in block.followers:
            args = ", ".join(f"%{a.name}: {self._type(a.type)}" for a in follower.args)
            self._lines.append(f"{indent[:-2]}^{follower.label}{f'({args})' if args else ''}:")
            self._block(follower, indent)

    def _op(self, op: Op, indent: str) -> None:
        row = TABLE.get(op.name)
        if row is None:
            raise CodegenError(f"'{op.name}' has no row in the op table", op.loc)
        special = self._special.get(row.form)
        if special is not None:
            special(op, indent)
            return
        name = "return" if op.name == "func.return" else op.name
        self._line(op, indent, name + self._ops.text(op, row))

    def _line(self, op: Op, indent: str, text: str) -> None:
        self._lines.append(f"{indent}{_results(op)}{text}{self._loc(op.loc)}")

    def _close(self, op: Op, indent: str, row: OpRow, skip: tuple[str, ...] = ()) -> None:
        """The closing brace of an op's last region, its attributes and its location."""
        attrs = {k: v for k, v in op.attrs.items() if k not in skip}
        text = f" {dict_text(attrs, row.attrs)}" if attrs else ""
        self._lines.append(f"{indent}}}{text}{self._loc(op.loc)}")

    def _constant(self, op: Op, indent: str) -> None:
        value = op.attrs["value"]
        type_ = op.result.type
        if not isinstance(type_, ScalarType):
            values = list(value.values) if isinstance(value, IntArray) else value
            text = f"dense<{values}> : {self._type(type_)}"
        elif isinstance(value, bool):
            text = "true" if value else "false"
        elif isinstance(value, float):
            text = f"{float_text(value, type_.dtype)} : {type_.dtype.pto}"
        else:
            text = f"{value} : {type_.dtype.pto}"
        attrs = {k: v for k, v in op.attrs.items() if k != "value"}
        head = f"{dict_text(attrs, {})} " if attrs else ""
        self._line(op, indent, f"arith.constant {head}{text}")

    def _for(self, op: Op, indent: str) -> None:
        block = op.regions[0]
        counter = block.args[0]
        head = f"scf.for %{counter.name} = {op.arg('lower')!r} to {op.arg('upper')!r} step {op.arg('step')!r}"
        if len(block.args) > 1:
            types = self._tuple([v.type for v in op.results])
            head += f" iter_args{_assign(block.args[1:], op.args['init'])} -> {types}"
        if not (isinstance(counter.type, ScalarType) and counter.type.dtype is INDEX):
            head += f" : {self._type(counter.type)}"
        self._lines.append(f"{indent}{_results(op)}{head} {{")
        self._block(block, indent + "  ")
        self._close(op, indent, TABLE[op.name])

    def _if(self, op: Op, indent: str) -> None:
        head = f"scf.if {op.arg('cond')!r}"
        if op.results:
            head += f" -> {self._tuple([v.type for v in op.results])}"
        self._lines.append(f"{indent}{_results(op)}{head} {{")
        self._block(op.regions[0], indent + "  ")
        if len(op.regions) > 1:
            self._lines.append(f"{indent}}} else {{")
            self._block(op.regions[1], indent + "  ")
        self._close(op, indent, TABLE[op.name])

    def _while(self, op: Op, indent: str) -> None:
        before, after = op.regions
        inits = op.args.get("init", ())
        head = "scf.while"
        if inits:
            head += f" {_assign(before.args, inits)}"
        head += f" : {self._tuple([v.type for v in inits])} -> {self._tuple([v.type for v in op.results])}"
        self._lines.append(f"{indent}{_results(op)}{head} {{")
        self._block(before, indent + "  ")
        self._lines.append(f"{indent}}} do {{")
        if after.args:
            args = ", ".join(f"%{a.name}: {self._type(a.type)}" for a in after.args)
            self._lines.append(f"{indent}^bb0({args}):")
        self._block(after, indent + "  ")
        attrs = f" attributes {dict_text(op.attrs, {})}" if op.attrs else ""
        self._lines.append(f"{indent}}}{attrs}{self._loc(op.loc)}")

    def _execute(self, op: Op, indent: str) -> None:
        results = f" -> {self._tuple([v.type for v in op.results])}" if op.results else ""
        self._lines.append(f"{indent}{_results(op)}{op.name}{results} {{")
        self._block(op.regions[0], indent + "  ")
        self._close(op, indent, TABLE[op.name])

    def _branch(self, op: Op, indent: str) -> None:
        attrs = {k: v for k, v in op.attrs.items() if k != "dest"}
        extra = f" {dict_text(attrs, {})}" if attrs else ""
        self._line(op, indent, f"cf.br {self._target(op, 'dest', 'operands')}{extra}")

    def _choice(self, op: Op, indent: str) -> None:
        attrs = {k: v for k, v in op.attrs.items() if k not in ("true_dest", "false_dest")}
        extra = f" {dict_text(attrs, {})}" if attrs else ""
        ways = ", ".join(self._target(op, f"{way}_dest", f"{way}_operands") for way in ("true", "false"))
        self._line(op, indent, f"cf.cond_br {op.arg('cond')!r}, {ways}{extra}")

    def _target(self, op: Op, label: str, group: str) -> str:
        handed = op.args.get(group, ())
        values = f"({self._ops.values(handed)} : {self._ops.types(handed)})" if handed else ""
        return f"^{op.attrs[label]}{values}"

    def _call(self, op: Op, indent: str) -> None:
        callee = op.attrs["callee"]
        operands = op.args.get("operands", ())
        attrs = {k: v for k, v in op.attrs.items() if k != "callee"}
        extra = f" {dict_text(attrs, {})}" if attrs else ""
        types = f"({self._ops.types(operands)}) -> {self._tuple([v.type for v in op.results])}"
        self._line(op, indent, f"func.call {attr_text(callee)}({self._ops.values(operands)}){extra} : {types}")

    def _section(self, op: Op, indent: str) -> None:
        row = TABLE[op.name]
        sizes = ", ".join(attr_text(op.attrs[name], clause=True) for name in row.attrs)
        head = f"{op.name}<<<{sizes}>>>" if row.attrs else op.name
        self._lines.append(f"{indent}{head} {{")
        self._block(op.regions[0], indent + "  ")
        self._close(op, indent, row, tuple(row.attrs))

    def _fusion(self, op: Op, indent: str) -> None:
        self._lines.append(f"{indent}{_results(op)}{op.name} {{")
        self._block(op.regions[0], indent + "  ")
        attrs = f" {dict_text(op.attrs, {})}" if op.attrs else ""
        types = f" : {self._ops.types(op.results)}" if op.results else ""
        self._lines.append(f"{indent}}}{attrs}{types}{self._loc(op.loc)}")

    def _type(self, type_: Type) -> str:
        return type_text(type_, self._short)

    def _tuple(self, types: list[Type] | tuple[Type, ...]) -> str:
        return f"({', '.join(self._type(t) for t in types)})"

    def _loc(self, loc: Location) -> str:
        if not self._locs or not loc.file:
            return ""
        return f" loc({quote(loc.file)}:{loc.line}:{loc.column})"


def _assign(names: list[Value], values: tuple[Value, ...]) -> str:
    return f"({', '.join(f'%{n.name} = %{v.name}' for n, v in zip(names, values, strict=True))})"


def _results(op: Op) -> str:
    """`%x = `, `%x:2 = ` or `%x, %y = `; nothing for results without a name."""
    names = [v.name for v in op.results]
    if not names or not any(names):
        return ""
    base = names[0].removesuffix("#0")
    if len(names) > 1 and names == [f"{base}#{i}" for i in range(len(names))]:
        return f"%{base}:{len(names)} = "
    return ", ".join(f"%{n}" for n in names) + " = "


