"""The versions that a report names, so that a verdict can be reproduced."""

from __future__ import annotations

import platform
from functools import cache
from importlib import metadata

from pypto_verified.version import __version__


@cache
def versions() -> dict[str, str]:
    """This tool's, Python's and the solver's version ('none' if a package is not installed)."""
    return {"pypto-verified": __version__, "python": platform.python_version(), "z3-solver": _installed("z3-solver")}


def _installed(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "none"
