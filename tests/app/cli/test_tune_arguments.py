"""The arguments of `tunescope tune`: as they are read, refused in a line, or without effect."""

from __future__ import annotations

import json
import shlex

import numpy as np
import pandas as pd
import pytest

from app.cli.commands import build_parser, main
from app.cli.tune_arguments import (
    _gamma_fields,
    _parse_costs,
    _parse_fixed_values,
    _parse_ranges,
    data_of,
    parse_column_words,
    plan_of,
    unused_option_texts,
)
from core.datasets.finding import column_option, option_with_value
from core.datasets.samples import SAMPLES
from core.errors import UnusableError
from core.tuning.events import TrialStarted
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.runs.run_folder import RunFolder, runs_root

MM = "--model logistic --strategy mm --evaluation test"
RANDOM = "--model forest --strategy random --trials 1"
NO_TRIALS = "mm learns penalties and makes no trials"
IRIS = ["tune", "sample:iris"]
QUICK = [*IRIS, "--model", "logistic", "--option", "folds=2", "--trials", "6"]
SEARCH = [*QUICK, "--strategy", "random"]
VISITS, RNA = ["tune", "visits.csv"], ["tune", "rna.csv", "--model", "rna"]


def parsed(*words):
    return build_parser().parse_args(["tune", "file.csv", *words])


@pytest.mark.parametrize("name", ["a", "a b", "-x", "it's", "a=b", " a", "a,b", "{a", "Ä“$(x)", ""])
def test_hostile_names_come_back(name):
    given = parsed(*shlex.split(column_option("--role", name, "ignore")))
    assert parse_column_words(given.role, "--role") == {name: "ignore"}
    assert parsed(*shlex.split(option_with_value("--target", name))).target == name


def test_ranges_and_values_are_read_by_setting():
    ranges = {"C": [0.01, 100], "gamma": [1e-4, 1]}
    assert _parse_ranges(["C=0.01:100", " gamma = 1e-4 : 1 "]) == ranges
    fixed = _parse_fixed_values(["p=2", "gamma=0.1", "weights=uniform", "x=True"])
    assert fixed == {"p": 2, "gamma": 0.1, "weights": "uniform", "x": "True"}
    assert isinstance(fixed["p"], int)


@pytest.mark.parametrize(
    ("given", "costs"),
    [
        ([], {}),
        (["healthy=1", "sick=2.5"], {"healthy": 1.0, "sick": 2.5}),
        (["0=1, 1=3"], {"0": 1.0, "1": 3.0}),
        (["a,b=2,c=3"], {"a,b": 2.0, "c": 3.0}),
        (["x=y=4"], {"x=y": 4.0}),
    ],
)
def test_costs_are_read_by_class(given, costs):
    assert _parse_costs(given) == costs


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("", (4.0, "hand", 0.8)),
        ("7.5", (7.5, "hand", 0.8)),
        ("best", (4.0, "f1", 0.8)),
        ("sensitivity=0.9", (4.0, "sensitivity", 0.9)),
    ],
)
def test_the_trade_off_of_base_pairs_is_given_or_chosen(given, expected):
    plan = Plan(DataPlan("sample:molecules"), "rna", "mm", **_gamma_fields(given))
    assert (plan.gamma, plan.gamma_by, plan.sensitivity) == expected


@pytest.mark.parametrize(
    ("parse", "given", "fault"),
    [
        (_parse_ranges, ["C", "C=5", "=1:2"], "is not SETTING=FROM:TO"),
        (_parse_ranges, ["C=a:b", "C=1:2:3", "C=:3"], "” is not a range of numbers"),
        (_parse_fixed_values, ["C", "=3", "C=", "C= "], "is not SETTING=VALUE"),
        (_parse_costs, ["sick", "sick=", "=3", "sick=much", "healthy=1,sick"], "is not CLASS=COST"),
    ],
)
def test_what_is_none_of_these_is_refused(parse, given, fault):
    for text in given:
        with pytest.raises(UnusableError, match=fault):
            parse([text])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with tables that the refused commands name."""
    folder = tmp_path_factory.mktemp("files")
    random = np.random.default_rng(3)
    visits = pd.DataFrame(random.normal(size=(60, 2)), columns=["a", "b"])
    visits.insert(0, "patient", np.arange(60) % 20)
    visits["code"] = random.integers(1, 5, 60)
    visits["seen"] = pd.date_range("2024-01-01", periods=60).strftime("%Y-%m-%d")
    visits["ill"] = np.where(visits["a"] > 0, "yes", "no")
    visits.to_csv(folder / "visits.csv", index=False)
    texts = SAMPLES["texts"].table().drop(columns="id")
    texts["mark"] = ["ab"[row % 2] for row in range(len(texts))]
    texts.to_csv(folder / "posts.csv", index=False)
    SAMPLES["texts"].table().head(50).to_csv(folder / "few.csv", index=False)
    rows = "".join(f"GGG{'A' * at}AAACCC,(((...{'.' * at}))),f{at}\n" for at in range(12))
    (folder / "bases.csv").write_text(f"sequence,structure,source\n{rows}")
    (folder / "rna.csv").write_text(f"sequence,structure,source\n{rows}GGGAAACCX,(((...))),f0\n")
    return folder


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["tune", "nowhere.csv"], "nowhere.csv"),
        (["tune", "sample:irsi"], "iris"),
        ([*IRIS, "--model", "tree"], "there is no model “tree”"),
        ([*IRIS, "--model", "logistics"], "did you mean logistic"),
        ([*IRIS, "--model", "zzz"], "choose one of linear, logistic"),
        ([*IRIS, "--strategy", "sgd"], "there is no strategy “sgd”"),
        ([*IRIS, "--strategy", "evidance"], "did you mean evidence"),
        ([*IRIS, "--option", "metric=acuracy"], "did you mean accuracy"),
        ([*IRIS, "--model", "svm", "--strategy", "mm"], "mm learns the penalties"),
        ([*QUICK, "--strategy", "mm", "--option", "beta=0"], "option beta: “0” is out of range"),
        ([*QUICK, "--strategy", "mm", "--option", "beta=inf"], "option beta: “inf”"),
        ([*QUICK, "--strategy", "mm", "--option", "alpha=-99"], "-99"),
        ([*QUICK, "--strategy", "hybrid", "--option", "tau=2"], "option tau: “2” is out of range"),
        ([*QUICK, "--strategy", "gp", "--option", "tau"], "“tau” is not KEY=VALUE"),
        ([*QUICK, "--option", "folds=x"], "option folds: “x” is not a number"),
        ([*IRIS, "--trials", "0", "--strategy", "gp"], "trials: “0” is out of range"),
        ([*IRIS, "--trials", "many"], "invalid int value"),
        ([*QUICK, "--export", "model.xyz"], "model.xyz"),
        ([*QUICK, "--groups", "missing.json"], "missing.json"),
        ([*QUICK, "--target", "colour"], "colour"),
        ([*QUICK, "--seed", "99999999999"], "give 0 to 4,294,967,295"),
        ([*QUICK, "--minutes", "nan"], "minutes: “nan” is out of range"),
        ([*QUICK, "--minutes", "inf"], "minutes: “inf” is out of range"),
        ([*QUICK, "--memory", "much"], "memory: “much” is no size of memory"),
        ([*QUICK, "--workers", "100000"], "workers: “100000” is out of range"),
        ([*QUICK, "--option", "time_limit=nan"], "time limit: “nan” is out of range"),
        ([*QUICK, "--option", "standardize=maybe"], "give yes or no"),
        ([*IRIS, "--strategy", "gp", "--option", "folds=99"], "99 folds"),
        ([*IRIS, "--option", "vocabulary=9"], "only texts whose topics are found"),
        ([*QUICK, "--export", "nowhere/model.skops"], "there is no such folder"),
        ([*QUICK, "--events", "nowhere/events.jsonl"], "the events cannot be written"),
        (["resume", "no-such-run"], "there is no run here"),
        (["predict", "nothing.skops", "x.csv"], "nothing.skops"),
        (["tuen", "x.csv"], "invalid choice"),
        (["tune", "x.csv", "--trails", "3"], "no option --trails; did you mean --trials? See"),
        (["tune", "x.csv", "--zzz"], "no option --zzz. See tunescope tune --help."),
        ([*SEARCH, "--range", "C=3:1"], "range of C: it begins at 3, above its end at 1; give the"),
        ([*SEARCH, "--range", "C=1:1"], "range of C: from 1 to 1 is one value; fix it to that"),
        ([*SEARCH, "--range", "C=0:1"], "range of C: 0 is not above 0"),
        ([*SEARCH, "--range", "C=1:nan"], "range of C: nan has no end"),
        ([*SEARCH, "--range", "C=1:1e200"], "range of C: 1e+200 is too far from 0"),
        (
            [*SEARCH, "--range", "D=1:2"],
            "range of D: the model has no setting “D” that is searched",
        ),
        ([*SEARCH, "--fix", "C=much"], "fixed value of C: “much” is not a number"),
        ([*SEARCH, "--fix", "C=1"], "ranges: every setting is fixed"),
        (
            [*SEARCH, "--range", "C=1:2", "--fix", "C=1"],
            "range of C: it has both a range and a fix",
        ),
        ([*SEARCH, "--patience", "-1"], "patience: “-1” is out of range; give at least 0"),
        ([*IRIS, "--range", "C=0.5:2"], "choose one model to change its ranges"),
        ([*SEARCH, "--cluster", "there"], "option cluster: “there” is no address of a scheduler"),
        ([*SEARCH, "--cluster", "tcp://a:8786", "--tls-ca", "no.pem"], "tls-ca: a certificate is"),
        ([*SEARCH, "--cluster", "tls://a:8786", "--tls-ca", "no.pem"], "tls-ca: the file “no"),
        (["tune", "sample:texts", "--task", "topic"], "there is no task “topic”"),
        (["tune", "posts.csv", "--target", "text"], "or choose topics as the task"),
        (["tune", "few.csv"], "few.csv: a minibatch of 100 is more than there is to train on, 28"),
        (["tune", "sample:texts", "--option", "vocabulary=1"], "makes no topics"),
        (["tune", "sample:texts", "--option", "stop_words=xx"], "use auto, en"),
        (
            [*VISITS, "--role", "patint=group"],
            "there is no column “patint”; did you mean “patient”",
        ),
        ([*VISITS, "--role", "patient=grp"], "patient: “grp” is no role; use target, feature, gr"),
        ([*VISITS, "--role", "patient"], "--role: “patient” is not COLUMN=ROLE; write for example"),
        ([*VISITS, "--role", "a=group", "--role", "a=ignore"], "is there as group and as"),
        ([*VISITS, "--role", "ill=ignore"], "“ill” is what is predicted"),
        ([*VISITS, "--role", "a=group", "--role", "b=group"], "2 columns have the role group"),
        ([*VISITS, "--kind", "code=words"], "column code: “words” is no kind"),
        ([*VISITS, "--kind", "cod=category"], "there is no column “cod”; did you mean “code”"),
        ([*VISITS, "--kind", "=category"], "--kind: “=category” is not COLUMN=KIND"),
        ([*VISITS, "--test-latest", "when"], "there is no column “when”"),
        ([*VISITS, "--test-latest", "ill"], "the column is what is predicted"),
        (
            [*VISITS, "--test-latest", "seen", "--test", "b.csv"],
            "the latest rows cannot test where",
        ),
        ([*VISITS, "--mistake-costs", "a=2"], "there is no class “a”; the classes are no and yes"),
        (["tune", "bases.csv", "--gamma", "share=0.9"], "is no γ"),
        (["tune", "bases.csv", "--role", "source=feature"], "folded by their letters alone"),
        (RNA, "Read other letters as N: --other-letters"),
        (["read", "sample:tags", "--reading", "word=missing"], "are read as they are written"),
    ],
)
def test_what_is_unusable_is_one_line_with_status_2_and_leaves_no_run(
    capsys, monkeypatch, files, arguments, sentence
):
    monkeypatch.chdir(files)
    try:
        status = main(arguments)
    except SystemExit as end:
        status = end.code
    said = capsys.readouterr()
    assert (status, said.out) == (2, "")
    line = said.err.splitlines()[-1]
    assert sentence in line
    assert line.startswith("tunescope" if arguments != RNA else "Read other letters")
    assert not list(runs_root().glob("*"))


def test_letters_that_are_no_bases_are_read_as_the_option_says(capsys, files):
    given = ["tune", str(files / "rna.csv"), "--model", "rna", "--strategy", "mm"]
    assert main([*given, "--option", "max_steps=1", "--other-letters", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out.splitlines()[0])["findings"]
    assert "1 letter is none of the bases (such as “X”)" in " ".join(findings)


def test_a_run_keeps_to_its_ranges_and_its_folder_has_them(tmp_path, capsys):
    folder = tmp_path / "run"
    asked = [*SEARCH, "--range", "C=0.5:2", "--patience", "3", "--json"]
    assert main([*asked, "--run-dir", str(folder)]) == 0
    out, err = capsys.readouterr()
    assert "It stops when 3 trials in a row improve nothing." in err
    run = RunFolder.open(folder)
    assert (run.plan.ranges, run.plan.patience) == ({"C": [0.5, 2.0]}, 3)
    tried = [event.setting["C"] for event in run.all_events() if isinstance(event, TrialStarted)]
    assert all(0.5 <= value <= 2 for value in [*tried, json.loads(out)["params"]["C"]])
    assert len(tried) >= 4


def test_the_result_says_what_mistakes_cost(tmp_path, capsys):
    random, sick = np.random.default_rng(0), np.arange(300) % 20 == 0
    table = pd.DataFrame(random.normal(size=(300, 2)) + 2 * sick[:, None], columns=["a", "b"])
    table["state"] = np.where(sick, "sick", "healthy")
    table.to_csv(tmp_path / "rare.csv", index=False)
    asked = ["tune", str(tmp_path / "rare.csv"), "--model", "logistic", "--strategy", "evidence"]
    assert main([*asked, "--mistake-costs", "sick=20", "--json"]) == 0
    out, err = capsys.readouterr()
    result = json.loads(out)
    assert result["metric"] == "log_loss"
    assert "Only 5\u00a0% of the training rows are “sick”" in result["metric_reason"]
    assert result["metric_reason"] in err
    assert result["costs"]["costs"] == {"healthy": 1.0, "sick": 20.0}
    assert main(["replay", result["run"]]) == 0
    words = capsys.readouterr().out
    assert "Costs:   A row is called “sick” from a probability of" in words
    assert "Score:   Only 5\u00a0%" in words


def unused(words):
    given = build_parser().parse_args([*IRIS, *words.split()])
    data = data_of(given)
    dataset = read_data(data)
    return unused_option_texts(given, build_problem(plan_of(given, data, dataset), dataset))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (f"{MM} --trials 3", [f"--trials has no effect: {NO_TRIALS}; --option max_steps=N"]),
        (f"{MM} --workers 2", [f"--workers has no effect: {NO_TRIALS}."]),
        (f"{MM} --option folds=3", [f"--option folds has no effect: {NO_TRIALS}."]),
        (f"{MM} --option counts=all", ["--option counts has no effect: every weight of a table"]),
        (f"{MM} --gamma 2", ["--gamma has no effect: only molecules"]),
        (f"{MM} --option decoding=viterbi", ["--option decoding has no effect: only sequences"]),
        (f"{RANDOM} --groups each", ["--groups has no effect: random tunes settings"]),
        (f"{RANDOM} --option standardize=no", ["--option standardize has no effect: forest"]),
        (f"{MM} --minutes 1 --groups each --seed 3 --option standardize=no", []),
        ("--model logistic --strategy gradient --option folds=3", []),
        ("--model svm --strategy random --option folds=3 --option time_limit=6 --workers 2", []),
    ],
)
def test_an_option_without_effect_is_said(given, said):
    sentences = unused(given)
    assert len(sentences) == len(said)
    assert all(sentence.startswith(words) for sentence, words in zip(sentences, said, strict=True))


def test_a_run_says_them_and_its_folder_names_no_cluster(capsys, tmp_path):
    """A stranger's run must not lead this program to a machine of theirs."""
    more = "--trials 3 --range C=0.5:2 --cluster tcp://127.0.0.1:9 --tls-ca none.pem"
    folder = tmp_path / "run"
    assert main([*IRIS, *f"{MM} {more}".split(), "--run-dir", str(folder)]) == 0
    said = capsys.readouterr().err
    assert f"--trials has no effect: {NO_TRIALS}" in said
    assert "--range has no effect: mm learns the penalty and searches no ranges." in said
    assert "--cluster has no effect: mm is one fit, which is made on this computer." in said
    assert "--tls-ca has no effect: there is no --cluster." in said
    text = "".join(path.read_text() for path in folder.glob("*.json*"))
    assert '"workers"' in text
    assert "cluster" not in text
    assert "tls" not in text
