"""First paint of the window against a bare PySide6 + pyqtgraph window, in fresh processes.

Both are measured from the start of the interpreter to the end of the first paint, in turns, so that
whatever else the computer does hits both. Run: python tests/benchmarks/bench_window.py [rounds]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]

BARE = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMainWindow
import pyqtgraph
app = QApplication([])
window = QMainWindow()
plot = pyqtgraph.PlotWidget()
plot.plot([1, 2, 3], [1, 3, 2])
window.setCentralWidget(plot)
window.resize(1280, 800)
window.show()
app.processEvents()
window.grab()
print("painted", flush=True)
"""

OURS = """
import sys
from pathlib import Path
from app.preferences import preferences
preferences.use_file(Path(sys.argv[1]) / "settings.ini")
from app.window import open_window
from PySide6.QtWidgets import QApplication
class Painted(open_window.Window):
    def show(self):
        super().show()
        QApplication.instance().processEvents()
        self.grab()
        print("painted", flush=True)
        self.session.shutdown()
        sys.exit(0)
open_window.Window = Painted
open_window.run_window("")
"""


def first_paint(code: str, folder: Path) -> float:
    """Seconds from the start of a fresh interpreter until it says that it has painted."""
    environment = {**os.environ, "TUNESCOPE_RUNS": str(folder / "runs")}
    environment.setdefault("QT_QPA_PLATFORM", "offscreen")
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(folder)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("painted"):
            took = time.perf_counter() - begun
            process.stdout.read()
            process.wait()
            return took
    raise RuntimeError(f"the window ended with status {process.wait()} before it painted")


def main(rounds: int = 7) -> None:
    """Print the median first paint of both and their ratio."""
    import tempfile

    taken: dict[str, list[float]] = {"bare": [], "ours": []}
    with tempfile.TemporaryDirectory() as folder:
        for code in (BARE, OURS):
            first_paint(code, Path(folder))  # fills the file cache
        for _ in range(rounds):
            for name, code in (("bare", BARE), ("ours", OURS)):
                taken[name].append(first_paint(code, Path(folder)))
    print(f"{'window':<28}{'median s':>10}{'min s':>10}")
    for name, title in (("bare", "bare PySide6 + pyqtgraph"), ("ours", "Tunescope")):
        print(f"{title:<28}{statistics.median(taken[name]):>10.2f}{min(taken[name]):>10.2f}")
    ratio = statistics.median(taken["ours"]) / statistics.median(taken["bare"])
    print(f"ratio {ratio:.2f} (at most 1)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
