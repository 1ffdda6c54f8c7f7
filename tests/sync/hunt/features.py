"""Which features a text has, as words in it."""

from __future__ import annotations

import re

FEATURES: dict[str, tuple[str, ...]] = {
    "loop": (r"scf\.for",), "loop in a loop": (r"scf\.for [^}]*\{\n[^}]*scf\.for",), "while loop": (r"scf\.while",),
    "carried number": (r"iter_args\([^)]*\) -> \(index\)",), "carried tiles": (r"iter_args\([^)]*\) -> \(!pto\.tile",),
    "first turn of the caller": (r"scf\.for %\w+ = %[MN] ",), "steps of the caller": (r"scf\.for [^\n]* step %e_",),
    "select of numbers": (r"arith\.select [^\n]* : index",),
    "branch": (r"scf\.if",), "other arm": (r"\} else \{",), "select of tiles": (r"arith\.select .* : !pto\.tile_buf",),
    "id in a value": (r"(set|wait)_flag_dyn|sync\.(set|wait) [^,]*, %",),
    "buffer id in a value": (r"buf_dyn",), "events": (r"record_event",),
    "buffer ids": (r"get_buf",), "barrier of one pipe": (r"barrier <PIPE_(V|MTE2|MTE3)>",),
    "subview": (r"pto\.subview",), "ring of tiles": (r"arith\.remsi", r"alloc_tile addr = %address"),
    "product": (r"pto\.tmatmul",),
    "several tiles": (r"multi_tile_get",), "scalar pipe on data": (r"t[gs]etval|_scalar",),
    "written and read back": (r"partition_view %[bpq]v[^\n]*\n[^}]*?tstore", r"tload"), "call": (r"func\.call",),
    "sections": (r"pto\.section\.cube",), "functions": (r"kernel_kind<cube>", r"kernel_kind<vector>"),
    "FFTS flag": (r"pto\.sync\.set",), "intra-block flag": (r"set_intra_block",),
    "group flag": (r"set_cross_block|ffts_mode",), "meeting": (r"syncall",),
    "lane": (r"get_subblock_idx|spmd_subblock_idx",), "push to vector": (r"tpush_to_aiv",),
    "push to cube": (r"tpush_to_aic",), "split": (r"tpush.*split = [12]",), "several blocks": (r"get_block_idx",),
    "stride of blocks": (r"scf\.for .* step %many",),
}
"""By name the patterns that a text with the feature has, all of them."""
_PATTERNS = {name: tuple(map(re.compile, patterns)) for name, patterns in FEATURES.items()}


def features(text: str) -> set[str]:
    """The features that a text has."""
    return {name for name, patterns in _PATTERNS.items() if all(p.search(text) for p in patterns)}
