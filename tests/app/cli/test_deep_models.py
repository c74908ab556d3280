"""Deep latent Gaussian models on the command line, with and without the packages they need."""

from __future__ import annotations

import os
import sys

import numpy as np
import pandas as pd
import pytest

from app.cli import main
from core.estimators.optional_parts import is_installed
from core.extras import install_command
from core.tuning.event_lines import from_json
from core.tuning.events import ImagesDrawn, RunStarted

# Compiling takes longer than these small fits: read when jax starts.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

TUNE = ["--model", "dlgm", "--strategy", "random", "--trials", "1"]
INSTALL = install_command("deep")


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("TUNESCOPE_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


@pytest.fixture
def stripes(tmp_path):
    """Pictures of 4 × 5 grey points with an upright or a lying stripe."""
    random = np.random.default_rng(0)
    pictures, upright = random.random((48, 4, 5)), np.arange(48) % 2
    for picture, stands in zip(pictures, upright, strict=True):
        at = random.integers(4)
        picture[(slice(None), at) if stands else (at, slice(None))] += 3
    names = [f"pixel_{row}_{column}" for row in range(4) for column in range(5)]
    table = pd.DataFrame(pictures.reshape(48, 20), columns=names)
    table["stripe"] = np.where(upright, "stands", "lies")
    path = tmp_path / "stripes.csv"
    table.to_csv(path, index=False)
    return path


def test_without_jax_it_is_listed_with_what_installs_it(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    assert main(["models"]) == 0
    of_dlgm = capsys.readouterr().out.partition("dlgm: ")[2].partition("\ncrf: ")[0]
    assert f"\n    Needs jax: {INSTALL}\n" in of_dlgm


def test_without_jax_it_is_refused_in_a_sentence(capsys, monkeypatch, stripes, runs):
    monkeypatch.setitem(sys.modules, "jax", None)
    assert main(["tune", str(stripes), *TUNE]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        "tunescope: deep latent Gaussian models need jax, which is missing here; "
        f"install it with: {INSTALL}.\n"
    )
    assert not runs.exists() or not list(runs.iterdir())


@pytest.mark.skipif(not is_installed("deep"), reason="jax is not installed (the extra deep)")
def test_a_run_on_pictures_shows_what_the_model_draws(capsys, stripes, tmp_path):
    copy = tmp_path / "events.jsonl"
    given = ["--option", "folds=2", "--events", str(copy)]
    assert main(["tune", str(stripes), *TUNE, *given]) == 0
    assert "dlgm on stripes" in capsys.readouterr().err
    events = [from_json(line) for line in copy.read_text().splitlines()]
    assert next(e for e in events if isinstance(e, RunStarted)).dataset["pictures"] is True
    drawn = next(e for e in events if isinstance(e, ImagesDrawn))
    assert (drawn.height, drawn.width) == (4, 5)
    kinds = (drawn.samples, drawn.originals, drawn.reconstructions)
    assert all(np.shape(kind) == (8, 20) for kind in kinds)
    assert all(np.min(kind) >= 0 and np.max(kind) <= 1 for kind in kinds)
    assert sorted(drawn.labels) == ["lies"] * 4 + ["stands"] * 4
