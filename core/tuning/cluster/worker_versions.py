"""The versions that a worker has installed, asked by a function that is sent with its code.

A worker that lacks the program could not import a function of it by name.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence

from core.errors import UnusableError
from core.estimators.multi_model import SEVERAL, selectable_models
from core.estimators.optional_parts import OPTIONAL_DEPENDENCIES
from core.estimators.registry import MODELS

# Scores depend on these: where they differ, the same setting may have another score.
DECISIVE = ("tunescope", "scikit-learn", "numpy", "scipy")
SECONDARY = ("pandas", "numba")  # these only make it slower or faster


def installed_versions() -> dict[str, str]:
    """{package: version} of this process, with Python's; "" for what is missing.

    "fault" says why the program cannot be imported, where it cannot.
    """
    import importlib.metadata
    import platform

    versions = {"python": ".".join(platform.python_version_tuple()[:2])}
    packages = ("tunescope", "scikit-learn", "numpy", "scipy", "pandas", "numba")
    for package in (*packages, "lightgbm", "xgboost", "catboost", "jax"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = ""
    try:
        import core.tuning.cluster.on_worker  # noqa: F401
    except Exception as error:
        versions["fault"] = f"{type(error).__name__}: {error}"
    return versions


def sent_whole() -> Callable[[], dict[str, str]]:
    """`installed_versions` as a function of no module, pickled with its code and not by name."""
    alone = types.FunctionType(installed_versions.__code__, {"__builtins__": __builtins__})
    alone.__module__ = "__main__"
    return alone


def needed_by(model: str, task: str) -> tuple[str, ...]:
    """The packages of optional parts that every worker needs for a model."""
    names = selectable_models(MODELS, task) if model == SEVERAL else (model,)
    extras = sorted({MODELS[name].extra for name in names} - {""})
    return tuple(module for extra in extras for module in OPTIONAL_DEPENDENCIES[extra].modules)


def version_difference(
    name: str,
    worker_versions: Mapping[str, str],
    local_versions: Mapping[str, str],
    needed: Sequence[str] = (),
) -> tuple[str, bool]:
    """How a worker's `installed_versions` differ, a sentence, and whether it may be used.

    "" and True where nothing differs. Another Python or version that scores depend on excludes a
    worker; `SECONDARY` versions are only reported.
    """
    if worker_versions.get("fault"):
        return f"Worker {name} cannot run Tunescope ({worker_versions['fault']}).", False
    for package in ("python", *DECISIVE, *needed, *SECONDARY):
        worker_version = worker_versions.get(package, "")
        local_version = local_versions.get(package, "")
        if worker_version != local_version:
            has = f"has {package} {worker_version}" if worker_version else f"has no {package}"
            usable = package in SECONDARY
            return f"Worker {name} {has}, and this computer {local_version or 'none'}.", usable
    return "", True


def raise_no_worker(sentences: list[str]) -> None:
    """Raise UnusableError: no worker can be used, with the first reason."""
    more = f" (and {len(sentences) - 1} more)" if len(sentences) > 1 else ""
    raise UnusableError(
        f"no worker of the cluster can be used: {sentences[0].rstrip('.')}{more}",
        where="option cluster",
        cure="install the same versions on every worker, as the page “Many machines” of the help"
        " says",
    )
