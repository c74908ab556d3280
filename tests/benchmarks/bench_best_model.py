"""The best model that some minutes find: `tunescope tune FILE --minutes M` beside its peers.

For every table and split (best_model_files.py writes them) all are given the same rows to learn
from and predict the same fresh rows, whose target nobody sees; one after the other, with the same
cores and time:

    ours       tunescope tune TRAIN --target COLUMN --minutes M, tunescope predict
    plain      a dozen usual settings of scikit-learn, averaged by what held-out rows say
    flaml      FLAML's AutoML
    autogluon  AutoGluon's TabularPredictor, once for each of --autogluon-presets
    boosting   scikit-learn's HistGradientBoosting at its defaults, whatever it takes
    forest     scikit-learn's random forest, the same
    svm        SVC or SVR in a grid over C and gamma
    linear     LogisticRegression or Ridge in a grid over the penalty

Each searches by the metric that it takes by itself. Ours holds out rows of its own to test on, as
for a person; the model that is taken away is fitted on all. The same code measures everybody's
accuracy, AUC (mean of one class against the rest), log loss and R². A peer that fails scores what
the baseline does (the most frequent class, the classes' shares, the mean).

No choice of the program may rest on segment, abalone, dna, svmguide1, mg, splice and wine: these
are held out, marked *, and measured only where `--all` or `--only` asks for them.

    python tests/benchmarks/bench_best_model.py [--minutes M] [--threads N] [--splits N]
        [--only NAME …] [--all] [--files PATH[:TARGET] …] [--peers NAME …]
        [--variant NAME=ARGUMENTS …] [--flaml-python PATH] [--autogluon-python PATH]
        [--autogluon-presets NAME …] [--keep FILE.jsonl] [--table] [--page FILE.md]

With `--keep` every result is kept as a line of JSON and not measured again: a table is known by its
name, so give a changed one another. Lines of several files may be joined; `--table` prints what
they say and measures nothing. A `--variant` is ours with further arguments, under another name.
`--page` puts all tables into a page, below its heading "Results".
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import best_model_table as tables
import own_files
import pandas as pd
from best_model_files import HELD_OUT, Source, Split, own_source, sources, write_split
from best_model_peers import DEFAULTS, PEERS, Job
from best_model_table import Result

MAX_EXTRA_SECONDS = 1200.0  # beyond its minutes, after which a peer is ended
STOPPED = "Somebody ended it."  # no fault of its own: not kept, so that it is measured again
RESULTS_HEADING = "## Results"


# Measuring ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What a process printed last, why it failed ("" if it did not), and what it took."""

    last_line: str
    failure: str
    seconds: float
    memory: int


def measure(split: Split, peer: str, arguments: argparse.Namespace, folder: Path) -> Result:
    """One peer on one split; whatever goes wrong becomes the failure."""
    predictions, scores = folder / "predictions.csv", {}
    predictions.unlink(missing_ok=True)
    run = run_ours if peer in arguments.variants else run_peer
    outcome = run(split, peer, predictions, arguments)
    failure, report = outcome.failure, {"version": "", "detail": ""}
    try:
        if not failure:
            report = json.loads(outcome.last_line)
            report = own_report(report) if peer in arguments.variants else report
            scores = tables.scores_of(split, pd.read_csv(predictions, keep_default_na=False))
    except Exception as error:  # a program may print and predict anything
        failure = f"Its predictions cannot be measured: {error!r}"
    return Result(
        file=split.file,
        split=split.number,
        peer=peer,
        minutes=budget_of(peer, arguments),
        threads=arguments.threads,
        baseline=tables.baseline_scores(split),
        scores=scores,
        seconds=round(outcome.seconds, 2),
        memory=outcome.memory,
        load=round(os.getloadavg()[0], 2),
        failure=failure,
        **report,
    )


def run_ours(
    split: Split, variant: str, predictions: Path, arguments: argparse.Namespace
) -> Outcome:
    """The program as a person starts it, and the predictions of the model that it exports."""
    model, program = predictions.with_name("model.skops"), [sys.executable, "-m", "app"]
    model.unlink(missing_ok=True)
    target = ["--target", split.target] if split.target else []
    limits = ["--minutes", str(arguments.minutes), "--seed", str(split.number)]
    command = ["tune", str(split.train), *target, *limits, "--json", "--export", str(model)]
    extra = shlex.split(arguments.variants[variant])
    tuning = run_process([*program, *command, *extra], arguments.minutes, model.parent)
    if tuning.failure:
        return tuning
    command = ["predict", str(model), str(split.fresh), "--only", "--out", str(predictions)]
    prediction = run_process([*program, *command], arguments.minutes, model.parent)
    return replace(tuning, failure=prediction.failure)


def own_report(results: dict[str, Any]) -> dict[str, str]:
    """What ours chose, by its own JSON, and its version."""
    settings = results.get("ensemble", {}).get("settings", [results["params"]])
    models = sorted({str(setting.get("model", results["model"])) for setting in settings})
    detail = f"{len(settings)} of {', '.join(models)}; {results['trials']} trials"
    return {"detail": detail, "version": f"tunescope {version('tunescope')}"}


def run_peer(split: Split, peer: str, predictions: Path, arguments: argparse.Namespace) -> Outcome:
    """A peer in its own interpreter."""
    name, _, presets = peer.partition("-")
    paths = [str(path) for path in (split.train, split.fresh, predictions)]
    limits = (60.0 * arguments.minutes, arguments.threads)
    job = Job(name, *paths, split.task, split.target, split.number, *limits, presets)
    script = Path(__file__).with_name("best_model_peers.py")
    command = [arguments.pythons.get(name, sys.executable), str(script), json.dumps(asdict(job))]
    return run_process(command, arguments.minutes, predictions.parent)


def run_process(command: list[str], minutes: float, folder: Path) -> Outcome:
    """Run a command to its end, or until far more than its minutes are over."""
    fresh = Path(tempfile.mkdtemp(dir=folder))  # a history of its own: nothing learned must help
    environment = {**os.environ, "TUNESCOPE_RUNS": f"{fresh}/runs"}
    environment["TUNESCOPE_HISTORY"] = f"{fresh}/history.sqlite3"
    if "-m" in command:
        environment["PYTHONPATH"] = str(ROOT)
    begin, memory = time.monotonic(), 0
    end = begin + 60.0 * minutes + MAX_EXTRA_SECONDS
    with (
        (fresh / "output").open("w") as output,
        (fresh / "errors").open("w") as errors,
        subprocess.Popen(
            command, env=environment, stdout=output, stderr=errors, start_new_session=True
        ) as process,
    ):
        try:
            while process.poll() is None and time.monotonic() < end:
                memory = max(memory, process_tree_memory(process.pid))
                time.sleep(0.2)
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)  # those that it may have left behind, too
    seconds = time.monotonic() - begin
    output_lines, error_lines = (
        (fresh / name).read_text(errors="replace").strip().splitlines() or ["no message"]
        for name in ("output", "errors")
    )
    failure = f"It ended with status {process.returncode}: {error_lines[-1][:300]}"
    if begin + seconds > end:
        failure = f"It took longer than {end - begin:.0f} seconds."
    elif process.returncode in (0, -signal.SIGTERM, -signal.SIGINT):
        failure = STOPPED if process.returncode else ""
    return Outcome(output_lines[-1], failure, seconds, memory)


def process_tree_memory(process_id: int) -> int:
    """Bytes of a process and its descendants, shared pages counted once (PSS); 0 but on Linux."""
    folder, memory = Path(f"/proc/{process_id}"), 0
    with contextlib.suppress(OSError, TypeError):  # it has ended meanwhile
        rollup = (folder / "smaps_rollup").read_text()
        memory = 1024 * int(re.search(r"^Pss:\s+(\d+)", rollup, re.MULTILINE)[1])
        for children in folder.glob("task/*/children"):
            memory += sum(process_tree_memory(int(child)) for child in children.read_text().split())
    return memory


def budget_of(peer: str, arguments: argparse.Namespace) -> float | None:
    """The minutes that a peer's result is known by; None where it takes what it needs."""
    return None if peer in DEFAULTS else arguments.minutes


# The command --------------------------------------------------------------------------------------


def parse_arguments() -> argparse.Namespace:
    """What is asked for; `variants` are the arguments of ours by name, `pythons` interpreters."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    own_files.add_to(parser)
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--all", action="store_true", help="the tables held out as well")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--threads", type=int, default=2, help="cores that each may use")
    parser.add_argument("--splits", type=int, default=3, help="of a table without a second file")
    parser.add_argument("--peers", nargs="*", default=["ours", *PEERS], metavar="NAME")
    parser.add_argument("--variant", nargs="*", default=[], metavar="NAME=ARGUMENTS")
    parser.add_argument("--keep", type=Path, metavar="FILE.jsonl")
    parser.add_argument("--table", action="store_true", help="print what was kept, measure nothing")
    parser.add_argument("--page", type=Path, metavar="FILE.md")
    parser.add_argument("--flaml-python", default=sys.executable)
    parser.add_argument("--autogluon-python", default=sys.executable)
    parser.add_argument("--autogluon-presets", nargs="+", default=["medium_quality"])
    arguments = parser.parse_args()
    if wrong := [variant for variant in arguments.variant if "=" not in variant]:
        parser.error(f"{wrong[0]} is not NAME=ARGUMENTS")
    arguments.variants = dict(variant.split("=", 1) for variant in arguments.variant)
    if unknown := {*arguments.peers} - {"ours", *arguments.variants, *PEERS}:
        parser.error(f"there is no peer {sorted(unknown)[0]}; there are ours, {', '.join(PEERS)}")
    if "ours" in arguments.peers:
        arguments.variants["ours"] = ""
    arguments.pythons = {"flaml": arguments.flaml_python, "autogluon": arguments.autogluon_python}
    return arguments


def selected_sources(arguments: argparse.Namespace) -> list[Source]:
    """The tables that are asked for: files by path, or those that come with it."""
    if arguments.files:
        return [own_source(text) for text in arguments.files]
    every_source = list(sources(arguments.data))
    for name in {*arguments.only} - {*dict(every_source)}:
        print(f"there is no table {name}")
    return [source for source in every_source if is_selected(source[0], arguments)]


def is_selected(name: str, arguments: argparse.Namespace) -> bool:
    """Whether a table that comes with it is asked for."""
    return name in arguments.only if arguments.only else arguments.all or name not in HELD_OUT


def columns_of(arguments: argparse.Namespace) -> list[str]:
    """The peers that can be run; each of AutoGluon's presets is one."""
    columns = []
    for peer in dict.fromkeys([*arguments.peers, *arguments.variants]):
        python = arguments.pythons.get(peer, "")
        if python and not arguments.table:
            probe = [python, "-c", f"import {PEERS[peer][1]}"]
            if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
                print(f"{peer} is left out: {python} cannot import {PEERS[peer][1]}")
                continue
        presets = arguments.autogluon_presets if peer == "autogluon" else []
        columns += [f"{peer}-{name}" for name in presets] or [peer]
    return columns


def measure_all(arguments: argparse.Namespace, peers: list[str], folder: Path) -> list[Result]:
    """Measure what was not kept, printing a line a split."""
    known_results, results = tables.read_results(arguments.keep), []
    names = " ".join(f"{peer + ' ':>{max(9, len(peer) + 1)}s}" for peer in peers)
    print(f"{'table':22s} s {'':8s} baseline {names}")
    for name, read in selected_sources(arguments):
        try:
            pool = read()
            numbers = range(1 if pool.is_fixed else arguments.splits)
            splits = [write_split(name, pool, number, folder) for number in numbers]
        except Exception as error:  # a stranger's file may be anything; the others are measured
            print(f"{name} cannot be read and split: {error}", flush=True)
            continue
        for split in splits:
            for peer in peers:
                minutes = budget_of(peer, arguments)
                key = (split.file, split.number, peer, minutes, arguments.threads)
                result = known_results.get(key) or measure(split, peer, arguments, folder)
                if key not in known_results and arguments.keep and result.failure != STOPPED:
                    with arguments.keep.open("a") as file:
                        file.write(json.dumps(asdict(result)) + "\n")
                results.append(result)
            print(tables.split_line(results[-len(peers) :]), flush=True)
            split.train.unlink()
            split.fresh.unlink()
    return results


def read_selected(arguments: argparse.Namespace, peers: list[str]) -> list[Result]:
    """What was kept of the tables and peers that are asked for."""
    results = tables.read_results(arguments.keep).values()
    selected = [r for r in results if is_selected(r.file, arguments) and r.peer in peers]
    limits = {peer: (budget_of(peer, arguments), arguments.threads) for peer in peers}
    return [result for result in selected if result.key[-2:] == limits[result.peer]]


def write_page(arguments: argparse.Namespace, results: list[Result], peers: list[str]) -> None:
    """Put all tables into the page, with what is needed to measure them again."""
    page: Path = arguments.page
    head = page.read_text(encoding="utf-8").partition(RESULTS_HEADING)[0] if page.exists() else ""
    words = ["PATH" if word.startswith("/") else word for word in sys.argv[1:]]
    command = shlex.join(["python", "tests/benchmarks/bench_best_model.py", *words])
    versions = sorted({result.version for result in results if result.version})
    machine = f"{os.cpu_count()} cores ({platform.platform(terse=True)}, {platform.machine()})"
    lines = [
        f"Written on {date.today()} by `{command}`: {60 * arguments.minutes:g} seconds on "
        f"{arguments.threads} of {machine}, Python {platform.python_version()}, "
        f"{', '.join(versions)}.",
        "",
        *tables.comparisons(results, peers),
        "",
        *tables.score_tables(results, peers),
    ]
    page.write_text("\n".join([head + RESULTS_HEADING, "", *lines]), encoding="utf-8")


def main() -> None:
    """Prints the tables."""
    arguments = parse_arguments()
    if hasattr(os, "sched_setaffinity"):  # the processes that are started inherit it
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.threads])
    peers = columns_of(arguments)
    if arguments.table:
        results = read_selected(arguments, peers)
    else:
        with tempfile.TemporaryDirectory(prefix="best-model-") as folder:
            results = measure_all(arguments, peers, Path(folder))
    peers = [peer for peer in peers if peer in {result.peer for result in results}]
    if peers:
        print("\n" + "\n".join(tables.comparisons(results, peers)))
    if peers and arguments.page:
        write_page(arguments, results, peers)


if __name__ == "__main__":
    main()
