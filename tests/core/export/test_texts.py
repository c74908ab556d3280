"""Models of texts leave the program; new files in any encoding are the same rows to them."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from exported_files import exported, script_output, tuned_run
from sklearn.compose import ColumnTransformer

from core.datasets.preparation import preparation
from core.datasets.reading import read_dataset
from core.datasets.samples import SAMPLES
from core.errors import UnusableError
from core.estimators.stored.allowed_types import EXPORTED
from core.export.bundle.csv_rows import text_of
from core.export.exporters import export_run
from core.export.finished_run import finished_run, without_examples
from core.export.onnx.rows import rows_graph
from core.export.prediction import predict_file
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.best import best_of

OPEN_OUTSIDE = """
import joblib, json, pandas as pd, skops.io
trusted = json.loads(sys.argv[1])
assert set(skops.io.get_untrusted_types(file="model.skops")) <= set(trusted)
X = pd.read_csv("new.csv", dtype={"review": "str", "bought": "str"})
for model in (skops.io.load("model.skops", trusted=trusted), joblib.load("model.joblib")):
    print(json.dumps(model.predict_proba(X)[:, 1].tolist()))
"""
NEW = [
    "",
    "=1+1 never ugly",
    "😀 今天天气很好 <b>splendid</b>",
    "A word that nobody knows: zyzzyva",
]


@pytest.fixture
def made(finish_run, tmp_path, request):
    table = SAMPLES["reviews"].table().head(160)
    table.loc[[3, 50], "review"] = None
    table.to_csv(tmp_path / "data.csv", index=False)
    new = table.head(20).drop(columns="buys_again")
    new.loc[: len(NEW) - 1, "review"] = NEW
    new.to_csv(tmp_path / "new.csv", index=False)
    data = DataPlan(str(tmp_path / "data.csv"))
    plan = Plan(data, getattr(request, "param", "logistic"), "random", seed=4)
    return finish_run(plan, read_dataset(data.file))


@pytest.mark.parametrize("made", ["logistic", "boosting"], indirect=True)
def test_files_predict_the_same_and_open_without_the_program(made, tmp_path, run_outside):
    new = read_dataset(str(tmp_path / "data.csv")).table
    rows = pd.read_csv(tmp_path / "new.csv", dtype={"review": "str", "bought": "str"})[list(new)]
    said = best_of(made.folder).predict_proba(rows)[:, 1]
    for ending in ("skops", "joblib"):
        path = exported(made.folder, tmp_path / f"model.{ending}")
        table = predict_file(path, tmp_path / "new.csv", trust=True)
        np.testing.assert_allclose(table["probability of yes"], said, atol=1e-9)
    ran = run_outside(OPEN_OUTSIDE, tmp_path, json.dumps(sorted(EXPORTED)))
    assert ran.returncode == 0, ran.stderr
    for line in ran.stdout.splitlines():
        np.testing.assert_allclose(json.loads(line), said, atol=1e-9)
    script = exported(made.folder, tmp_path / "tuned.py")
    assert 'analyzer="char_wb"' in script.read_text()
    assert f"tuned: {made.score:.6f}" in script_output(run_outside, script, tmp_path)


def test_numbers_name_words_and_a_report_lists_no_words(made, tmp_path):
    document = json.loads(exported(made.folder, tmp_path / "run.json").read_text())
    weights = document["coefficients"]["weights"]
    assert "review: word “sturdy”" in weights
    page = exported(made.folder, tmp_path / "run.html").read_text()
    assert "review: word" not in page
    run = without_examples(finished_run(made.folder))
    quiet = export_run(run, tmp_path / "quiet.json").read_text()
    assert "sturdy" not in quiet
    assert "review: word 1" in quiet
    assert len(json.loads(quiet)["coefficients"]["weights"]) == len(weights)


def test_onnx_says_in_a_sentence_that_it_has_no_texts(made):
    dataset = made.dataset
    fitted = preparation(dataset, scale=True, sparse_ok=True).fit(dataset.features)
    assert isinstance(fitted[0], ColumnTransformer)
    with pytest.raises(UnusableError) as caught:
        rows_graph(fitted)
    assert caught.value.sentence == (
        "ONNX has no counterpart of texts as words and parts of words (“review”); export it as"
        " skops."
    )


WORDS = ["5 €", "“so”", "œuvre", "grün", "Žiga", "plain", "naïve", "…"]
ENCODINGS = ["utf-8", "utf-8-sig", "cp1252", "utf-16"]


def tokens(path, encoding, seed=0):
    """Tokens whose label is that of their word, nothing else tells it; the labels."""
    random = np.random.default_rng(seed)
    rows = [
        (f"s{number}", WORDS[code], "ABC"[code % 3])
        for number in range(40)
        for code in random.integers(0, len(WORDS), random.integers(2, 8))
    ]
    table = pd.DataFrame(rows, columns=["sequence", "word", "tag"])
    table.iloc[:, : 2 if seed else 3].to_csv(path, index=False, encoding=encoding)
    return table["tag"].tolist()


def texts(path, encoding, seed=0):
    subjects = ("œuvre œufs cœur sœur", "grün groß süß weiß", "straße žena škola šest")
    random = np.random.default_rng(seed)
    lines = [" ".join(random.choice(subjects[i % 3].split(), 12)) for i in range(300)]
    path.write_bytes(("\n".join(["text", *lines]) + "\n").encode(encoding))


RUN = """
import runpy, sys
sys.modules["numba"] = None  # to compile the loops anew would take long
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.slow
@pytest.mark.parametrize("trained", ["cp1252", "utf-8"])
def test_a_tagger_knows_its_words_in_every_encoding(tmp_path, trained):
    tokens(tmp_path / "train.csv", trained)
    data = DataPlan(str(tmp_path / "train.csv"))
    folder = tuned_run(tmp_path / "run", Plan(data, "crf", "mm", groups="single"))
    models = [exported(folder, tmp_path / f"model.{ending}") for ending in ("npz", "json")]
    for encoding in ENCODINGS:
        new = tmp_path / f"new-{encoding}.csv"
        truth = tokens(new, encoding, seed=1)
        for model in models:
            assert predict_file(model, new)["prediction"].tolist() == truth, (model, encoding)
    script, out = exported(folder, tmp_path / "model.py"), tmp_path / "out.csv"
    command = [sys.executable, "-c", RUN, script, tmp_path / "new-cp1252.csv", out]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert pd.read_csv(out)["prediction"].tolist() == truth


def test_topics_know_their_words_in_every_encoding(tmp_path):
    texts(tmp_path / "train.csv", "cp1252")
    data = DataPlan(str(tmp_path / "train.csv"), task="topics")
    folder = tuned_run(tmp_path / "run", Plan(data, "lda", "random", trials=2))
    exported(folder, tmp_path / "model.zip")
    found = []
    for encoding in ENCODINGS:
        new = tmp_path / f"new-{encoding}.csv"
        texts(new, encoding, seed=1)
        found.append(predict_file(tmp_path / "model.zip", new))
        assert found[-1]["words in that half"].min() == 6  # of 12 words, all of them known
    for other in found[1:]:
        pd.testing.assert_frame_equal(found[0], other)


def test_a_table_is_read_in_the_encoding_of_the_new_file(tmp_path):
    random = np.random.default_rng(0)
    codes = random.integers(0, 4, 200)
    names = np.array(WORDS[:4])[codes]
    table = pd.DataFrame({"size": random.normal(size=200), "name": names, "kind": codes % 2})
    table.to_csv(tmp_path / "train.csv", index=False, encoding="cp1252")
    data = DataPlan(str(tmp_path / "train.csv"), leaks=True)  # the name tells the kind
    plan = Plan(data, "logistic", "random", trials=1)
    exported(tuned_run(tmp_path / "run", plan), tmp_path / "model.skops")
    for encoding in ENCODINGS:
        table.to_csv(tmp_path / "new.csv", index=False, encoding=encoding)
        said = predict_file(tmp_path / "model.skops", tmp_path / "new.csv")
        assert said["prediction"].tolist() == (codes % 2).tolist(), encoding


def test_the_text_of_bytes():
    word = "œ – 5 €"
    for name in ENCODINGS:
        assert text_of(word.encode(name)) == word
        assert text_of(word.encode(name), "latin-1") == word  # never where Windows-1252 fits
        assert text_of(word.encode(name), "utf-8") == word
    assert text_of("Привет".encode("cp1251"), "cp1251") == "Привет"
    assert text_of("Привет".encode(), "cp1251") == "Привет"
    assert text_of(b"a\x81\xe4") == "a\x81ä"
    assert text_of(b"a\xe4", "no such encoding") == "aä"
