"""Past runs in one line and in three."""

from dataclasses import dataclass

import pytest

from app.text.past.past_run_text import run_lines, run_text, runs_of_one_dataset


@dataclass
class Run:
    dataset: str = "heart.csv"
    strategy: str = "loo"
    model: str = "svm"
    state: str = "finished"
    metric: str = "accuracy"
    test: float | None = 0.877
    gain: float | None = -0.037
    baseline: float | None = None
    title: str = ""


@pytest.mark.parametrize(
    ("run", "line", "lines"),
    [
        (
            Run(),
            "heart · Learn the penalty (leave-one-out) · 87.7\u00a0% · \u22123.7 points over the "
            "default",
            ("heart", "Learn the penalty (leave-one-out)", "87.7\u00a0% (\u22123.7)"),
        ),
        (
            Run(baseline=0.5),
            "heart · Learn the penalty (leave-one-out) · 87.7\u00a0% · baseline "
            "50.0\u00a0% · \u22123.7 points over the default",
            (
                "heart",
                "Learn the penalty (leave-one-out)",
                "87.7\u00a0% (\u22123.7), baseline 50\u00a0%",
            ),
        ),
        (
            Run(strategy="uninstalled", metric="mse", test=2.5, gain=0.5),
            "heart · uninstalled · 2.5 · +0.5 over the default",
            ("heart", "uninstalled", "2.5 (+0.5)"),
        ),
        (
            Run(strategy="random", state="interrupted", test=None, gain=None),
            "heart · Random search · not finished",
            ("heart", "Random search", "not finished"),
        ),
    ],
)
def test_data_title_of_the_strategy_score_and_gain(run, line, lines):
    assert run_text(run) == line
    assert run_lines(run) == lines


def test_runs_of_one_dataset_are_told_apart_by_titles():
    assert runs_of_one_dataset([Run(strategy="random"), Run(strategy="uninstalled")]) == [
        "Random search",
        "uninstalled",
    ]
    assert runs_of_one_dataset([Run(), Run(model="logistic"), Run(model="uninstalled")]) == [
        "Support vector machine · Learn the penalty (leave-one-out)",
        "Logistic regression · Learn the penalty (leave-one-out)",
        "uninstalled · Learn the penalty (leave-one-out)",
    ]


def test_a_run_of_several_models_is_called_by_what_it_does():
    run = Run(model="auto", strategy="race")
    assert run_lines(run)[1] == "Find the best model"
