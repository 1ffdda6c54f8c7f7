"""Ops that order others: they compute nothing, and one core runs in program order anyway. What is checked is that no
flag is set twice without a wait in between (EV-09)."""

from __future__ import annotations

from pypto_verified.interpreter.meaning import Fault, Site, Value, meaning
from pypto_verified.ops.events import EVENT_IDS, pair_of


@meaning(
    "system.bar_v", "system.bar_m", "system.bar_all", "system.fence", "system.cacheinvalid", "system.syncall",
    "system.set_ffts", "system.sync_set", "system.sync_wait", "system.tsync",
)
def _order(site: Site) -> Value:
    return None


def _event(site: Site) -> tuple[str, str, int] | None:
    """The flag of an event; None within one pipe, which has none, and between cores, where flags are counted."""
    pair, crossing = pair_of(str(site.attr("src_op")), str(site.attr("dst_op")))
    id = site.int_attr("event_id") + (int(site.scalar(0)) if site.has(0) else 0)
    return None if crossing or pair[0] == pair[1] else (*pair, id % EVENT_IDS if site.attr("in_turn") else id)


def _flag(site: Site) -> tuple[str, str, int]:
    return str(site.attr("set_pipe")), str(site.attr("wait_pipe")), site.int_attr("event_id")


@meaning("system.event_record", "system.sync_src")
def _set(site: Site) -> Value:
    key = _event(site) if site.call.op == "system.event_record" else _flag(site)
    if key is None:
        return None
    if key in site.flags:
        raise Fault(f"flag {key[0]} -> {key[1]} id {key[2]} is set already, by line {site.flags[key]}: nothing has "
                    "waited for it since")
    site.flags[key] = site.call.span.line
    return None


@meaning("system.event_wait", "system.sync_dst")
def _wait(site: Site) -> Value:
    key = _event(site) if site.call.op == "system.event_wait" else _flag(site)
    if key is not None and site.flags.pop(key, None) is None:
        raise Fault(f"flag {key[0]} -> {key[1]} id {key[2]} is not set: the wait never ends")
    return None
