"""Automatic synchronisation: the flags and barriers that a lowered module needs, and no others.

Works on `pto.Module`, after code generation: what must be ordered are the ops that will run, at the addresses that they
have, copies that code generation makes included. It shares no analysis with the verifiers, which prove what it inserts.
"""

from pypto_verified.sync.insert import insert_sync
from pypto_verified.sync.strip import strip_sync

__all__ = ["insert_sync", "strip_sync"]
