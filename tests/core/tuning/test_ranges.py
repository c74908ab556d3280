"""Ranges that a person gives: every strategy keeps to them, every fault is one clear sentence."""

import contextlib
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from run_events import tune_here as tune

from core.errors import UnusableError
from core.estimators.registry import MODELS
from core.json_reading import read_as
from core.samplers.transfer.history import EarlierDataset, TuningHistory
from core.space import Axis
from core.tuning.event_lines import from_json, to_json
from core.tuning.events import RunStarted, TrialExcluded, TrialFinished
from core.tuning.plan import DataPlan, Plan, plan_from_dict
from core.tuning.problem_setup import build_problem
from core.tuning.ranges import (
    as_plain,
    edges_at,
    edges_of,
    fixed_to,
    searched_axes,
    setting_of,
    with_range,
)
from core.tuning.results.conclude import moved_defaults
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import state_from_events
from core.tuning.scores.scoring import TrialResult
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.trials.trial_run import AskTellStudy

IRIS = DataPlan("sample:iris")
SAMPLERS = [n for n, s in STRATEGIES.items() if s.kind == "trials" and not s.several]
C = Axis("C", "Cost", "float", 0.01, 1000, log=True, default=1.0)
SHARE = Axis("share", "Share", "float", 0.3, 1.0, default=1.0, least=0.01, most=1)
TREES = Axis("trees", "Trees", "int", 10, 500, log=True, default=100)
SECOND = Axis("second", "Second layer", "int", 0, 128, default=0)
P = Axis("p", "Distance", "choice", choices=(1, 2, "far", True), default=2)
AXES = (C, SHARE, TREES, SECOND, P)
NO_HISTORY = TuningHistory()


def asked(problem, count, history=NO_HISTORY):
    """Settings that a strategy proposes where larger values are better."""
    asker, settings = AskTellStudy(problem, history), []
    while len(settings) < count and not (settings and asker.exhausted_reason):
        started = asker.ask()
        score = sum(float(v) for v in started.setting.values() if isinstance(v, int | float))
        asker.tell(TrialResult(started.number, started.setting, (score,)))
        settings.append(started.setting)
    return settings


@pytest.mark.parametrize("strategy", SAMPLERS)
def test_every_strategy_keeps_to_the_ranges_which_may_go_beyond_the_usual_ones(iris, strategy):
    ranges = {"C": [1e4, 1e5], "l1_ratio": [0.2, 0.4]}
    plan = Plan(IRIS, "elastic-net", strategy, ranges=ranges, trials=14)
    settings = asked(build_problem(plan, iris), 14)
    assert len(settings) > 5
    for name, (low, high) in ranges.items():
        values = [setting[name] for setting in settings]
        assert low <= min(values) < max(values) <= high
    assert settings[0]["l1_ratio"] == 0.2  # the usual 0 lies outside: the nearer end


@pytest.mark.parametrize("strategy", sorted({*SAMPLERS} - {"cma-es"}))
def test_every_strategy_leaves_what_is_fixed(iris, strategy):
    plan = Plan(IRIS, "knn", strategy, fixed={"weights": "distance", "n_neighbors": 70}, trials=9)
    settings = asked(build_problem(plan, iris), 9)
    assert {(s["weights"], s["n_neighbors"]) for s in settings} == {("distance", 70)}
    assert {s["p"] for s in settings} == {1, 2}
    fixed = Plan(IRIS, "svm", strategy, fixed={"gamma": 0.25}, trials=9)
    settings = asked(build_problem(fixed, iris), 9)
    assert {s["gamma"] for s in settings} == {0.25}
    assert len({s["C"] for s in settings}) > 5


@pytest.mark.parametrize(
    ("axis", "given", "says"),
    [
        (C, [100, 0.1], "begins at 100, above its end at 0.1"),
        (C, [3, 3], "is one value; fix it to that"),
        (C, [0, 10], "0 is not above 0"),
        (C, ["low", 10], "“low” is not a number"),
        (C, ["", 10], "a number is missing"),
        (C, [math.nan, 10], "nan has no end"),
        (C, [1, math.inf], "inf has no end"),
        (C, [1, 10**400], "inf has no end"),
        (C, [1, 1e101], "is too far from 0; give a number from -1e+100 to 1e+100"),
        (C, [1e-300, 1], "1e-300 is not 1e-100 or more"),
        (C, ["9" * 5000, 1], "inf has no end"),
        (C, ["x" * 40 + "y" * 5000, 1], "“" + "x" * 40 + "…" + "y" * 19 + "” is not a number"),
        (C, {"low": 1, "high": 2}, "a range has two ends"),
        (C, None, "a range has two ends"),
        (TREES, [1, 2**31], "does not take 2147483648; give 2147483647 or less"),
        (C, [True, 10], "“True” is not a number"),
        (C, "13", "a range has two ends"),
        (SHARE, [0.5, 1.5], "does not take 1.5; give 1 or less"),
        (SHARE, [0, 0.5], "does not take 0; give 0.01 or more"),
        (TREES, [0.5, 10], "0.5 is not a whole number"),
        (TREES, [0, 10], "0 is not above 0"),
        (SECOND, [-1, 10], "does not take -1; give 0 or more"),
        (P, [1, 2], "has no range, but is one of 1, 2, far, True"),
    ],
)
def test_a_range_that_cannot_be_is_one_sentence(axis, given, says):
    with pytest.raises(UnusableError) as caught:
        with_range(axis, given)
    assert says in caught.value.sentence
    assert caught.value.sentence.startswith(f"range of {axis.name}: ")


@pytest.mark.parametrize(
    ("axis", "value", "says"),
    [(P, "near", "“near” is none of its values"), (SHARE, 2, "does not take 2"),
     (TREES, "x", "“x” is not a number"), (C, 0.0, "0 is not above 0")],
)  # fmt: skip
def test_a_value_that_cannot_be_is_one_sentence(axis, value, says):
    with pytest.raises(UnusableError, match=says):
        fixed_to(axis, value)


def test_choices_may_be_said_in_words():
    assert [fixed_to(P, v).choices for v in (1, "1", "2", "far", "True", True)] == [
        (1,), (1,), (2,), ("far",), (True,), (True,)
    ]  # fmt: skip
    assert fixed_to(TREES, "20") == TREES.within(20, 20)


def test_names_that_are_not_there_or_twice():
    with pytest.raises(UnusableError, match=r"no setting “treez”.*did you mean trees"):
        searched_axes(AXES, {"treez": [1, 2]}, {})
    with pytest.raises(UnusableError, match="both a range and a fixed value"):
        searched_axes(AXES, {"C": [1, 2]}, {"C": 1})


@pytest.mark.parametrize(
    ("model", "strategy", "given", "says"),
    [
        ("svm", "gp", {"fixed": {"C": 1, "gamma": 1}}, "nothing is left to search"),
        (
            "svm",
            "cma-es",
            {"fixed": {"C": 1}},
            "searches 2 settings or more, and only gamma is left",
        ),
        ("auto", "race", {"ranges": {"C": [1, 2]}}, "each model over its own ranges; choose one"),
        ("logistic", "mm", {"ranges": {"C": [1, 2]}}, ""),  # a learner searches none
    ],
)
def test_something_must_be_left_to_search(iris, model, strategy, given, says):
    refused = pytest.raises(UnusableError, match=says) if says else contextlib.nullcontext()
    with refused:
        build_problem(Plan(IRIS, model, strategy, **given), iris)


def test_as_many_neighbours_as_there_are_rows(iris):
    problem = build_problem(Plan(IRIS, "knn", "random"), iris)
    rows = min(len(fit) for fit, _ in problem.splits)
    most = next(axis.most for axis in problem.own_axes if axis.name == "n_neighbors")
    assert most == rows
    plan = Plan(IRIS, "knn", "random", ranges={"n_neighbors": [1, rows + 1]})
    with pytest.raises(UnusableError, match="does not take"):
        build_problem(plan, iris)


@pytest.mark.parametrize("given", [10**400, "x" * 9000, ["a"], {"a": 1}, None, math.nan])
def test_a_strange_value_is_none_of_the_choices(given):
    with pytest.raises(UnusableError, match="is none of its values") as caught:
        fixed_to(P, given)
    assert len(caught.value.sentence) < 200


def test_ranges_from_python_become_plain():
    given = {"C": (np.float32(0.5), np.int64(2)), "n": [1, "9"], "m": np.array([1, 2])}
    ranges, fixed = as_plain(given, {"p": np.int64(2), "w": "far", "b": np.bool_(True)})
    assert ranges == {"C": [0.5, 2.0], "n": [1.0, 9.0], "m": [1.0, 2.0]}
    assert [type(end) for ends in ranges.values() for end in ends] == [float] * 6
    assert fixed == {"p": 2, "w": "far", "b": True}
    assert [type(value) for value in fixed.values()] == [int, str, bool]
    json.dumps([ranges, fixed])


@pytest.mark.parametrize(
    ("ranges", "fixed", "says"),
    [
        ("C=1:2", {}, "ranges: “C=1:2” names no settings"),
        ({}, ["C"], "fixed: “['C']” names no settings"),
        ({"C": "13"}, {}, "range of C: a range has two ends"),
        ({"C": (1, "x")}, {}, "range of C: “x” is not a number"),
        ({"C": (x for x in (1, 2))}, {}, "range of C: a range has two ends"),
    ],
)
def test_what_is_no_range_from_python_is_one_sentence(ranges, fixed, says):
    with pytest.raises(UnusableError, match=re.escape(says)):
        as_plain(ranges, fixed)


@pytest.mark.parametrize(
    "hostile",
    [
        '"ranges": {"C": ["__import__(\'os\').abort()", 1]}',
        '"ranges": {"C": [2, 1]}',
        '"ranges": {"C": [1, 1e999]}',
        '"ranges": {"C": [1, null]}',
        '"ranges": {"C": [1, ' + "9" * 400 + "]}",
        '"ranges": {"C": {"low": 1}}',
        '"ranges": [1, 2]',
        '"fixed": {"C": {"__class__": "os"}}',
        '"fixed": {"C": [' + "[" * 50 + "]" * 50 + "]}",
        '"fixed": {"C": ' + "9" * 400 + "}",
        '"fixed": {"' + "x" * 5000 + '": 1}',
    ],
)
def test_a_strangers_run_folder_with_hostile_ranges_is_one_sentence(tmp_path, iris, hostile):
    folder = RunFolder.create(Plan(IRIS, "svm", "random"), path=tmp_path / "run")
    file, name = folder.path / "plan.json", hostile.partition(":")[0]
    file.write_text(file.read_text(encoding="utf-8").replace(f"{name}: {{}}", hostile))
    with pytest.raises(UnusableError) as caught:
        build_problem(RunFolder.open(folder.path).plan, iris)
    assert len(caught.value.sentence) < 600
    assert "\n" not in caught.value.sentence


@pytest.mark.parametrize("strategy", ["transfer", "scot"])
def test_earlier_datasets_propose_nothing_outside(iris, strategy):
    usual = build_problem(Plan(IRIS, "svm", strategy), iris).space
    middle = {axis.name: axis.from_unit([0.5] * axis.width) for axis in usual}
    tried = [{**middle, "C": C} for C in (500.0, 501.0, 502.0, 1.0, 1.1, 1.2)]
    earlier = EarlierDataset("e", (5.0, 1.4, 3.0), tuple(tried), (9.0, 8, 7, 1, 2, 3))
    plan = Plan(IRIS, "svm", strategy, ranges={"C": [0.5, 2.0]}, fixed={"gamma": 0.25}, trials=6)
    history = TuningHistory((earlier,), (5.0, 1.4, 3.0))
    for setting in asked(build_problem(plan, iris), 6, history):
        assert 0.5 <= setting["C"] <= 2.0
        assert setting["gamma"] == 0.25


def test_a_default_outside_is_said_with_what_is_compared_instead(iris):
    plan = Plan(IRIS, "logistic", "random", trials=2, folds=2, ranges={"C": [20.0, 30.0]})
    results = list(tune(plan, iris))[-1].results
    assert results["default_setting"]["C"] == 20
    (remark,) = [remark for remark in results["remarks"] if "default setting out" in remark]
    assert remark.endswith("C 20 instead of 1.")
    problem = build_problem(plan, iris)
    resumed = replace(problem, axes=problem.space)
    assert moved_defaults(resumed) == moved_defaults(problem) == {"C": 1.0}
    inside = build_problem(plan.changed(ranges={"C": [0.1, 30.0]}), iris)
    assert moved_defaults(inside) == {}


def test_the_plan_carries_them_through_json():
    plan = Plan(IRIS, "svm", "gp", ranges={"C": [0.5, 2.0]}, fixed={"gamma": 0.1}, patience=7)
    assert plan_from_dict(plan.as_dict()) == plan
    before = {k: v for k, v in plan.as_dict().items() if k not in ("ranges", "fixed", "patience")}
    assert plan_from_dict(before) == plan.changed(ranges={}, fixed={}, patience=0)


@pytest.mark.parametrize("name", [n for n in MODELS if n != "auto"])
def test_every_model_takes_its_own_ranges_and_wider_ones_within_their_bounds(name):
    for task in MODELS[name].tasks:
        for axis in MODELS[name].space_of(task, rare=True):
            if axis.kind == "choice":
                assert all(fixed_to(axis, choice).default == choice for choice in axis.choices)
                continue
            least, most = axis.bounds
            assert least <= axis.low <= axis.default <= axis.high <= most
            assert with_range(axis, [axis.low, axis.high]) == axis
            assert axis.low > 0 or not axis.log
            for end in (axis.low, axis.high):
                for edge in edges_at([axis], {axis.name: end}):
                    low, high = edge.wider
                    assert low <= axis.low < axis.high <= high < math.inf
                    assert (low, high) != (axis.low, axis.high)
                    assert with_range(axis, edge.wider).is_free


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"C": 2000}, "C: 2000 lies outside of what this run searches, from 0.01 to 1000"),
        ({"trees": ""}, "trees: a number is missing"),
        ({"other": 1}, "other: the run has no such setting"),
    ],
)
def test_a_setting_by_hand_lies_within_the_ranges(changed, says):
    given = {"C": "2.5", "share": 1, "trees": "20", "second": 0, "p": "far"}
    whole = {"C": 2.5, "share": 1.0, "trees": 20, "second": 0, "p": "far"}
    assert setting_of(AXES, given) == whole
    with pytest.raises(UnusableError, match=f"^{says}"):
        setting_of(AXES, given | changed)


@pytest.mark.parametrize(
    "changed",
    [
        {"low": "__import__('os').abort()"},
        {"low": 2000},
        {"low": 0},
        {"low": None},
        {"high": 1e999},
        {"high": 10**400},
        {"high": True},
        {"kind": "strange"},
        {"kind": "choice"},
        {"kind": "choice", "choices": [{"a": 1}]},
        {"name": 3},
        {"most": "x"},
        {"default": []},
    ],
)
def test_a_strangers_space_is_refused_where_its_event_is_read(changed):
    plain = json.loads(to_json(RunStarted(space=[C])))
    assert from_json(json.dumps(plain)).space == [C]
    plain["space"][0] |= changed
    with pytest.raises(ValueError, match=r"\w"):
        from_json(json.dumps(plain))


def test_axes_of_newer_versions_are_read():
    assert read_as(Axis, {**C.as_dict(), "unheard_of": 1}) == C
    older = {k: v for k, v in C.as_dict().items() if k not in ("least", "most")}
    assert read_as(Axis, older) == C


# Whether the best lies at the edge of its range, worked by hand --------------------------------

PART = Axis("share", "Share", "float", 0.4, 1.0, default=1.0, least=0.01, most=1)
LAYER = Axis("layer", "Layer", "int", 0, 30, default=0)
PAIR = Axis("p", "Distance", "choice", choices=(1, 2), default=2)


@pytest.mark.parametrize(
    ("axis", "value", "wider"),
    [
        (C, 1000.0, (0.01, 50000.0)),  # a third of five powers: 10**(3 + 5/3) = 46416
        (C, 1000 / 10**0.09, (0.01, 50000.0)),  # 2 % of five powers is 0.1 of one
        (C, 1000 / 10**0.11, None),
        (C, 0.01, (0.0002, 1000)),  # 10**(-2 - 5/3) = 0.000215
        (C, 3.0, None),
        (PART, 1.0, None),  # the model takes no more
        (PART, 0.41, (0.2, 1.0)),
        (PART, 0.42, None),
        (TREES, 500, (10, 2000)),  # a third of ln 50 more: 500 * 50**(1/3) = 1842
        (TREES, 499, None),
        (TREES, 10, (2, 500)),  # 10 / 50**(1/3) = 2.7
        (LAYER, 0, None),
        (LAYER, 30, (0, 40)),
        (PAIR, 2, None),
        (C.within(5, 5), 5, None),
    ],
)
def test_what_lies_at_an_edge_and_how_it_is_widened(axis, value, wider):
    found = edges_at([axis], {axis.name: value})
    assert [one.wider for one in found] == ([] if wider is None else [pytest.approx(wider)])


def run(best, count=6):
    ends = [(1.0, 0.5)] * (count - 1) + [(best, 0.9)]
    trials = [
        TrialFinished(number=n, setting={"C": value}, score=s) for n, (value, s) in enumerate(ends)
    ]
    started = RunStarted(plan={"model": "svm", "strategy": "gp"}, space=[C])
    return state_from_events([started, *trials])


def test_a_run_says_so_once_enough_was_tried():
    (edge,) = edges_of(run(1000.0))
    for figure in ("C (1000)", "0.01 to 1000", "0.01 to 50000"):
        assert figure in edge.sentence
    assert edges_of(run(1000.0, count=4)) == []
    assert edges_of(run(10.0)) == []


@pytest.mark.parametrize(
    ("other", "out", "said"), [(1.0, False, 0), (990.0, False, 1), (1.0, True, 1)]
)
def test_a_best_that_is_as_good_inside_lies_at_no_edge(other, out, said):
    state = run(1000.0)
    state.consume(TrialFinished(number=6, setting={"C": other}, score=0.9))
    if out:
        state.consume(TrialExcluded(number=6))
    assert len(edges_of(state)) == said
