"""The address of a cluster, the certificates for it, and the connection of a run."""

import contextlib
import ipaddress
import logging
import os
import re
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import UnusableError
from core.estimators.optional_parts import OPTIONAL_DEPENDENCIES, optional_module
from core.ordinary_files import open_ordinary
from core.tuning.cluster.cluster_monitor import ClusterMonitor, raise_no_worker
from core.tuning.cluster.executor import ClusterExecutor
from core.tuning.scores.scoring import ScoringJob
from core.tuning.trials.executors import ScratchFolder

LOCAL = "local"  # in place of an address: workers on this machine, for one run
OPTION = "option cluster"
_ADDRESS = re.compile(
    r"(?P<scheme>tcp|tls)://(?P<host>\[[0-9a-fA-F:.]+\]|[^\s/:\[\]]+):(?P<port>\d{1,5})"
)
_SCHEMELESS = re.compile(r"(\[[0-9a-fA-F:.]+\]|[^\s/:\[\]]+):\d{1,5}")


@dataclass(frozen=True)
class ClusterAddress:
    """Where trials run; an empty file name leaves it to dask's configuration."""

    address: str  # of a scheduler (tcp://host:port, tls://host:port), or "local"
    ca: str = ""  # file of the trusted certificate authority
    certificate: str = ""  # file of this program's certificate
    key: str = ""  # file of its private key; "" for the certificate's file

    @property
    def is_local(self) -> bool:
        return self.address == LOCAL

    @property
    def is_encrypted(self) -> bool:
        return self.is_local or self.address.startswith("tls://")

    @property
    def host(self) -> str:
        """The scheduler's host, without brackets."""
        match = _ADDRESS.fullmatch(self.address)
        return match["host"].strip("[]") if match else ""


def parse_cluster_address(
    address: str, ca: str = "", certificate: str = "", key: str = ""
) -> ClusterAddress:
    """The address that a person entered."""
    address = address.strip()
    if _SCHEMELESS.fullmatch(address):
        # Whoever names certificates wants them used.
        address = f"{'tls' if ca or certificate else 'tcp'}://{address}"
    cluster_address = ClusterAddress(address, ca, certificate, key)
    match = _ADDRESS.fullmatch(address)
    if not cluster_address.is_local and (match is None or not 0 < int(match["port"]) < 65536):
        raise UnusableError(
            f"“{address}” is no address of a scheduler",
            where=OPTION,
            cure="give tcp://HOST:PORT or tls://HOST:PORT as dask scheduler prints it, or local",
        )
    files = {"tls-ca": ca, "tls-cert": certificate, "tls-key": key}
    named_files = {name: file for name, file in files.items() if file}
    if named_files and not address.startswith("tls://"):
        raise UnusableError(
            f"a certificate is named, and “{address}” uses none",
            where=f"option {next(iter(named_files))}",
            cure="give an address that begins with tls://",
        )
    for name, file in named_files.items():
        try:
            open_ordinary(Path(file)).close()
        except OSError as error:
            raise UnusableError(
                f"the file “{file}” cannot be read ({error.strerror or error})",
                where=f"option {name}",
                cure="name a PEM file that is there",
            ) from error
    return cluster_address


def data_transfer_warning(address: ClusterAddress) -> str:
    """The warning before the first trial; "" where nothing leaves this machine unencrypted."""
    is_here = address.host == "localhost"
    with contextlib.suppress(ValueError):  # a name
        is_here = is_here or ipaddress.ip_address(address.host).is_loopback
    if address.is_encrypted or is_here:
        return ""
    return (
        f"Nothing protects {address.address}: whoever reaches it can read the training rows, and "
        "run any code on its workers and, by what they send back, on this computer. Use it in a "
        "network that you trust, or with certificates (tls://)."
    )


def security_of(address: ClusterAddress) -> Any:
    """The Security that dask needs for the address; None where it needs none."""
    if not address.is_encrypted:
        return None
    from distributed.security import Security

    if address.is_local:
        return Security.temporary()
    file_options: Mapping[str, str] = {
        "tls_ca_file": address.ca,
        "tls_client_cert": address.certificate,
        "tls_client_key": address.key or address.certificate,
    }
    named_files = {name: file for name, file in file_options.items() if file}
    security = Security(require_encryption=True, **named_files)
    if not security.tls_ca_file or not security.tls_client_cert:
        raise UnusableError(
            "a tls:// address needs certificates, and none are named",
            where=OPTION,
            cure="name them with --tls-ca, --tls-cert and --tls-key, or in dask's configuration",
        )
    return security


ANSWER_SECONDS = 10.0  # of the scheduler
WORKER_SECONDS = 30.0  # until the first worker comes
VERSION_SECONDS = 30.0  # more, until it answers with its versions
CLOSE_SECONDS = 5.0
SILENT = logging.CRITICAL + 1


class ClusterConnection(contextlib.AbstractContextManager["ClusterConnection"]):
    """A connected cluster, with at least one worker that can run trials."""

    def __init__(self, address: ClusterAddress, max_running: int | None = None) -> None:
        for module in OPTIONAL_DEPENDENCIES["cluster"].modules:
            optional_module("cluster", module)
        _silence()
        self.address, self._max_running = address, max_running
        self._stack = contextlib.ExitStack()
        try:
            self.client = self._connect_client()
            self._monitor = ClusterMonitor(self.client)
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
                # Workers of this machine alone, with temporary certificates: one a core by default.
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
            silence_logs=SILENT,
        )
        self._stack.callback(cluster.close, CLOSE_SECONDS)
        return cluster

    def _await_workers(self) -> None:
        end = time.monotonic() + WORKER_SECONDS
        while not self._monitor.threads:
            if self._monitor.remarks and not self._monitor.question:
                raise_no_worker(self._monitor.remarks)
            extra_seconds = VERSION_SECONDS if self._monitor.question else 0.0
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
        return self._monitor.threads

    def executor(
        self, work: ScoringJob, _workers: int = 1, limit: float | None = None
    ) -> ClusterExecutor:
        """The executor of one run's trials; the cluster decides how many run at a time."""
        return ClusterExecutor(self.client, work, self._max_running, limit, self._monitor)

    def close(self) -> None:
        """Disconnect; a local cluster ends."""
        with contextlib.suppress(OSError, TimeoutError):
            self._stack.close()

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
    # dask wraps what OpenSSL says, or passes its words on.
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
            logging.getLogger(name).setLevel(SILENT)
