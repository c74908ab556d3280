"""The advice: what is recommended for which data, and that its reasons fit data and budget."""

from __future__ import annotations

import functools
import itertools
import re
import subprocess
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest

from core.datasets.dataset_summary import ClassCount, ColumnSummary, DatasetSummary
from core.datasets.reading import read_dataset
from core.datasets.samples import SAMPLES
from core.datasets.summary import summarize
from core.datasets.task import Task
from core.estimators.facts import ModelingFacts, count_word
from core.estimators.multi_model import selectable_models
from core.estimators.optional_parts import is_installed
from core.estimators.registry import MODELS
from core.extras import install_command
from core.tuning.candidate_models import minutes_for
from core.tuning.guidance.advice import advise
from core.tuning.plan import DataPlan, Plan
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.tune import tune


def summary(rows=270, features=13, classes=2, **more):
    """The part of a dataset's summary that the advice reads."""
    columns = [
        ColumnSummary(f"x{i}", "feature", "number", distinct=rows)
        for i in range(min(features, 300))
    ]
    task = {0: Task.REGRESSION, 2: Task.BINARY}.get(classes, Task.MULTICLASS)
    given = {
        "name": "a.csv",
        "target": "y",
        "rows": rows,
        "features": features,
        "task": task,
        "classes": [ClassCount(str(i), rows // classes) for i in range(classes)],
        "columns": columns,
        "format": "csv",
        "prefixes": {"other": [column.name for column in columns]},
    }
    return DatasetSummary(**{**given, **more})


def first(advice):
    """The first single model, its reason, the recommended strategy, its reason and groups."""
    model = next(one for one in advice["models"] if one["name"] != "auto")
    strategy = advice["strategies"][model["name"]][0]
    assert [one["name"] for one in advice["models"] if one["recommended"]] in (
        ["auto"],
        [model["name"]],
    )
    assert strategy["recommended"]
    return model["name"], model["reason"], strategy["name"], strategy["reason"], strategy["groups"]


@pytest.mark.parametrize("given", [{}, {"classes": 0}, {"rows": 20_000}, {"features": 400}])
def test_tables_are_tuned_by_several_models(given):
    advice = advise(summary(**given))
    best = advice["models"][0]
    assert (best["name"], best["recommended"]) == ("auto", True)
    assert f"{given.get('rows', 270):,} rows" in best["reason"]
    assert [one["name"] for one in advice["strategies"]["auto"]] == ["race"]
    others = {name: own for name, own in advice["strategies"].items() if name != "auto"}
    assert not any(one["name"] == "race" for own in others.values() for one in own)


def test_few_rows_and_what_is_no_table_are_not_tuned_by_several_models():
    assert not any(
        one["name"] == "auto" and one["recommended"] for one in advise(summary(rows=12))["models"]
    )


def test_what_is_tuned_together_is_listed_with_what_is_not():
    models = {one["name"]: one for one in advise(summary())["models"]}
    auto, competing = models["auto"], selectable_models(MODELS, "binary")
    assert set(auto["tries"]) == {MODELS[name].title for name in competing}
    assert auto["alone"] == [MODELS["vote7"].title]
    lacking = [name for name, one in models.items() if one["install"] and MODELS[name].competes]
    assert [one["title"] for one in auto["lacking"]] == [MODELS[name].title for name in lacking]
    assert all(" install " in one["install"] for one in auto["lacking"])
    assert not models["svm"]["tries"]
    wide = advise(summary(rows=100_000, features=5000, format="libsvm", columns=[]))["models"]
    sparse = next(one for one in wide if one["name"] == "auto")["tries"]
    assert set(sparse) == {MODELS[n].title for n in competing if MODELS[n].takes_sparse}


def test_reasons_for_and_against_a_model_are_told_apart():
    models = {one["name"]: one for one in advise(summary(rows=60_000))["models"]}
    assert models["boosting"]["suits"]
    assert models["svm"]["reason"]
    assert not models["svm"]["suits"]


@pytest.mark.parametrize(
    ("rows", "features", "classes"), [(270, 13, 2), (20_000, 40, 0), (9000, 30, 9)]
)
def test_the_minutes_of_several_models_are_those_that_a_run_takes(rows, features, classes):
    strategy = advise(summary(rows, features, classes))["strategies"]["auto"][0]
    assert strategy["default_minutes"] == minutes_for(rows, features, classes)
    others = advise(summary())["strategies"]["svm"]
    assert {one["default_minutes"] for one in others} == {None}


COLUMNS = [
    ColumnSummary("x0", "feature", "number", distinct=270),
    ColumnSummary("town", "feature", "category", distinct=9),
    ColumnSummary("y", "target", "category", distinct=3),
]
NAMES = [f"x{i}" for i in range(12)]
PREFIXES = {"blood": NAMES[:5], "home": NAMES[5:10], "other": NAMES[10:]}
ADVISED = {
    "a small table, a model that can be read": (
        {}, ("logistic", "loo", "single"),
        ("270 rows, 13 columns, two classes: ", "every weight can be read"),
        "13 weights for 270 training rows",
    ),
    "a number to predict, linear regression": (
        {"classes": 0}, ("linear", "evidence", "single"),
        ("270 rows, 13 columns, a number to predict: ",),
        "13 weights for 270 training rows, and a number to predict: ",
    ),
    "a middle-sized table, boosting and a Gaussian process": (
        {"rows": 4177, "features": 8, "classes": 0}, ("boosting", "gp", "single"),
        ("4,177 rows, 8 columns",), "Four settings to tune: ",
    ),
    "many classes, a forest": (
        {"rows": 15_000, "features": 16, "classes": 26}, ("forest", "gp", "single"), (), "",
    ),
    "very many rows, a linear model": (
        {"rows": 1_000_000, "features": 30}, ("logistic", "loo", "single"), ("1,000,000 rows",), "",
    ),
    "more weights than rows, a linear model": (
        {"rows": 100, "features": 500}, ("logistic", "loo", "single"),
        ("500 weights for 100 training rows",), "500 weights for 100 training rows",
    ),
    "a second file, all rows for training": (
        {"test_rows": 90}, ("logistic", "loo", "single"), (), "13 weights for 270 training rows",
    ),
    "classes and categories, (1 number + 9 towns) × 3 weights": (
        {"features": 2, "classes": 3, "columns": COLUMNS}, ("logistic", "loo", "single"), (),
        "30 weights",
    ),
    "groups by name, a penalty each": (
        {"features": 12, "prefixes": PREFIXES}, ("logistic", "loo", "prefix"),
        ("two groups (blood, home)",), "in 2 groups",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ADVISED)
def test_what_is_recommended_and_why(name):
    given, expected, words, of_strategy = ADVISED[name]
    model, reason, strategy, why, groups = first(advise(summary(**given)))
    assert (model, strategy, groups) == expected
    assert all(word in reason for word in words)
    assert of_strategy in why


@pytest.mark.parametrize(
    "prefixes",
    [
        {"blood": ["x0", "x1", "x2"], "other": ["x3"]},  # a single group
        {"a": ["x0", "x1"], "b": ["x2", "x3"]},  # too small to say anything
        {"a": ["x0", "x1", "x2"], "b": ["x3", "x4", "x5"], "other": ["x6"] * 20},  # most unnamed
    ],
)
def test_few_named_columns_make_no_groups(prefixes):
    features = sum(map(len, prefixes.values()))
    assert first(advise(summary(features=features, prefixes=prefixes)))[4] == "single"


def test_wide_sparse_files_stay_sparse():
    advice = advise(summary(20_000, 50_000, 2, format="libsvm"))
    model, reason, _, _, _ = first(advice)
    assert model == "logistic"
    assert "never fills them in" in reason
    boosting = next(entry for entry in advice["models"] if entry["name"] == "boosting")
    assert not boosting["fits_task"]
    assert "8 GB" in boosting["reason"]
    assert "boosting" not in advice["strategies"]


@pytest.mark.parametrize("classes", [0, 2, 5])
def test_only_fitting_models_are_offered_and_penalties_only_on_a_loss(classes):
    given = summary(classes=classes)
    advice = advise(given)
    assert {entry["name"] for entry in advice["models"]} == set(MODELS)
    for entry in advice["models"]:
        name = entry["name"]
        usable = not MODELS[name].extra or is_installed(MODELS[name].extra)
        assert entry["fits_task"] == (given["task"] in MODELS[name].tasks and usable)
        assert entry["fits_task"] or entry["reason"]
        assert (name in advice["strategies"]) == entry["fits_task"]
    for name, offered in advice["strategies"].items():
        kinds = {strategy["kind"] for strategy in offered}
        assert ("penalties" in kinds) == (given["task"] in MODELS[name].loss)
        assert [strategy["recommended"] for strategy in offered].count(True) == 1
        assert all(strategy["reason"] for strategy in offered if strategy["recommended"])


def test_no_grid_is_offered_over_thirty_settings():
    strategies = advise(summary())["strategies"]
    grids = {model for model, own in strategies.items() if any(s["name"] == "grid" for s in own)}
    assert grids == set(strategies) - {"vote7", "auto"}
    best = strategies["vote7"][0]
    assert (best["name"], best["recommended"]) == ("gp", True)
    assert "30 settings to tune" in best["reason"]


BY_EXTRA = {"dlgm": "deep", "lightgbm": "lightgbm", "xgboost": "xgboost", "catboost": "catboost"}


def test_cma_es_is_kept_from_choices_and_single_numbers():
    offered = {
        model: {strategy["name"] for strategy in strategies}
        for model, strategies in advise(summary())["strategies"].items()
    }
    assert {model for model, names in offered.items() if "cma-es" in names} == {
        "logistic-l1l2",
        "elastic-net",
        "svm",
        "boosting",
        "mlp",
        *(name for name, part in BY_EXTRA.items() if is_installed(part)),
    }


def deep(given):
    return next(entry for entry in advise(given)["models"] if entry["name"] == "dlgm")


def test_a_model_whose_packages_are_missing_is_told_with_what_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    entry = deep(summary(classes=5))
    assert not entry["fits_task"]
    assert entry["reason"] == "It needs jax, which is not installed."
    assert (entry["needs"], entry["install"]) == ("jax", install_command("deep"))
    assert "dlgm" not in advise(summary(classes=5))["strategies"]
    assert deep(summary(classes=0))["install"] == ""  # it would be of no use there


def test_deep_models_warn_of_few_rows_and_of_long_trials_and_are_never_recommended(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", ModuleType("jax"))
    sys.modules["jax"].__spec__ = ModuleSpec("jax", None)
    few, some, many = (deep(summary(rows, 61, 10)) for rows in (250, 2000, 50_000))
    assert few["reason"].startswith("250 rows are few")
    assert some["reason"] == ""
    assert "50,000 rows of 61 columns are many for it: a trial of 5 folds takes" in many["reason"]
    assert all(one["fits_task"] and not one["recommended"] for one in (few, some, many))


@pytest.mark.parametrize("name", list(SAMPLES))
def test_every_sample_gets_advice(name):
    model, reason, _, _, _ = first(advise(summarize(read_dataset(f"sample:{name}"))))
    assert model in MODELS
    assert reason.endswith(".")


def test_the_sample_of_groups_shows_grouped_penalties():
    advice = advise(summarize(read_dataset("sample:groups")))
    model, _, strategy, _, groups = first(advice)
    assert (model, strategy, groups) == ("logistic", "loo", "prefix")


def test_the_recommended_learner_does_no_worse_than_the_other():
    """Mean test score over two splits, of prices: there MM shrinks everything to nothing."""
    data = DataPlan("sample:prices")
    dataset = read_dataset(data.file)
    model, _, recommended, _, _ = first(advise(summarize(dataset)))
    score = {}
    for strategy in ("mm", "evidence"):
        ends = [list(tune(Plan(data, model, strategy, seed=s), dataset))[-1] for s in range(2)]
        score[strategy] = sum(end.results["test"]["r2"] for end in ends) / 2
    assert score[recommended] >= max(score.values()) - 0.01, score


def test_real_files(shared_data):
    heart = advise(summarize(read_dataset(str(shared_data / "heart.csv"))))
    assert first(heart)[:2] == ("logistic", first(advise(summary()))[1])
    letters = advise(summarize(read_dataset(str(shared_data / "letter.scale.libsvm"))))
    assert first(letters)[0] == "forest"


def test_numbers_in_words():
    assert [count_word(count) for count in (2, 10, 11, 1200)] == ["two", "ten", "11", "1,200"]


def test_the_models_are_described_without_importing_scikit_learn():
    code = "import sys, core.estimators.registry; sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("rows", [500, 50_000])
@pytest.mark.parametrize("test_rows", [0, 400])
def test_sequences_are_tuned_by_the_gradient_however_many_tokens_there_are(rows, test_rows):
    words = ColumnSummary("word", "feature", "category", distinct=100)
    given = summary(
        rows=rows, features=1, classes=5, task=Task.SEQUENCE, columns=[words], test_rows=test_rows
    )
    model, _, strategy, why, groups = first(advise(given))
    assert (model, strategy, groups) == ("crf", "gradient", "column")
    training = rows if test_rows else round(0.7 * rows)
    assert f"530 weights for {training:,} training tokens" in why


def test_molecules_are_tuned_by_mm_by_kind():
    assert first(advise(summarize(read_dataset("sample:molecules"))))[2::2] == ("mm", "column")


@pytest.mark.parametrize("sample", ["tags", "molecules"])
def test_the_evidence_on_sequences_and_molecules_is_said_to_cost_hundreds_of_fits(sample):
    advice = advise(summarize(read_dataset(f"sample:{sample}")))
    (offered,) = advice["strategies"].values()
    costs = {strategy["name"]: strategy["costs"] for strategy in offered}
    assert costs["evidence"].startswith("Hundreds of fits")
    assert "dozens of fits" in costs["gradient"]
    table = advise(summary())["strategies"]["logistic"]
    costs = {strategy["name"]: strategy["costs"] for strategy in table}
    assert costs["evidence"].startswith("A little more than one fit")


TRIALS = (1, 5, 11, 25, 40, 50, 125, 625, 100_000)
MINUTES = (0.1, 1.0, 5.0, 60.0, 600.0)
BUDGETS = [(n, None) for n in TRIALS] + [(None, m) for m in MINUTES] + [(25, 1.0), (625, 0.1)]
COUNTED = re.compile(r"([\d,]+|one|two|eleven) trials?\b")
LONG, SHORT = re.compile(r"\b(many|more|hundreds of) trials|\bhours?\b"), re.compile(
    r"\b(few|fewer|far fewer|very few) trials|\bfar fewer\b|\bat once\b"
)  # fmt: skip


def contradictions(reason, trials, minutes):
    """What a reason says of the number of trials or the time that a budget does not allow."""
    found = [
        said.group(0)
        for said in COUNTED.finditer(reason)
        if minutes is not None or not said.group(1).replace(",", "").isdecimal()
        or (trials is not None and int(said.group(1).replace(",", "")) != trials)
    ]  # fmt: skip
    short = (trials or 0) <= 40 or (minutes or 10) <= 5
    if short and (said := LONG.search(reason)):
        found.append(said.group(0))
    if ((trials or 0) > 40 or (minutes or 0) >= 5) and (said := SHORT.search(reason)):
        found.append(said.group(0))
    if minutes is not None and (said := re.search(r"\bminutes?\b", reason)):
        found.append(said.group(0))
    return found


def facts():
    sizes = itertools.product((30, 300, 3000, 300_000), (1, 13, 500), (0, 2, 7))
    for rows, columns, classes in sizes:
        task = {0: "regression", 2: "binary"}.get(classes, "multiclass")
        for groups in ((), ("blood", "age")):
            yield ModelingFacts(
                task, rows, columns, columns, classes, int(0.7 * rows), rows, False, groups
            )
    for task in ("sequence", "structure", "topics"):
        yield ModelingFacts(task, 500, 9, 9, 5, 400, 400, False, (), items="500 items", words=900)


@functools.cache
def reasons():
    """Every reason that can be shown beside a budget: of strategies, and of models."""
    found = set()
    for fact in facts():
        for model in MODELS.values():
            if fact.task not in model.tasks:
                continue
            space = model.space_of(fact.task, rare=fact.rare)
            said = [model.suggests(fact)]
            said += [one.suggests(fact, space) for one in STRATEGIES.values()]
            found |= {one.reason for one in said if one is not None}
    return sorted(found)


def test_reasons_were_found():
    assert len(reasons()) > 20
    grid = "A grid of five values each would need 25 trials; a process needs far fewer."
    assert contradictions(grid, 40, None)[0] == "25 trials"
    assert contradictions("It takes many trials.", None, 1.0) == ["many trials"]


def test_no_reason_contradicts_a_budget():
    pairs = itertools.product(reasons(), BUDGETS)
    assert [(one, budget) for one, budget in pairs if contradictions(one, *budget)] == []
