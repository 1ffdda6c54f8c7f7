"""A campaign that finds a planted fault, and a find as it is written."""

from __future__ import annotations

from pathlib import Path

from pypto_verified.fuzz import folder
from pypto_verified.fuzz.records import Found, Plan

FAULTY = Plan(seed=1, examples=60, batch=10, deep_every=0, fault="sub-is-add")


def written(found: Found, corpus: Path) -> tuple[Path, str]:
    """(its folder, what its README tells)."""
    made = folder.write(found, corpus)
    return made, (made / "README.md").read_text(encoding="utf-8")
