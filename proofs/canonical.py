"""What a recorded verdict is filed under."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

from proofs.theorem import Claim
from verifiers.solver.canonical import Canonical


def key(canonical: Canonical, claims: Iterable[Claim], *context: str) -> str:
    """The hash of all claims and of `context` (solver and version)."""
    digest = sha256("\n".join(context).encode())
    for c in claims:
        digest.update(
            f"\n{c.label}\n{canonical.cond(c.hypotheses)}\n{canonical.cond(c.goal)}\n{c.holds}".encode())
    return digest.hexdigest()[:32]
