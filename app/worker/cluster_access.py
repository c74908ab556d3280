"""Access of the worker to clusters."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from app.worker import messages as m
from core.errors import UnusableError
from core.tuning.cluster.address import ClusterAddress, data_transfer_warning, parse_cluster_address
from core.tuning.cluster.connection import ClusterConnection
from core.tuning.runs.run_folder import RunFolder
from core.tuning.trials.executors import ProcessExecutor, TrialExecutor


@contextlib.contextmanager
def trial_executor(
    request: m.Tune, new_folder: RunFolder | None, of_trials: bool
) -> Iterator[Callable[..., TrialExecutor]]:
    """The executor of a run's trials: processes here, or a cluster until the end.

    A `new_folder` is removed where the cluster does not answer.

    Raises:
        UnusableError: the cluster cannot be reached or used.
    """
    if request.cluster is None or not of_trials:  # learning penalties is one fit, made here
        yield ProcessExecutor
        return
    try:
        connection = ClusterConnection(_cluster_address(request.cluster))
    except UnusableError:
        if new_folder is not None:
            new_folder.remove_run()
        raise
    with connection:
        yield connection.executor


def check_cluster(cluster: m.Cluster) -> m.ClusterChecked:
    """Whether a cluster answers, and how many trials it runs at a time."""
    try:
        address = _cluster_address(cluster)
        with ClusterConnection(address) as connection:
            threads, warnings_text = connection.threads, " ".join(connection.warnings)
    except UnusableError as error:
        return m.ClusterChecked(error.sentence, fine=False)
    trials_text = "1 trial" if threads == 1 else f"{threads} trials"
    return m.ClusterChecked(
        " ".join([f"It answers: {trials_text} at a time.", warnings_text]).strip(),
        data_transfer_warning(address),
    )


def _cluster_address(cluster: m.Cluster) -> ClusterAddress:
    return parse_cluster_address(cluster.address, cluster.ca, cluster.certificate, cluster.key)
