"""What a worker has installed, told by a function that is sent there whole: it needs nothing else.

A worker that lacks the program could not even read the name of a function of it.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence

from core.errors import UnusableError
from core.estimators.optional_parts import OPTIONAL_PARTS
from core.estimators.registry import MODELS
from core.estimators.several import SEVERAL, choosable

# Scores depend on these: where they differ, the same setting may have another score.
DECISIVE = ("tunescope", "scikit-learn", "numpy", "scipy")
SAID = ("pandas", "numba")  # these only make it slower or faster


def versions_here() -> dict[str, str]:
    """{package: version} of this process, with Python's; "" for what is not there.

    One "fault" says why the program cannot be imported, where it cannot.
    """
    import importlib.metadata
    import platform

    found = {"python": ".".join(platform.python_version_tuple()[:2])}
    known = ("tunescope", "scikit-learn", "numpy", "scipy", "pandas", "numba")
    for package in (*known, "lightgbm", "xgboost", "catboost", "jax"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = ""
    try:
        import core.tuning.cluster.on_worker  # noqa: F401
    except Exception as error:
        found["fault"] = f"{type(error).__name__}: {error}"
    return found


def sent_whole() -> Callable[[], dict[str, str]]:
    """`versions_here` as a function of no module, which is sent with its code, not by its name."""
    alone = types.FunctionType(versions_here.__code__, {"__builtins__": __builtins__})
    alone.__module__ = "__main__"
    return alone


def needed_by(model: str, task: str) -> tuple[str, ...]:
    """The packages of optional parts that a run needs on every worker.

    Args:
        model: its name; of several models all that are tuned with it count.
        task: of the dataset.
    """
    names = choosable(MODELS, task) if model == SEVERAL else (model,)
    extras = sorted({MODELS[name].extra for name in names} - {""})
    return tuple(part for extra in extras for part in OPTIONAL_PARTS[extra].modules)


def difference(
    name: str, there: Mapping[str, str], here: Mapping[str, str], needed: Sequence[str] = ()
) -> tuple[str, bool]:
    """How a worker differs from this process, in a sentence, and whether it may be used so.

    Args:
        name: the worker's.
        there, here: what either has, as `versions_here` tells.
        needed: packages of optional parts that the run needs.

    Returns:
        "" and True where nothing does. Another Python or another version of what scores depend on
        rules a worker out; another one of what they do not depend on is only said.
    """
    if there.get("fault"):
        return f"Worker {name} cannot run Tunescope ({there['fault']}).", False
    for package in ("python", *DECISIVE, *needed, *SAID):
        theirs, ours = there.get(package, ""), here.get(package, "")
        if theirs != ours:
            has = f"has {package} {theirs}" if theirs else f"has no {package}"
            usable = package in SAID
            return f"Worker {name} {has}, and this computer {ours or 'none'}.", usable
    return "", True


def refuse(sentences: list[str]) -> None:
    """Raises UnusableError: no worker can be used; the first reason stands for all."""
    more = f" (and {len(sentences) - 1} more)" if len(sentences) > 1 else ""
    raise UnusableError(
        f"no worker of the cluster can be used: {sentences[0].rstrip('.')}{more}",
        where="option cluster",
        cure="install the same versions on every worker, as the page “Many machines” of the help"
        " says",
    )
