"""The best model that some minutes find: `tunescope tune FILE --model auto` against its peers.

For every table and split (best_model_files.py writes both files; everybody gets the same) each of
these, one after the other, in a process of its own on one core with one thread:

    ours      tunescope tune TRAIN --test TEST --model auto --strategy race --minutes M
    flaml     FLAML's AutoML with the same minutes
    tpe       Optuna's TPE over the models and axes that ours tunes, as many folds, the same minutes
    svm       SVC or SVR in a grid over C and gamma, cut when the minutes are over
    boosting  scikit-learn's HistGradientBoosting at its defaults
    forest    scikit-learn's random forest at its defaults
    linear    LogisticRegressionCV or RidgeCV

All that search are told to maximize what is compared: accuracy for classes, R² for numbers, on the
test file. A peer that fails scores what knowing nothing does (the most frequent class, the mean)
and ranks last. At the end the mean rank of each, its mean shortfall from the best of them (points
of accuracy and R² apart), and how often it is behind knowing nothing.

No choice of the program may rest on segment, abalone, dna, svmguide1, mg, splice and wine: these
are held out, marked *, and measured only where `--all` or `--only` asks for them.

    python tests/benchmarks/bench_best_model.py [--minutes M] [--splits N] [--only NAME …] [--all]
        [--files PATH[:TARGET] …] [--peers NAME …] [--variant NAME=ARGUMENTS …] [--keep FILE.jsonl]
        [--flaml-python PATH] [--clock cpu] [--table]

With `--keep` every result is kept as a line of JSON and not measured again: a table is known by its
name, so give a changed one another. Lines of several files may be joined; `--table` prints what
they say and measures nothing. A `--variant` is ours with further arguments, under another name.
`--clock cpu` counts the peers' minutes in seconds of the processor (not ours: it knows no such
clock), for a machine that others use too.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import own_files
from best_model_files import HELD_OUT, Source, Split, given, sources, split_of
from best_model_peers import PEERS, SEARCHES, Job
from best_model_table import Result, kept, line, summaries

OURS = ("--model", "auto", "--strategy", "race")
LIMIT = 1200.0  # seconds beyond its minutes after which a peer is ended
STOPPED = "Somebody ended it."  # no fault of its own: not kept, so that it is measured again


# Measuring ----------------------------------------------------------------------------------------


class Measuring:
    """Runs the peers, each in a process of its own."""

    def __init__(self, asked: argparse.Namespace, folder: Path) -> None:
        self._asked, self._folder = asked, folder
        self._variants = {"ours": "", **dict(one.split("=", 1) for one in asked.variant)}
        taskset = shutil.which("taskset") if asked.core >= 0 else None
        self._pinned = [taskset, "-c", str(asked.core)] if taskset else []

    def measure(self, split: Split, peer: str) -> Result:
        """One peer on one split; whatever goes wrong becomes the failure."""
        asked = self._asked
        minutes = minutes_of(peer, asked.minutes)
        command = self._ours(split, peer) if peer in self._variants else self._peer(split, peer)
        begun = time.perf_counter()
        found = self._run(command, 60.0 * (minutes or 0.0) + asked.limit)
        found.setdefault("seconds", round(time.perf_counter() - begun, 2))
        load = round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else 0.0
        clock = "wall" if peer in self._variants else asked.clock
        known = (split.file, split.number, peer, minutes, split.task, split.nothing)
        return Result(*known, load=load, clock=clock, **found)

    def _run(self, command: list[str], limit: float) -> dict[str, Any]:
        begun = os.times()
        with subprocess.Popen(
            [*self._pinned, *command],
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                out, err = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                return {"failure": f"It took longer than {limit:.0f} seconds."}
            finally:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)  # those that it may have left behind
        ended = os.times()
        if process.returncode in (-signal.SIGTERM, -signal.SIGINT):
            return {"failure": STOPPED}
        if process.returncode != 0:
            said = err.strip().splitlines() or ["nothing was said"]
            return {"failure": f"It ended with status {process.returncode}: {said[-1][:300]}"}
        try:
            said = json.loads(out.strip().splitlines()[-1])
        except (IndexError, ValueError):
            return {"failure": f"It printed no result, but: {out[-200:]!r}"}
        if "score" in said:
            return said
        used = ended.children_user + ended.children_system
        used -= begun.children_user + begun.children_system
        return {**_of_ours(said), "cpu": round(used, 2)}

    @property
    def _environment(self) -> dict[str, str]:
        # A history of its own: what earlier splits taught must not help.
        fresh = tempfile.mkdtemp(dir=self._folder)
        places = {
            "TUNESCOPE_RUNS": f"{fresh}/runs",
            "TUNESCOPE_HISTORY": f"{fresh}/history.sqlite3",
        }
        return {**os.environ, **places, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"}

    def _ours(self, split: Split, variant: str) -> list[str]:
        files = [str(split.train), "--test", str(split.test), "--task", split.task]
        target = ["--target", split.target] if split.target else []
        metric = "r2" if split.task == "regression" else "accuracy"
        how = ["--minutes", str(self._asked.minutes), "--seed", str(split.number), "--json"]
        # The fit on all rows after the test changes nothing that is compared.
        how += ["--option", f"metric={metric}", "--no-refit"]
        extra = shlex.split(self._variants[variant])
        return [sys.executable, "-m", "app", "tune", *files, *target, *OURS, *how, *extra]

    def _peer(self, split: Split, peer: str) -> list[str]:
        asked = self._asked
        job = Job(
            peer,
            str(split.train),
            str(split.test),
            split.task,
            split.target,
            split.number,
            60.0 * asked.minutes,
            asked.clock,
        )
        python = asked.flaml_python if peer == "flaml" else sys.executable
        script = Path(__file__).with_name("best_model_peers.py")
        return [str(python), str(script), json.dumps(asdict(job))]


def _of_ours(said: dict[str, Any]) -> dict[str, Any]:
    """What the program's own JSON says."""
    if "ensemble" in said:
        settings = said["ensemble"]["settings"]
        members = ", ".join(sorted({str(one.get("model", "")) for one in settings}))
        chosen = f"average of {len(settings)}: {members}"
    else:
        chosen = str(said["params"].get("model", said["model"]))
    score = said["test"].get(said["metric"])
    detail = f"{chosen}; {said['trials']} trials"
    return {"score": score, "seconds": said["seconds"], "detail": detail}


def minutes_of(peer: str, minutes: float) -> float | None:
    """What a peer's result is known by: the minutes that it was given, or None."""
    return minutes if peer in SEARCHES or peer not in PEERS else None


# The command --------------------------------------------------------------------------------------


def arguments() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    own_files.add_to(parser)
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--all", action="store_true", help="the tables held out as well")
    parser.add_argument("--held-out", action="store_true", help="name the tables held out")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--peers", nargs="*", default=["ours", *PEERS], metavar="NAME")
    parser.add_argument("--variant", nargs="*", default=[], metavar="NAME=ARGUMENTS")
    parser.add_argument("--keep", type=Path, metavar="FILE.jsonl")
    parser.add_argument("--table", action="store_true", help="print what was kept, measure nothing")
    parser.add_argument("--flaml-python", type=Path, default=Path(sys.executable))
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall")
    parser.add_argument("--core", type=int, default=0, help="the core to run on; -1 for any")
    parser.add_argument("--limit", type=float, default=LIMIT)
    asked = parser.parse_args()
    asked.peers += [one.partition("=")[0] for one in asked.variant]
    if wrong := [one for one in asked.variant if "=" not in one]:
        parser.error(f"{wrong[0]} is not NAME=ARGUMENTS")
    if not asked.table and (wrong := set(asked.peers) - {"ours", *PEERS, *_names(asked.variant)}):
        parser.error(f"there is no peer {sorted(wrong)[0]}; there are ours, {', '.join(PEERS)}")
    return asked


def _names(variants: list[str]) -> list[str]:
    return [one.partition("=")[0] for one in variants]


def wanted(asked: argparse.Namespace) -> list[Source]:
    """The tables that are asked for: files by path, or those that come with it."""
    if asked.files:
        return [given(text) for text in asked.files]
    every = list(sources(asked.data))
    if asked.only:
        for name in set(asked.only) - {one.name for one in every}:
            print(f"there is no table {name}")
        return [one for one in every if one.name in asked.only]
    return [one for one in every if asked.all or one.name not in HELD_OUT]


def present(peers: list[str], flaml_python: Path) -> list[str]:
    """The peers that can be run."""
    if "flaml" in peers:
        probe = [str(flaml_python), "-c", "from flaml import AutoML"]
        if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
            print(f"FLAML is left out: {flaml_python} cannot import it (pip install flaml[automl])")
            return [peer for peer in peers if peer != "flaml"]
    return peers


def measured(asked: argparse.Namespace, peers: list[str], folder: Path) -> list[list[Result]]:
    """Measure what was not kept, printing a line a split."""
    results, measuring, rows = kept(asked.keep), Measuring(asked, folder), []
    for source in wanted(asked):
        try:
            pool = source.read()
            splits = [split_of(source.name, pool, number, folder) for number in range(asked.splits)]
        except Exception as error:  # a stranger's file may be anything; the others are measured
            print(f"{source.name} cannot be read and split: {error}", flush=True)
            continue
        for split in splits:
            row = []
            for peer in peers:
                key = (source.name, split.number, peer, minutes_of(peer, asked.minutes))
                if key not in results:
                    results[key] = measuring.measure(split, peer)
                    if asked.keep and results[key].failure != STOPPED:
                        with asked.keep.open("a") as file:
                            file.write(json.dumps(asdict(results[key])) + "\n")
                row.append(results[key])
            rows.append(row)
            print(line(row, peers), flush=True)
            for path in (split.train, split.test):
                path.unlink()
    return rows


def tabled(asked: argparse.Namespace, peers: list[str]) -> list[list[Result]]:
    """The rows of what was kept, and their lines."""
    rows: dict[tuple[str, int], list[Result]] = {}
    for one in kept(asked.keep).values():
        named = one.file in asked.only if asked.only else asked.all or one.file not in HELD_OUT
        if named and one.peer in peers and one.minutes in (None, asked.minutes):
            rows.setdefault((one.file, one.split), []).append(one)
    for row in rows.values():
        print(line(row, peers))
    return list(rows.values())


def main() -> None:
    """Prints the table."""
    asked = arguments()
    if asked.held_out:
        print("\n".join(HELD_OUT))
        return
    peers = asked.peers if asked.table else present(asked.peers, asked.flaml_python)
    print(
        f"{'table':22s} s     {'nothing':>8s} " + " ".join(f"{peer + ' ':>10s}" for peer in peers)
    )
    if asked.table:
        rows = tabled(asked, peers)
    else:
        with tempfile.TemporaryDirectory(prefix="best-model-") as folder:
            rows = measured(asked, peers, Path(folder))
    summaries(rows, peers)


if __name__ == "__main__":
    main()
