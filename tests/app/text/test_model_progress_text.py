"""What is said of several models in one run: who leads, which is next, what became of trials."""

from __future__ import annotations

from dataclasses import astuple, replace

import pytest

from app.text.model_progress_text import (
    explained_standing,
    gain_text,
    score_of,
    seen_text,
    standing_text,
    what_is_next,
    who_leads,
)
from app.text.narration import narration
from app.text.plan_text import setting_cells, setting_lines, setting_text, setting_title
from app.text.run_head import progress_text, run_title, time_spans
from core.space import Axis
from core.tuning.events import (
    ModelsCompared,
    Progress,
    RunFinished,
    RunStarted,
    TrialFinished,
    TrialStarted,
    TuningEnded,
)
from core.tuning.runs.model_runs import average_row, model_leaderboard
from core.tuning.runs.state import run_seconds, state_from_events


def after(race, count, **given):
    """The state after the first events of a run without its end."""
    return state_from_events(list(race.run(ends=False, **given))[:count])


def until(race, attribute, value):
    """The state when a run has told the first event of that kind."""
    events = list(race.run(ends=False))
    last = next(at for at, event in enumerate(events) if getattr(event, attribute, None) == value)
    return state_from_events(events[: last + 1])


def test_the_head_says_how_many_models_and_which_leads(race):
    run = state_from_events(race.run())
    assert run_title(run) == "Finding the best of 3 models"
    head = progress_text(run, "finished").split(" · ")
    assert head == [
        "8 trials", "best accuracy 80.0\u00a0% by a support vector machine",
        "average of 2 models +2.0 points", "took 8 s",
    ]  # fmt: skip
    screening = progress_text(after(race, 3), "running")
    assert screening.startswith("0 trials, 0 s · screening: 2 of 3 models")


def test_the_panel_tells_the_first_look_then_who_leads(race):
    assert "Screening: each model once with" in " ".join(narration(after(race, 2)))
    said = " ".join(narration(state_from_events(race.run())))
    for words in ("The average leads by 2.0 points, before a support vector machine with 80.0",
                  "Clearly behind: random forest.",
                  "They are 1 × support vector machine, 1 × logistic regression."):  # fmt: skip
        assert words in said
    assert "Next:" not in said  # it has ended
    alone = state_from_events([*race.run(ends=False), replace(race.average(), average=0.7)])
    leads = "Support vector machine leads with 80.0\u00a0%, before logistic regression with 75.0"
    assert who_leads(alone).startswith(leads)


@pytest.mark.parametrize(
    ("attribute", "value", "words"),
    [
        ("number", 4, ("Now: a support vector machine (cost of a wrong row (C) = 10, ",
                       " is tried because it may be better", "about 79.0\u00a0% is expected.")),
        ("number", 0, ("Now: the default setting of logistic regression (trust in the data (C) = 1",
                       " is tried, to have a comparison.")),
        ("behind", True, ("Just now: a random forest (number of trees (n_estimators) = 100, ",
                          "was ended early: clearly behind after 2 of 5 folds.")),
    ],
)  # fmt: skip
def test_a_trial_is_told_with_its_model(race, attribute, value, words):
    said = " ".join(narration(until(race, attribute, value)))
    assert all(word in said for word in words)


@pytest.mark.parametrize(
    ("why", "said"),
    [
        ("first", "its default setting has not been tried on all training rows yet"),
        ("floor", "every model gets a few trials, so that none is given up on one bad draw"),
        ("turn", "it may still lead and has had the least time of all that may"),
        ("gain", "the best accuracy is expected to rise most for the time: by 0.4 points"),
    ],
)
def test_why_a_model_is_next(race, why, said):
    told = race.compared(following="logistic", why=why)
    found = what_is_next(state_from_events([race.begun(), told]))
    assert found.startswith(f"Next: logistic regression, because {said}")


def test_a_gain_that_is_hardly_any_is_said_so(race):
    told = ModelsCompared(models=[race.standing("svm", 3, 0.8, gain=1e-6)], next="svm", why="gain")
    run = state_from_events([race.begun(), told])
    assert "though hardly any gain is expected" in what_is_next(run)
    assert gain_text(model_leaderboard(run)[0], "accuracy") == "hardly any"


def test_scores_stand_with_their_error(race):
    first, _, _ = model_leaderboard(state_from_events(race.run(ends=False)))
    assert score_of(first, "accuracy") == "80.0 ± 1.0\u00a0%"
    assert score_of(first, "mse") == "0.8 ± 0.01"


def standings(run):
    rows = [average_row(run), *model_leaderboard(run)]
    return {row.model: standing_text(row, run) for row in rows if row is not None}


def test_every_model_stands_in_a_word(race):
    run = until(race, "number", 4)
    assert standings(run) == {"logistic": "leads", "svm": "tuning", "forest": "clearly behind"}
    run = state_from_events([race.begun(), *race.looks(("svm",)), race.compared((), "forest")])
    assert standings(run) == {"logistic": "waits", "svm": "waits", "forest": "next"}
    explained = [explained_standing(row, run) for row in model_leaderboard(run)[:2]]
    assert explained[0] == "waits"
    assert explained[1].startswith("next: the best accuracy is expected to rise")
    assert explained[1].endswith("by 0.4 points in about 2 s")
    run = state_from_events([race.begun(), *race.looks(failed=("svm",))])
    assert standings(run) == {"logistic": "waits", "svm": "screening failed", "forest": "waits"}
    ended = state_from_events(race.run())
    assert standings(ended) == {
        "": "leads", "svm": "tuned", "logistic": "tuned", "forest": "clearly behind",
    }  # fmt: skip
    assert explained_standing(average_row(ended), ended).endswith("the best has 79.0\u00a0%")
    behind = [*race.run(ends=False), replace(race.average(), average=0.7)]
    assert standings(state_from_events(behind))[""] == "not ahead"
    assert standings(state_from_events(behind))["svm"] == "leads"


@pytest.mark.parametrize(
    ("rows", "folds", "words"),
    [(0, 0, ""), (168, 5, "all · 5"), (56, 1, "33\u00a0% · 1"), (19, 0, "11\u00a0%")],
)
def test_rows_and_folds_that_a_model_was_seen_on(race, rows, folds, words):
    entry = race.standing("svm", 0, None, rows=rows, folds=folds, look=None)  # a fold has 168
    run = state_from_events([race.begun(), ModelsCompared(models=[entry])])
    assert seen_text(model_leaderboard(run)[0], run) == words


def test_rows_and_folds_are_counted_where_a_run_of_an_earlier_version_does_not_tell(race):
    run = state_from_events(race.run(ends=False))
    rows = {row.model: seen_text(row, run) for row in model_leaderboard(run)}
    assert rows == {"svm": "all · 5", "logistic": "all · 5", "forest": "all · 2"}


def test_the_time_is_told_part_by_part_to_the_last_second(race):
    start = [race.begun(minutes=0.5), *race.looks()]
    assert progress_text(state_from_events(start), "running", 4.0).endswith("about 25 s left")
    assert time_spans(state_from_events(start), 4.0) == [
        ("screening", 4.0, "screening 4 s"),
        ("free", 26.0, ""), ("kept", 0.0, ""),
    ]  # fmt: skip
    trial = [TrialStarted(seconds=1.0), TrialFinished(seconds=5.0, score=0.8)]
    told = [*start, *trial, Progress(seconds=5.0, seconds_left=18.0, ending=7.0, memory=9e8)]
    running = state_from_events(told)
    assert [seconds for _, seconds, _ in time_spans(running, 8.0)] == pytest.approx(
        [0.3, 7.7, 15.0, 7.0]
    )
    assert [label for *_, label in time_spans(running, 8.0)][2:] == [
        "0.9 GB in use", "kept for finishing 7 s",
    ]  # fmt: skip
    said = progress_text(running, "running", 8.0)
    assert said.endswith("about 20 s left, the last 7 s for finishing")
    ending = state_from_events([*told, TuningEnded(seconds=24.0), Progress(seconds=25.0)])
    parts = time_spans(ending, 26.0)
    assert [name for name, *_ in parts] == ["screening", "trials", "finishing", "kept"]
    assert [seconds for _, seconds, _ in parts] == pytest.approx([0.3, 23.7, 2.0, 5.0])
    assert progress_text(ending, "running", 26.0).endswith("about 5 s left")
    late = progress_text(ending, "running", 40.0)
    assert late.startswith("Working out the results · 1 trial, 40 s · ")
    assert late.endswith("nearly done")
    ended = state_from_events([*told, TuningEnded(seconds=24.0), RunFinished(seconds=29.0)])
    assert run_seconds(ended).remaining == 0.0
    assert sum(astuple(run_seconds(ended))) == pytest.approx(29.0)


def test_a_model_that_failed_is_told_once(race):
    failed = race.standing("svm", 0, None, None, "failed", why="None of its trials gave a score.")
    told = ModelsCompared(models=[race.standing("logistic", 2, 0.7), failed], next="logistic")
    said = " ".join(narration(state_from_events([race.begun(), told])))
    assert said.count("Support vector machine: None of its trials gave a score.") == 1


def test_a_setting_has_one_name_with_the_name_of_the_library_beside_it():
    space = [Axis("C", "Cost of a wrong row", "float"), Axis("gamma", "", "float")]
    started = RunStarted(plan={"model": "svm"}, space=space)
    setting = {"gamma": 0.03, "C": 0.271}
    assert setting_text(started, setting) == "cost of a wrong row (C) = 0.271, gamma = 0.03"
    assert setting_lines(started, setting) == ["gamma = 0.03", "Cost of a wrong row (C) = 0.271"]
    assert [setting_title(axis) for axis in space] == ["Cost of a wrong row (C)", "gamma"]
    assert setting_cells(started, setting)[0] == "Support vector machine"
    assert setting_text(started, {}) == "the setting"
