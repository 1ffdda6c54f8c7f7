"""One pair of texts for each legality rule."""

from __future__ import annotations

from .case_builders import Case
from .cases_compute import COMPUTE_CASES
from .cases_convey import CONVEY_CASES
from .cases_global import GLOBAL_CASES
from .cases_index import INDEX_CASES
from .cases_operands import OPERAND_CASES, SCRATCH_CASES
from .cases_pipes import PIPE_CASES
from .cases_rings import RING_CASES
from .cases_transfer import TRANSFER_CASES
from .cases_wise import WISE_CASES

CASES: tuple[Case, ...] = (
    TRANSFER_CASES + COMPUTE_CASES + PIPE_CASES + GLOBAL_CASES + WISE_CASES + OPERAND_CASES + SCRATCH_CASES
    + INDEX_CASES + CONVEY_CASES + RING_CASES
)

__all__ = ["CASES", "Case"]
