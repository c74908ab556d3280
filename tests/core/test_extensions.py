"""What installed packages add: found by every part of the core, and left out where it is broken."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from dataclasses import replace

import pytest
from hostile_folders import put_endless_link, put_other_kind, put_pipe, put_terabyte

from core.datasets.reading import read_dataset
from core.datasets.summary import summarize
from core.estimators.model import check_model
from core.estimators.registry import MODELS
from core.export.exporters import EXPORTERS, exporters_for
from core.extensions import extension_errors
from core.tuning.guidance.advice import advise
from core.tuning.guidance.forecast import estimate
from core.tuning.plan import DataPlan, Plan
from core.tuning.strategies.registry import STRATEGIES


@pytest.fixture(scope="module")
def iris():
    return read_dataset("sample:iris")


def test_guidance_offers_a_model_and_a_strategy_from_outside(installed, example, iris):
    installed(example)
    advice = advise(summarize(iris))
    entry = next(one for one in advice["models"] if one["name"] == "stumps")
    assert (entry["title"], entry["fits_task"]) == ("Boosted stumps", True)
    assert entry["good_for"].startswith("Adds up many decisions")
    offered = {one["name"]: one for one in advice["strategies"]["stumps"]}
    assert offered["genetic"]["default_trials"] == 80
    assert offered["gp"]["reason"].startswith("One setting to tune: a Gaussian process learns")
    assert not any(one["kind"] == "penalties" for one in offered.values())  # it names no loss
    assert "genetic" in {one["name"] for one in advice["strategies"]["svm"]}
    assert extension_errors() == []


def test_a_run_of_a_model_from_outside_is_forecast(installed, example, iris):
    installed(example)
    told = estimate(Plan(DataPlan("sample:iris"), "stumps", "genetic"), iris)
    assert told["trials"] == 80
    assert told["sentence"].endswith(", 80 trials")


def test_an_exporter_from_outside_is_offered_where_its_form_is(installed, example):
    installed(example)
    assert "settings" in exporters_for("binary", "stumps")
    assert "settings" in exporters_for("regression", "svm")
    assert "settings" not in exporters_for("topics", "lda")


def test_what_is_broken_is_named_in_a_sentence_and_left_out(installed, broken):
    installed(broken)
    own = [len(registry.own_entries) for registry in (MODELS, STRATEGIES, EXPORTERS)]
    assert [len(MODELS), len(STRATEGIES), len(EXPORTERS)] == own
    said = extension_errors()
    for sentence, why in zip(
        said,
        (
            "“absent” (broken.no_such_module:X) is left out: No module named",
            "“kind” (broken.rest:RANDOM) is left out: it is no Model but a Strategy.",
            "“spaceless” (broken.rest:spaceless) is left out: division by zero.",
            "“taken” (broken.rest:taken) is left out: the name “forest” is taken.",
            "“taskless” (broken.rest:taskless) is left out: there is no task “ranking”.",
            "“wordless” (broken.rest:wordless) is left out: it is no str but a NoneType.",
            "“file” (broken.rest:taken) is left out: it is no Exporter but a Model.",
        ),
        strict=True,
    ):
        assert sentence.startswith("The extension ")
        assert why in sentence
    assert MODELS["forest"].title == "Random forest"


def torn(path):
    path.write_text("[tunescope.models]\nno object\n")


@pytest.mark.parametrize("put", [torn, put_pipe, put_endless_link, put_terabyte, put_other_kind])
def test_a_hostile_record_of_a_package_takes_no_other_with_it(installed, example, tmp_path, put):
    put_at = tmp_path / "odd\x1b-1.0.dist-info" / "entry_points.txt"
    put_at.parent.mkdir()
    put_at.write_text("")
    put(put_at)
    installed(tmp_path)
    installed(example)
    assert {"svm", "stumps"} <= set(MODELS)
    assert "genetic" in STRATEGIES
    errors = extension_errors()
    assert len(errors) <= 1  # one record, read for models and for strategies
    assert all(sentence.startswith("Extensions of the package “odd�” ") for sentence in errors)


def test_a_package_inside_of_an_archive_brings_no_extension(installed, tmp_path):
    record = "[tunescope.models]\nodd = odd_module:X\n"
    for name in ("packed.zip", "packed-1.0.egg"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("odd_module.py", "raise RuntimeError")
            archive.writestr("odd-1.0.dist-info/entry_points.txt", record)
            archive.writestr("EGG-INFO/entry_points.txt", record)
        installed(tmp_path / name)
    assert len(MODELS) == len(MODELS.own_entries)
    assert extension_errors() == []
    assert "odd_module" not in sys.modules


def test_a_model_of_our_own_is_found_without_looking_for_packages():
    code = (
        "import sys; from core.estimators.registry import MODELS as m;"
        "from core.tuning.strategies.registry import STRATEGIES as s; m['svm'], s['gp'];"
        "sys.exit(any(n in sys.modules for n in ('importlib.metadata', 'optuna', 'scipy')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_fails_when_it_is_asked_is_named_and_left_out_too(installed, late, iris):
    usual = advise(summarize(iris))
    installed(late)
    advice = advise(summarize(iris))
    said = advice.left_out
    assert usual.left_out == []
    assert replace(advice, left_out=[]) == usual
    assert [sentence.partition(":")[0] for sentence in said] == [
        "The extension “late” (broken.rest",
        "The extension “tardy” (broken.rest",
    ]
    assert all("is left out: " in sentence for sentence in said)
    assert said == extension_errors()
    assert "late" not in MODELS
    assert "tardy" not in STRATEGIES
    assert advise(summarize(iris))["left_out"] == []  # each is named once


def test_a_model_that_names_a_task_of_a_later_version_is_used_for_its_others(iris, monkeypatch):
    later = replace(MODELS["svm"], name="later", tasks=("ranking", "sequence"))
    check_model(later)
    monkeypatch.setitem(MODELS.own_entries, "later", later)
    monkeypatch.setitem(MODELS.__dict__, "_all_entries", {**MODELS, "later": later})
    entry = next(entry for entry in advise(summarize(iris)).models if entry.name == "later")
    assert not entry.fits_task
    assert entry.reason == "It labels the tokens of sequences."
