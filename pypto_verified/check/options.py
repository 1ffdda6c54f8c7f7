"""What a run of the check assumes and how it goes about it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pypto_verified.pipe_order import Sync

DEFAULT_TARGET = "a2a3"


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What a run assumes and how it goes about it. `target` None: the module's own, else a2a3. `level` None: 3 if the
    module has addresses, else 2. `timeout` in seconds per file, 0 is no limit and no process of its own. `cache`: a
    directory where results of unchanged `.pto` files and answers of the solver are kept, None for none. `passes`: run
    both sides of every pass on random inputs too. `versions`: look up what the report needs to be reproduced. `second`:
    ask a second solver too, and keep the questions there that the two differ in. `baseline`: a file of findings to
    accept. `sync`: who orders the pipes of a function, `assembler`, `explicit` or `insert` (see `pipe_order`)."""

    target: str | None = None
    level: int | None = None
    assume: tuple[str, ...] = ()
    strict: bool = False
    timeout: float = 60.0
    jobs: int = 1
    simulate: bool = True
    seed: int = 0
    cache: Path | None = None
    passes: bool = False
    versions: bool = True
    second: Path | None = None
    baseline: str | None = None
    sync: Sync = "assembler"


DEFAULTS = CheckOptions()
