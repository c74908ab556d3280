"""Nothing of a dataset can be read back from the history."""

import json
import random
import struct
from collections.abc import Iterator

import pytest

from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.tuning.events import RunStarted, TrialFinished
from core.tuning.history.dataset_records import RunMetadata, statistics_of
from core.tuning.history.store import History
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem
from core.tuning.tune import tune

ROWS = 60


def marked_table(folder, task: str):
    """A file in which every text and number is a mark, and the marks."""
    draw = random.Random(7)
    numbers = [[round(draw.uniform(1e3, 1e7), 3) for _ in range(3)] for _ in range(ROWS)]
    words = [f"word{draw.randrange(10**12):012d}" for _ in range(4)]
    columns = ["colmarkA", "colmarkB", "colmarkC", "colmarkWord", "targetmark"]
    lines = [",".join(columns)]
    for place, row in enumerate(numbers):
        target = ["labelmarkno", "labelmarkyes"][place % 2]
        if task == "regression":
            target = repr(row[0] + 2 * row[1])
        lines.append(",".join([*map(repr, row), words[place % 4], target]))
    file = folder / "filemark.csv"
    file.write_text("\n".join(lines) + "\n")
    texts = [*columns, *words, "labelmark", "filemark"]
    texts += [str(cell) for row in numbers for cell in row]
    texts += [line.rpartition(",")[2] for line in lines[1:]]
    values = [cell for row in numbers for cell in row]
    if task == "regression":
        values += [float(line.rpartition(",")[2]) for line in lines[1:]]
    return file, texts, values


def as_bytes(texts: list[str], values: list[float]) -> Iterator[bytes]:
    for text in texts:
        yield text.encode()
        yield text.encode("utf-16-le")
        yield text.encode("utf-16-be")
    for value in values:
        for order in "<>":
            yield struct.pack(f"{order}d", value)


@pytest.mark.parametrize(("task", "model"), [("binary", "svm"), ("regression", "elastic-net")])
def test_a_dataset_of_marks_leaves_none_in_the_files_or_the_export(tmp_path, task, model):
    file, texts, values = marked_table(tmp_path, task)
    data = DataPlan(str(file), target="targetmark", task=task)
    plan = Plan(data, model, "random", trials=4, folds=3)
    dataset = read_dataset(str(file), DataOptions(target="targetmark", task=task))
    problem, kept = build_problem(plan, dataset), tmp_path / "kept"
    with History(kept / "history.sqlite3", starter=False) as history:
        finished = 0
        for event in tune(plan, dataset):
            if isinstance(event, RunStarted):
                texts.append(event.dataset["fingerprint"])
                facts = RunMetadata(
                    plan.model,
                    event.dataset["task"],
                    event.metric,
                    event.maximize,
                    statistics_of(event.dataset["rows"], event.dataset["features"], 2),
                    plan.strategy,
                    problem.space,
                )
                id = history.begin_dataset(facts)
            if isinstance(event, TrialFinished):
                history.add_trial(id, event.number, event.setting, event.score)
                finished += 1
        history.export_to(kept / "history.json")
        (past,) = history.datasets_for(facts)
        assert len(past.scores) == finished == 4
        names = {found.name for found in kept.iterdir()}
        assert {"history.sqlite3", "history.sqlite3-wal", "history.json"} <= names
        for found in kept.iterdir():
            content = found.read_bytes()
            assert not [mark for mark in as_bytes(texts, values) if mark in content]
            assert found.name.startswith("history")
    # The search finds what is there: the same marks in the file that holds them.
    held = file.read_bytes()
    assert sum(mark in held for mark in as_bytes(texts, values)) > ROWS


def test_an_export_holds_these_entries_and_no_others(tmp_path):
    facts = RunMetadata("svm", "binary", "accuracy", True, statistics_of(100, 4, 2), "gp", ())
    with History(tmp_path / "history.sqlite3", starter=False) as history:
        history.add_trial(history.begin_dataset(facts), 0, {"age": 77}, 0.5)
        history.export_to(tmp_path / "history.json")
    (dataset,) = json.loads((tmp_path / "history.json").read_text())["datasets"]
    assert dataset.keys() == {
        *("id", "began", "model", "task", "metric", "strategy", "maximize"),
        *("statistics", "axes", "trials"),
    }
    assert dataset["trials"] == [[0, 0.5]]
