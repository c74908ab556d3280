from __future__ import annotations

from types import SimpleNamespace

from app.session.shown_run import ShownRun
from app.text.tuning.head import run_title
from app.text.tuning.narrator import narration
from app.text.unit_names import size_of_test_set
from app.window.step_states import _data_chosen
from core.datasets.dataset_summary import DatasetSummary
from core.datasets.task import Task
from core.tuning.events import (
    HyperGradientStep,
    MoleculesFolded,
    PenaltyStep,
    Progress,
    RunStarted,
    SequencesLabelled,
    TrialFinished,
)
from core.tuning.payloads import DatasetFacts, FoldedMolecule, LabelledSequence
from core.tuning.runs.state import state_from_events

SEQUENCES = SequencesLabelled(
    step=1,
    classes=["A", "B"],
    sequences=[
        LabelledSequence("1", ["x", "y"], ["A", "B"], ["A", "A"], [[0.9, 0.1], [0.6, 0.4]]),
        LabelledSequence("2", ["z"], ["B"], ["B"], [[0.3, 0.7]]),
    ],
)
MOLECULES = MoleculesFolded(
    step=1,
    molecules=[
        FoldedMolecule("m", "GGAAACC", "((...))", "(.....)", []),
        FoldedMolecule("n", "GAAAC", ".....", "(...)", []),
    ],
)


def begun(task, strategy="mm", groups=3, **dataset):
    return RunStarted(
        plan={"strategy": strategy, "model": "crf"},
        kind="penalties",
        dataset=DatasetFacts(task=Task(task), test_rows=90, **dataset),
        groups={f"g{n}": 1 for n in range(groups)},
    )


def said(*events):
    return " ".join(narration(state_from_events(events)))


def test_sequences_and_their_tokens_of_the_test_set_are_counted():
    words = said(begun("sequence", test_sequences=12))
    assert words.startswith("The model learns which features indicate which label")
    assert "12 sequences (90 tokens) are the test set" in words
    assert "training sequences themselves" in words


def test_molecules_of_the_test_set_are_counted():
    words = said(begun("structure", "gradient"))
    assert "90 molecules are the test set" in words
    assert "Some molecules are held out" in words
    step = HyperGradientStep(step=0, holdout_loss=2.0, d={"g0": 0.0})
    assert "error on held-out molecules is 2" in said(begun("structure", "gradient"), step)


def test_one_penalty_for_all_is_told_as_that():
    assert "All weights share one penalty." in said(begun("sequence", groups=1))
    assert "Each group of weights has its own penalty." in said(begun("sequence", groups=2))
    assert "Each group of columns has its own penalty." in said(begun("binary"))


def test_the_examples_are_counted():
    assert (
        "In the 2 training sequences shown, the model labels 2 of 3 tokens rightly; "
        "it is 73\u00a0% sure on average."
    ) in said(begun("sequence"), SEQUENCES)
    assert (
        "In the 2 training molecules shown, the model finds 1 of 2 true base pairs; 1 of the 2 "
        "pairs it calls are right."
    ) in said(begun("structure"), MOLECULES)


def test_groups_of_weights_have_no_columns():
    step = PenaltyStep(step=1, objective=1.0, penalties={"g0": 100.0, "g1": 1.0})
    words = said(begun("structure"), step)
    assert "“g0” is penalized 100 times harder than “g1”: it adds little." in words
    many = [f"g{n}" for n in range(6)]
    off = PenaltyStep(step=1, objective=1.0, penalties=dict.fromkeys(many, 1.0), switched_off=many)
    words = said(begun("structure"), off)
    assert "6 groups are switched off and no longer count: “g0”, “g1”, “g2”, “g3” and 2 more." in (
        words
    )


def test_the_head_says_what_is_learned():
    assert (
        run_title(state_from_events([begun("sequence")]))
        == "Learning one penalty for each group of weights"
    )
    one = state_from_events([begun("sequence", groups=1)])
    assert run_title(one) == "Learning the penalty of a conditional random field"


def test_a_moment_of_the_replay_has_the_examples_of_its_step():
    step = PenaltyStep(step=0)
    events = [begun("sequence"), step, SEQUENCES, Progress(), step, SEQUENCES, Progress()]
    assert ShownRun(events, None).stops == [3, 6]
    trials = [RunStarted(), TrialFinished(), Progress(), TrialFinished()]
    assert ShownRun(trials, None).stops == [2, 4]


def test_rows_are_called_what_they_are():
    assert Task.BINARY.count_text(81) == "81 rows"
    assert Task.SEQUENCE.count_text(5) == "5 tokens"
    assert size_of_test_set(DatasetFacts(task=Task.STRUCTURE, test_rows=7)) == "7 molecules"
    assert size_of_test_set(DatasetFacts(task=Task.BINARY)) == ""


def test_the_rail_says_what_the_rows_are():
    for task, words in (("sequence", "a.csv · 9 tokens · 3 columns"),
                        ("structure", "a.csv · 9 molecules"),
                        ("regression", "a.csv · 9 rows · 3 columns")):  # fmt: skip
        summary = DatasetSummary("a.csv", "csv", rows=9, features=3, task=Task(task), target="y")
        assert _data_chosen(SimpleNamespace(summary=summary)) == words
