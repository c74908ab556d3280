"""Help, lists and `install`: names, options and defaults, and extras where this program runs."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import app.__main__ as program
from app.cli import main
from app.cli import program_commands as command
from app.cli.commands import build_parser
from app.help.glossary import FOLDER
from core import extras
from core.estimators import package_installation as installation
from core.estimators.registry import MODELS
from core.extras import EXTRAS, install_command
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


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("can't start new thread")])
def test_a_lack_of_memory_is_a_sentence_whichever_library_meets_it(capsys, monkeypatch, error):
    def refuse(*_arguments, **_options):
        raise error

    monkeypatch.setattr(command, "_list_models", refuse)
    assert main(["models"]) == 1
    assert capsys.readouterr().err == (
        "tunescope: there is not enough memory; close other programs, or give fewer rows.\n"
    )


def test_the_help_tells_the_file_and_where_things_are_kept(
    capsys, tmp_path, own_history, monkeypatch
):
    monkeypatch.setenv("TUNESCOPE_RUNS", str(tmp_path / "runs"))
    told = printed(capsys, "--help").out
    assert re.search(r"^ +tunescope FILE +open the window", told, re.MULTILINE)
    assert str(own_history) in told
    assert str(tmp_path / "runs") in told


def parsers_of(parser):
    yield parser
    for action in parser._subparsers._group_actions if parser._subparsers else ():
        for child in dict.fromkeys(action.choices.values()):
            yield from parsers_of(child)


def test_every_help_ends_with_examples_that_are_commands(monkeypatch):
    parsers = list(parsers_of(build_parser()))
    shown = set()
    for parser in parsers:
        monkeypatch.setattr(parser, "_closing", None)
        examples = re.findall(r"^  tunescope (.+)$", parser.format_help(), re.MULTILINE)
        assert examples
        for example in examples:
            words = shlex.split(example)
            assert words[: len(parser.prog.split()) - 1] == parser.prog.split()[1:]
            build_parser().parse_args(words)
        shown.update(examples)
    examples = (FOLDER / "examples.txt").read_text(encoding="utf-8").splitlines()
    assert shown >= set(examples)


def test_every_option_has_a_text_and_every_text_an_option():
    told, texts = set(), json.loads((FOLDER / "options.json").read_text(encoding="utf-8"))
    for parser in parsers_of(build_parser()):
        command = " ".join(parser.prog.split()[1:])
        parser.format_help()
        for action in parser._actions:
            name = (action.option_strings or [action.dest])[0]
            assert action.help or not action.option_strings, (command, name)
            told |= {(command, name), ("", name)}
    assert {(command, name) for command in texts for name in texts[command]} <= told


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


def test_a_command_that_moved_says_where_it_is(capsys):
    assert program.main(["reproduce", "foo-table1"]) == 2
    assert "-m tests.reproduction NAME" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["models", "strategies", "samples"])
def test_lists_speak_to_people_and_to_programs(capsys, command):
    assert main([command]) == 0
    words = capsys.readouterr().out
    assert main([command, "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert len(entries) >= 5
    assert all(entry["name"] in words and entry["title"] in words for entry in entries)


def test_models_list_the_default_of_every_task(capsys):
    main(["models"])
    told = capsys.readouterr().out
    assert "max_features: sqrt | 0.3 | 0.6 | 1.0 (default sqrt; binary, multiclass)" in told
    assert "max_features: sqrt | 0.3 | 0.6 | 1.0 (default 1.0; regression)" in told
    assert "gamma: 1e-06 to 100, on a log scale (default from the data)" in told
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
        (["tnue"], "; did you mean tune?"),
        (["tnue", "heart.csv"], "; did you mean tune?"),
        (["reprot", "RUN"], "; did you mean report?"),
        (["version"], "; did you mean --version?"),
        (["patients.csv"], "."),
    ],
)
def test_a_mistyped_command_is_no_file(given, meant, capsys, monkeypatch):
    monkeypatch.setattr(program, "open_window", lambda file: pytest.fail("a window"))
    assert program.main(given) == 2
    assert capsys.readouterr().err == (
        f"tunescope: there is no command and no file “{given[0]}”{meant} See tunescope --help.\n"
    )


def test_files_sheets_and_samples_open_the_window(monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(program, "open_window", lambda file: opened.append(file) or 0)
    (tmp_path / "tnue").write_text("a,b\n")
    files = [str(tmp_path / "tnue"), f"{tmp_path / 'tnue'}#Visits", "sample:iris"]
    assert [program.main([file]) for file in files] == [0, 0, 0]
    assert opened == files


ROOT = Path(__file__).parents[3]


@pytest.fixture
def pip(monkeypatch, tmp_path):
    """What would be run, in an environment where nothing of an extra is there."""
    ran = []

    def run(command, **given):
        ran.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(command.subprocess, "run", run)
    monkeypatch.setattr(command, "is_there", lambda name: bool(ran))
    monkeypatch.setattr(installation, "_is_managed", lambda: False)
    monkeypatch.setattr(installation.sysconfig, "get_path", lambda name: str(tmp_path))
    return ran


def test_the_extras_are_those_of_the_distribution():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = project["optional-dependencies"]

    def whole(wanted):
        for one in wanted:
            if one.startswith("tunescope["):
                names = one.partition("[")[2].rstrip("]").split(",")
                yield from (inner for name in names for inner in whole(listed[name]))
            else:
                yield one

    assert {name: tuple(whole(listed[name])) for name in listed if name != "test"} == EXTRAS


def test_pip_gets_the_specifiers_in_this_environment(pip, capsys):
    assert main(["install", "lightgbm", "columnar", "more"]) == 0
    (command,) = pip
    wanted = ["lightgbm>=4.5", "pyarrow>=19", "xgboost>=2.1", "catboost>=1.2.7"]
    assert command == [sys.executable, "-m", "pip", "install", *wanted]
    told = capsys.readouterr().out
    assert "Installed: lightgbm, columnar, more." in told


def test_where_pip_lacks_uv_installs(pip, monkeypatch):
    without_pip(monkeypatch, str(Path.cwd()))
    monkeypatch.setattr(installation.shutil, "which", lambda name: "/bin/uv")
    assert main(["install", "deep"]) == 0
    assert pip == [["/bin/uv", "pip", "install", "--python", sys.executable, "jax>=0.4.35"]]


def test_a_dry_run_says_it_and_runs_nothing(pip, capsys):
    assert main(["install", "deep", "--dry-run"]) == 0
    assert pip == []
    assert "-m pip install 'jax>=0.4.35'" in capsys.readouterr().out


def test_what_is_there_is_not_installed_but_can_be_repaired(pip, capsys, monkeypatch):
    monkeypatch.setattr(command, "is_there", lambda name: True)
    assert main(["install", "onnx"]) == 0
    assert capsys.readouterr().out == "onnx is installed already.\n"
    assert pip == []
    assert main(["install", "onnx", "--again"]) == 0
    assert pip[0][4:] == ["--force-reinstall", "--no-deps", *EXTRAS["onnx"]]


def test_a_failure_says_how_it_goes_on(pip, capsys, monkeypatch):
    failed = subprocess.CompletedProcess([], 1)
    monkeypatch.setattr(command.subprocess, "run", lambda *given, **named: failed)
    assert main(["install", "deep"]) == 1
    assert "It needs a network connection" in capsys.readouterr().err


def test_without_a_name_the_extras_are_listed(pip, capsys):
    assert main(["install"]) == 0
    told = capsys.readouterr().out
    assert all(f"\n  {name} " in told for name in EXTRAS)


def built(patch):
    patch.setattr(sys, "frozen", True, raising=False)


def of_the_system(patch):
    patch.setattr(installation, "_is_managed", lambda: True)
    patch.setattr(sys, "prefix", sys.base_prefix)


def not_writable(patch):
    patch.setattr(installation.os, "access", lambda place, mode: False)


def without_pip(patch, place="/nowhere/venv"):
    patch.setattr(installation.sysconfig, "get_path", lambda name: place)
    patch.setattr(installation, "find_spec", lambda name: None)
    patch.setattr(installation.shutil, "which", lambda name: None)


def without_pip_in_pipx(patch):
    without_pip(patch, "/nowhere/pipx/venvs/tunescope")


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("lightbgm", None, "there is no extra “lightbgm”; did you mean lightgbm?"),
        ("deep", not_writable, f"{sys.executable} -m pip install 'jax>=0.4.35'."),
        ("deep", of_the_system, "this Python belongs to the system"),
        ("deep", built, "was built as one folder"),
        ("deep", without_pip, "-m ensurepip."),
        ("deep", without_pip_in_pipx, "pipx inject tunescope 'jax>=0.4.35'."),
    ],
)
def test_what_cannot_be_installed_is_one_sentence(pip, capsys, monkeypatch, name, change, words):
    if change is not None:
        change(monkeypatch)
    assert main(["install", name]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert words in line
    assert pip == []


@pytest.mark.parametrize("on_path", ["ours", "other", "none"])
def test_the_command_is_the_one_that_reaches_this_program(monkeypatch, tmp_path, on_path):
    for folder in ("env", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tunescope").write_text("#!/bin/sh\n")
        (tmp_path / folder / "tunescope").chmod(0o755)
    monkeypatch.setattr(extras.sys, "executable", str(tmp_path / "env" / "python"))
    link = tmp_path / "bin" / "tunescope"  # as pipx makes it
    link.parent.mkdir()
    link.symlink_to(tmp_path / "env" / "tunescope")
    places = {"ours": link.parent, "other": tmp_path / "other", "none": tmp_path / "nowhere"}
    monkeypatch.setenv("PATH", str(places[on_path]))
    own = "tunescope" if on_path == "ours" else str(tmp_path / "env" / "tunescope")
    assert install_command("deep") == f"{own} install deep"
