"""What is asked for on the command line is read there as it was meant."""

from __future__ import annotations

import json
import shlex

import pytest

from app.cli.commands import build_parser, main
from app.cli.parsing.column_options import parse_column_words
from core.datasets.finding import column_option, option_with_value


@pytest.mark.parametrize("name", ["a", "a b", "-x", "it's", "a=b", " a", "a,b", "{a", "Ä“$(x)", ""])
def test_hostile_names_come_back(name: str) -> None:
    words = shlex.split(column_option("--role", name, "ignore"))
    given = build_parser().parse_args(["tune", "file.csv", *words])
    assert parse_column_words(given.role, "--role") == {name: "ignore"}
    words = shlex.split(option_with_value("--target", name))
    assert build_parser().parse_args(["tune", "file.csv", *words]).target == name


def test_a_file_that_could_be_read_otherwise_says_the_option(capsys, tmp_path):
    path = tmp_path / "rna.csv"
    rows = "".join(f"GGG{'A' * at}AAACCC,(((...{'.' * at})))\n" for at in range(12))
    path.write_text(f"sequence,structure\n{rows}GGGAAACCX,(((...)))\n")
    given = ["tune", str(path), "--model", "rna", "--strategy", "mm", "--option", "max_steps=1"]
    assert main(given) == 2
    said = capsys.readouterr().err
    assert "letter 9 of the sequence is “X”" in said
    assert "Read other letters as N: --other-letters" in said
    assert main([*given, "--other-letters", "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[0])["findings"]
    assert "1 letter is none of the bases (such as “X”)" in " ".join(found)
