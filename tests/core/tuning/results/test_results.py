"""The results of a run: its figures against scikit-learn, and what is said of them, once."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from sklearn import metrics as peer
from sklearn.calibration import calibration_curve
from sklearn.datasets import make_classification, make_regression
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC

from core.datasets.task import Task
from core.json_reading import read_as
from core.records import to_plain
from core.space import Axis
from core.tuning.events import DatasetFacts, RunStarted, Topic, TopicsFound
from core.tuning.plan import DataPlan, Plan
from core.tuning.results.answer import answer_of, never_predicted, pairs_summary
from core.tuning.results.comparison import ComparisonContext, results_of
from core.tuning.results.result_facts import (
    fact_sentences,
    grid_fits,
    member_count,
    result_facts,
    tuned_model_text,
)
from core.tuning.run_results import ConfusionCounts, PairCounts, Results
from core.tuning.scores.metrics import METRICS
from core.tuning.scores.predictions import predictions_by
from core.tuning.scores.score import difference_text, metric_in_short, metric_title

X, CODES = make_classification(600, 8, n_informative=5, flip_y=0.15, random_state=0)
Y = np.array(["no", "yes"])[CODES]
NAMES = ("no", "yes")


def classified(model, other, metric="accuracy", rows=slice(200, None), **more):
    """Both models fitted to 200 rows and tested on others, beside the class shares."""
    models = [each.fit(X[:200], Y[:200]) for each in (model, other, DummyClassifier())]
    predictions = predictions_by(tuple(models), X[rows], Y[rows], "binary", NAMES)
    given = {"setting": {"C": 1.0}, "default_setting": {"C": 2.0}, "metric": METRICS[metric]}
    return results_of(predictions, ComparisonContext("binary", NAMES, **{**given, **more}))


GOOD, BAD = LogisticRegression(), LogisticRegression(C=1e-6)


def score_all(estimator, X, y):
    """scikit-learn's figures of a classifier."""
    labels, chance = estimator.predict(X), estimator.predict_proba(X)
    return {
        "accuracy": peer.accuracy_score(y, labels),
        "balanced_accuracy": peer.balanced_accuracy_score(y, labels),
        "f1": peer.f1_score(y, labels, average="macro"),
        "auc": peer.roc_auc_score(y, chance[:, 1]),
        "log_loss": peer.log_loss(y, chance),
    }


def test_scores_and_counts_are_those_of_the_models():
    results = classified(GOOD, BAD)
    assert results["test"] == pytest.approx(score_all(GOOD, X[200:], Y[200:]))
    assert results["default_test"] == pytest.approx(score_all(BAD, X[200:], Y[200:]))
    expected = peer.confusion_matrix(Y[200:], GOOD.predict(X[200:]), labels=NAMES).tolist()
    assert results["confusion"]["tuned"] == expected
    assert results["confusion"]["labels"] == ["no", "yes"]
    right, scores = results["right"], (results["test"], results["default_test"])
    assert right["rows"] == 400
    assert [right["tuned"] / 400, right["default"] / 400] == [each["accuracy"] for each in scores]


@pytest.mark.parametrize("metric", ["accuracy", "log_loss"])
def test_a_gain_is_above_zero_whichever_way_the_metric_goes(metric):
    won, lost = classified(GOOD, BAD, metric), classified(BAD, GOOD, metric)
    assert won["gain"]["difference"] > 0
    assert won["gain"]["real"]
    assert 0 < won["gain"]["low"] < won["gain"]["difference"] < won["gain"]["high"]
    assert lost["gain"]["high"] < 0
    assert lost["gain"]["difference"] == -won["gain"]["difference"]
    assert any("default setting did better" in remark for remark in lost["remarks"])
    low, high = won["test_interval"]
    assert low < won["test"][metric] < high


def test_equal_models_gain_nothing():
    results = classified(GOOD, GOOD, default_setting={"C": 1.0})
    gain = results["gain"]
    assert (gain["difference"], gain["low"], gain["high"], gain["real"]) == (0.0, 0.0, 0.0, False)
    (remark,) = results["remarks"]
    assert "default" in remark


def test_rounding_is_no_difference():
    noisy = LogisticRegression(C=1.0 + 1e-12)
    gain = classified(noisy, GOOD, "log_loss")["gain"]
    assert (gain["difference"], gain["low"], gain["high"], gain["real"]) == (0.0, 0.0, 0.0, False)
    assert classified(LogisticRegression(C=1.1), GOOD, "log_loss")["gain"]["difference"] != 0.0


def test_topics_are_named_by_their_likeliest_words():
    topics = TopicsFound(count=50, topics=[Topic(0.1, [word], [1.0]) for word in "abcdef"])
    made = results(test={"word_likelihood": -4.0}, right=None)
    answer = answer_of(made, RunStarted(dataset=DatasetFacts(task=Task.TOPICS)), topics)
    assert answer.ability == "50 topics: a, b, c, d …"
    # One word may be the likeliest of two: each is named by its own.
    topics = TopicsFound(count=2, topics=[Topic(0.5, ["a", word], [0.2, 0.1]) for word in "bc"])
    answer = answer_of(made, RunStarted(dataset=DatasetFacts(task=Task.TOPICS)), topics)
    assert answer.ability == "2 topics: a, c."


def test_optimism_is_how_much_better_validation_looked():
    results = classified(GOOD, BAD, validation={"accuracy": 0.99})
    assert results["optimism"] == pytest.approx(0.99 - results["test"]["accuracy"])
    assert any("The validation score was" in remark for remark in results["remarks"])
    loss = classified(GOOD, BAD, "log_loss", validation={"log_loss": 0.1})
    assert loss["optimism"] == pytest.approx(loss["test"]["log_loss"] - 0.1)
    assert classified(GOOD, BAD)["optimism"] is None


def test_calibration_bins_agree_with_scikit_learn():
    bins = classified(GOOD, BAD)["calibration"]
    chance = GOOD.predict_proba(X[200:])[:, 1]
    observed, predicted = calibration_curve(CODES[200:], chance, n_bins=10)
    assert bins["predicted"] == pytest.approx(predicted.tolist())
    assert bins["observed"] == pytest.approx(observed.tolist())
    assert sum(bins["counts"]) == 400
    assert classified(SVC(), BAD)["calibration"] is None


def test_few_rows_are_said():
    remarks = classified(GOOD, BAD, rows=slice(200, 220))["remarks"]
    assert any("only 20 rows" in remark for remark in remarks)


def test_regression_shows_at_most_500_predictions_and_is_plain_json():
    numbers, y = make_regression(900, 4, noise=3.0, random_state=0)
    models = [m.fit(numbers[:200], y[:200]) for m in (Ridge(1.0), Ridge(300.0), DummyRegressor())]
    predictions = predictions_by(tuple(models), numbers[200:], y[200:], "regression", ())
    given = {"alpha": np.float64(1.0)}, {"alpha": 300.0}, {"r2": float("nan")}
    results = results_of(predictions, ComparisonContext("regression", (), METRICS["r2"], *given))
    pairs = results["predictions"]
    assert len(pairs["actual"]) == len(pairs["tuned"]) == 500
    all_pairs = set(zip(y[200:], models[0].predict(numbers[200:]), strict=True))
    assert set(zip(pairs["actual"], pairs["tuned"], strict=True)) <= all_pairs
    assert results["validation"] == {"r2": None}
    assert json.loads(json.dumps(to_plain(results), allow_nan=False)) == to_plain(results)
    assert "confusion" not in results


def results(**changes):
    made = {
        "setting": {"C": 3.0}, "default_setting": {"C": 1.0},
        "metric": "accuracy", "validation": {"accuracy": 0.889}, "test": {"accuracy": 0.877},
        "default_test": {"accuracy": 0.840}, "gain": gain(0.026, 0.004, 0.071, True),
        "optimism": 0.012, "right": {"tuned": 71, "default": 68, "rows": 81}, "rows": 81,
        "fits": 200, "trials": 40, "seconds": 16.0, "stopped_because": "the budget was spent",
    }  # fmt: skip
    return read_as(Results, {**made, **changes})


def gain(difference, low, high, real, metric="accuracy"):
    return {"metric": metric, "difference": difference, "low": low, "high": high, "real": real}


def run(strategy="gp", kind="trials", groups=()):
    plan = Plan(DataPlan("x.csv"), "svm", strategy).as_dict()
    space = [Axis(f"a{n}", "", "float") for n in range(2)] if kind == "trials" else []
    groups = dict.fromkeys(groups, 1)
    dataset = DatasetFacts(test_rows=81)
    return RunStarted(plan=plan, kind=kind, space=space, dataset=dataset, groups=groups)


def sentences(results, started=None):
    return " ".join(fact_sentences(results, started or run()))


def beside(**over):
    baseline = gain(0.2, 0.1, 0.3, True) | over
    return {"baseline": "the most frequent class", "baseline_test": {"accuracy": 0.677},
            "gain_over_baseline": baseline}  # fmt: skip


LESS = {
    "metric": "mse", "maximize": False, "test": {"mse": 2.0}, "default_test": {"mse": 3.0},
    "validation": {"mse": 1.5}, "gain": gain(1.0, 0.1, 2.0, True, "mse"),
}  # fmt: skip
TESTED = gain(0.026, 0.004, 0.071, True) | {"method": "exact McNemar", "p": 0.021}
REMARK = "The validation score was 8.0 points above the test score: believe the test score."
GRADIENT, MM = run("gradient", "penalties"), run("mm", "penalties", groups=("a", "b"))


def answered(made, task="binary", **facts):
    return answer_of(made, RunStarted(dataset=DatasetFacts(task=Task(task), **facts)))


@pytest.mark.parametrize(
    ("changes", "words", "step"),
    [
        ({}, r"\+2\.6 points over .*likely real", "export"),
        ({"gain": gain(0.01, -0.02, 0.04, False)}, r"\+1\.0 points? .*81 rows .*chance", "rows"),
        ({"gain": gain(-0.021, -0.04, -0.01, True)}, r"^2\.1 points below .*better", "default"),
        ({"setting": {"C": 1.0}}, "No setting .* default", "export"),
        ({"metric": "mse", "gain": gain(0.5, 0.1, 0.9, True, "mse")},
         r"Mean squared error 0\.5 better .*likely real", "export"),
        ({"metric": "auc", "gain": gain(0.053, 0.02, 0.08, True, "auc")},
         r"^\+5\.3 points of area under the ROC curve over", "export"),
        ({"gain": gain(0.0, 0.0, 0.0, False)}, "Neither better nor worse", "rows"),
        (beside(difference=-0.01, low=-0.05, high=0.03, real=False), "", "columns"),
    ],
)  # fmt: skip
def test_the_answer_says_whether_tuning_helped_and_what_is_next(changes, words, step):
    answer = answered(results(**beside()) if not changes else results(**{**beside(), **changes}))
    assert re.search(words, answer.tuning)
    assert answer.step == step
    assert answer.advice


def unproven(taken="best", **over):
    """Results of a setting that was chosen with the rows of all folds in sight."""
    evaluation = {"kind": "nested", "folds": 5, "repeated": False}
    facts = {"taken": taken, "evaluation": evaluation, "gain": gain(0.026, 0.004, 0.071, False)}
    return results(**beside(**{"real": False, **over}), **facts)


def test_rows_that_helped_to_choose_the_setting_are_no_honest_test():
    made = unproven()
    answer = answered(made)
    assert answer.step == "honest"
    assert re.search(r"^\+2\.6 points .* rows that helped to choose it", answer.tuning)
    assert "new rows" not in answer.ability
    words = " ".join([answer.tuning, answer.advice, sentences(made)])
    assert not re.search("chance|of no use|knowing nothing", words)
    # What even such rows do not show is not there.
    assert answered(unproven(low=-0.01)).step == "columns"
    # The default setting chose nothing: its rows are new.
    default = unproven("default", real=True)
    assert answered(default).step != "honest"
    assert "new rows" in answered(default).ability
    assert "too good" not in sentences(default)
    assert "too good" in sentences(made)


def test_a_column_that_tells_the_target_is_what_comes_next():
    answer = answered(results(), telling=["logwage", "x" * 9000])
    assert answer.step == "leak"
    assert "Leave “logwage” and “xx" in answer.advice
    assert len(answer.advice) < 200
    assert answered(results(), telling=[]).step != "leak"


@pytest.mark.parametrize(
    ("counts", "ability"),
    [
        (([[40, 5], [5, 31]], [[45, 0], [36, 0]], 71, 45), "Right for 88 of 100 .*“0” .* 56"),
        (([[940, 10], [30, 20]], [[950, 0], [50, 0]], 960, 950), "96 of 100 .*20 of 50 “1”"),
        (([[1994, 2], [2, 2]], [[1996, 0], [4, 0]], 1996, 1996), "998 of 1,000 .* 998"),
        (([[50, 0], [0, 50]], [[50, 0], [50, 0]], 100, 50), "100 of 100 .* 50"),
    ],
)
def test_what_the_model_can_do_is_counted(counts, ability):
    tuned, baseline, right, constant = counts
    confusion = {"labels": ["0", "1"], "tuned": tuned, "baseline": baseline}
    rows = int(np.sum(tuned))
    counted = {"tuned": right, "default": 0, "baseline": constant, "rows": rows}
    assert re.search(ability, answered(results(confusion=confusion, right=counted)).ability)


def test_numbers_are_off_by_their_unit():
    made = results(test={"mae": 20628.3}, baseline_test={"mae": 81500.2}, baseline="the mean",
                   right=None)  # fmt: skip
    answer = answered(made, "regression", target_unit="€")
    assert re.findall(r"[\d,]+\s€", answer.ability) == ["20,600\xa0€", "81,500\xa0€"]


CORRECTED = "88.9\u00a0%|85.0\u00a0% to 92.0\u00a0%|corrected for the choice|1.2 points"


@pytest.mark.parametrize(
    ("changes", "started", "words"),
    [
        ({"failed": 2}, None, "set of 81 rows|right on 71|0.4 points|Of 20 such|about 19|"
         "40 settings|16 s|200 fits|501|2 trials failed|88.9\u00a0%|1.2 points above"),
        ({"second_file": True}, None, "test file of 81 rows"),
        ({"folds": 5}, None, "all 81 rows|5-fold"),
        ({"validation_interval": [0.85, 0.92]}, None, CORRECTED),
        ({"optimism": 0.08, "optimism_error": 0.05}, None, "8.0 points above|than chance explains"),
        ({"optimism": 0.08, "optimism_error": 0.02}, None, "8.0 points above|!chance explains"),
        ({**LESS, "optimism": 0.5}, None, "1.5|0.5 below the test score."),
        ({"optimism": None, "validation": {"holdout_loss": 0.4}}, GRADIENT, "!alidation"),
        ({"optimism": -0.01}, None, "no better than the test score."),
        ({"optimism": None, "flattery": 0.08, "flattery_error": 0.02}, None, "8.0 points above"),
        ({"optimism": None, "validation": {}}, None, "No validation data was used"),
        ({"optimism": 0.08, "remarks": [REMARK]}, None, f"{REMARK}|!The validation score, 88.9"),
        ({"trials": 0, "fits": 11, "switched_off": ["b"]}, MM, "11 fits|106|Switched off|“b”."),
        ({"gain": gain(0.0, 0.0, 0.0, False)}, None, "equally well"),
        (beside(), None, "the most frequent class|67.7\u00a0%|20.0 p"),
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
    facts = result_facts(results(validation_interval=[0.85, 0.92]), run())
    expected = next(fact for fact in facts if fact.label == "Expected")
    for words in ("accuracy 88.9\u00a0%", "85.0\u00a0% to 92.0\u00a0%", "corrected for the choice"):
        assert words in expected.value


def test_a_grid_search_is_not_compared_with_itself():
    assert grid_fits(run("grid")) is None
    space = [Axis("k", "", "choice", choices=("a", "b")), Axis("C", "", "float", 0.5, 0.5)]
    for axes in (space[:1], space):  # the second one is fixed
        assert grid_fits(RunStarted(plan={"strategy": "gp", "folds": 3}, space=axes)) == 2 * 3 + 1


def test_differences_have_their_unit_and_metrics_their_capitals():
    assert difference_text("accuracy", 0.0101) == "1.0 point"
    assert difference_text("mse", 0.0123) == "0.0123"
    assert difference_text("r2", 0.0002) == "0.02 points"  # what is something is no 0.0
    assert difference_text("r2", 1e-12) == "0.0 points"
    assert metric_title("accuracy") == "accuracy"
    assert metric_title("f1").startswith("F1")
    assert metric_in_short("r2") == "R²"
    assert metric_in_short("mse") == "mean squared error"


@pytest.mark.parametrize(
    ("counts", "never", "words"),
    [
        ([[40, 5], [5, 31]], (), ""),
        ([[45, 0], [36, 0]], ("1",), " It never predicts “1”."),
        ([[0, 45], [0, 36]], ("0",), " It never predicts “0”."),
        ([[45, 0], [0, 0]], (), ""),  # no test row has it: nobody can say
        ([[45, 0], [35, 1]], (), ""),
        ([[9, 0, 0], [3, 0, 0], [2, 0, 0]], ("1", "2"), " It never predicts “1” and “2”."),
        ([[9, 0, 0, 0], [3, 0, 0, 0], [2, 0, 0, 0], [1, 0, 0, 0]], ("1", "2", "3"),
         " It never predicts “1”, “2” and 1 other."),
    ],
)  # fmt: skip
def test_a_class_that_is_never_predicted_is_in_the_headline(counts, never, words):
    confusion = {"labels": [str(code) for code in range(len(counts))], "tuned": counts}
    made = results(confusion=confusion)
    assert never_predicted(made) == never
    assert answered(made).ability.endswith(words or answered(results()).ability[-9:])


@pytest.mark.parametrize("confusion", [None, ConfusionCounts(), ConfusionCounts(["a"])])
def test_without_a_confusion_matrix_no_class_is_named(confusion):
    assert never_predicted(Results(confusion=confusion)) == ()


def averaged(count=4, average=None, **changes):
    ensemble = {
        "members": [7 + n for n in range(count)], "weights": [1 / count] * count,
        "scores": [0.09 + 0.001 * n for n in range(count)],
        "settings": [{"C": 2.0 + n} for n in range(count)], "effective": float(count),
        "kind": "uniform", "finished": 10 * count, "single_held_out": {"log_loss": 0.11},
        "held_out": {"log_loss": 0.1},
    }  # fmt: skip
    return results(**{
        "setting": {"C": 2.0}, "metric": "log_loss", "maximize": False,
        "validation": {"log_loss": 0.092}, "test": {"log_loss": 0.1},
        "default_test": {"log_loss": 0.13}, "gain": gain(0.03, 0.01, 0.06, True, "log_loss"),
        "right": {"tuned": 166, "default": 162, "rows": 171}, "trials": 10 * count,
        "ensemble": ensemble | (average or {}), **changes,
    })  # fmt: skip


def average_sentences(results):
    labels = ("Average", "Single", "Left out")
    facts = result_facts(results, averaging())
    return [fact.sentence for fact in facts if fact.label in labels and fact.sentence]


def averaging():
    plan, facts = {"strategy": "eb-hyp", "model": "svm", "folds": 5}, DatasetFacts(test_rows=171)
    space = [Axis("C", "Cost", "float", 0.1, 10.0, log=True)]
    return RunStarted(plan=plan, space=space, dataset=facts, metric="log_loss", averages=True)


WORSE = {"single_held_out": {"log_loss": 0.09}}


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (averaged(), "4 models|25\u00a0%|log loss 0.11|gains 0.01"),
        (averaged(average=WORSE), "costs 0.01"),
        (averaged(average={"single_held_out": {"log_loss": 0.1}}), "changes nothing"),
        (
            averaged(average=WORSE, taken="average", setting={"model": "svm"}),
            "log loss 0.09, 0.01 better|chance|!costs",
        ),
        (averaged(average={"weights": [0.5, 0.3, 0.15, 0.05]}), "5\u00a0% and 50\u00a0%"),
        (averaged(1), "one member|20 trials"),
        (averaged(1, {"finished": 45}), "one member|!20 trials"),
        (averaged(average={"left_out": [{"number": 3, "reason": "3 is out."}]}), "3 is out."),
    ],
)
def test_what_is_said_of_an_average(made, words):
    assert_said(" ".join(average_sentences(made)), words)


def test_the_average_is_called_one_where_there_are_several():
    assert_said(sentences(averaged(), averaging()), "the average of 4 models is right on 166|162")
    assert tuned_model_text(averaged(1)) == "the tuned model"
    none = averaged(ensemble=None)
    assert (average_sentences(none), member_count(none)) == ([], 0)
    assert "average" not in sentences(none, averaging())
    # An average whose best member is the default is more than the default.
    for count, is_default in ((4, False), (1, True)):
        tuning = answered(averaged(count, setting={"C": 1.0})).tuning
        assert ("No setting" in tuning) is is_default


def structured(task, **dataset):
    facts = DatasetFacts(task=Task(task), **dataset)
    return RunStarted(plan={"strategy": "mm"}, kind="penalties", dataset=facts)


def test_tokens_are_called_tokens():
    made = results(
        test={"accuracy": 0.9}, default_test={"accuracy": 0.85},
        gain=gain(0.01, -0.01, 0.02, False), rows=600,
        right={"tuned": 540, "default": 510, "rows": 600},
        sequences={"tuned": 21, "default": 17, "count": 60},
    )  # fmt: skip
    answer = answered(made, "sequence")
    assert "600 tokens" in answer.tuning
    assert "90 of 100 new tokens" in answer.ability
    said = fact_sentences(made, structured("sequence", test_rows=600, test_sequences=60))
    for sentence, words in zip(said, (
        ("60 sequences (600 tokens)", "540", "510"), ("21 of 60", "17"), ("600 tokens", "chance"),
    ), strict=False):  # fmt: skip
        assert all(word in sentence for word in words)


def test_pairs_are_found_and_right():
    pairs = {
        "tuned": {"right": 62, "called": 107, "true": 100},
        "default": {"right": 50, "called": 100, "true": 100}, "molecules": 18,
    }  # fmt: skip
    made = results(
        metric="pair_f1", test={"pair_f1": 0.6}, default_test={"pair_f1": 0.5}, right=None,
        gain=gain(0.1, 0.02, 0.2, True, "pair_f1"), pairs=pairs,
    )  # fmt: skip
    short = "Finds 62 of 100 true base pairs; 58 of 100 called pairs are right"
    assert pairs_summary(made["pairs"]["tuned"]) == short
    assert answered(made, "structure").ability == f"{short}."
    tuned, default, *_ = fact_sentences(made, structured("structure", test_rows=18))
    for words in ("18 test molecules", "62 of 100", "62 of the 107"):
        assert words in tuned
    for words in ("finds 50", "50 of the 100"):
        assert words in default
    assert "– of 100" in pairs_summary(PairCounts(right=0, called=0, true=10))
