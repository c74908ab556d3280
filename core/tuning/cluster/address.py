"""The address of a cluster and the certificates for it."""

from __future__ import annotations

import importlib
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from core.errors import UnusableError
from core.estimators.optional_parts import OPTIONAL_DEPENDENCIES

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
        """Whether the workers are started here, for this run alone."""
        return self.address == LOCAL

    @property
    def is_encrypted(self) -> bool:
        """Whether both ends show certificates."""
        return self.is_local or self.address.startswith("tls://")

    @property
    def host(self) -> str:
        """The scheduler's host, without brackets."""
        match = _ADDRESS.fullmatch(self.address)
        return match["host"].strip("[]") if match else ""


def parse_cluster_address(
    address: str, ca: str = "", certificate: str = "", key: str = ""
) -> ClusterAddress:
    """The address that a person entered.

    Raises:
        UnusableError: it is no address, certificates are given for one without encryption, or a
            file of theirs cannot be read.
    """
    address = address.strip()
    if _SCHEMELESS.fullmatch(address):
        address = f"{'tls' if ca or certificate else 'tcp'}://{address}"
    cluster_address = ClusterAddress(address, ca, certificate, key)
    if not cluster_address.is_local:
        _check_address(address)
    files = {"tls-ca": ca, "tls-cert": certificate, "tls-key": key}
    named_files = {name: file for name, file in files.items() if file}
    if named_files and not address.startswith("tls://"):
        raise UnusableError(
            f"a certificate is named, and “{address}” uses none",
            where=f"option {next(iter(named_files))}",
            cure="give an address that begins with tls://",
        )
    for name, file in named_files.items():
        _check_file(name, file)
    return cluster_address


def _check_address(address: str) -> None:
    match = _ADDRESS.fullmatch(address)
    if match is None or not 0 < int(match["port"]) < 65536:
        raise UnusableError(
            f"“{address}” is no address of a scheduler",
            where=OPTION,
            cure="give tcp://HOST:PORT or tls://HOST:PORT as dask scheduler prints it, or local",
        )


def _check_file(name: str, file: str) -> None:
    try:
        with Path(file).open("rb") as opened:
            opened.read(1)
    except OSError as error:
        raise UnusableError(
            f"the file “{file}” cannot be read ({error.strerror or error})",
            where=f"option {name}",
            cure="name a PEM file that is there",
        ) from error


def data_transfer_warning(address: ClusterAddress) -> str:
    """The warning before the first trial; "" where nothing leaves this machine unencrypted."""
    if address.is_encrypted or _is_here(address.host):
        return ""
    return (
        f"Nothing protects {address.address}: whoever reaches it can read the training rows, and "
        "run any code on its workers and, by what they send back, on this computer. Use it in a "
        "network that you trust, or with certificates (tls://)."
    )


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


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


def check_installed() -> None:
    """Raise UnusableError unless dask.distributed can be imported."""
    dependency = OPTIONAL_DEPENDENCIES["cluster"]
    for module in dependency.modules:
        if find_spec(module) is None:
            raise dependency.missing_error
        try:
            importlib.import_module(module)
        except Exception as error:  # a half installation may fail in any way
            raise dependency.broken_error(module, f"{type(error).__name__}: {error}") from error
