"""Past runs in one line and in three."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from app.text.rail_text import run_lines, run_text, runs_of_one_dataset


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


LOO = "Learn the penalty (leave-one-out)"


@pytest.mark.parametrize(
    ("run", "title", "score", "baseline", "gain"),
    [
        (Run(), LOO, "87.7\u00a0%", "", "\u22123.7"),
        (Run(baseline=0.5), LOO, "87.7\u00a0%", "baseline 50.0\u00a0%", "\u22123.7"),
        (Run(strategy="gone", metric="mse", test=2.5, gain=0.5), "gone", "2.5", "", "+0.5"),
        (Run(strategy="random", state="interrupted", test=None, gain=None), "Random search",
         "interrupted", "", ""),
        (Run(model="auto", strategy="race"), "Find the best model", "87.7\u00a0%", "", "\u22123.7"),
    ],
)  # fmt: skip
def test_data_title_of_the_strategy_score_and_gain(run, title, score, baseline, gain):
    unit = " points" if run.metric == "accuracy" else ""
    over = gain and f"{gain}{unit} over the default"
    assert run_text(run) == " · ".join(filter(None, ["heart", title, score, baseline, over]))
    assert run_lines(run) == ("heart", title, f"{score}{gain and f' ({gain})'}")


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
