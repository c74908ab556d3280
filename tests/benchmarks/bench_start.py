"""Start of the frozen program, or of the checkout, against a bare PySide6 window.

From the start of the process to the end of the first paint, and until the worker is ready; wall and
processor time, the worker's included, in turns. Build the program first (packaging/build --check).

Run: python tests/benchmarks/bench_start.py [--checkout] [rounds]
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
FROZEN = ROOT / "dist" / "tunescope" / "tunescope"
PAINTED = 1.0  # seconds
READY = 5.0

BARE = """
import sys
from PySide6.QtWidgets import QApplication, QMainWindow
app = QApplication([])
window = QMainWindow()
window.resize(1280, 800)
window.show()
app.processEvents()
window.grab()
open(sys.argv[1], "a").write("painted\\nready\\n")
"""


def started(command: list[str], folder: Path) -> dict[str, float]:
    """Seconds until each mark, and of processor time in all."""
    marks = folder / "marks"
    marks.unlink(missing_ok=True)
    environment = {
        **os.environ,
        "TUNESCOPE_RUNS": str(folder / "runs"),
        "TUNESCOPE_HISTORY": str(folder / "history.sqlite3"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "TUNESCOPE_START_TIMES": str(marks),
    }
    environment.setdefault("QT_QPA_PLATFORM", "offscreen")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
    taken: dict[str, float] = {}
    while process.poll() is None or not taken:
        told = marks.read_text().split() if marks.exists() else []
        for word in told:
            taken.setdefault(word, time.perf_counter() - begun)
        if process.poll() is not None and not told:
            raise RuntimeError(f"{command[0]} ended with status {process.returncode}")
        time.sleep(0.002)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {**taken, "processor": spent}


def main(arguments: list[str]) -> None:
    checkout = "--checkout" in arguments
    rounds = next((int(one) for one in arguments if one.isdigit()), 7)
    ours = [sys.executable, "-m", "app"] if checkout else [str(FROZEN)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bare = [sys.executable, "-c", BARE, str(folder / "marks")]
        started(bare, folder)
        first = started(ours, folder)
        print(f"the first start of these: painted {first['painted']:.2f} s")
        both = [(started(bare, folder), started(ours, folder)) for _ in range(rounds)]
    print(f"{'median seconds':<26}{'bare PySide6':>14}{'Tunescope':>12}{'ratio':>8}")
    for mark, limit in (("painted", PAINTED), ("ready", READY), ("processor", None)):
        peer = statistics.median(one[mark] for one, _ in both)
        own = statistics.median(one[mark] for _, one in both)
        said = f"  (at most {limit:g} s)" if limit else "  (with the worker's)"
        print(f"{mark:<26}{peer:>14.2f}{own:>12.2f}{own / peer:>8.1f}{said}")


if __name__ == "__main__":
    main(sys.argv[1:])
