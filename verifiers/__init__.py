"""Verification of PTO modules: access program, rules, solver ladder, verdicts."""

from verifiers.engine import verify
from verifiers.options import Options

__all__ = ["Options", "verify"]
