"""What may be selected from a run of several models, and what the results say of the models."""

from __future__ import annotations

from dataclasses import replace

from app.text.candidate_text import candidate_texts, completed_results
from core.tuning.events import RunFinished
from core.tuning.results.result_facts import fact_sentences, grid_fits


def told(race, results, earlier=()):
    events = [RunFinished(results=one) for one in (*earlier, results)]
    results = completed_results(results, events)
    return {one.key: one for one in candidate_texts(results, race.begun(), events)}


def test_each_candidate_has_its_model_scores_and_gain(race):
    found = told(race, race.results())
    best = found["best"]
    assert best.title == "The best: support vector machine"
    assert (best.setting, best.is_selected, best.is_runs_choice) == (
        "C = 10, gamma = 0.01",
        True,
        True,
    )
    for key, scores, gain in (
        ("best", "80.0 in validation, 82.0 on test rows", "4.0 points better"),
        ("simplest", "75.0 in validation, 77.0 on test rows", "1.0 point worse"),
        ("default", "74.0 in validation, 78.0 on test rows", ""),
    ):
        assert scores in found[key].scores.replace("\u00a0%", "")
        assert found[key].gain.startswith(gain)
        assert bool(found[key].gain) is bool(gain)
    assert "(95\u00a0% confidence interval 73.0\u00a0% to 89.0\u00a0%)." in best.scores
    assert (best.gain[-12:], found["simplest"].gain[-14:]) == ("likely real.", "may be chance.")


def test_a_score_corrected_for_the_choice_has_its_interval(race):
    results = race.results()
    best = replace(results.candidates[0], validation_interval=[0.71, 0.88])
    results = replace(results, candidates=[best, *results.candidates[1:]])
    assert told(race, results)["best"].scores.startswith(
        "Accuracy: 80.0\u00a0% in validation (95\u00a0% confidence interval 71.0\u00a0% to "
        "88.0\u00a0%), 82.0\u00a0% on test rows"
    )


def test_what_an_earlier_test_said_is_kept(race):
    after = race.results(taken="simplest", tested=False, test={"accuracy": 0.77})
    found = told(race, after, [race.results()])
    assert "82.0\u00a0% on test rows" in found["best"].scores
    assert found["simplest"].is_selected
    assert found["best"].is_runs_choice  # what the run took by itself


def test_how_quickly_a_model_predicts_is_told_where_it_was_measured(race):
    results = race.results()
    quick, slow = (replace(results.candidates[0], row_seconds=s) for s in (8.04e-5, 0.4))
    for candidate, text in ((quick, "10,000 rows a second"), (slow, "2 rows a second")):
        earlier = replace(results, candidates=[candidate, *results.candidates[1:]])
        assert told(race, earlier)["best"].speed == text
        # The next results test the selected model alone.
        after = race.results(taken="simplest", tested=False)
        assert told(race, after, [earlier])["best"].speed == text
    assert told(race, results)["best"].speed == ""
    assert [text.lacks_test for text in told(race, after).values()] == [True, False, False]


def test_a_trial_that_was_taken_is_listed_and_what_could_not_be_fitted_says_why(race):
    results, why = replace(race.results(), taken="trial"), "There was not enough memory."
    candidates = [replace(one, taken=False, failure=why) for one in results.candidates]
    found = told(race, replace(results, candidates=candidates), [race.results()])
    assert found["trial"].title == "Your trial: support vector machine"
    assert found["trial"].is_selected
    assert found["simplest"].setting == why


def test_the_panel_names_the_best_model_and_the_usual_one(race):
    said = fact_sentences(race.results(), race.begun())
    assert said[0] == "The best of 3 models is a support vector machine."
    assert "that of logistic regression" in said[1]
    taken = fact_sentences(race.results(taken="simplest"), race.begun())[0]
    assert "you selected is logistic regression; the best of 3 models is a support" in taken
    settings = [one["setting"] for one in race.results()["candidates"][:2]]
    ensemble = {
        "members": [4, 3], "weights": [0.6, 0.4], "scores": [0.8, 0.75], "settings": settings,
        "effective": 1.9, "kind": "greedy", "held_out": {}, "single_held_out": {},
    }  # fmt: skip
    said = fact_sentences(race.results(taken="average", ensemble=ensemble), race.begun())[0]
    for words in ("an average of 2 models: 1 × support vector machine, 1 × logistic regression.",
                  "The best of 3 models alone is a support vector machine."):  # fmt: skip
        assert words in said


def test_runs_of_earlier_versions_offer_none_and_no_grid_is_compared_with_several(race):
    assert told(race, race.results(candidates=None)) == {}
    assert grid_fits(race.begun()) is None
