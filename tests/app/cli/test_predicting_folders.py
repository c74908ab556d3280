"""`tunescope predict` with an exported folder of topics."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from app.cli.commands import main

SUBJECTS = ("ship harbour captain wave sailor", "soup bread onion butter oven")


@pytest.fixture
def texts(tmp_path):
    """A file of texts, each about one of two subjects."""
    random = np.random.default_rng(0)
    path = tmp_path / "texts.csv"
    with path.open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(("id", "text"))
        for number in range(320):
            words = SUBJECTS[number % 2].split()
            said = " ".join(random.choice(words, 9))
            lines.writerow((number, f"{said}, and so on and on."))
    return path


def test_topics_of_new_texts(texts, tmp_path, capsys):
    model = tmp_path / "topics.zip"
    assert main(["tune", str(texts), "--model", "lda", "--strategy", "random", "--trials", "1",
                 "--export", str(model)]) == 0  # fmt: skip
    (tmp_path / "new.csv").write_text('text\nthe captain on the wave of the harbour\nsoup\n""\n')
    capsys.readouterr()
    assert main(["predict", str(model), str(tmp_path / "new.csv")]) == 0
    header, *rows = csv.reader(io.StringIO(capsys.readouterr().out))
    assert header[0] == "topic 1"
    assert header[-2:] == ["log density of half the words", "words in that half"]
    assert [row[-1] for row in rows] == ["1", "0"]
    assert [sum(map(float, row[:-2])) for row in rows] == pytest.approx([1.0, 1.0])


def test_a_model_for_which_there_is_no_such_file_is_refused_beforehand(
    texts, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr("core.tuning.tune.tune", lambda *_a, **_k: pytest.fail("it began to tune"))
    where = str(tmp_path / "model.skops")
    assert main(["tune", str(texts), "--model", "lda", "--export", where]) == 2
    complaint = capsys.readouterr().err
    assert "a run on documents has no skops export; end the name in .zip" in complaint
