"""Make the .deb, the .tar.gz and the AppImage from the folder that PyInstaller made.

The same folder gives the same bytes: every entry belongs to root and has the time of the last
commit.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
# Beside what packaging/environment.sh names for Qt: what Python and the numerical libraries take
# of the system.
BESIDES = ("libc6 (>= 2.34)", "libstdc++6 (>= 12)", "libgcc-s1", "zlib1g", "libzstd1")
COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Tunescope
Comment: The licences of everything that comes with it stand in
 /usr/lib/tunescope/_internal/LICENCES.txt

Files: *
Copyright: the authors of Tunescope
License: Expat
"""


def project() -> dict[str, str]:
    """The table of pyproject.toml that names the program and its version."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["project"]


def epoch() -> int:
    """Seconds that every file is dated with: SOURCE_DATE_EPOCH, or the last commit's."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    # 1980 began then: archives that are made of these files can hold no earlier date.
    return int(said) if said else 315532800


def depends() -> str:
    """The system's packages that the program needs, as a .deb names them."""
    script = (ROOT / "packaging" / "environment.sh").read_text(encoding="utf-8")
    found = re.search(r'QT_PACKAGES="([^"]+)"', script)
    if found is None:
        raise SystemExit("packaging/environment.sh names no QT_PACKAGES any more.")
    names = found[1].replace("\\\n", " ").split()
    # Debian 13 and Ubuntu 24.04 call it otherwise.
    wanted = [f"{n} | libglib2.0-0t64" if n == "libglib2.0-0" else n for n in names]
    return ", ".join([*BESIDES, *wanted])


def share_files(share: Path, mime: str) -> None:
    """The menu's entry, the icon and the kinds of files, where a system looks for them."""
    for source, target in (
        (ROOT / "packaging" / "tunescope.desktop", "applications/tunescope.desktop"),
        (ROOT / "resources/icons/tunescope.svg", "icons/hicolor/scalable/apps/tunescope.svg"),
        (HERE / "tunescope-mime.xml", mime),
    ):
        (share / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, share / target)


def tidy(folder: Path) -> None:
    """Give every file the usual rights, and all the same time."""
    at = epoch()
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            runs = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o755 if runs else 0o644)
        os.utime(path, (at, at), follow_symlinks=False)


def make_deb(program: Path, out: Path) -> Path | None:
    """A .deb that puts the program into /usr/lib; None where dpkg-deb is missing.

    It holds no scripts: the triggers of Debian's own packages notice the entry in the menu and
    the kinds of files, and removing it removes every file.
    """
    if shutil.which("dpkg-deb") is None:
        print("No .deb was made: dpkg-deb is missing (Debian's package dpkg has it).")
        return None
    about = project()
    machine = subprocess.run(
        ["dpkg", "--print-architecture"], capture_output=True, text=True, check=True
    ).stdout.strip()
    made = out / f"tunescope_{about['version']}_{machine}.deb"
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(program, tree / "usr" / "lib" / "tunescope", symlinks=True)
        share_files(tree / "usr" / "share", "mime/packages/tunescope.xml")
        (tree / "usr" / "bin").mkdir()
        (tree / "usr/bin/tunescope").symlink_to("/usr/lib/tunescope/tunescope")
        documents = tree / "usr" / "share" / "doc" / "tunescope"
        documents.mkdir(parents=True)
        licence = (ROOT / "LICENSE").read_text(encoding="utf-8").partition("\n\n")[2]
        indented = "".join(f" {line or '.'}\n" for line in licence.strip().splitlines())
        (documents / "copyright").write_text(COPYRIGHT + indented, encoding="utf-8")
        size = sum(f.lstat().st_size for f in tree.rglob("*") if f.is_file()) // 1024
        control = [
            "Package: tunescope",
            f"Version: {about['version']}",
            f"Architecture: {machine}",
            "Maintainer: Tunescope <tunescope@localhost>",
            f"Installed-Size: {size}",
            f"Depends: {depends()}",
            "Section: science",
            "Priority: optional",
            f"Description: {about['description'].rstrip('.')}",
            " Open a table, let the program suggest a model and a way of tuning it, watch",
            " the tuning, see what was gained, and export the tuned model. It needs no",
            " Python, no account and no network.",
        ]
        (tree / "DEBIAN").mkdir()
        (tree / "DEBIAN" / "control").write_text("\n".join(control) + "\n", encoding="utf-8")
        tidy(tree)
        subprocess.run(
            ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(tree), str(made)],
            env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch())},
            stdout=subprocess.DEVNULL,
            check=True,
        )
    return made


def make_archive(program: Path, out: Path) -> Path:
    """A .tar.gz that runs from wherever it is unpacked, with install and uninstall."""
    name = f"tunescope-{project()['version']}-linux-{os.uname().machine}"
    made = out / f"{name}.tar.gz"
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / name
        shutil.copytree(program, tree, symlinks=True)
        for script in ("install", "uninstall", "refresh"):
            shutil.copy(HERE / script, tree / script)
        (tree / "share").mkdir()
        shutil.copy(ROOT / "packaging" / "tunescope.desktop", tree / "share")
        shutil.copy(ROOT / "resources" / "icons" / "tunescope.svg", tree / "share")
        shutil.copy(HERE / "tunescope-mime.xml", tree / "share")
        shutil.copy(ROOT / "LICENSE", tree / "LICENSE")
        tidy(tree)

        def as_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = "root"
            return entry

        # Through GzipFile: tarfile alone would write the present time into the header.
        with (
            made.open("wb") as file,
            gzip.GzipFile("", "wb", 6, file, mtime=epoch()) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            for path in [tree, *sorted(tree.rglob("*"))]:
                inner = f"{name}/{path.relative_to(tree)}" if path != tree else name
                archive.add(path, inner, recursive=False, filter=as_root)
    return made


def make_appimage(program: Path, out: Path) -> Path | None:
    """An AppImage: its runtime with a file system behind it; None where something is missing."""
    runtime = os.environ.get("TUNESCOPE_APPIMAGE_RUNTIME", "")
    if not Path(runtime).is_file() or shutil.which("mksquashfs") is None:
        print(
            "No AppImage was made: that needs mksquashfs (Debian's package squashfs-tools) and the"
            " runtime of AppImage (runtime-x86_64 of github.com/AppImage/type2-runtime), which"
            " TUNESCOPE_APPIMAGE_RUNTIME must name."
        )
        return None
    made = out / f"tunescope-{project()['version']}-{os.uname().machine}.AppImage"
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "Tunescope.AppDir"
        shutil.copytree(program, tree / "program", symlinks=True)
        share_files(tree / "usr" / "share", "mime/packages/tunescope.xml")
        shutil.copy(ROOT / "packaging" / "tunescope.desktop", tree)
        shutil.copy(ROOT / "resources" / "icons" / "tunescope.svg", tree)
        (tree / "AppRun").symlink_to("program/tunescope")
        tidy(tree)
        held = Path(folder) / "held"
        subprocess.run(
            ["mksquashfs", tree, held, "-root-owned", "-noappend", "-quiet", "-no-progress"],
            env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch())},
            check=True,
        )
        made.write_bytes(Path(runtime).read_bytes() + held.read_bytes())
    made.chmod(0o755)
    return made


def main(out: Path) -> int:
    """Make all that can be made here, and say what was."""
    program = out / "tunescope"
    for make in (make_deb, make_archive, make_appimage):
        if made := make(program, out):
            print(f"{made}: {made.stat().st_size / 1e6:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
