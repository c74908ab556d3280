"""What is asked for on the command line is read there as it was meant."""

from __future__ import annotations

import shlex

import pytest

from app.cli.commands import parser
from app.cli.parsing.columns import of_columns
from core.datasets.asking import of_column, with_value


@pytest.mark.parametrize("name", ["a", "a b", "-x", "it's", "a=b", " a", "a,b", "{a", "Ä“$(x)", ""])
def test_hostile_names_come_back(name: str) -> None:
    words = shlex.split(of_column("--role", name, "ignore"))
    given = parser().parse_args(["tune", "file.csv", *words])
    assert of_columns(given.role, "--role") == {name: "ignore"}
    words = shlex.split(with_value("--target", name))
    assert parser().parse_args(["tune", "file.csv", *words]).target == name
