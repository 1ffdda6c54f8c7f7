"""Faults of what orders the pipes: of the pass that inserts flags, and of the rules that judge them."""

from __future__ import annotations

from pypto_verified.fuzz.faults.fault import Edit, Fault

_SYNC, _RACE = "pypto_verified.sync", "verifiers.race"

FAULTS = (
    Fault("sync-zero-trips", f"{_SYNC}.walk", "Walk.loop",
          "a loop whose turns are not known counts as run once at least", Edit(
              "ends = [] if loop.turns else", "ends = [] if loop.turns != 0 else"), "PTOAS#533"),
    Fault("sync-joined-late", f"{_SYNC}.clocks", "Clocks.meet", "after a branch the better known of both arms is known",
          Edit("min(pair)", "max(pair)"), "PTOAS#194"),
    Fault("sync-no-read-before-write", f"{_SYNC}.depend", "_Search.hazards", "a write does not wait for earlier reads",
          Edit(", (Hazard.WAR, a.reads, b.writes))", ")"), "PTOAS#934"),
    Fault("sync-one-turn", f"{_SYNC}.depend", "_Search.of", "nothing is ordered between the turns of a loop",
          Edit("for loop in b.chain[-1][0].loops:", "for loop in ():"), "PTOAS#1118, tilelang#2668"),
    Fault("sync-barriers-redundant", f"{_SYNC}.choose", "Chooser._spare", "barriers are dropped as redundant",
          Edit("if not self.holds():", "if not self.holds() and isinstance(sync, Flag):"), "PTOAS@f18a5d25"),
    Fault("sync-shared-id", f"{_SYNC}.ids", "_apart", "flags share an id while both may be set",
          Edit("if latest.sets or unknown:", "if False:"), "PTOAS#112, PTOAS#823"),
    Fault("sync-not-primed", f"{_SYNC}.emit", "_Writer.flag", "flags of the turn before are not set before the loop",
          Edit('self.put(around, position, BEFORE_LOOP, _flag(flag, "set", id, None))', "pass"), "PTOAS#514"),
    Fault("sync-not-drained", f"{_SYNC}.emit", "_Writer.flag", "flags of the last turn stay set after the loop",
          Edit('self.put(around, position + 1, AFTER_LOOP, _flag(flag, "wait", id, None))', "pass"), "PTOAS#622"),
    Fault("sync-barrier-for-all", f"{_SYNC}.clocks", "Clocks.barrier", "a barrier of one pipe counts for all pipes",
          Edit("if pipe == ALL:", "if True:")),
    Fault("sync-strip-as-block", f"{_SYNC}.places", "Local.span", "columns of a tile end where as many bytes would",
          Edit("(self.rows - 1) * self.pitch", "(self.rows - 1) * self.row_bytes")),
    Fault("race-strip-as-block", "verifiers.access.program", "Rect.span",
          "the rule takes columns of a tile to end where as many bytes would",
          Edit("(self.rows - 1) * self.pitch", "(self.rows - 1) * self.row_bytes")),
    Fault("race-begun-is-done", f"{_RACE}.order", "Order.issue", "the rule takes what has begun for complete",
          Edit("self.pending[i] |= bits", "pass")),
    Fault("race-joined-late", f"{_RACE}.order", "Order.join", "the rule knows after a branch what one arm knew",
          Edit("bits | self.pending[i] != self.pending[i]:\n            self.pending[i] |= bits",
               "bits & self.pending[i] != self.pending[i]:\n            self.pending[i] &= bits"), "PTOAS#194"),
    Fault("race-barrier-for-all", f"{_RACE}.order", "Order.barrier", "the rule takes one pipe's barrier for all pipes'",
          Edit("~on_pipe", "0")),
    Fault("race-flag-tells-all", f"{_RACE}.order", "Order.set", "the rule takes a flag to tell of all pipes",
          Edit("self.pending[_INDEX[pipe]] & ~on_pipe", "0")),
    Fault("race-wait-knows-all", f"{_RACE}.order", "Order.wait", "the rule takes a wait to know all that has begun",
          Edit("self._learn(pipe, carried, scalar_issues)", "self._learn(pipe, 0, scalar_issues)")),
    Fault("race-one-turn", f"{_RACE}.flow", "Flow._steady", "the rule follows one turn of a loop",
          Edit("pending[following] |= join(visit.heads[following], on)", "join(visit.heads[following], on)"),
          "PTOAS#1118"),
)
