from __future__ import annotations

from app.text.results.verdict import headline, result_sentences, scores_line
from app.text.tuning.structured_progress_text import pairs_summary
from core.datasets.task import Task
from core.json_reading import read_as
from core.tuning.events import RunStarted
from core.tuning.payloads import DatasetFacts
from core.tuning.run_results import PairCounts, Results

COMMON = {
    "setting": {}, "default_setting": {}, "validation": {}, "optimism": None, "fits": 9,
    "trials": 0, "seconds": 3.0, "failed": 0, "remarks": [], "switched_off": [],
}  # fmt: skip
TOKENS = read_as(
    Results,
    COMMON
    | {
        "metric": "accuracy",
        "test": {"accuracy": 0.9},
        "default_test": {"accuracy": 0.85},
        "gain": {
            "metric": "accuracy",
            "difference": 0.0,
            "low": -0.01,
            "high": 0.02,
            "real": False,
        },
        "right": {"tuned": 540, "default": 510, "rows": 600},
        "sequences": {"tuned": 21, "default": 17, "count": 60},
    },
)
MOLECULES = read_as(
    Results,
    COMMON
    | {
        "metric": "pair_f1",
        "test": {"pair_f1": 0.6},
        "default_test": {"pair_f1": 0.5},
        "gain": {"metric": "pair_f1", "difference": 0.1, "low": 0.02, "high": 0.2, "real": True},
        "pairs": {
            "tuned": {"right": 62, "called": 107, "true": 100},
            "default": {"right": 50, "called": 100, "true": 100},
            "molecules": 18,
        },
    },
)


def started(task, **dataset):
    return RunStarted(
        plan={"strategy": "mm"}, kind="penalties", dataset=DatasetFacts(task=Task(task), **dataset)
    )


def test_tokens_are_called_tokens():
    assert headline(TOKENS, 600) == "Tuning changed nothing that 600 tokens could show"
    assert scores_line(TOKENS).startswith("90.0\u00a0% of test tokens right, against 85.0\u00a0%")
    said = result_sentences(TOKENS, started("sequence", test_rows=600, test_sequences=60))
    assert said[0] == (
        "On the test set of 60 sequences (600 tokens), the tuned model is right on 540, the "
        "default setting on 510."
    )
    assert said[1] == "It labels 21 of 60 sequences without any error, the default setting 17."
    assert "With 600 tokens chance alone" in said[2]


def test_pairs_are_found_and_right():
    short = "Finds 62 of 100 true base pairs; 58 of 100 called pairs are right"
    assert pairs_summary(MOLECULES["pairs"]["tuned"]) == short
    assert scores_line(MOLECULES).startswith(short + " · F1 on test molecules 60.0\u00a0%")
    said = result_sentences(MOLECULES, started("structure", test_rows=18))
    assert said[0] == (
        "On 18 test molecules the tuned model finds 62 of 100 true base pairs; 62 of the 107 "
        "pairs that it calls are right."
    )
    assert said[1] == "The default setting finds 50; 50 of the 100 it calls are right."


def test_no_pair_called_is_no_share():
    short = pairs_summary(PairCounts(right=0, called=0, true=10))
    assert short == "Finds 0 of 100 true base pairs; – of 100 called pairs are right"
