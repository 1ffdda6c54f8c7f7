"""Arithmetic is tested as it runs: without numpy's warnings about overflow."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """What `interpret` switches off for a whole run."""
    with np.errstate(all="ignore"):
        yield
