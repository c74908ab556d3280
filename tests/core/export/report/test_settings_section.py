"""The report tells which settings mattered, where trials enough tell it."""

from __future__ import annotations

import pytest

from core.export.finished_run import finished_run
from core.export.report.explanation_section import settings_sections
from core.export.report.report_page import page_html
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.runs.run_folder import RunFolder
from core.tuning.tune import tune
from core.tuning.why.answers import SETTINGS, kept_answer


@pytest.fixture
def run(tmp_path):
    def made(trials):
        plan = Plan(DataPlan("sample:iris"), "knn", "random", trials=trials, folds=2)
        folder = RunFolder.create(plan, root=tmp_path)
        for _ in tune(plan, read_data(plan.data), folder=folder):
            pass
        folder.close()
        return finished_run(folder)

    return made


def test_settings_have_a_section_with_a_table_and_the_answer_is_kept(run):
    finished = run(14)
    text = page_html(finished)
    assert "Which settings mattered?" in text
    assert "(n_neighbors)" in text
    told = kept_answer(finished.folder, finished.results, SETTINGS)
    assert {one["name"] for one in told["settings"]} == {"n_neighbors", "weights", "p"}
    assert settings_sections(finished) == settings_sections(finished)


def test_few_trials_have_none(run):
    assert settings_sections(run(4)) == []
