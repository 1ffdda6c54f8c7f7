"""How code generation refuses: always at the user's line."""

from __future__ import annotations

from typing import NoReturn

from pypto_verified.codegen.builder import location_of
from pypto_verified.errors import CodegenError, NotModelled
from pypto_verified.ir.expr import Span


def refuse(message: str, span: Span, help: str) -> NoReturn:
    """Raise CodegenError: the kernel has no counterpart in `.pto`; `help` says what the user can do."""
    raise CodegenError(message, location_of(span), help)


def not_modelled(what: str, span: Span, help: str) -> NoReturn:
    """Raise NotModelled: PyPTO has it, this version does not generate it."""
    raise NotModelled(what, location_of(span), help)
