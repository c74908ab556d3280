"""Which optional parts of the program are installed, and what to install where one is missing."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from importlib.util import find_spec
from types import ModuleType

from core.errors import UnusableError


@dataclass(frozen=True)
class OptionalPart:
    """Something that the program does only with packages that are not always installed.

    Attributes:
        extra: its name among the extras of pyproject.toml ("deep").
        modules: what must be importable.
        does: what needs it, in the plural ("deep latent Gaussian models").
    """

    extra: str
    modules: tuple[str, ...]
    does: str

    @property
    def command(self) -> str:
        """What installs it."""
        return f'pip install "tunescope[{self.extra}]"'

    @property
    def cure(self) -> str:
        """What the person can do, a clause."""
        return f"install it with: {self.command}"

    @property
    def missing(self) -> UnusableError:
        """What is said where it is not installed."""
        return UnusableError(
            f"{self.does} need {self.modules[0]}, which is missing here", cure=self.cure
        )


OPTIONAL_PARTS: dict[str, OptionalPart] = {
    "deep": OptionalPart("deep", ("jax",), "deep latent Gaussian models"),
    "onnx": OptionalPart("onnx", ("onnx", "onnxruntime"), "ONNX model files"),
}


def is_installed(extra: str) -> bool:
    """Whether everything that a part needs is there; nothing is imported to find out."""
    return all(find_spec(module) is not None for module in OPTIONAL_PARTS[extra].modules)


def check_installed(extra: str) -> None:
    """See that a part can be used; "" is the program itself.

    Raises:
        UnusableError: it is not installed.
    """
    if extra and not is_installed(extra):
        raise OPTIONAL_PARTS[extra].missing


def optional_module(extra: str, module: str) -> ModuleType:
    """Import a module that a part brings.

    Raises:
        UnusableError: it is not installed, or cannot be imported.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise OPTIONAL_PARTS[extra].missing from error
