"""New files in any encoding give the predictions of the same rows in UTF-8."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from exported_files import tuned_run

from core.export.bundle.csv_rows import text_of
from core.export.exporters import export_from_folder
from core.export.prediction import predict_file
from core.tuning.plan import DataPlan, Plan

WORDS = ["5 €", "“so”", "œuvre", "grün", "Žiga", "plain", "naïve", "…"]
ENCODINGS = ["utf-8", "utf-8-sig", "cp1252", "utf-16"]


def tokens(path: Path, encoding: str, seed: int = 0, labels: bool = True) -> None:
    """Tokens whose label is that of their word, nothing else tells it."""
    random = np.random.default_rng(seed)
    rows = []
    for number in range(40):
        for code in random.integers(0, len(WORDS), random.integers(2, 8)):
            rows.append((f"s{number}", WORDS[code], "ABC"[code % 3]))
    table = pd.DataFrame(rows, columns=["sequence", "word", "tag"])
    if not labels:
        table = table.drop(columns="tag")
    table.to_csv(path, index=False, encoding=encoding)


def texts(path: Path, encoding: str, seed: int = 0) -> None:
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


def program_says(script: list[str], out: Path) -> pd.DataFrame:
    command = [sys.executable, "-c", RUN, *script, str(out)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return pd.read_csv(out)


@pytest.mark.parametrize("trained", ["cp1252", "utf-8"])
def test_a_tagger_knows_its_words_in_every_encoding(tmp_path: Path, trained: str) -> None:
    tokens(tmp_path / "train.csv", trained)
    data = DataPlan(str(tmp_path / "train.csv"))
    folder = tuned_run(tmp_path / "run", Plan(data, "crf", "mm", groups="single"))
    for ending in ("npz", "json", "py"):
        export_from_folder(folder, tmp_path / f"model.{ending}")
    tokens(tmp_path / "truth.csv", "utf-8", seed=1)
    truth = pd.read_csv(tmp_path / "truth.csv")["tag"].tolist()
    for encoding in ENCODINGS:
        new = tmp_path / f"new-{encoding}.csv"
        tokens(new, encoding, seed=1, labels=False)
        for ending in ("npz", "json"):
            said = predict_file(tmp_path / f"model.{ending}", new)
            assert said["prediction"].tolist() == truth, (ending, encoding)
    script = [str(tmp_path / "model.py"), str(tmp_path / "new-cp1252.csv")]
    assert program_says(script, tmp_path / "out.csv")["prediction"].tolist() == truth


def test_topics_know_their_words_in_every_encoding(tmp_path: Path) -> None:
    texts(tmp_path / "train.csv", "cp1252")
    data = DataPlan(str(tmp_path / "train.csv"), task="topics")
    folder = tuned_run(tmp_path / "run", Plan(data, "lda", "random", trials=2))
    export_from_folder(folder, tmp_path / "model.zip")
    found = []
    for encoding in ENCODINGS:
        new = tmp_path / f"new-{encoding}.csv"
        texts(new, encoding, seed=1)
        found.append(predict_file(tmp_path / "model.zip", new))
        assert found[-1]["words in that half"].min() == 6  # of 12 words, all of them known
    for other in found[1:]:
        pd.testing.assert_frame_equal(found[0], other)


def test_a_table_is_read_in_the_encoding_of_the_new_file(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    codes = random.integers(0, 4, 200)
    names = np.array(WORDS[:4])[codes]
    table = pd.DataFrame({"size": random.normal(size=200), "name": names, "kind": codes % 2})
    table.to_csv(tmp_path / "train.csv", index=False, encoding="cp1252")
    data = DataPlan(str(tmp_path / "train.csv"), leaks=True)  # the name tells the kind
    plan = Plan(data, "logistic", "random", trials=1)
    export_from_folder(tuned_run(tmp_path / "run", plan), tmp_path / "model.skops")
    for encoding in ENCODINGS:
        table.to_csv(tmp_path / "new.csv", index=False, encoding=encoding)
        said = predict_file(tmp_path / "model.skops", tmp_path / "new.csv")
        assert said["prediction"].tolist() == (codes % 2).tolist(), encoding


def test_the_text_of_bytes() -> None:
    word = "œ – 5 €"
    for name in ENCODINGS:
        assert text_of(word.encode(name)) == word
        assert text_of(word.encode(name), "latin-1") == word  # never where Windows-1252 fits
        assert text_of(word.encode(name), "utf-8") == word
    assert text_of("Привет".encode("cp1251"), "cp1251") == "Привет"
    assert text_of("Привет".encode(), "cp1251") == "Привет"
    assert text_of(b"a\x81\xe4") == "a\x81ä"
    assert text_of(b"a\xe4", "no such encoding") == "aä"
