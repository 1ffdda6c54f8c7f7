"""A self-checking compiler from PyPTO kernels to PTO-ISA, and a verifier for the artefacts of any such compiler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pypto_verified.version import __version__

if TYPE_CHECKING:
    from pypto_verified.fuzz.own import fuzz as fuzz

__all__ = ["__version__", "fuzz"]


def __getattr__(name: str) -> object:
    """`pypto_verified.fuzz` without an import of its own."""
    if name == "fuzz":
        from importlib import import_module

        return import_module("pypto_verified.fuzz")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
