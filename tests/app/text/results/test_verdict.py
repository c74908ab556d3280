from __future__ import annotations

from dataclasses import replace

import pytest

from app.cli.terminal_text import result_text
from app.text.results.verdict import grid_fits, headline, result_sentences, scores_line
from app.text.score_text import difference_text, duration_text, metric_in_short, metric_title
from core.json_reading import read_as
from core.space import Axis
from core.tuning.events import RunStarted
from core.tuning.payloads import DatasetFacts
from core.tuning.plan import DataPlan, Plan
from core.tuning.run_results import Results


def results(**changes):
    made = {
        "setting": {"C": 3.0},
        "default_setting": {"C": 1.0},
        "groups": {},
        "switched_off": [],
        "metric": "accuracy",
        "maximize": True,
        "validation": {"accuracy": 0.889},
        "test": {"accuracy": 0.877},
        "default_test": {"accuracy": 0.840},
        "gain": {"metric": "accuracy", "difference": 0.026, "low": 0.004, "high": 0.071,
                 "real": True},
        "optimism": 0.012,
        "right": {"tuned": 71, "default": 68, "rows": 81},
        "remarks": [],
        "fits": 200,
        "trials": 40,
        "failed": 0,
        "seconds": 16.0,
        "stopped_because": "the budget was spent",
        "seed": 0,
    }  # fmt: skip
    return read_as(Results, {**made, **changes})


def gain(difference, low, high, real, metric="accuracy"):
    return {"metric": metric, "difference": difference, "low": low, "high": high, "real": real}


def run(strategy="gp", kind="trials", axes=2, groups=()):
    space = [Axis(f"a{n}", "", "float") for n in range(axes)]
    plan = Plan(DataPlan("x.csv"), "svm", strategy).as_dict()
    return RunStarted(plan=plan, kind=kind, space=space if kind == "trials" else [],
                      dataset=DatasetFacts(test_rows=81),
                      groups=dict.fromkeys(groups, 1))  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "Tuning gained 2.6 points, likely real"),
        (
            {"gain": gain(0.01, -0.02, 0.04, False)},
            "Tuning changed nothing that 81 rows could show",
        ),
        (
            {"gain": gain(-0.021, -0.04, -0.01, True)},
            "Tuning lost 2.1 points: the default setting is better here",
        ),
        ({"setting": {"C": 1.0}}, "The default setting is the best of those tried"),
        (
            {"metric": "mse", "gain": gain(0.5, 0.1, 0.9, True, "mse")},
            "Tuning improved mean squared error by 0.5, likely real",
        ),
    ],
)
def test_the_headline_says_what_tuning_brought(changes, words):
    assert headline(results(**changes), 81) == words


def test_the_line_has_both_scores_and_the_interval():
    assert scores_line(results()) == (
        "87.7\u00a0% of test rows right, against 84.0\u00a0% with the default setting · "
        "95\u00a0% confidence interval of the gain: +0.4 to +7.1 points"
    )


def test_the_panel_says_rows_certainty_validation_and_cost():
    said = " ".join(result_sentences(results(failed=2, remarks=["A remark."]), run()))
    assert "On the test set of 81 rows, the tuned model is right on 71" in said
    assert "as small as 0.4 points" in said
    assert "Of 20 such intervals, 19 contain the true gain." in said
    assert "The validation score, 88.9\u00a0%, was 1.2 points above the test score." in said
    assert "40 settings were tried in 15 s, with 200 fits." in said
    assert "A grid search would have needed 501." in said
    assert "2 trials failed" in said
    assert said.endswith("A remark.")


def test_a_validation_score_corrected_for_the_choice_has_its_interval():
    corrected = results(validation_interval=[0.85, 0.92])
    said = " ".join(result_sentences(corrected, run()))
    interval = (
        "(95\u00a0% confidence interval 85.0\u00a0% to 92.0\u00a0% for new rows, corrected for"
    )
    assert f"The validation score, 88.9\u00a0% {interval} the choice), was 1.2 points" in said
    lines = result_text(corrected, Plan(DataPlan("data.csv"), "auto", "race"))
    assert "Expected: accuracy 0.889 on new rows (95 % confidence interval 0.85 to 0.92" in lines


def test_a_validation_score_above_the_test_score_is_weighed_by_its_standard_error():
    said = " ".join(result_sentences(results(optimism=0.08, optimism_error=0.05), run()))
    assert "was 8.0 points above the test score, no more than chance explains." in said
    said = " ".join(result_sentences(results(optimism=0.08, optimism_error=0.02), run()))
    assert "was 8.0 points above the test score." in said
    less = {"metric": "mse", "maximize": False, "test": {"mse": 2.0}, "default_test": {"mse": 3.0}}
    less |= {"validation": {"mse": 1.5}, "gain": gain(1.0, 0.1, 2.0, True, "mse")}
    said = " ".join(result_sentences(results(optimism=0.5, **less), run()))
    assert "The validation score, 1.5, was 0.5 below the test score." in said
    loss = results(optimism=None, validation={"holdout_loss": 0.4})
    assert "alidation" not in " ".join(result_sentences(loss, run("gradient", "penalties")))
    said = " ".join(result_sentences(results(optimism=-0.01), run()))
    assert "was no better than the test score." in said
    earlier = results(optimism=None, flattery=0.08, flattery_error=0.02)
    said = " ".join(result_sentences(earlier, run()))
    assert "was 8.0 points above the test score." in said
    nothing = results(optimism=None, validation={})
    assert "No validation data was used" in " ".join(result_sentences(nothing, run()))


def test_a_learned_penalty_is_compared_with_the_search_it_saved():
    mm = run("mm", "penalties", groups=("a", "b"))
    said = " ".join(result_sentences(results(trials=0, fits=11, switched_off=["b"]), mm))
    assert "Learning needed 11 fits" in said
    assert "A grid search for one common penalty would have needed 106." in said
    assert "Switched off, because they add nothing: “b”." in said


def test_a_grid_search_is_not_compared_with_itself():
    assert grid_fits(run("grid")) is None
    choice = RunStarted(plan={"strategy": "gp", "folds": 3},
                        space=[Axis("k", "", "choice", choices=("a", "b"))])  # fmt: skip
    assert grid_fits(choice) == 2 * 3 + 1
    fixed = Axis("C", "", "float", 0.5, 0.5)
    assert grid_fits(replace(choice, space=[*choice.space, fixed])) == 2 * 3 + 1


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "less than 1 s"), (7, "7 s"), (41, "40 s"), (170, "3 min"), (7800, "2 h 10 min"),
     (7200, "2 h")],
)  # fmt: skip
def test_a_duration_is_as_rough_as_people_are(seconds, words):
    assert duration_text(seconds) == words


def test_one_point_is_singular():
    assert difference_text("accuracy", 0.0101) == "1.0 point"
    assert difference_text("mse", 0.0123) == "0.0123"


def test_the_name_of_a_metric_keeps_its_capitals():
    assert metric_title("accuracy") == "accuracy"
    assert metric_title("f1").startswith("F1")
    assert metric_in_short("r2") == "R²"
    assert metric_in_short("mse") == "mean squared error"


def test_settings_that_do_equally_well_have_no_gain_of_nothing_to_nothing():
    alike = results(gain=gain(0.0, 0.0, 0.0, False))
    assert "between" not in scores_line(alike)
    assert "Both do equally well on these rows" in " ".join(result_sentences(alike, run()))


def test_how_far_validation_was_above_is_said_once():
    remark = "The validation score was 8.0 points above the test score: believe the test score."
    said = " ".join(result_sentences(results(optimism=0.08, remarks=[remark]), run()))
    assert said.count("8.0 points") == 1


def beside(**over):
    baseline = {"metric": "accuracy", "difference": 0.2, "low": 0.1, "high": 0.3, "real": True}
    return results(
        baseline="the most frequent class",
        baseline_test={"accuracy": 0.677},
        gain_over_baseline=baseline | over,
        rows=81,
    )


def test_the_baseline_stands_beside_both():
    assert "84.0\u00a0% with the default setting and 67.7\u00a0% for the baseline" in scores_line(
        beside()
    )
    said = " ".join(result_sentences(beside(), run()))
    assert "The baseline (the most frequent class) gives 67.7\u00a0%; the tuned" in said
    assert "; the tuned model is 20.0 points" in said


def test_a_model_no_better_than_the_baseline_is_the_headline():
    worse = beside(difference=-0.01, low=-0.05, high=0.03, real=False)
    assert headline(worse, 81) == "The tuned model is not better than the most frequent class"


def test_p_and_the_test_are_named_with_the_interval():
    tested = results(gain=gain(0.026, 0.004, 0.071, True) | {"method": "exact McNemar", "p": 0.021})
    assert "(exact McNemar test: p = 0.021)" in " ".join(result_sentences(tested, run()))


def test_a_test_file_and_nested_folds_are_called_that():
    assert "On the test file of 81 rows" in " ".join(
        result_sentences(results(second_file=True), run())
    )
    said = " ".join(result_sentences(results(folds=5, rows=81), run()))
    assert "On all 81 rows, each tested once by 5-fold cross-validation, the tuned" in said


def test_large_counts_are_grouped_as_everywhere(monkeypatch):
    monkeypatch.setattr("app.text.results.verdict.grid_fits", lambda started: 5001)
    assert "A grid search would have needed 5,001." in " ".join(result_sentences(results(), run()))


@pytest.mark.parametrize(
    ("labels", "counts", "words"),
    [
        (["no", "yes"], [[45, 0], [36, 0]], "; the model never predicts “yes”"),
        (
            ["a", "b", "c"],
            [[9, 0, 0], [3, 0, 0], [2, 0, 0]],
            "; the model never predicts “b” and “c”",
        ),
        (
            ["a", "b", "c", "d"],
            [[9, 0, 0, 0], [3, 0, 0, 0], [2, 0, 0, 0], [1, 0, 0, 0]],
            "; the model never predicts “b”, “c” and 1 other",
        ),
    ],
)
def test_a_class_that_is_never_predicted_is_in_the_headline(labels, counts, words):
    said = headline(results(confusion={"labels": labels, "tuned": counts}), 81)
    assert said.endswith(words)
