"""The report's table of the models of a run of several."""

from __future__ import annotations

import re
from types import SimpleNamespace

from core.estimators.multi_model import combined_setting
from core.export.report.models_section import model_sections
from core.space import Axis
from core.tuning.events import RunStarted, TrialFinished
from core.tuning.runs.state import state_from_events

AXIS = Axis("model", "Model", "choice", choices=("logistic", "svm"), default="logistic")


def test_of_a_model_without_a_whole_trial_the_estimate_is_told():
    started = RunStarted(plan={"model": "auto"}, space=[AXIS], metric="accuracy")
    svm = combined_setting("svm", {"C": 1.0})
    ended = [TrialFinished(number=n, setting=svm, score=s, behind=True) for n, s in
             enumerate((0.79, 0.81))]  # fmt: skip
    state = state_from_events([started, *ended])
    run = SimpleNamespace(state=state, started=started, tunes_several_models=True)
    (section,) = model_sections(run)
    words = re.sub(r"<[^>]+>", "|", section).replace("\N{NO-BREAK SPACE}", " ")
    assert "about 81.0 %, ended early" in words
    assert "79.0" not in words
