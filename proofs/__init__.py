"""Theorems about the very declarations that the product runs, proved for all sizes, with wrong versions that must
fail."""

from __future__ import annotations

from proofs.prover import run
from proofs.result import Result, save

__all__ = ["Result", "run", "save"]
