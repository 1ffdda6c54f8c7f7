"""Campaigns on a `dask.distributed` cluster (the extra `cluster`), behind the interface of a pool of this machine.

Scheduler and workers need this package. Each job has a process of its own beside them (`apart`): one that never ends,
or ends its process, costs no worker, and a planted fault changes nobody else's product.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any, ParamSpec, TypeVar

from pypto_verified.errors import InputError
from pypto_verified.fuzz import apart

P = ParamSpec("P")
T = TypeVar("T")
_PATIENCE = "10s"
_PACKAGE = "pypto_verified"


class Cluster(Executor):
    """The workers of the scheduler at `address`. InputError when there is none, or this package is not installed there.
    """

    def __init__(self, address: str) -> None:
        try:
            from distributed import Client, KilledWorker
            from distributed.comm.addressing import parse_address, parse_host_port
        except ImportError:
            raise InputError("dask.distributed is not installed",
                             help="pip install 'pypto-verified[cluster]', here and on the workers") from None
        self._killed: type[Exception] = KilledWorker
        try:
            if "://" not in address or address.startswith(("tcp://", "tls://")):
                parse_host_port(parse_address(address)[1])  # a client with a wrong address takes 20 s to end
            self._client: Any = Client(address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise InputError(f"no scheduler at {address}: {error}") from None
        try:
            for there in (self._client.run_on_scheduler, self._client.run):
                there(pkgutil.resolve_name, f"{_PACKAGE}:__name__")
        except ImportError as error:
            self._client.close()
            raise InputError(f"the cluster at {address} can't use this package: {error}",
                             help="install pypto-verified for the scheduler and for each worker") from None
        self._executor: Any = self._client.get_executor(pure=False)

    @property
    def workers(self) -> int:
        """How many jobs run at a time, 1 at least."""
        threads: dict[str, int] = self._client.nthreads()
        return max(1, sum(threads.values()))

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """A job whose future breaks like one of a local pool when it kills its worker."""
        outer: Future[T] = Future()

        def done(inner: Future[T]) -> None:
            if inner.cancelled() or outer.cancelled():
                outer.cancel()
                return
            error = inner.exception()
            if isinstance(error, self._killed):
                outer.set_exception(BrokenExecutor(str(error)))
            elif error is not None:
                outer.set_exception(error)
            else:
                outer.set_result(inner.result())

        self._executor.submit(apart.run, fn, *args, **kwargs).add_done_callback(done)
        return outer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster; its workers stay."""
        self._executor.shutdown(wait=wait and not cancel_futures)
        self._client.close()
