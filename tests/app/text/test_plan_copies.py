"""A copied command and a copied snippet give the very same plan, whatever things are called."""

from __future__ import annotations

import ast
import functools
import shlex
import subprocess
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tunescope
from app.cli.commands import build_parser
from app.cli.tune_arguments import data_of, plan_of, wherever_from
from app.text import plan_copies
from app.text.plan_copies import arguments, as_command, as_python
from core.datasets.task import Task
from core.options import with_defaults
from core.records import to_plain
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.runs.run_folder import RunFolder
from core.tuning.strategies.registry import STRATEGIES
from tunescope import running

HOSTILE = [
    'it\'s "quoted".csv',
    "two  blanks .csv",
    "$(touch hit).csv",
    "`touch hit`; rm -rf x & y | z > w.csv",
    "-leading.csv",
    "--target=x.csv",
    "new\nline.csv",
    "back\\slash\t%PATH% !x! ~.csv",
    "ünïcode 数.csv",
    "sheet.xlsx#First sheet",
    "sample:not-one",
    "{brace}.csv",
]
PARSER = build_parser()
TABLE = DataPlan("sample:groups")


def of_data(**changes):
    return Plan(replace(TABLE, **changes), "svm", "random", seed=4)


PLANS = [
    Plan(TABLE, "svm", "gp"),
    Plan(TABLE, "svm", "gp", ranges={"C": [0.1 + 0.2, 1e5]}, fixed={"gamma": 1e-4}, patience=0),
    Plan(TABLE, "knn", "random", ranges={"n_neighbors": [2.0, 9.0]}, fixed={"p": 2}, patience=12),
    Plan(TABLE, "knn", "random", fixed={"weights": "uniform", "n_neighbors": 7}),
    Plan(DataPlan("sample:iris"), "auto", "race", minutes=0.5, options={"average": False}),
    Plan(TABLE, "svm", "hybrid", options={"tau": 0.1 + 0.2, "kernel": "se"}, trials=7, seed=3),
    Plan(TABLE, "svm", "gp", options={"kernel": "matern52", "start_trials": -1}),
    Plan(TABLE, "logistic", "mm", groups="prefix", evaluation="nested"),
    Plan(TABLE, "logistic", "mm", groups={"a b": ["gene_1", "gene_2"], "it's": ["gene_3"]}),
    Plan(TABLE, "logistic", "gradient", options={"folds": 7, "prior": "weak"}, groups="each"),
    Plan(TABLE, "forest", "random", folds=3, workers=2, metric="auc", time_limit=2.5, memory="2GB"),
    Plan(TABLE, "svm", "tpe", standardize=False, refit=False, evaluation="test", minutes=1e-3),
    Plan(TABLE, "svm", "gp", costs={"no": 1.0, "yes": 7.25}, metric="log_loss"),
    of_data(test_size=0.123, together=False, leaks=True, other_letters=True),
    of_data(
        file="sample:clinic", target="came_back", task="binary", kinds={"age": "category"},
        roles={"visit_id": "ignore", "ward": "group"}, latest="visit_date",
        readings={"ward": "missing", "visit_date": "day first"},
    ),
    of_data(rows=50, test_rows=50, rows_seed=9),
    of_data(rows=50, test_rows=50, rows_seed=4),
    of_data(rows=0, test_rows=0),
    of_data(rows=50, test_rows=0, test_file="sample:groups", rows_seed=2),
    Plan(DataPlan("sample:tags"), "crf", "gradient", groups="single", decoding="viterbi"),
    Plan(DataPlan("sample:tags"), "crf", "mm", groups="column"),
    Plan(DataPlan("sample:molecules"), "rna", "mm", gamma=2.5, groups="column"),
    Plan(DataPlan("sample:molecules"), "rna", "mm", gamma_by="f1", groups="each"),
    Plan(DataPlan("sample:molecules"), "rna", "random", gamma_by="sensitivity", sensitivity=0.7),
    Plan(DataPlan("sample:texts", vocabulary=300, stop_words="none"), "lda", "eb-hyp"),
    Plan(DataPlan("sample:texts", task="topics"), "lda", "gp", trials=5),
]  # fmt: skip


@functools.cache
def _dataset(described):
    try:
        return read_data(DataPlan(**ast.literal_eval(described)))
    except Exception:  # a name that no file has; which groups are usual does not matter then
        return SimpleNamespace(task=Task.BINARY)


def dataset_of(plan):
    """The data of a plan, read once."""
    return _dataset(repr(to_plain(plan.data)))


def settled(plan):
    """The plan with every option of its strategy in its own type, its files from anywhere.

    Where no rows are drawn, the seed of the draw does not matter.
    """
    if not plan.data.rows and not plan.data.test_rows:
        plan = plan.changed(data=replace(plan.data, rows_seed=0))
    described = STRATEGIES[plan.strategy].options
    return plan.changed(
        data=wherever_from(plan.data), options=with_defaults(described, plan.options)
    )


def recorded(plan, snippet):
    """The plan that `tunescope.tune` would carry out if the snippet called it."""
    calls = []
    fake = SimpleNamespace(tune=lambda *args, **named: calls.append((args, named)))
    code = snippet.replace("import tunescope\n", "", 1)
    ast.parse(snippet)
    exec(compile(code, "snippet", "exec"), {"__name__": "snippet", "tunescope": fake})
    [((file,), named)] = calls
    target, test = named.pop("target", ""), named.pop("test", "")
    running._check_names(named)
    of_data = {name: named[name] for name in named if name in running._OF_DATA}
    data = DataPlan(file, target=target, test_file=test, **of_data)
    return running._with_settings(named, data, dataset_of(plan))


def assert_same(plan, words=None):
    """The command (or these words of it) and the snippet give the plan."""
    words = shlex.split(as_command(plan))[1:] if words is None else words
    assert words[0] == "tune"
    asked = PARSER.parse_args(words)
    parsed = plan_of(asked, wherever_from(data_of(asked)), dataset_of(plan))
    assert settled(parsed) == settled(plan)
    assert settled(recorded(plan, as_python(plan))) == settled(plan)


@pytest.mark.parametrize("plan", PLANS, ids=range(len(PLANS)))
def test_the_command_and_the_snippet_give_the_same_plan(plan):
    assert_same(plan)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_files_and_columns_stay_what_they_are_in_a_real_shell_too(name, tmp_path):
    data = DataPlan(
        name if not name.startswith("sample:") else f"./{name}",
        target=f"{name} target",
        test_file=f"other {name}",
        roles={name: "ignore", f" {name} ": "group", "": "ignore"},
        kinds={f"{name}=number": "category", "a,b": "date"},
        readings={name: "text", f"{name}=x": "day first"},
        latest=name,
    )
    costs = {name: 2.0, "a=1,b": 3.0, " c": 4.5}
    plan = Plan(data, "logistic", "mm", groups={name: [name, f"{name}2"]}, costs=costs)
    assert_same(plan)
    told = as_command(plan).replace("tunescope", "printf '%s\\0'", 1)
    out = subprocess.run(["sh", "-c", told], capture_output=True, cwd=tmp_path, check=True).stdout
    assert out.decode().split("\0")[:-1] == ["tune", *arguments(plan)]
    assert not list(tmp_path.iterdir())


_names = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1)


@settings(max_examples=60, deadline=None)
@given(
    target=_names,
    roles=st.dictionaries(_names, st.sampled_from(["feature", "ignore", "group"]), max_size=3),
    costs=st.dictionaries(_names, st.floats(0, 1e9), max_size=2),
    groups=st.dictionaries(_names, st.lists(_names, max_size=2), min_size=1, max_size=2),
)
def test_any_names_and_costs(target, roles, costs, groups):
    data = DataPlan("/nowhere.csv", target=target, roles=roles)
    plan = Plan(data, "logistic", "loo", groups=groups, costs=costs)
    assert_same(plan)


def test_nothing_is_said_that_is_usual():
    plan = Plan(DataPlan("sample:iris"), "svm", "gp", options={"kernel": "matern52"})
    assert as_command(plan) == "tunescope tune sample:iris --model svm --strategy gp"
    told = "import tunescope\n\ndone = tunescope.tune(\n    'sample:iris',\n"
    assert as_python(plan) == told + "    model='svm',\n    strategy='gp',\n)\n"


def test_every_strategy_with_every_option_changed():
    for name, strategy in STRATEGIES.items():
        changed = {}
        for option in strategy.options:
            if option.kind == "bool":
                changed[option.name] = not option.default
            elif option.kind == "choice":
                changed[option.name] = next(c for c in option.choices if c != option.default)
            else:
                room = option.default + 1 <= option.high
                near = option.default + 1 if room else (option.default + option.low) / 2
                changed[option.name] = option.parse_value(near)
        plan = Plan(TABLE, "logistic", name, options=changed)
        assert_same(plan, ["tune", *arguments(plan)])


def test_a_snippet_runs(tmp_path, monkeypatch):
    for name in ("RUNS", "HISTORY", "KEY"):
        monkeypatch.setenv(f"TUNESCOPE_{name}", str(tmp_path / name.lower()))
    file = tmp_path / "a 'b' $(c).csv"
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(60, 2)), columns=["x", "it's"])
    table["y"] = table["x"] + 0.1 * random.normal(size=60)
    table.to_csv(file, index=False)
    plan = Plan(DataPlan(str(file)), "linear", "evidence", evaluation="test")
    held = {"__name__": "snippet"}
    exec(compile(as_python(plan), "snippet", "exec"), held)
    assert isinstance(held["done"], tunescope.TunedRun)
    read = plan.changed(data=replace(plan.data, rows=0))  # all of them, as the run found
    assert settled(RunFolder.open(held["done"].run).plan) == settled(read)


def test_windows_quotes_for_powershell(monkeypatch):
    monkeypatch.setattr(plan_copies.sys, "platform", "win32")
    plan = Plan(DataPlan("sample:it's $(x)"), "svm", "gp")
    assert as_command(plan) == "tunescope tune 'sample:it''s $(x)' --model svm --strategy gp"
