"""Generator, oracles, campaign, shrinking, planted faults. Called, it is the decorator for kernels of one's own."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Decorator(ModuleType):
    """`@pypto_verified.fuzz(kernel)`: see `own.fuzz`, which is imported when it is asked for."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        from pypto_verified.fuzz.own import fuzz

        return fuzz(*args, **options)


sys.modules[__name__].__class__ = _Decorator
