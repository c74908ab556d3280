"""The connection to a cluster: opened before the first trial, closed after the last."""

from __future__ import annotations

import contextlib
import logging
import os
import time
import warnings
from typing import Any

from core.errors import UnusableError
from core.tuning.cluster import worker_versions
from core.tuning.cluster.address import OPTION, ClusterAddress, check_installed, security_of
from core.tuning.cluster.cluster_monitor import ClusterMonitor
from core.tuning.cluster.executor import ClusterExecutor
from core.tuning.scores.scoring import ScoringJob
from core.tuning.trials.scratch_folder import ScratchFolder

ANSWER_SECONDS = 10.0  # of the scheduler
WORKER_SECONDS = 30.0  # until the first worker comes
VERSION_SECONDS = 30.0  # more, until it answers with its versions
CLOSE_SECONDS = 5.0


class ClusterConnection:
    """A connected cluster, with at least one worker that can run trials.

    Args:
        address: "local" starts workers on this machine, with temporary certificates.
        max_running: trials at the same time at most; None for one a thread of its workers (a local
        cluster: one a core).

    Raises:
        UnusableError: dask.distributed is not installed, no scheduler answers, certificates do not
            fit, or no worker comes or can be used.
    """

    def __init__(self, address: ClusterAddress, max_running: int | None = None) -> None:
        check_installed()
        _silence()
        self.address, self._max_running = address, max_running
        self._stack = contextlib.ExitStack()
        try:
            self._client = self._connect_client()
            self._monitor = ClusterMonitor(self._client)
            self._await_workers()
        except BaseException:
            self.close()
            raise

    def _connect_client(self) -> Any:
        from distributed import Client

        address = self.address
        target: Any = address.address
        try:
            security = security_of(address)
            if address.is_local:
                workers = self._max_running or os.cpu_count() or 1
                target = self._start_local_cluster(security, workers)
            timeout, name = ANSWER_SECONDS, "tunescope"
            client = Client(
                target, timeout=timeout, security=security, set_as_default=False, name=name
            )
        except (OSError, TimeoutError, ValueError, TypeError, RuntimeError, ImportError) as error:
            raise _unreachable(address, error) from error
        self._stack.callback(client.close, CLOSE_SECONDS)
        return client

    def _start_local_cluster(self, security: Any, workers: int) -> Any:
        from distributed import LocalCluster

        folder = ScratchFolder("cluster")
        self._stack.callback(folder.remove_folder)
        cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",  # its HTTP pages are for this machine alone
            local_directory=str(folder.path),
            security=security,
            protocol="tls://",
            silence_logs=logging.CRITICAL,
        )
        self._stack.callback(cluster.close, CLOSE_SECONDS)
        return cluster

    def _await_workers(self) -> None:
        end = time.monotonic() + WORKER_SECONDS
        while not self._monitor.threads:
            if self._monitor.remarks and not self._monitor.has_open_question:
                worker_versions.raise_no_worker(self._monitor.remarks)
            extra_seconds = VERSION_SECONDS if self._monitor.has_open_question else 0.0
            if time.monotonic() > end + extra_seconds:
                raise UnusableError(
                    f"no worker came within {WORKER_SECONDS:g} seconds",
                    where=self.address.address,
                    cure="start workers with: dask worker ADDRESS",
                )
            time.sleep(0.2)

    @property
    def warnings(self) -> list[str]:
        """Sentences about workers that differ from this machine; each is given out once."""
        remarks, self._monitor.remarks = self._monitor.remarks, []
        return remarks

    @property
    def threads(self) -> int:
        """How many trials its workers can run at the same time now."""
        return self._monitor.threads

    @property
    def client(self) -> Any:
        """The client of distributed, for work other than trials."""
        return self._client

    def executor(
        self, work: ScoringJob, _workers: int = 1, limit: float | None = None
    ) -> ClusterExecutor:
        """The executor of one run's trials; the cluster decides how many run at a time."""
        return ClusterExecutor(self._client, work, self._max_running, limit, self._monitor)

    def close(self) -> None:
        """Disconnect; a local cluster ends."""
        with contextlib.suppress(OSError, TimeoutError):
            self._stack.close()

    def __enter__(self) -> ClusterConnection:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _unreachable(address: ClusterAddress, error: Exception) -> UnusableError:
    text = " ".join(str(error).split())
    if address.is_local:
        return UnusableError(
            f"workers could not be started here ({type(error).__name__}: {text[:200]})",
            where=OPTION,
            cure="run without a cluster, or with --workers",
        )
    about = f"{text} {error.__cause__ or ''}".lower()
    if any(word in about for word in ("ssl", "tls", "certificate", "pem")):
        return UnusableError(
            f"the certificates do not fit ({text[:200] or type(error).__name__})",
            where=address.address,
            cure="name those that the scheduler was started with (--tls-ca, --tls-cert, --tls-key)",
        )
    return UnusableError(
        "no scheduler answers",
        where=address.address,
        cure="see that “dask scheduler” runs there and that its port can be reached",
    )


def _silence() -> None:
    # What matters becomes a remark; dask's log lines would disturb the output.
    from distributed.versions import VersionMismatchWarning  # also sets its loggers' levels

    warnings.simplefilter("ignore", VersionMismatchWarning)
    for name in [*logging.Logger.manager.loggerDict, "distributed"]:
        if name.split(".")[0] in ("distributed", "dask"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
