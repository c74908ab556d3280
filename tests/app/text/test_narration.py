"""What is said of the current run: trials, penalties, averages, topics, pictures, sequences."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import pytest

from app.session.shown_run import ShownRun
from app.text.history_text import matching_counts_text
from app.text.narration import narration
from app.text.run_head import progress_text, run_title
from app.window.window_sides import _data_chosen
from core.datasets.dataset_summary import DatasetSummary
from core.datasets.task import Task
from core.space import Axis
from core.tuning.events import (
    DatasetFacts,
    DisputedRow,
    EnsembleUpdated,
    FoldedMolecule,
    HistoryDataset,
    HistoryRead,
    HyperGradientStep,
    ImagesDrawn,
    JointSurfaceFitted,
    LabelledSequence,
    MembersDisagree,
    MoleculesFolded,
    PenaltyStep,
    Progress,
    RemarkMade,
    RunFailed,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    SequencesLabelled,
    SurrogateFitted,
    Topic,
    TopicsFound,
    TrialExcluded,
    TrialFailed,
    TrialFinished,
    TrialStarted,
    TuningEnded,
)
from core.tuning.history.dataset_records import HistoryCounts
from core.tuning.plan import DataPlan, Plan
from core.tuning.run_results import OmittedTrial
from core.tuning.runs.state import state_from_events
from core.wording import percent

AXIS = Axis("C", "Cost", "float", 0.01, 100.0, log=True)


def started(strategy="hybrid", kind="trials", **options):
    plan = Plan(DataPlan("heart.csv"), "svm", strategy, options=options).as_dict()
    space = [AXIS] if kind == "trials" else []
    return RunStarted(plan=plan, kind=kind, space=space, dataset=DatasetFacts(test_rows=81))


def said_of(*events):
    return " ".join(narration(state_from_events(events)))


def told(*events, **how):
    return said_of(started(**how), *events)


def tried(number, score, reason="", c=0.27):
    setting, reason = {"C": c}, reason or ("improve" if number else "default")
    return (
        TrialStarted(number=number, setting=setting, reason=reason),
        TrialFinished(number=number, setting=setting, score=score),
    )


def step(number, objective, penalties, off=()):
    return PenaltyStep(
        step=number, objective=objective, penalties=penalties, switched_off=list(off)
    )


def assert_said(said, words):
    """Each of the words between | is said, and none that follows a !."""
    for word in words.split("|"):
        assert (word.lstrip("!") in said) != word.startswith("!"), word


PENALTIES = {"strategy": "mm", "kind": "penalties"}
TRANSFER = {"strategy": "transfer"}
BOTH = (*tried(0, 0.8), *tried(1, 0.9))
THREE = (*tried(0, 0.7), *tried(1, 0.9), *tried(2, 0.8))
OUT = TrialExcluded(number=1)
OFF = {"blood": 1.0, "noise_a": 1e6, "imaging": 4.0}
EXPECTED = TrialStarted(setting={"C": 0.27}, reason="improve", expected=0.873, uncertainty=0.01)
EXPLORED = TrialStarted(setting={"C": 0.27}, reason="explore", expected=0.87, uncertainty=0.02)
GRADIENT = (
    HyperGradientStep(step=0, holdout_loss=0.6, d={"a": 0.0, "b": 0.0}),
    HyperGradientStep(step=1, holdout_loss=0.5, d={"a": 0.0, "b": math.log(10)}, at_bound=["a"]),
)


def read(count):
    datasets = [
        HistoryDataset(str(at), [5.0, 2.0, 2], [], [], True, starter=False, distance=at / 10)
        for at in range(count)
    ]
    return HistoryRead(statistics=[5.0, 2.0, 2], axes=["C"], datasets=datasets)


def surface(**fields):
    return JointSurfaceFitted(
        **{"trials": 3, "mean": 0.8, "scale": 0.02, "settled": True, **fields}
    )


@pytest.mark.parametrize(
    ("events", "how", "words"),
    [
        ((), {}, "Gaussian process|One in five goes where|81 rows are the test set"),
        ((), {"tau": 0.9}, "One in ten goes"),
        ((), {"tau": 0.63}, "A share of 37 % goes"),
        ([SurrogateFitted(trials=14)], {}, "from the 14 tried so far"),
        ([EXPECTED], {}, "about 87.3\u00a0% is expected"),
        ([EXPLORED], {}, "give or take 2.0 points"),
        (BOTH, {}, "the best so far|!not as good as the best"),
        ([*BOTH, *tried(2, 0.85)], {},
         "not as good|trial 1 with 90.0\u00a0%; the default setting has 80.0\u00a0%"),
        ([*BOTH, started()], {}, "!90.0\u00a0%"),
        ([replace(started(), maximize=False), *BOTH], {}, "not as good as the best"),
        ([*tried(0, 0.5), *(e for n in range(1, 12) for e in tried(n, 0.5))], {}, "for 11 tr"),
        ([TrialFailed(number=7, reason="It took longer than 10 s.")], {},
         "Trial 7 failed: It took longer than 10 s. The run continues without it."),
        ([TrialFailed(number=7, reason="no memory")], {}, "no memory. The run"),
        ([*THREE, OUT], {}, "Trial 1 is excluded|The best so far is trial 2"),
        ([*THREE, OUT, TrialExcluded(number=1, excluded=False)], {},
         "Trial 1 counts again|The best so far is trial 1"),
        ([*tried(0, 0.7), *tried(1, 0.9), OUT, RunResumed(done=2, total=4), *tried(1, 0.9)], {},
         "it does not count|!best so far"),
        ([step(0, 570.0, {"blood": 1.0, "noise_a": 1.0}),
          step(1, 411.3, {"blood": 0.5, "noise_a": 24.0})], PENALTIES,
         "“noise_a” is penalized 48 times harder than “blood”.|Step 1: "
         "the objective falls from 570 to 411.3|no validation is needed"),
        ([step(0, 5.0, dict.fromkeys(OFF, 1.0)), step(1, 4.0, OFF, off=["noise_a"])], PENALTIES,
         "“noise_a” is switched off|“imaging” is penalized 4 times harder than “blood”"),
        ([step(0, 400.0, {"a": 1.0}), step(1, 399.99, {"a": 2.0})], PENALTIES, "hardly moves"),
        ([HyperGradientStep(d={"a": 1.0, "b": 9.0, "off": 12.0}, switched_off=["off"],
                            ranges={"a": [1, 3], "b": [12, 9e3], "off": [1, 2]})],
         {"strategy": "gradient", "kind": "penalties"},
         "“b” is penalized at least 4 times harder than “a”.|“off” is switched off"),
        ([HyperGradientStep(d={"a": 1.0, "b": 9.0}, ranges={"a": [1, 3], "b": [2, 9e3]})],
         {"strategy": "gradient", "kind": "penalties"}, "all are level|!harder"),
        ([step(0, 5.0, dict.fromkeys("ab", 1.0)), step(1, 4.0, {"a": 1e-3, "b": 286.0})], PENALTIES,
         "“b” is penalized over 100 times harder than “a”."),
        (GRADIENT, {"strategy": "gradient", "kind": "penalties"},
         "on held-out rows falls to 0.5|!harder|"
         "At the end of the allowed range: the penalty of “a”."),
        ([*BOTH, EnsembleUpdated(members=[1], weights=[1.0])], {},
         "The average has one member so far, trial 1"),
        ([RunResumed(done=14, total=40)], {}, "continues after 14"),
        ([RunFinished(because="the budget was spent")], {}, "the budget was spent"),
        ([RunStopped(because="it was stopped")], {}, "it was stopped"),
        ([RunFailed(sentence="No trial gave a score.")], {}, "No trial gave a score."),
        ([read(34), JointSurfaceFitted(neighbours=list(range(20)))], TRANSFER,
         "The history holds 34 datasets for this model|The 20 nearest count.|what worked on "
         "datasets like this one"),
        ([read(3)], TRANSFER,
         f"{matching_counts_text(HistoryCounts(3, 3))}|!nearest count"),
        ([read(1)], TRANSFER, "holds 1 dataset for this model, similar to yours"),
        ([read(0)], TRANSFER,
         "The history holds nothing for this model yet: it starts like a Gaussian process."),
        ([read(2), surface(trials=1, settled=False)], TRANSFER, "from earlier datasets"),
        ([read(0), surface(trials=1, settled=False)], TRANSFER, "assumed until two scores"),
        ([surface(trials=1, settled=False), surface()], TRANSFER,
         "Mean 80.0\u00a0%, standard deviation 2.0 points: from this dataset's 3 scores.|from "
         "this dataset's 3 trials and from what worked|!borrowed"),
        ([surface(method="scot", mean=-23.0)], {"strategy": "scot"}, "!deviation"),
        ([read(3)], {"strategy": "scot"}, "which settings beat which others"),
        ([read(3), *tried(0, 0.8, reason="past"), *tried(1, 0.9)], TRANSFER,
         "The first trial was the setting that looked best on earlier datasets.|!the default "
         "setting has"),
    ],
)  # fmt: skip
def test_what_is_said_of_trials_penalties_and_earlier_datasets(events, how, words):
    assert_said(told(*events, **how), words)


def test_a_notice_and_the_name_of_a_model_are_said_once():
    damaged = RemarkMade(sentence="The history is damaged.")
    said = told(damaged, damaged, read(3), *tried(0, 0.8), strategy="scot")
    assert (said.count(damaged.sentence), said.count("Gaussian process")) == (1, 1)


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("explore", "cost (C) = 0.27 is tried because nothing is known there"),
        ("improve", "cost (C) = 0.27 is tried because it may be better than the best"),
        ("default", "the default setting (cost (C) = 0.27) is tried"),
        ("past", "cost (C) = 0.27 is tried first, because settings like it did best on earlier"),
        ("hand", "cost (C) = 0.27 is tried, because you asked for it"),
        ("random", "drawn at random"),
        ("grid", "next point of the grid"),
        ("tpe", "good trials are dense"),
        ("something new", "cost (C) = 0.27 is tried."),
    ],
)
def test_every_reason_of_a_trial_is_said(reason, words):
    assert words in told(TrialStarted(setting={"C": 0.27}, reason=reason))


def test_every_strategy_has_words_of_its_own():
    from core.tuning.strategies.registry import STRATEGIES

    said = {name: told(strategy=name, kind=strategy.kind) for name, strategy in STRATEGIES.items()}
    assert all(len(words) > 60 for words in said.values())
    assert len(set(said.values())) == len(said)


def test_how_many_trials_without_a_better_one_are_left():
    plan = Plan(DataPlan("heart.csv"), "svm", "random", patience=20).as_dict()
    same = [TrialFinished(number=n, setting={"C": 1.0}, score=0.5) for n in range(12)]
    ended = TuningEnded(because="the budget of 60 trials was spent")
    # With 21 trials in all the budget is spent first.
    for total, more, is_said in ((60, (), True), (21, (), False), (60, (ended,), False)):
        begun = RunStarted(plan=plan, kind="trials", space=[AXIS], total=total)
        said = said_of(begun, *same, *more)
        assert ("After 9 more without a better one the run stops." in said) is is_said
        assert "No improvement for 11 trials" in said or more


def averaging(judged="cv", maximize=False, **options):
    plan = {"strategy": "eb-hyp", "model": "svm", "options": options, "folds": 5}
    return RunStarted(
        plan=plan, kind="trials", space=[AXIS], dataset=DatasetFacts(test_rows=81),
        metric="log_loss",
        maximize=maximize, total=40, judged=judged, averages=True,
    )  # fmt: skip


def average(count=4, weights=None, **fields):
    weights = weights or [1 / count] * count
    made = {
        "finished": 10 * count, "members": list(range(count)), "weights": weights,
        "scores": [0.1] * count, "average": 0.09, "single": 0.1,
    }  # fmt: skip
    return EnsembleUpdated(**{**made, **fields})


def without(*numbers):
    return average(left_out=[OmittedTrial(n, f"Trial {n} is left out: it fails.") for n in numbers])


def drawn(candidates):
    return TrialStarted(setting={"C": 0.27}, reason="sample", candidates=candidates)


DISPUTED = MembersDisagree(
    members=[0, 1],
    classes=["no", "yes"],
    rows=[DisputedRow(11, "", "yes", spread=0.3, said=[[0.9, 0.1], [0.2, 0.8]])],
)


@pytest.mark.parametrize(
    ("events", "how", "words"),
    [
        ((), {},
         "drawn at random|can be luck, so the best tenth of the models predicts together|the "
         "mean over 5 parts of the training rows"),
        ((), {"rule": "thompson"}, "best one of a guess"),
        ((), {"judged": "validation"}, "one part of the training rows that is held out"),
        ((), {"judged": "training"}, "training rows themselves: no validation is needed"),
        ([drawn(None)], {}, "cost (C) = 0.27 is tried; it is drawn from what the scores"),
        ([drawn(1442.3)], {}, "The effective number of candidate settings is about 1400."),
        ([drawn(1.2)], {}, "Hardly any other setting is a candidate."),
        ([average(1, finished=9)], {},
         "one member so far, trial 0; from 20 trials on there are two|!ahead"),
        ([average(1, finished=31)], {}, "!from 20"),
        ([average(2)], {}, "2 trials are in the average; each counts half."),
        ([average(4)], {}, "4 trials are in the average; each counts a quarter."),
        ([average(8)], {}, "8 trials are in the average; each counts 12\u00a0%."),
        ([average(weights=[0.2, 0.5, 0.15, 0.15])], {},
         "trial 1 50\u00a0%, trial 0 20\u00a0%, trial 2 15\u00a0% and 1 more the rest"),
        ([average(weights=[0.5, 0.5, 0.0, 0.0])], {},
         "2 trials are in the average|2 more of the best get no weight"),
        ([average(average=0.09, single=0.1)], {}, "the average is ahead by 0.01."),
        ([average(average=0.1, single=0.09)], {}, "the single best is ahead by 0.01."),
        ([average(average=0.95, single=0.9)], {"maximize": True}, "the average is ahead by 0.05."),
        ([average(average=0.1, single=0.1001)], {}, "they hardly differ."),
        ([average(average=None, single=None)], {}, "!held-out data"),
        ([without(7)], {}, "Trial 7 is left out: it fails."),
        ([without(7, 9, 11)], {}, "Trial 11 is left out: it fails. So are 2 others.|!Trial 7 is"),
        ([average(2), DISPUTED], {},
         "disagree most about row 12: “yes” is 10\u00a0% to 80\u00a0% likely"),
        ([average(2), DISPUTED, average(1)], {}, "!disagree"),
        ([average(), RunFinished(because="done")], {}, "The run has ended: done."),
    ],
)  # fmt: skip
def test_what_is_said_of_an_average(events, how, words):
    assert_said(said_of(averaging(**how), *events), words)


@pytest.mark.parametrize(
    ("update", "head"),
    [(average(), "1 of 40, 0 s · 4 models in the average · log loss 0.09"),
     (average(2, weights=[1.0, 0.0], average=None),
      "1 of 40, 0 s · one model in the average · best log loss 0.08")],
)  # fmt: skip
def test_the_head_says_how_many_models_with_weight_and_how_good_they_are(update, head):
    run = state_from_events([averaging(), TrialFinished(number=0, score=0.08), update])
    assert run_title(run) == "Averaging over good settings"
    assert progress_text(run, "") == head


TOPICS = TopicsFound(
    number=3,
    count=50,
    documents=11314,
    topics=[
        Topic(0.087, ["space", "nasa", "orbit", "moon", "sky"], [0.1] * 5),
        Topic(0.06, ["game", "team"], [0.2, 0.1]),
        Topic(0.05, ["god"], [0.3]),
    ],
)


GREY = [[0.5] * 4] * 3
DRAWN = ImagesDrawn(2, 2, 2, samples=GREY, originals=GREY, reconstructions=GREY)
ONE_TOPIC = TopicsFound(number=0, count=1, documents=120, topics=TOPICS.topics[:1])
LATER = TopicsFound(number=5, count=80, documents=11314, topics=TOPICS.topics[1:])


@pytest.mark.parametrize(
    ("events", "task", "words"),
    [
        ([TOPICS], "topics",
         "finds 50 topics, groups of words that come together, in 11,314 texts|the largest: "
         f"“space, nasa, orbit, moon” ({percent(0.087)} of all words) and “game, team” "
         f"({percent(0.06)} of all words).|!god"),
        ([ONE_TOPIC], "topics", "puts the words of all 120 texts into one topic: “space"),
        ([TOPICS, LATER], "topics", "finds 80 topics|!space"),
        ([TopicsFound()], "topics", "!topics, groups of words|!one topic"),
        ([DRAWN], "multiclass", "generates 3 pictures: no such picture is in the data|pictures "
         "of the data as they are reconstructed"),
        ([ImagesDrawn(samples=GREY, height=2, width=2)], "multiclass", "!reconstructed"),
        ([ImagesDrawn()], "multiclass", "!generates"),
    ],
)  # fmt: skip
def test_what_is_said_of_topics_and_pictures(events, task, words):
    begun = RunStarted(plan={"strategy": "gp"}, dataset=DatasetFacts(task=Task(task)))
    assert_said(said_of(begun, *events), words)


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


MANY = [f"g{n}" for n in range(6)]
ALL_OFF = PenaltyStep(step=1, objective=1.0, penalties=dict.fromkeys(MANY, 1.0), switched_off=MANY)


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([begun("sequence", test_sequences=12)],
         "The model learns which features indicate which label|12 sequences (90 tokens) are the "
         "test set|training sequences themselves"),
        ([begun("structure", "gradient"),
          HyperGradientStep(step=0, holdout_loss=2.0, d={"g0": 0.0})],
         "90 molecules are the test set|Some molecules are held out|error on held-out molecules "
         "is 2"),
        ([begun("sequence", groups=1)], "All weights share one penalty."),
        ([begun("sequence", groups=2)], "Each group of weights has its own penalty."),
        ([begun("binary")], "Each group of columns has its own penalty."),
        ([begun("sequence"), SEQUENCES],
         "In the 2 training sequences shown, the model labels 2 of 3 tokens rightly; it is "
         "73\u00a0% sure on average."),
        ([begun("structure"), MOLECULES],
         "In the 2 training molecules shown, the model finds 1 of 2 true base pairs; 1 of the 2 "
         "pairs it calls are right."),
        ([begun("structure"), step(1, 1.0, {"g0": 100.0, "g1": 1.0})],
         "“g0” is penalized 100 times harder than “g1”."),
        ([begun("structure"), ALL_OFF],
         "6 groups are switched off and no longer count: “g0”, “g1”, “g2”, “g3” and 2 others."),
    ],
)  # fmt: skip
def test_what_is_said_of_sequences_and_molecules(events, words):
    assert_said(said_of(*events), words)


def test_the_head_says_what_is_learned():
    each, common = (run_title(state_from_events([begun("sequence", groups=n)])) for n in (3, 1))
    assert each == "Learning one penalty for each group of weights"
    assert common == "Learning the penalty of a conditional random field"


def test_a_moment_of_the_replay_has_what_was_learned_from_its_step():
    step = PenaltyStep(step=0)
    events = [begun("sequence"), step, SEQUENCES, Progress(), step, SEQUENCES, Progress()]
    assert ShownRun(events, None).stops == [4, 7]
    trials = [RunStarted(), TrialFinished(), Progress(), TrialFinished()]
    assert ShownRun(trials, None).stops == [3, 4]


def test_the_rail_and_the_test_set_say_what_the_rows_are():
    assert DatasetFacts(task=Task.STRUCTURE, test_rows=7).test_set_text == "7 molecules"
    assert DatasetFacts(task=Task.BINARY).test_set_text == ""
    for task, words in (("sequence", "a.csv · 9 tokens · 3 columns"),
                        ("structure", "a.csv · 9 molecules"),
                        ("regression", "a.csv · 9 rows · 3 columns")):  # fmt: skip
        summary = DatasetSummary("a.csv", "csv", rows=9, features=3, task=Task(task), target="y")
        assert _data_chosen(SimpleNamespace(summary=summary)) == words
