"""Ops that order others: they compute nothing."""

from __future__ import annotations

from pypto_verified.interpreter.meaning import Site, Value, meaning


@meaning(
    "system.sync_src", "system.sync_dst", "system.bar_v", "system.bar_m", "system.bar_all", "system.fence",
    "system.cacheinvalid", "system.syncall", "system.set_ffts", "system.sync_set", "system.sync_wait",
)
def _order(site: Site) -> Value:
    return None
