"""`tunescope tune` on sequences and molecules, and `tunescope predict` with what it exports."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

from app.cli.commands import main
from core.export import exporters


@pytest.fixture
def tags(tmp_path):
    """A file of tokens whose label follows from the word, most of the time."""
    random = np.random.default_rng(1)
    rows = [("sequence", "word", "tag")]
    for number in range(30):
        for code in random.integers(6, size=random.integers(2, 7)):
            label = code % 3 if random.random() < 0.9 else random.integers(3)
            rows.append((f"s{number}", f"word {code}", "ABC"[label]))
    path = tmp_path / "tags.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


@pytest.fixture
def molecules(tmp_path):
    """A file of hairpins of four pairs."""
    random = np.random.default_rng(1)
    partner = dict(zip("ACGU", "UGCA", strict=True))
    lines = ["id,sequence,structure"]
    for number in range(12):
        stem = "".join(random.choice(list("ACGU"), 4))
        loop = "".join(random.choice(list("AG"), 4))
        other = "".join(partner[letter] for letter in reversed(stem))
        lines.append(f"M{number},A{stem}{loop}{other}A,.((((....)))).")
    path = tmp_path / "molecules.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


def test_labels_of_new_sequences(tags, tmp_path, capsys):
    model = tmp_path / "model.npz"
    assert main(["tune", str(tags), "--strategy", "mm", "--groups", "column",
                 "--export", str(model)]) == 0  # fmt: skip
    (tmp_path / "new.csv").write_text("word,sequence\nword 1,x\nword 5,x\nword 2,y\n")
    capsys.readouterr()
    assert main(["predict", str(model), str(tmp_path / "new.csv")]) == 0
    header, *rows = rows_of(capsys.readouterr().out)
    shares = [f"probability of {c}" for c in "ABC"]
    assert header == ["word", "sequence", "prediction", *shares]
    assert [row[:3] for row in rows] == [
        ["word 1", "x", "B"], ["word 5", "x", "C"], ["word 2", "y", "C"],
    ]  # fmt: skip
    assert [sum(map(float, row[3:])) for row in rows] == pytest.approx([1.0] * 3)
    assert main(["predict", str(model), str(tmp_path / "new.csv"), "--only"]) == 0
    header, *rows = rows_of(capsys.readouterr().out)
    assert header == ["sequence", "prediction", *shares]
    assert [row[:2] for row in rows] == [["x", "B"], ["x", "C"], ["y", "C"]]


def test_structures_of_new_molecules(molecules, tmp_path, capsys):
    model, out = tmp_path / "model.json", tmp_path / "out.csv"
    assert main(["tune", str(molecules), "--strategy", "mm", "--export", str(model)]) == 0
    (tmp_path / "new.csv").write_text("name,sequence\nnew,AGCGCAAAAGCGCA\n")
    assert main(["predict", str(model), str(tmp_path / "new.csv"), "--out", str(out)]) == 0
    header, row = rows_of(out.read_text())
    assert header[:3] == ["name", "sequence", "structure"]
    assert row[:3] == ["new", "AGCGCAAAAGCGCA", ".((((....))))."]
    assert 0.0 < float(row[3]) <= 1.0
    assert "1 prediction: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "ending", "sentence"),
    [
        ("tags", ".skops", "a run on sequences has no skops export"),
        ("molecules", ".joblib", "a run on molecules has no joblib export"),
    ],
)
def test_an_export_that_does_not_fit_is_refused_before_the_tuning(
    request, tmp_path, capsys, monkeypatch, kind, ending, sentence
):
    monkeypatch.setattr("core.tuning.tune.tune", lambda *_a, **_k: pytest.fail("it began to tune"))
    monkeypatch.setattr(exporters, "export_from_folder", lambda *_: pytest.fail("it exported"))
    file = request.getfixturevalue(kind)
    assert main(["tune", str(file), "--export", str(tmp_path / f"model{ending}")]) == 2
    complaint = capsys.readouterr().err
    assert sentence in complaint
    assert complaint.count("\n") == 1


def test_what_cannot_be_predicted_is_one_line(tmp_path, capsys):
    (tmp_path / "model.npz").write_bytes(b"PK torn")
    (tmp_path / "new.csv").write_text("sequence\nACGU\n")
    assert main(["predict", str(tmp_path / "model.npz"), str(tmp_path / "new.csv")]) == 2
    assert "no .npz model file, or it is damaged; export the model again" in capsys.readouterr().err
