"""Ops that order others or name storage: they compute nothing. Pipes between cores carry data from another function and
have no meaning in one function's run."""

from __future__ import annotations

from pypto_verified.interpreter.meaning import Site, Value, meaning


@meaning(
    "system.sync_src", "system.sync_dst", "system.bar_v", "system.bar_m", "system.bar_all", "system.fence",
    "system.cacheinvalid", "system.syncall", "system.set_ffts", "system.sync_set", "system.sync_wait",
)
def _order(site: Site) -> Value:
    return None
