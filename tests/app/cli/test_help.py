"""The help: every name, option and default where it is asked for, and the name that was meant."""

import json
import re
import sys

import pytest

import app.__main__ as program
from app.cli import main
from app.cli.commands import build_parser
from app.cli.parsing.unused_options import unused_option_texts
from app.cli.plan_from_arguments import data_of, plan_of
from core.estimators.registry import MODELS
from core.reproduction.registry import REPRODUCTIONS
from core.tuning.problem import build_problem, read_data
from core.tuning.scores.metrics import METRICS
from core.tuning.strategies.registry import STRATEGIES


def printed(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    assert ended.value.code == 0
    return capsys.readouterr()


def test_the_version_is_that_of_the_distribution(capsys):
    from importlib.metadata import version

    assert printed(capsys, "--version").out.startswith(f"tunescope {version('tunescope')} (Python ")


@pytest.mark.parametrize("where", ["elsewhere", "beside"])
def test_a_second_program_of_the_same_name_is_told(capsys, monkeypatch, tmp_path, where):
    for folder in ("elsewhere", "beside"):
        command = tmp_path / folder / "tunescope"
        command.parent.mkdir()
        command.write_text("#!/bin/sh\n")
        command.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / where))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "beside" / "python"))
    said = printed(capsys, "--version").err
    assert said == (
        f"tunescope: the command tunescope on the path is another one, {tmp_path}/elsewhere"
        f"/tunescope; this one is {tmp_path}/beside/tunescope.\n"
        if where == "elsewhere"
        else ""
    )


def test_the_help_tells_the_file_and_where_things_are_kept(
    capsys, tmp_path, own_history, monkeypatch
):
    monkeypatch.setenv("TUNESCOPE_RUNS", str(tmp_path / "runs"))
    told = printed(capsys, "--help").out
    assert re.search(r"^ +tunescope FILE +open the window", told, re.MULTILINE)
    assert str(own_history) in told
    assert str(tmp_path / "runs") in told


def test_tune_lists_models_strategies_and_metrics_by_task(capsys):
    told = printed(capsys, "tune", "--help").out
    words = set(re.findall(r"[\w-]+", told))
    assert {*MODELS, *STRATEGIES} <= words
    lines = dict(
        line.split(": ", 1) for line in re.findall(r"^  (\S.*: \S.*)$", told, re.MULTILINE)
    )
    assert lines["regression"] == "r2, mse, mae"
    assert lines["topics"] == "completion, perplexity"
    of_tasks = {name for name, one in METRICS.items() if one.tasks}
    assert of_tasks <= words
    assert "folds of the cross-validation that scores a trial (default: 5)" in told
    for one in STRATEGIES.values():
        if one.kind == "trials" and not one.several:
            assert one.name in lines[str(one.default_trials)]


def test_reproduce_lists_its_names(capsys):
    told = printed(capsys, "reproduce", "--help").out
    assert set(re.findall(r"^  ([a-z]\S+)$", told, re.MULTILINE)) == set(REPRODUCTIONS)


def test_models_list_the_default_of_every_task(capsys):
    main(["models"])
    told = capsys.readouterr().out
    assert "max_features: sqrt | 0.3 | 0.6 | 1.0 (default sqrt; binary, multiclass)" in told
    assert "max_features: sqrt | 0.3 | 0.6 | 1.0 (default 1.0; regression)" in told
    assert "gamma: 1e-06 to 100, logarithmic (default from the data)" in told
    main(["models", "--json"])
    for entry in json.loads(capsys.readouterr().out):
        for task, space in entry["spaces"].items():
            assert [one["name"] for one in space] == [
                axis.name for axis in MODELS[entry["name"]].space(task)
            ]


def test_strategies_list_every_option_with_its_default(capsys):
    main(["strategies"])
    told = capsys.readouterr().out
    for strategy in STRATEGIES.values():
        part = re.split(r"\n(?=\S)", f"\n{told}".split(f"\n{strategy.name}: ")[1])[0]
        for option in strategy.options:
            assert re.search(rf"^    {option.name} \(.*default", part, re.MULTILINE), option.name


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["tnue"], "tune"),
        (["tnue", "heart.csv"], "tune"),
        (["reprot", "RUN"], "report"),
        (["version"], "--version"),
    ],
)
def test_a_mistyped_command_is_no_file(given, meant, capsys, monkeypatch):
    monkeypatch.setattr(program, "open_window", lambda file: pytest.fail("a window"))
    assert program.main(given) == 2
    told = capsys.readouterr().err
    assert told == (
        f"tunescope: there is no command and no file “{given[0]}”; did you mean {meant}? "
        "See tunescope --help.\n"
    )


def test_what_is_like_no_command_is_a_missing_file(capsys, monkeypatch):
    monkeypatch.setattr(program, "open_window", lambda file: pytest.fail("a window"))
    assert program.main(["patients.csv"]) == 2
    assert "no file “patients.csv”. See tunescope --help." in capsys.readouterr().err


def test_files_sheets_and_samples_open_the_window(monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(program, "open_window", lambda file: opened.append(file) or 0)
    (tmp_path / "tnue").write_text("a,b\n")
    files = [str(tmp_path / "tnue"), f"{tmp_path / 'tnue'}#Visits", "sample:iris"]
    assert [program.main([file]) for file in files] == [0, 0, 0]
    assert opened == files


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["tune", "x.csv", "--trails", "3"], "no option --trails; did you mean --trials? See"),
        (["tune", "x.csv", "--zzz"], "no option --zzz. See tunescope tune --help."),
        (["reproduce"], "the following arguments are required: NAME. See tunescope reproduce"),
    ],
)
def test_a_mistyped_option_is_named_with_what_was_meant(given, said, capsys):
    with pytest.raises(SystemExit) as ended:
        main(given)
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (["tune", "sample:iris", "--model", "logistics"], "did you mean logistic"),
        (["tune", "sample:iris", "--strategy", "evidance"], "did you mean evidence"),
        (["tune", "sample:iris", "--option", "metric=acuracy"], "did you mean accuracy"),
        (["reproduce", "foo-tabel1"], "did you mean foo-table1"),
        (["tune", "sample:iris", "--model", "zzz"], "choose one of linear, logistic"),
    ],
)
def test_a_mistyped_name_is_told_with_what_was_meant(given, meant, capsys):
    assert main(given) == 2
    assert meant in capsys.readouterr().err


MM = "--model logistic --strategy mm --evaluation test"
RANDOM = "--model forest --strategy random --trials 1"
NO_TRIALS = "mm learns penalties and makes no trials"


def said_of(words):
    given = build_parser().parse_args(["tune", "sample:iris", *words.split()])
    data = data_of(given)
    dataset = read_data(data)
    return unused_option_texts(given, build_problem(plan_of(given, data, dataset), dataset))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (f"{MM} --trials 3", f"--trials has no effect: {NO_TRIALS}; --option max_steps=N"),
        (f"{MM} --workers 2", f"--workers has no effect: {NO_TRIALS}."),
        (f"{MM} --option folds=3", f"--option folds has no effect: {NO_TRIALS}."),
        (f"{MM} --option counts=all", "--option counts has no effect: every weight of a table"),
        (f"{MM} --gamma 2", "--gamma has no effect: only molecules"),
        (f"{MM} --option decoding=viterbi", "--option decoding has no effect: only sequences"),
        (f"{RANDOM} --groups each", "--groups has no effect: random tunes settings"),
        (f"{RANDOM} --option standardize=no", "--option standardize has no effect: forest"),
    ],
)
def test_an_option_without_effect_is_said(given, said):
    (sentence,) = said_of(given)
    assert sentence.startswith(said)


@pytest.mark.parametrize(
    "given",
    [
        f"{MM} --minutes 1 --groups each --seed 3 --option standardize=no",
        "--model logistic --strategy gradient --option folds=3",
        "--model logistic --strategy random --option folds=3 --option time_limit=6 --workers 2",
    ],
)
def test_options_with_an_effect_are_not(given):
    assert said_of(given) == []


def test_the_run_says_it(capsys):
    assert main(["tune", "sample:iris", *f"{MM} --trials 3".split()]) == 0
    assert f"--trials has no effect: {NO_TRIALS}" in capsys.readouterr().err
