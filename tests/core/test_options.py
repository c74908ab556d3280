"""Options: what is given is checked, the rest takes its default, complaints are sentences."""

import pytest

from core.errors import UnusableError
from core.options import Option, with_defaults

BETA = Option("beta", "Beta", "float", 1.0, "…", low=0.0, low_open=True)
STEPS = Option("steps", "Steps", "int", 30, "…", low=1, high=100)
KERNEL = Option("kernel", "Kernel", "choice", "se", "…", choices=("se", "matern32"))
FIRST = Option("first", "First", "bool", False, "…")
WHOLE = "is out of range; give a whole number from 1 to 100."
ALL = (BETA, STEPS, KERNEL, FIRST)


def test_text_is_read_as_the_options_own_type():
    given = {"beta": "0.5", "steps": "12", "kernel": "matern32", "first": "yes"}
    assert with_defaults(ALL, given) == {
        "beta": 0.5,
        "steps": 12,
        "kernel": "matern32",
        "first": True,
    }
    assert with_defaults(ALL, {}) == {"beta": 1.0, "steps": 30, "kernel": "se", "first": False}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"beta": 0}, "option beta: “0” is out of range; give a number above 0."),
        ({"beta": "nan"}, "option beta: “nan” is out of range; give a number above 0."),
        ({"steps": "2.5"}, f"option steps: “2.5” {WHOLE}"),
        ({"steps": "inf"}, f"option steps: “inf” {WHOLE}"),
        ({"steps": 101}, "option steps: “101” is out of range; give a number from 1 to 100."),
        ({"kernel": "rbf"}, "option kernel: “rbf” is out of range; choose one of se, matern32."),
        ({"first": "maybe"}, "option first: “maybe” is out of range; give yes or no."),
        ({"kernal": "se"}, "option kernal: there is no such option here; did you mean kernel?"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(given, sentence):
    with pytest.raises(UnusableError) as caught:
        with_defaults(ALL, given)
    assert caught.value.sentence == sentence
