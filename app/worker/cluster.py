"""Clusters, as the worker reaches them for the window."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from app.worker import messages as m
from core.errors import UnusableError
from core.tuning.cluster.address import Place, place_of, warning
from core.tuning.cluster.connection import Connection
from core.tuning.runs.run_folder import RunFolder
from core.tuning.trials.executors import Executing, Executor


@contextlib.contextmanager
def connected(
    request: m.Tune, made: RunFolder | None, of_trials: bool
) -> Iterator[Callable[..., Executing]]:
    """What runs the trials of a run: processes of this computer, or a cluster until the end.

    Args:
        request: says which.
        made: the run's folder, where it was just made: it goes where the cluster does not answer.
        of_trials: whether the run has trials; what learns penalties is one fit, made here.

    Raises:
        UnusableError: the cluster cannot be reached or used.
    """
    if request.cluster is None or not of_trials:
        yield Executor
        return
    try:
        connection = Connection(_place(request.cluster))
    except UnusableError:
        if made is not None:
            made.remove()
        raise
    with connection:
        yield connection.executor


def tried(cluster: m.Cluster) -> m.ClusterTried:
    """Whether a cluster answers, and what there is to know of it."""
    try:
        place = _place(cluster)
        with Connection(place) as connection:
            threads, said = connection.threads, " ".join(connection.warnings)
    except UnusableError as error:
        return m.ClusterTried(error.sentence, fine=False)
    many = "1 trial" if threads == 1 else f"{threads} trials"
    return m.ClusterTried(
        " ".join([f"It answers: {many} at a time.", said]).strip(), warning(place)
    )


def _place(cluster: m.Cluster) -> Place:
    return place_of(cluster.address, cluster.ca, cluster.certificate, cluster.key)
