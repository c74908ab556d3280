"""Every command of README.md and the guide runs as printed, on small files of its names.

The commands of a block follow each other as on the page: what one exports, the next may read. RUN
stands for the latest run. Runs of several models end after a few trials, and the files are small;
nothing else is changed.
"""

from __future__ import annotations

import datetime
import re
import shlex
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from app.cli import main
from app.cli.commands import build_parser

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", ROOT / "docs" / "guide.md"]
README = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
PACKAGES = (
    rf"sudo apt install \./tunescope_{re.escape(VERSION)}_amd64\.deb"
    rf"|tar xzf tunescope-{re.escape(VERSION)}-linux-x86_64\.tar\.gz"
)
SET_UP = rf"packaging/(run|test)|(pipx|uv tool) install (--compile-bytecode )?\.|{PACKAGES}"
BLOCKS = re.findall(r"(?:^    \S.*\n)+", README, flags=re.MULTILINE)
COMMANDS = [line.strip() for block in BLOCKS for line in block.splitlines()]
OURS = [block for block in BLOCKS if block.lstrip().startswith("tunescope ")]
FIRST = [line for line in COMMANDS if line.startswith("packaging/run ")]
INLINE = re.findall(r"`(tunescope [^`]+)`", README)
FEW = "3"  # trials
QUICK = "tune heart.csv --model logistic --strategy mm --evaluation test"


def table(rows: int = 60) -> pd.DataFrame:
    random = np.random.default_rng(5)
    frame = pd.DataFrame(random.normal(size=(rows, 3)), columns=["blood_a", "blood_b", "age"])
    frame["disease"] = np.where(
        frame["blood_a"] > 0.3 * random.normal(size=rows), "present", "absent"
    )
    return frame


def libsvm(path: str, rows: int) -> None:
    random = np.random.default_rng(rows)
    with Path(path).open("w", encoding="utf-8") as file:
        for values in random.normal(size=(rows, 4)):
            pairs = " ".join(f"{n}:{value:.3f}" for n, value in enumerate(values, start=1))
            file.write(f"{1 if values[0] > 0 else -1} {pairs}\n")


def molecules() -> str:
    stems = ["GGGG", "GGCG", "GCGC", "CCGG"]
    pairs = {"G": "C", "C": "G", "A": "U", "U": "A"}
    lines = ["sequence,structure"]
    for number in range(12):
        stem, loop = stems[number % 4], "AUAAC"[: 4 + number % 2]
        tail = "A" * (number % 3)
        closing = "".join(pairs[base] for base in reversed(stem))
        dots = "." * len(loop)
        lines.append(f"{stem}{loop}{closing}{tail},{'(' * 4}{dots}{')' * 4}{'.' * len(tail)}")
    return "\n".join(lines) + "\n"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A folder with the files that the page's commands name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TUNESCOPE_RUNS", str(tmp_path / "runs"))
    table().to_csv("heart.csv", index=False)
    table().drop(columns="disease").to_csv("new-rows.csv", index=False)
    visits = table()
    visits.insert(0, "patient", [f"p{n // 2}" for n in range(60)])
    day = datetime.date(2024, 1, 1)
    visits.insert(1, "admitted", [str(day + datetime.timedelta(n)) for n in range(60)])
    visits.to_csv("visits.csv", index=False)
    with pd.ExcelWriter("clinic.xlsx") as book:
        table().to_excel(book, sheet_name="Visits", index=False)
        table(30).to_excel(book, sheet_name="Later", index=False)
    libsvm("train.libsvm", 60)
    libsvm("test.libsvm", 30)
    tokens = ["sequence,word,tag"]
    for number in range(16):
        tokens += [f"{number},{word},{word[0]}" for word in ("alpha", "beta", "beta", "alpha")]
    Path("tagged.csv").write_text("\n".join(tokens) + "\n", encoding="utf-8")
    Path("molecules.csv").write_text(molecules(), encoding="utf-8")
    words = ["river boat water fish swim", "bread oven flour baker crust"]
    letters = "\n".join(f'"{words[n % 2]} {words[n % 2]}"' for n in range(240))
    Path("letters.csv").write_text(f"letter\n{letters}\n", encoding="utf-8")
    return tmp_path


def given(line: str, place: Path) -> list[str]:
    words = shlex.split(line)[1:]
    if "RUN" in words:
        latest = max((place / "runs").iterdir(), key=lambda folder: folder.stat().st_mtime)
        words = [latest.name if word == "RUN" else word for word in words]
    if words[0] == "tune" and "--model" not in words and "--strategy" not in words:
        words += ["--trials", FEW]
    return words


@pytest.mark.slow
@pytest.mark.parametrize("block", OURS, ids=lambda block: block.split("\n")[0].strip()[:40])
def test_the_commands_of_a_block_run_as_printed(block, place, capsys):
    lines = [line.strip() for line in block.splitlines()]
    if not any(line.startswith("tunescope tune") for line in lines):
        assert main(QUICK.split()) == 0
    for line in lines:
        status = main(given(line, place))
        told = capsys.readouterr()
        assert status == 0, f"{line}\n{told.err}"
        for path in re.findall(r"--(?:export|out) (\S+)", line):
            assert Path(path).stat().st_size > 0


@pytest.mark.slow
def test_the_first_lines_of_the_read_me_run_as_they_stand(place, capsys, monkeypatch):
    lines = README.splitlines()
    assert len(PAGES[0].read_bytes()) <= 6000
    assert lines.index(f"    {FIRST[0]}") < 25
    monkeypatch.chdir(ROOT)
    for line in FIRST:
        words = [w.replace("answers.csv", str(place / "a.csv")) for w in shlex.split(line)[1:]]
        words += ["--trials", FEW] if words[0] == "tune" else []
        assert main(words) == 0, capsys.readouterr().err
    assert "prediction" in pd.read_csv(place / "a.csv")


@pytest.mark.parametrize(
    "line", [one for one in COMMANDS if not one.startswith("tunescope") and one not in FIRST]
)
def test_other_commands_have_the_shape_of_something_that_is_there(line):
    assert re.fullmatch(SET_UP, line)
    if line.startswith("packaging/"):
        assert (ROOT / line).is_file()


@pytest.mark.parametrize("line", INLINE)
def test_commands_within_sentences_are_known_to_the_parser(line, capsys):
    words = shlex.split(line)[1:]
    if words == ["--self-test"]:  # of app/__main__.py
        assert line in build_parser().format_usage()
    elif "--help" in words:
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0
    else:
        build_parser().parse_args(words)


def test_the_commands_are_found():
    assert len([one for one in COMMANDS if one.startswith("tunescope ")]) >= 20
    assert len(INLINE) >= 10
