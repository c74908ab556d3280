"""Options of a cluster, and its connection."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.tuning.cluster.connection import ClusterConnection


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    # A run folder never names a cluster: a stranger's would lead this program to their machine.
    parser.add_argument(
        "--cluster",
        default="",
        metavar="ADDRESS|local",
        help="run trials on the workers of a dask.distributed scheduler (tcp://HOST:PORT or"
        " tls://HOST:PORT), or on a cluster that is started on this machine",
    )
    for name, description in (
        ("ca", "the authority that signed the scheduler's certificate"),
        ("cert", "this program's certificate"),
        ("key", "the key of this program's certificate"),
    ):
        help_text = f"for a tls:// address: {description} (default: as dask is configured)"
        parser.add_argument(f"--tls-{name}", default="", metavar="FILE.pem", help=help_text)


@contextlib.contextmanager
def cluster_connection(
    arguments: argparse.Namespace, max_trials: int | None = None
) -> Iterator[ClusterConnection | None]:
    """The cluster of the options until the block ends, or UnusableError; None without one."""
    if not arguments.cluster:
        for name in ("ca", "cert", "key"):
            if getattr(arguments, f"tls_{name}"):
                print(f"--tls-{name} has no effect: there is no --cluster.", file=sys.stderr)
        yield None
        return
    from core.tuning.cluster.address import data_transfer_warning, parse_cluster_address
    from core.tuning.cluster.connection import ClusterConnection

    certificates = arguments.tls_ca, arguments.tls_cert, arguments.tls_key
    address = parse_cluster_address(arguments.cluster, *certificates)
    if message := data_transfer_warning(address):
        print(message, file=sys.stderr)
    with ClusterConnection(address, max_trials) as connection:
        yield connection


def executor_arguments(connection: ClusterConnection | None) -> dict[str, Any]:
    """Keyword arguments of `core.tuning.tune.tune` for trials on a cluster."""
    return {} if connection is None else {"executor": connection.executor}
