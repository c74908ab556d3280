"""The report answers what people ask after the score, and quotes no row where none may leave."""

import re

import numpy as np
import pandas as pd
import pytest
from exported_files import tuned_run

from core.datasets.reading import read_dataset
from core.export.finished_run import finished_run
from core.export.report.explanation_section import settings_sections
from core.export.report.html import html_table
from core.export.report.report_page import page_html
from core.tuning.plan import DataPlan, Plan
from core.tuning.why.answers import answers, keep_answer, kept_answer
from core.tuning.why.questions import SETTINGS
from core.tuning.why.tested_model import fit_tested_model

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["logistic", "linear"])
def folder(request, tmp_path_factory):
    place = tmp_path_factory.mktemp(request.param)
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"size": rng.standard_normal(150), "noise": rng.standard_normal(150)})
    table["ward"] = rng.choice(["<east>", "west"], 150)
    target = table["size"] + 0.7 * rng.standard_normal(150)
    table["target"] = target if request.param == "linear" else np.where(target > 0, "ill", "well")
    table["size"] = [f"{size:.6f} kg" for size in table["size"]]
    path = place / "data.csv"
    table.to_csv(path, index=False)
    return tuned_run(place / "run", Plan(DataPlan(str(path), test_size=0.3), request.param, "mm"))


def titles(text):
    return re.findall("<h2>(.*?)</h2>", text)


def test_every_question_has_its_section_with_a_table(folder):
    judged = fit_tested_model(folder, read_dataset(folder.plan.data.file))
    for answer in answers(judged, "learning"):
        keep_answer(folder, judged.state.results, "learning", answer)
    text = page_html(finished_run(folder))
    found = titles(text)
    assert {"Which columns matter?", "Which rows is it most wrong about?"} <= set(found)
    assert "Would more rows help?" in found
    assert "What does size do?" in found
    assert ">size, kg<" in text  # on its axis
    own = "Where is it too high or too low?" if folder.plan.model == "linear" else (
        "How well does it tell classes apart?"
    )  # fmt: skip
    assert own in found
    twice = {title for title in found if found.count(title) > 1}
    assert twice <= {"How well does it tell classes apart?"}  # one a class


def test_a_table_of_many_columns_is_set_small_enough_for_the_page():
    assert 'class="scroll crowded"' in html_table(range(15), [range(15)])
    assert "crowded" not in html_table(range(6), [range(6)])


def test_without_examples_no_row_is_quoted(folder):
    text = page_html(finished_run(folder, examples=False))
    assert "Which columns matter?" in titles(text)
    assert "Which rows is it most wrong about?" not in titles(text)
    assert "What does size do?" not in titles(text)
    assert "west" not in text


def test_without_its_data_a_report_says_what_is_missing(folder):
    for kept in (folder.path / "answers").glob("*.json"):
        kept.unlink()
    data = folder.path.parent / "data.csv"
    moved = data.rename(data.with_suffix(".away"))
    try:
        text = page_html(finished_run(folder))
    finally:
        moved.rename(data)
    assert "What else could be asked" in titles(text)
    assert "is not in this report" in text


@pytest.mark.parametrize("trials", [14, 4])
def test_which_settings_mattered_is_told_by_trials_enough(tmp_path, trials):
    plan = Plan(DataPlan("sample:iris"), "knn", "random", trials=trials, folds=2)
    run = finished_run(tuned_run(tmp_path / "run", plan))
    if trials == 4:
        assert settings_sections(run) == []
        return
    text = page_html(run)
    assert "Which settings mattered?" in text
    assert "(n_neighbors)" in text
    told = kept_answer(run.folder, run.results, SETTINGS)
    assert {setting["name"] for setting in told["settings"]} == {"n_neighbors", "weights", "p"}
    assert settings_sections(run) == settings_sections(run)  # the answer is kept
