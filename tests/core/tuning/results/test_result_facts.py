"""What the results of a run say: each thing once, with its figures."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.datasets.task import Task
from core.json_reading import read_as
from core.space import Axis
from core.tuning.events import DatasetFacts, RunStarted
from core.tuning.plan import DataPlan, Plan
from core.tuning.results.result_facts import (
    fact_sentences,
    grid_fits,
    headline,
    member_count,
    never_predicted,
    pairs_summary,
    result_facts,
    scores_line,
    tuned_model_text,
)
from core.tuning.run_results import ConfusionCounts, PairCounts, Results
from core.tuning.scores.score import difference_text, metric_in_short, metric_title


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
        "rows": 81,
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


def sentences(results, started=None):
    return " ".join(fact_sentences(results, started or run()))


def beside(**over):
    baseline = {"metric": "accuracy", "difference": 0.2, "low": 0.1, "high": 0.3, "real": True}
    return {
        "baseline": "the most frequent class", "baseline_test": {"accuracy": 0.677},
        "gain_over_baseline": baseline | over,
    }  # fmt: skip


LESS = {
    "metric": "mse", "maximize": False, "test": {"mse": 2.0}, "default_test": {"mse": 3.0},
    "validation": {"mse": 1.5}, "gain": gain(1.0, 0.1, 2.0, True, "mse"),
}  # fmt: skip
TESTED = gain(0.026, 0.004, 0.071, True) | {"method": "exact McNemar", "p": 0.021}
REMARK = "The validation score was 8.0 points above the test score: believe the test score."
GRADIENT, MM = run("gradient", "penalties"), run("mm", "penalties", groups=("a", "b"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "Tuning gained 2.6 points, likely real"),
        ({"gain": gain(0.01, -0.02, 0.04, False)},
         "Tuning changed nothing that 81 rows could show"),
        ({"gain": gain(-0.021, -0.04, -0.01, True)},
         "Tuning lost 2.1 points: the default setting is better here"),
        ({"setting": {"C": 1.0}}, "The default setting is the best of those tried"),
        ({"metric": "mse", "gain": gain(0.5, 0.1, 0.9, True, "mse")},
         "Tuning improved mean squared error by 0.5, likely real"),
        (beside(difference=-0.01, low=-0.05, high=0.03, real=False),
         "The tuned model is not better than the most frequent class"),
    ],
)  # fmt: skip
def test_the_headline_says_what_tuning_brought(changes, words):
    assert headline(results(**changes)) == words


def test_the_line_has_both_scores_the_baseline_and_the_interval():
    scores = "87.7\u00a0% of test rows right, against 84.0\u00a0% with the default setting"
    interval = "95\u00a0% confidence interval of the gain: +0.4 to +7.1 points"
    assert scores_line(results()) == f"{scores} · {interval}"
    line = f"{scores} and 67.7\u00a0% for the baseline · {interval}"
    assert scores_line(results(**beside())) == line
    assert scores_line(results(gain=gain(0.0, 0.0, 0.0, False))) == scores


@pytest.mark.parametrize(
    ("changes", "started", "words"),
    [
        ({"failed": 2}, None,
         "On the test set of 81 rows, the tuned model is right on 71|as small as 0.4 points|"
         "Of 20 such intervals, 19 contain the true gain.|40 settings were tried in 16 s, with "
         "200 fits.|A grid search would have needed 501.|2 trials failed|"
         "The validation score, 88.9\u00a0%, was 1.2 points above the test score."),
        ({"second_file": True}, None, "On the test file of 81 rows"),
        ({"folds": 5}, None,
         "On all 81 rows, each tested once by 5-fold cross-validation, the tuned"),
        ({"validation_interval": [0.85, 0.92]}, None,
         "The validation score, 88.9\u00a0% (95\u00a0% confidence interval 85.0\u00a0% to "
         "92.0\u00a0% for new rows, corrected for the choice), was 1.2 points"),
        ({"optimism": 0.08, "optimism_error": 0.05}, None,
         "was 8.0 points above the test score, no more than chance explains."),
        ({"optimism": 0.08, "optimism_error": 0.02}, None, "8.0 points above the test score."),
        ({**LESS, "optimism": 0.5}, None,
         "The validation score, 1.5, was 0.5 below the test score."),
        ({"optimism": None, "validation": {"holdout_loss": 0.4}}, GRADIENT, "!alidation"),
        ({"optimism": -0.01}, None, "was no better than the test score."),
        ({"optimism": None, "flattery": 0.08, "flattery_error": 0.02}, None,
         "was 8.0 points above the test score."),
        ({"optimism": None, "validation": {}}, None, "No validation data was used"),
        ({"optimism": 0.08, "remarks": [REMARK]}, None, f"{REMARK}|!The validation score, 88.9"),
        ({"trials": 0, "fits": 11, "switched_off": ["b"]}, MM,
         "Learning needed 11 fits|A grid search for one common penalty would have needed 106.|"
         "Switched off, because they add nothing: “b”."),
        ({"gain": gain(0.0, 0.0, 0.0, False)}, None, "Both do equally well on these rows"),
        (beside(), None,
         "The baseline (the most frequent class) gives 67.7\u00a0%; the tuned model is 20.0 p"),
        ({"gain": TESTED}, None, "(exact McNemar test: p = 0.021)"),
    ],
)  # fmt: skip
def test_the_panel_says_rows_certainty_validation_and_cost(changes, started, words):
    assert_said(sentences(results(**changes), started), words)


def assert_said(said, words):
    """Each of the words between | is said, and none that follows a !."""
    for word in words.split("|"):
        assert (word.lstrip("!") in said) != word.startswith("!"), word


def test_a_validation_score_corrected_for_the_choice_is_what_is_expected():
    corrected = results(validation_interval=[0.85, 0.92])
    expected = next(fact for fact in result_facts(corrected, run()) if fact.label == "Expected")
    assert expected.value == (
        "accuracy 88.9\u00a0% on new rows (95\u00a0% confidence interval 85.0\u00a0% to "
        "92.0\u00a0%, corrected for the choice)"
    )


def test_a_grid_search_is_not_compared_with_itself():
    assert grid_fits(run("grid")) is None
    choice = RunStarted(plan={"strategy": "gp", "folds": 3},
                        space=[Axis("k", "", "choice", choices=("a", "b"))])  # fmt: skip
    assert grid_fits(choice) == 2 * 3 + 1
    fixed = Axis("C", "", "float", 0.5, 0.5)
    assert grid_fits(replace(choice, space=[*choice.space, fixed])) == 2 * 3 + 1


def test_differences_have_their_unit_and_metrics_their_capitals():
    assert difference_text("accuracy", 0.0101) == "1.0 point"
    assert difference_text("mse", 0.0123) == "0.0123"
    assert metric_title("accuracy") == "accuracy"
    assert metric_title("f1").startswith("F1")
    assert metric_in_short("r2") == "R²"
    assert metric_in_short("mse") == "mean squared error"


@pytest.mark.parametrize(
    ("counts", "never", "words"),
    [
        ([[40, 5], [5, 31]], (), ""),
        ([[45, 0], [36, 0]], ("1",), "; the model never predicts “1”"),
        ([[0, 45], [0, 36]], ("0",), "; the model never predicts “0”"),
        ([[45, 0], [0, 0]], (), ""),  # no test row has it: nobody can say
        ([[45, 0], [35, 1]], (), ""),
        ([[9, 0, 0], [3, 0, 0], [2, 0, 0]], ("1", "2"), "; the model never predicts “1” and “2”"),
        ([[9, 0, 0, 0], [3, 0, 0, 0], [2, 0, 0, 0], [1, 0, 0, 0]], ("1", "2", "3"),
         "; the model never predicts “1”, “2” and 1 other"),
    ],
)  # fmt: skip
def test_a_class_that_is_never_predicted_is_in_the_headline(counts, never, words):
    confusion = {"labels": [str(code) for code in range(len(counts))], "tuned": counts}
    made = results(confusion=confusion)
    assert never_predicted(made) == never
    assert headline(made) == headline(results()) + words


@pytest.mark.parametrize("confusion", [None, ConfusionCounts(), ConfusionCounts(["a"])])
def test_without_a_confusion_matrix_no_class_is_named(confusion):
    assert never_predicted(Results(confusion=confusion)) == ()


SPACE = [Axis("C", "Cost", "float", 0.1, 10.0, log=True)]


def averaged(count=4, average=None, **changes):
    ensemble = {
        "members": [7 + n for n in range(count)], "weights": [1 / count] * count,
        "scores": [0.09 + 0.001 * n for n in range(count)],
        "settings": [{"C": 2.0 + n} for n in range(count)], "effective": float(count),
        "kind": "uniform", "finished": 10 * count, "single_held_out": {"log_loss": 0.11},
        "held_out": {"log_loss": 0.1},
        "left_out": [],
    }  # fmt: skip
    made = {
        "setting": {"C": 2.0}, "default_setting": {"C": 1.0}, "metric": "log_loss",
        "maximize": False, "validation": {"log_loss": 0.092},
        "test": {"log_loss": 0.1, "accuracy": 0.97},
        "default_test": {"log_loss": 0.13, "accuracy": 0.95},
        "test_interval": [0.07, 0.14], "default_interval": [0.09, 0.18],
        "gain": {"metric": "log_loss", "difference": 0.03, "low": 0.01, "high": 0.06,
                 "real": True},
        "right": {"tuned": 166, "default": 162, "rows": 171}, "fits": 200, "trials": 10 * count,
        "seconds": 31.0, "stopped_because": "done",
    }  # fmt: skip
    return read_as(Results, {**made, "ensemble": ensemble | (average or {}), **changes})


def average_sentences(results):
    labels = ("Average", "Single", "Left out")
    facts = result_facts(results, averaging())
    return [fact.sentence for fact in facts if fact.label in labels and fact.sentence]


def averaging():
    plan = {"strategy": "eb-hyp", "model": "svm", "folds": 5}
    facts = DatasetFacts(test_rows=171)
    return RunStarted(plan=plan, space=SPACE, dataset=facts, metric="log_loss",
                      maximize=False, averages=True)  # fmt: skip


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (averaged(), "average of 4 models, each of which counts 25\u00a0%|In validation its best "
         "member alone has log loss 0.11: averaging gains 0.01."),
        (averaged(average={"single_held_out": {"log_loss": 0.09}}), "averaging costs 0.01 here"),
        (averaged(average={"single_held_out": {"log_loss": 0.1}}), "changes nothing here"),
        (averaged(average={"single_held_out": {"log_loss": 0.09}}, taken="average"),
         "log loss 0.09, 0.01 better. That is within chance|!costs"),
        (averaged(average={"weights": [0.5, 0.3, 0.15, 0.05]}),
         "which count between 5\u00a0% and 50\u00a0%"),
        (averaged(1), "from 20 trials on there are two"),
        (averaged(1, {"finished": 45}),
         "The average has one member: it is the single best model.|!20 trials"),
        (averaged(average={"left_out": [{"number": 3, "reason": "Trial 3 is left out."}]}),
         "Trial 3 is left out."),
    ],
)  # fmt: skip
def test_what_is_said_of_an_average(made, words):
    assert_said(" ".join(average_sentences(made)), words)


def test_the_average_is_called_one_where_there_are_several():
    said = sentences(averaged(), averaging())
    assert "the average of 4 models is right on 166, the default setting on 162" in said
    assert tuned_model_text(averaged(1)) == "the tuned model"
    none = averaged(ensemble=None)
    assert (average_sentences(none), member_count(none)) == ([], 0)
    assert "average" not in sentences(none, averaging())
    # An average whose best member is the default is more than the default.
    assert "default setting is the best" not in headline(averaged(setting={"C": 1.0}))
    assert "default setting is the best" in headline(averaged(1, setting={"C": 1.0}))


COMMON = {"fits": 9, "seconds": 3.0}
TOKENS = read_as(Results, COMMON | {
    "metric": "accuracy", "test": {"accuracy": 0.9}, "default_test": {"accuracy": 0.85},
    "gain": gain(0.0, -0.01, 0.02, False), "rows": 600,
    "right": {"tuned": 540, "default": 510, "rows": 600},
    "sequences": {"tuned": 21, "default": 17, "count": 60},
})  # fmt: skip
MOLECULES = read_as(Results, COMMON | {
    "metric": "pair_f1", "test": {"pair_f1": 0.6}, "default_test": {"pair_f1": 0.5},
    "gain": gain(0.1, 0.02, 0.2, True, "pair_f1"),
    "pairs": {
        "tuned": {"right": 62, "called": 107, "true": 100},
        "default": {"right": 50, "called": 100, "true": 100}, "molecules": 18,
    },
})  # fmt: skip


def structured(task, **dataset):
    return RunStarted(
        plan={"strategy": "mm"}, kind="penalties", dataset=DatasetFacts(task=Task(task), **dataset)
    )


def test_tokens_are_called_tokens():
    assert headline(TOKENS) == "Tuning changed nothing that 600 tokens could show"
    assert scores_line(TOKENS).startswith("90.0\u00a0% of test tokens right, against 85.0\u00a0%")
    said = fact_sentences(TOKENS, structured("sequence", test_rows=600, test_sequences=60))
    assert said[0] == (
        "On the test set of 60 sequences (600 tokens), the tuned model is right on 540, the "
        "default setting on 510."
    )
    assert said[1] == "It labels 21 of 60 sequences without any error, the default setting 17."
    assert "With 600 tokens chance alone" in said[2]


def test_pairs_are_found_and_right():
    short = "Finds 62 of 100 true base pairs; 58 of 100 called pairs are right"
    assert pairs_summary(MOLECULES["pairs"]["tuned"]) == short
    assert scores_line(MOLECULES).startswith(short + " · F1 on test molecules 60.0\u00a0%")
    said = fact_sentences(MOLECULES, structured("structure", test_rows=18))
    assert said[0] == (
        "On 18 test molecules the tuned model finds 62 of 100 true base pairs; 62 of the 107 "
        "pairs that it calls are right."
    )
    assert said[1] == "The default setting finds 50; 50 of the 100 it calls are right."


def test_no_pair_called_is_no_share():
    short = pairs_summary(PairCounts(right=0, called=0, true=10))
    assert short == "Finds 0 of 100 true base pairs; – of 100 called pairs are right"
