"""Faults of rules that let wrong kernels pass, which no right kernel shows."""

from __future__ import annotations

from pypto_verified.fuzz.faults.fault import Edit, Fault

_SITES = "verifiers.sites"

FAULTS = (
    Fault("bound-a-row-late", _SITES, "_axes", "the rule takes a tensor to be one longer than it is",
          Edit("axis, start, size, extent)", "axis, start, size, extent + 1)")),
    Fault("bound-of-stores-only", _SITES, "_window_groups", "the rule does not look at what is read",
          Edit('yield from (("read", g) for g in phase.reads)', "pass")),
    Fault("bound-of-loads-only", _SITES, "_window_groups", "the rule does not look at what is written",
          Edit('yield from (("write", g) for g in phase.writes)', "pass")),
    Fault("bound-of-rows-only", _SITES, "_axes", "the rule does not look at columns",
          Edit("zip(link.offsets, link.sizes, link.bounds, strict=False)",
               "zip(link.offsets[:-1], link.sizes, link.bounds, strict=False)")),
    Fault("bound-from-anywhere", _SITES, "_axes", "the rule takes windows to begin at 0 or later",
          Edit("what, link.view.name, axis, start, size, extent)",
               "what, link.view.name, axis, (start + abs(start.lo or 0)), size, extent)")),
    Fault("plan-sees-no-clobber", "verifiers.plan", "_reads", "the rule takes tiles never to lie in each other's bytes",
          Edit("for clobber in read.clobbers.values():", "for clobber in ():")),
    Fault("init-asks-of-the-written", "verifiers.plan", "_first_reads", "the rule looks at no tile that nothing wrote",
          Edit("if read.step.modelled:", "if read.step.modelled and read.written:")),
    Fault("valid-of-no-transfer", "verifiers.valid", "_transfers", "the rule compares no window with its tile",
          Edit('if site.op.name not in ("pto.tload", "pto.tstore"):', "if site.op:")),
)
