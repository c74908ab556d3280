"""What goes into the frozen program and what stays out, for tunescope.spec."""

from __future__ import annotations

import hashlib
import io
import lzma
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterable
from pathlib import Path

# Packages that lie in archives (packaging/frozen/start.py), with what of them is never needed:
# the sources and headers for those who build on them, and file systems on other people's computers.
PACKED = {
    "llvmlite": r"tests/",
    "pyarrow": r"tests/|include/|includes/|src/|interchange/|.*\.(pyx|pxi|pxd|pyi|cc|h)$"
    r"|(lib)?(arrow)?_?(arrow_)?(python_)?(flight|s3|s3fs|gcsfs|azurefs|hdfs|orc|substrait)\.cpython"
    r"|lib(arrow_flight|arrow_s3|arrow_python_flight)\.|.*\.so\.\d+\.\d+\.\d+$",
}

# Modules that nothing of ours imports.
MODULES = (
    *("tkinter", "matplotlib", "IPython", "PIL", "pytest", "_pytest", "setuptools"),
    *("pkg_resources", "pip", "wheel", "Cython", "docutils", "sphinx", "torch", "cupy", "dask"),
    *("pyqtgraph.examples", "pyqtgraph.opengl", "pyqtgraph.console", "pyqtgraph.jupyter"),
    *(
        f"PySide6.Qt{part}"
        for part in (
            *("Qml", "Quick", "Network", "DBus", "OpenGL", "OpenGLWidgets", "Test", "Sql", "Xml"),
            *("Concurrent", "Designer", "Help", "PrintSupport", "UiTools", "SvgWidgets"),
        )
    ),
    *("numba.cuda", "numba.tests", "sklearn.tests", "scipy.conftest", "pandas.tests"),
    *("jax.numpy", "numpy.tests", "lib2to3", "pydoc_data", "test", "idlelib", "turtledemo"),
    *("ensurepip", "yaml"),
)

# Files that come along although nothing asks for them. A library of the system's that is left out
# is the system's to bring: its own version fits its display, fonts and sessions best.
FILES = re.compile(
    r"""
    PySide6/Qt/translations/
    | PySide6/Qt/plugins/(egldeviceintegrations|generic|networkinformation|tls)/
    | PySide6/Qt/plugins/platforms/libq(eglfs|linuxfb|minimal|minimalegl|vkkhrdisplay|vnc)\.
    | PySide6/Qt/plugins/platformthemes/libqgtk3\.
    | PySide6/Qt/plugins/imageformats/libq(gif|icns|ico|tga|tiff|wbmp|webp)\.
    | (PySide6/Qt/lib/)?libQt6(EglFS|Network|Test|OpenGLWidgets)
    | scipy/io/_fast_matrix_market/_fmm_core
    | numba/np/ufunc/(tbbpool|omppool)
    | (.*/)?tests/
    | alembic/testing/
    | .*\.(pyi|pyx|pxd)$
    | [^/]+\.dist-info/(direct_url\.json|RECORD|REQUESTED|INSTALLER|sboms/)  # of the build machine
    | lib(X11|Xau|Xdmcp|Xext|Xrender|atk-1|blkid|bsd|cairo|cap|com_err|datrie|dbus-1|expat
        |fontconfig|freetype|fribidi|gcc_s|gcrypt|gdk_pixbuf|gio-2|glib-2|gmodule-2|gobject-2
        |gpg-error|graphite2|gssapi|gthread-2|harfbuzz|jpeg|k5crypto|keyutils|krb5|lz4|md
        |mount|pango|pcre2|pixman|png16|readline|selinux|stdc\+\+|systemd|thai|tinfo|zstd
        |brotli)[-.a-zA-Z0-9_+]*\.so
    """,
    re.VERBOSE,
)


def is_left_out(name: str) -> bool:
    """Whether a file, by its path inside the program, stays out of it."""
    return FILES.match(name.replace("\\", "/")) is not None


def pack(package: str, source: Path, folder: Path) -> Path:
    """Put a package into an archive whose name tells what is in it; the same bytes every time."""
    unwanted = re.compile(PACKED[package])
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        for path in sorted(source.rglob("*")):
            inner = path.relative_to(source).as_posix()
            if path.is_dir() or "__pycache__" in inner or unwanted.match(inner):
                continue
            entry = tarfile.TarInfo(f"{package}/{inner}")
            held = (
                path.read_bytes() if path.suffix == ".py" else stripped(path, folder).read_bytes()
            )
            entry.size, entry.mode = len(held), 0o755 if ".so" in path.name else 0o644
            archive.addfile(entry, io.BytesIO(held))
    bytes_ = plain.getvalue()
    packed = folder / f"{package}-{hashlib.sha256(bytes_).hexdigest()[:12]}.tar.xz"
    if not packed.exists():
        packed.write_bytes(lzma.compress(bytes_, preset=int(os.environ.get("TUNESCOPE_XZ", "9"))))
    return packed


def stripped(path: Path, folder: Path) -> Path:
    """The library without names that only debuggers read; itself where that cannot be done."""
    if sys.platform != "linux" or ".so" not in path.name or not _may_be_stripped(path):
        return path
    copy = folder / "stripped" / hashlib.sha256(str(path).encode()).hexdigest()[:8] / path.name
    copy.parent.mkdir(parents=True, exist_ok=True)
    command = ["strip", "--strip-unneeded", "-o", str(copy), str(path)]
    done = subprocess.run(command, capture_output=True, check=False)
    return copy if done.returncode == 0 else path


def _may_be_stripped(path: Path) -> bool:
    if path.resolve().is_relative_to(Path(sys.base_prefix).resolve()):
        return True
    # Into many libraries of wheels the folders of others were written after they had been linked;
    # strip breaks those, and they come stripped.
    said = subprocess.run(["objdump", "-p", path], capture_output=True, text=True, check=False)
    return said.returncode == 0 and "RUNPATH" not in said.stdout and "RPATH" not in said.stdout


def slimmed(entries: Iterable[tuple[str, str, str]], folder: Path) -> list[tuple[str, str, str]]:
    """PyInstaller's list of files without those that stay out; libraries stripped, each once."""
    kept: list[tuple[str, str, str]] = []
    known: dict[tuple[str, str], str] = {}
    for name, source, kind in entries:
        if is_left_out(name):
            continue
        if kind in ("BINARY", "EXTENSION"):
            source = str(stripped(Path(source), folder))
        # Numpy and scipy bring some libraries twice; the second becomes a link to the first.
        if re.match(r"\w+\.libs/", name):
            held = hashlib.sha256(Path(source).read_bytes()).hexdigest()
            first = known.setdefault((Path(name).name, held), name)
            if first != name:
                source, kind = os.path.relpath(first, Path(name).parent), "SYMLINK"
        kept.append((name, source, kind))
    names = {name for name, _, _ in kept}

    def leads(name: str, target: str) -> bool:
        return os.path.normpath(Path(name).parent / target) in names

    # A link to a library that stays out would lead nowhere.
    return [entry for entry in kept if entry[2] != "SYMLINK" or leads(entry[0], entry[1])]
