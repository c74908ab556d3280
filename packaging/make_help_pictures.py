"""The pictures of the help: every strategy's views when it goes well, and when it goes badly.

    QT_QPA_PLATFORM=offscreen .venv/bin/python packaging/make_help_pictures.py

Each is the board of the Tune page, in the light theme, of a run that is made for it; the runs are
those of resources/help/strategy_examples.json. Beside the pictures it writes which views are in
them.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import tempfile
from pathlib import Path

from make_screenshots import drawing, until
from PySide6.QtCore import QBuffer, QPoint, QRect, Qt
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.cli import main as run_command
from app.help.help_pages import PICTURES, example_pairs
from app.look import appearance
from app.preferences import preferences
from app.session.session import Session
from app.window.window import Window

SIZE = (1400, 800)
SETTLES = 2500  # milliseconds, until what the worker computes for a view has come
MOST = 60_000  # bytes of a picture
COLOURS = (96, 64, 40, 28)  # fewer, until it is small enough


def main() -> None:
    """Make the pictures of the strategies that are named, or of all."""
    pairs = example_pairs()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="STRATEGY", help=", ".join(pairs))
    named = parser.parse_args().names or list(pairs)
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        os.environ["TUNESCOPE_RUNS"] = f"{place}/runs"
        preferences.use_file(Path(place) / "settings.ini")
        application = QApplication([])
        application.setApplicationName("Tunescope")
        appearance.start(application)
        appearance.change_look(scheme="light")
        session = Session(runs_root=Path(place) / "runs")
        window = Window(session)
        window.resize(*SIZE)
        window.show()
        try:
            for name in named:
                for how in ("well", "badly"):
                    run = Path(place) / "runs" / f"{name}-{how}"
                    # None learns from the others: there is what is shipped alone.
                    os.environ["TUNESCOPE_HISTORY"] = f"{place}/{name}-{how}.sqlite3"
                    asked = shlex.split(getattr(pairs[name], how).run)
                    if run_command(["tune", *asked, "--run-dir", str(run)]):
                        raise SystemExit(f"{name}: the run failed")
                    take(window, run, name, how)
        finally:
            window.close()
            session.shutdown()


def take(window: Window, run: Path, name: str, how: str) -> None:
    """Show a run's views, save what is seen of them, and note which they are."""
    opened: list[bool] = []
    seen = window.session.run_opened.connect(lambda: opened.append(True))
    window.show_page("start")
    window.open_run(run)
    until(lambda: bool(opened))
    window.session.run_opened.disconnect(seen)
    window.show_page("tune")
    until(lambda: not drawing(window))
    QTest.qWait(SETTLES)
    until(lambda: not drawing(window))
    board = window.pages["tune"].board
    path = PICTURES / f"{name}-{how}.png"
    page, seen_part = window.pages["tune"], board.viewport()
    whole = QRect(seen_part.mapTo(page, QPoint(0, 0)), seen_part.size())
    path.write_bytes(small(page.grab(whole.adjusted(-6, -6, 6, 6))))
    note(name, [[view.title, view.question] for view in board.views.values()])
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB", flush=True)


def small(picture: QPixmap) -> bytes:
    """The picture as a PNG of at most `MOST` bytes: half the size of few colours."""
    image = picture.toImage().convertToFormat(QImage.Format.Format_RGB32)
    for count in COLOURS:
        table = common_colours(image, count)
        flags = Qt.ImageConversionFlag.AvoidDither
        reduced = image.convertToFormat(QImage.Format.Format_Indexed8, table, flags)
        buffer = QBuffer()
        buffer.open(QBuffer.OpenModeFlag.WriteOnly)
        reduced.save(buffer, "PNG", 0)
        if len(made := bytes(buffer.data())) <= MOST:
            return made
    raise SystemExit("the picture does not become small enough")


def common_colours(image: QImage, count: int) -> list[int]:
    """The commonest colours of a picture, each unlike those before it."""
    import numpy as np

    held = np.frombuffer(image.constBits(), dtype=np.uint32) & 0xFFFFFF
    values, often = np.unique(held & 0xFCFCFC, return_counts=True)
    chosen: list[np.ndarray] = []
    table: list[int] = []
    for value in values[np.argsort(-often)].tolist():
        colour = np.array([value >> 16, value >> 8 & 255, value & 255], dtype=float)
        if all(np.abs(colour - other).sum() > 20 for other in chosen):
            chosen.append(colour)
            exact = held[(held & 0xFCFCFC) == value]
            table.append(0xFF000000 | int(np.bincount(exact - exact.min()).argmax() + exact.min()))
        if len(table) == count:
            break
    return table


def note(name: str, views: list[list[str]]) -> None:
    """Keep titles and questions of a strategy's views, of both its pictures."""
    path = PICTURES / "views.json"
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    before = kept.get(name, [])
    kept[name] = before + [view for view in views if view not in before]
    ordered = {one: kept[one] for one in example_pairs() if one in kept}
    path.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
