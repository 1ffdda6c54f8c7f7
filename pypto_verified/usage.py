"""What all commands say of wrong use: the exit code, the message, and values of options that can't be."""

from __future__ import annotations

import argparse
import sys

WRONG_INPUT = 2
"""Exit code of a command that was given what it can't use."""


def refuse(message: str) -> int:
    """Say why nothing is done; the exit code."""
    print(f"pypto-verify: {message}", file=sys.stderr)
    return WRONG_INPUT


def count(text: str) -> int:
    """An option's value that is 1 or more."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return value
