"""One pair of texts for each legality rule."""

from __future__ import annotations

from .case_builders import Case
from .cases_compute import COMPUTE_CASES
from .cases_global import GLOBAL_CASES
from .cases_pipes import PIPE_CASES
from .cases_transfer import TRANSFER_CASES
from .cases_wise import WISE_CASES

CASES: tuple[Case, ...] = TRANSFER_CASES + COMPUTE_CASES + PIPE_CASES + GLOBAL_CASES + WISE_CASES

__all__ = ["CASES", "Case"]
