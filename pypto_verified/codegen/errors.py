"""How code generation refuses: always at the user's line."""

from __future__ import annotations

from typing import NoReturn

from pypto_verified.codegen.builder import location_of
from pypto_verified.dtypes import DType
from pypto_verified.errors import CodegenError, NotModelled
from pypto_verified.ir.expr import Span


def refuse(message: str, span: Span, help: str) -> NoReturn:
    """Raise CodegenError: the kernel has no counterpart in `.pto`; `help` says what the user can do."""
    raise CodegenError(message, location_of(span), help)


def not_modelled(what: str, span: Span, help: str) -> NoReturn:
    """Raise NotModelled: PyPTO has it, this version does not generate it."""
    raise NotModelled(what, location_of(span), help)


def require_values(what: str, dtype: DType, span: Span) -> None:
    """NotModelled for an element type that names something outside of the kernel, such as TASK_ID: `.pto` has none."""
    if dtype.kind == "opaque":
        not_modelled(f"{what} of type {dtype}", span, "wait for tasks where the kernel is launched, not inside of it")
