"""PyInstaller runs this first in every process: big seldom-used packages come out of an archive.

LLVM and Arrow are 280 MB and most people never need them: one compiles the loops of sequences, RNA
and votes, the other reads Parquet. They lie in archives beside the program; whoever first imports
one gets it unpacked into the cache folder of the person, once a version. Where nothing can be kept
there, it is unpacked for this process alone.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import os
import shutil
import sys
import tarfile
import tempfile
import time
import weakref
from pathlib import Path
from types import ModuleType
from typing import Any

A_DAY = 86400.0  # seconds
ARCHIVES = Path(getattr(sys, "_MEIPASS", "")) / "archives"


def cache() -> Path:
    """The person's folder for what can be made anew; for unpacked libraries and compiled loops."""
    from platformdirs import user_cache_path

    return user_cache_path("tunescope", appauthor=False)


class Unpacks(importlib.machinery.SourceFileLoader):
    """Loads a package that lies in an archive, having unpacked it."""

    def __init__(self, name: str, archive: Path, folder: Path) -> None:
        super().__init__(name, str(folder / name / "__init__.py"))
        self._archive, self._folder = archive, folder

    def exec_module(self, module: ModuleType) -> None:
        """Unpack the package where it is not yet, and import it."""
        if not self._folder.is_dir():
            try:
                unpack(self._archive, self._folder)
            except OSError:  # a full disk, or a home that cannot be written
                self._folder = for_now(self._archive)
                self.path = str(self._folder / self.name / "__init__.py")
                module.__file__ = self.path
                module.__path__ = [str(self._folder / self.name)]
        super().exec_module(module)


def unpack(archive: Path, folder: Path) -> None:
    """Unpack beside the folder and rename, so that a half of it is never found there.

    Raises:
        OSError: it cannot be kept there.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        extract(archive, draft)
        if hasattr(os, "sync"):
            os.sync()  # or a loss of power could leave empty files under the final name
        try:
            draft.rename(folder)
        except OSError:  # another process was quicker
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    remove_old(folder)


def remove_old(folder: Path) -> None:
    """Remove what other versions unpacked there, and what was broken off more than a day ago."""
    package = folder.name.partition("-")[0]
    for other in folder.parent.glob(f"{package}-*"):
        with contextlib.suppress(OSError):
            is_draft = "." in other.name
            is_new = time.time() - other.stat().st_mtime < A_DAY
            if other != folder and not (is_draft and is_new):
                shutil.rmtree(other, ignore_errors=True)


def extract(archive: Path, folder: Path) -> None:
    """Everything in an archive of ours, into a folder."""
    with tarfile.open(archive) as packed:
        # Ours, as the program itself; before 3.11.4 nothing can be asked of extractall.
        asked = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        packed.extractall(folder, **asked)


def for_now(archive: Path) -> Path:
    """Unpack into a folder that goes with this process."""
    folder = Path(tempfile.mkdtemp(prefix="tunescope-"))
    weakref.finalize(sys, shutil.rmtree, folder, True)
    extract(archive, folder)
    return folder


class Archives(importlib.abc.MetaPathFinder):
    """Finds the packages that lie in archives, without unpacking them."""

    def __init__(self) -> None:
        # NAME-HASH.tar.xz, with the hash of what is in it
        self._archives = {file.name.partition("-")[0]: file for file in ARCHIVES.glob("*.tar.xz")}

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        """The package, where there is an archive of it."""
        archive = self._archives.get(fullname)
        if archive is None or _is_pandas_looking(fullname):
            return None
        folder = cache() / "parts" / archive.name.removesuffix(".tar.xz")
        spec = importlib.machinery.ModuleSpec(
            fullname, Unpacks(fullname, archive, folder), origin=str(folder), is_package=True
        )
        spec.submodule_search_locations = [str(folder / fullname)]
        return spec


def _is_pandas_looking(name: str) -> bool:
    # Pandas imports pyarrow wherever it finds it, to keep texts in; that costs every start 0.2 s.
    pandas = sys.modules.get("pandas")
    loading = getattr(getattr(pandas, "__spec__", None), "_initializing", False)
    return name == "pyarrow" and bool(loading)


if getattr(sys, "frozen", False):
    sys.meta_path.insert(0, Archives())
    # What numba compiles goes where the person may write; the program's own folder stays as it is.
    with contextlib.suppress(OSError):
        os.environ.setdefault("NUMBA_CACHE_DIR", str(cache() / "numba"))
