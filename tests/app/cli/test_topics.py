"""Topics on the command line: asked for by the model, by the task, or by nothing but texts."""

import json
import signal

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from app.cli import main
from core.datasets.samples.registry import SAMPLES
from core.tuning.runs.best import best_of
from core.tuning.runs.run_folder import RunFolder

QUICK = ["--strategy", "random", "--trials", "1", "--option", "folds=2", "--json"]


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("TUNESCOPE_RUNS", str(tmp_path / "runs"))
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def posts(tmp_path):
    table = SAMPLES["texts"].table().drop(columns="id")
    table["mark"] = ["ab"[i % 2] for i in range(len(table))]
    table.to_csv(tmp_path / "posts.csv", index=False)
    return str(tmp_path / "posts.csv")


def test_the_texts_of_a_file_with_labels(posts, tmp_path, capsys):
    assert main(["tune", posts, "--target", "text"]) == 2
    assert "or choose topics as the task" in capsys.readouterr().err
    folder = tmp_path / "run"
    asked = ["--task", "topics", "--target", "text", "--run-dir", str(folder)]
    assert main(["tune", posts, *asked, *QUICK]) == 0
    told = capsys.readouterr()
    assert "lda on posts.csv (400 texts), strategy random" in told.err
    said = json.loads(told.out.splitlines()[-1])
    assert said["dataset"] == {"rows": 400, "features": 1, "task": "topics"}
    assert set(said["test"]) == {"completion", "perplexity"}
    run = RunFolder.open(folder)
    assert (run.plan.model, run.plan.data.task, run.plan.data.target) == ("lda", "topics", "text")


def test_counts_become_topics_by_the_model_alone(tmp_path, capsys):
    counts = sparse.csr_matrix(np.random.default_rng(0).poisson(0.5, (300, 20)).astype(float))
    dump_svmlight_file(counts, np.arange(300) % 2, str(tmp_path / "words.libsvm"))
    assert main(["tune", str(tmp_path / "words.libsvm"), "--model", "lda", *QUICK]) == 0
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert said["dataset"] == {"rows": 300, "features": 20, "task": "topics"}


def test_too_few_texts_are_refused_in_one_sentence(posts, tmp_path, capsys):
    texts = SAMPLES["texts"].table().head(50)
    texts.to_csv(tmp_path / "few.csv", index=False)
    assert main(["tune", str(tmp_path / "few.csv")]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line == (
        "tunescope: few.csv: a minibatch of 100 is more than there is to train on, 28 documents;"
        " give more documents."
    )


def test_a_task_that_there_is_not(capsys):
    assert main(["tune", "sample:texts", "--task", "topic"]) == 2
    assert "there is no task “topic”" in capsys.readouterr().err


def test_the_words_that_count_are_chosen_on_the_command_line(posts, tmp_path, capsys):
    asked = ["tune", posts, "--task", "topics", "--target", "text", *QUICK]
    words = ["--option", "vocabulary=40", "--option", "stop_words=none"]
    folder = tmp_path / "run"
    assert main([*asked, *words, "--run-dir", str(folder)]) == 0
    data = RunFolder.open(folder).plan.data
    assert (data.vocabulary, data.stop_words) == (40, "none")
    counting = best_of(RunFolder.open(folder))[0].named_steps["columns"]
    assert len(counting.vocabulary_) == 40
    assert "the" in counting.vocabulary_ or "and" in counting.vocabulary_
    capsys.readouterr()
    for wrong, said in (("vocabulary=1", "makes no topics"), ("stop_words=xx", "use auto, en")):
        assert main([*asked, "--option", wrong]) == 2
        assert said in capsys.readouterr().err
    assert main(["tune", "sample:iris", "--option", "vocabulary=9", "--json"]) == 2
    assert "only texts whose topics are found" in capsys.readouterr().err
