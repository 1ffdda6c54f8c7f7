"""The names that kernel files import from `pypto.ir` and `pypto.backend`; the compiler behind them loads when used."""

from __future__ import annotations

from enum import Enum


class OptimizationStrategy(Enum):
    """The one strategy there is."""

    Default = "Default"


class BackendType(Enum):
    """The devices, by their product name; the value is the target."""

    Ascend910B = "a2a3"
    Ascend950 = "a5"


def public_names() -> dict[str, object]:
    """The names below `pypto` that are real while a kernel file runs."""
    return {
        "ir.compile": lambda *args, **kwargs: "",
        "ir.OptimizationStrategy": OptimizationStrategy,
        "backend.BackendType": BackendType,
    }
