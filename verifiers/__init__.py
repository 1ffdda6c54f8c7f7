"""Verification of PTO modules: access program, rules, solver ladder, verdicts."""

from verifiers.engine import unused_assumptions, verify
from verifiers.options import Launch, Options

__all__ = ["Launch", "Options", "unused_assumptions", "verify"]
