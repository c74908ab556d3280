"""Tunescope for Python: samplers, penalty learners, models, and whole runs. Nothing else is public.

Modules are imported at the first use of a name.
"""

_WHERE = {
    "tunescope.running": "tune read TunedRun open_run export_study",
    "tunescope.estimators": "AutoClassifier AutoRegressor",
    "tunescope.models": "CrfTagger OnlineLda RnaFolder",
    "core.errors": "UnusableError",
    "tunescope.samplers": "GpSampler HybridSampler VariableSampler EbHypSampler TransferSampler "
    "ScotSampler GridSampler GpOptions HybridOptions VariableOptions EbHypOptions TuningHistory "
    "EarlierDataset Axis",
    "tunescope.penalties": "LogisticMM LogisticEvidence LogisticLOO LogisticDirect "
    "LogisticGradient RidgeMM RidgeEvidence RidgeDirect RidgeGradient learn_penalties "
    "recommended_learner",
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names.split()}
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'tunescope' has no attribute {name!r}")
    from importlib import import_module

    module = _MODULE_OF[name]
    _check_own("core")
    if module in ("tunescope.running", "tunescope.estimators"):
        _check_own("resources")
    attribute = getattr(import_module(module), name)
    # Found there from now on, without this function.
    globals()[name] = attribute
    return attribute


def __dir__() -> list[str]:
    return [*__all__, "__doc__", "__name__"]


def _check_own(package: str) -> None:
    """Raise ImportError where another package of this name comes first on the path."""
    # “core” and “resources” are names that a person's own project may have, too.
    import os
    import sys
    from importlib.util import find_spec

    module = sys.modules.get(package)
    spec = find_spec(package) if module is None else module.__spec__
    ours = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), package)
    locations = list(map(os.path.realpath, (spec and spec.submodule_search_locations) or []))
    if locations and locations != [ours]:
        raise ImportError(
            f"{locations[0]}: this package comes before Tunescope's own “{package}”; rename it, or "
            "take its folder off the import path."
        )
