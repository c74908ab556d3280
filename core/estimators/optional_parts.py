"""Which optional parts of the program are installed, and what to install where one is missing."""

import importlib
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from types import ModuleType

from core.errors import UnusableError
from core.extras import install_command


@dataclass(frozen=True)
class OptionalDependency:
    """Something that the program does only with packages that are not always installed."""

    extra: str  # its name among the extras of pyproject.toml ("deep")
    modules: tuple[str, ...]  # what must be importable
    does: str  # what needs it, in the plural ("deep latent Gaussian models")
    probed: bool = False  # whether it is imported before a run begins, to see that it can be

    @property
    def command(self) -> str:
        return install_command(self.extra)

    @property
    def install_advice(self) -> str:
        return f"install it with: {self.command}"

    @property
    def missing_error(self) -> UnusableError:
        return UnusableError(
            f"{self.does} need {self.modules[0]}, which is missing here", cure=self.install_advice
        )

    def broken_error(self, module: str, reason: str) -> UnusableError:
        cure = f"repair it with: {self.command} --again"
        return UnusableError(f"{module} is installed, but cannot be imported ({reason})", cure=cure)


OPTIONAL_DEPENDENCIES: dict[str, OptionalDependency] = {
    "deep": OptionalDependency("deep", ("jax",), "deep latent Gaussian models"),
    "onnx": OptionalDependency("onnx", ("onnx", "onnxruntime"), "ONNX model files"),
    "mlflow": OptionalDependency("mlflow", ("mlflow",), "MLflow's tracking servers"),
    "lightgbm": OptionalDependency("lightgbm", ("lightgbm",), "models of LightGBM", probed=True),
    "xgboost": OptionalDependency("xgboost", ("xgboost",), "models of XGBoost", probed=True),
    "catboost": OptionalDependency("catboost", ("catboost",), "models of CatBoost", probed=True),
    "cluster": OptionalDependency(
        "cluster", ("distributed", "cryptography"), "trials on a cluster"
    ),
    "more": OptionalDependency(
        "more", ("lightgbm", "xgboost", "catboost"), "models of these libraries"
    ),
}

_broken: dict[str, UnusableError] = {}  # by module: what could not be imported in this process


def is_installed(extra: str) -> bool:
    """Whether everything that a part needs is there, and was not found broken before."""
    # Found without an import: these libraries take seconds.
    modules = OPTIONAL_DEPENDENCIES[extra].modules
    return all(module not in _broken and find_spec(module) is not None for module in modules)


def missing_package_text(extra: str) -> str:
    """What a part lacks, a clause: "lightgbm, which is not installed"; "" where it can be used."""
    if not extra or is_installed(extra):
        return ""
    modules = OPTIONAL_DEPENDENCIES[extra].modules
    broken_module = next((module for module in modules if module in _broken), "")
    return (
        f"{broken_module}, which cannot be imported"
        if broken_module
        else f"{modules[0]}, which is not installed"
    )


def check_installed(extra: str, is_compiled: bool = False) -> None:
    """See that a part can be used; "" is the program itself, whose loops numba may compile."""
    if is_compiled and find_spec("numba") is None:
        # Part of every whole installation; without it each trial would fail by itself.
        fault = "numba, which compiles the loops of this model, is missing here"
        raise UnusableError(fault, cure=f"run: {sys.executable} -m pip install numba")
    if not extra:
        return
    dependency = OPTIONAL_DEPENDENCIES[extra]
    for module in dependency.modules:
        if module in _broken:
            raise _broken[module]
    if not is_installed(extra):
        raise dependency.missing_error
    # Imported before the run begins: a broken library would fail every trial of it.
    for module in dependency.modules if dependency.probed else ():
        optional_module(extra, module)


def optional_module(extra: str, module: str) -> ModuleType:
    """Import a module that a part brings."""
    dependency = OPTIONAL_DEPENDENCIES[extra]
    try:
        return importlib.import_module(module)
    # A package that is broken may raise anything at all.
    except (Exception, SystemExit) as error:
        absent = isinstance(error, ModuleNotFoundError) and error.name == module
        if absent or not is_installed(extra):
            raise dependency.missing_error from error
        lines = str(error).strip().splitlines()
        reason = f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__
        _broken[module] = dependency.broken_error(module, reason)
        raise _broken[module] from error
