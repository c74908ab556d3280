"""Whole runs on sequences and molecules: every learner, the grid, examples, resuming, results."""

from __future__ import annotations

import functools
import math

import numpy as np
import pandas as pd
import pytest
from run_events import InProcess, of, until

from core.datasets.reading import read_dataset
from core.errors import UnusableError
from core.estimators.structured.crf_tagger import CrfTagger
from core.estimators.structured.rna_folder import RnaFolder
from core.tuning.event_lines import from_json, to_json
from core.tuning.events import (
    HyperGradientStep,
    MoleculesFolded,
    PenaltyStep,
    RunFinished,
    RunStopped,
    SequencesLabelled,
    TrialFinished,
)
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem
from core.tuning.results.conclude import conclude
from core.tuning.runs.best import best_of
from core.tuning.runs.run_folder import RunFolder
from core.tuning.scores.metrics import METRICS
from core.tuning.tune import tune

pytestmark = pytest.mark.slow
LEARNERS = {
    "mm": {"max_steps": 3},
    "evidence": {"max_steps": 1},
    "direct": {"max_steps": 4},
    "gradient": {"steps": 2},
}


@pytest.fixture(scope="module")
def tagged(sentences):
    return sentences(120)


@pytest.fixture(scope="module")
def folded(tmp_path_factory):
    """30 hairpins with a stem of four pairs."""
    generator = np.random.default_rng(0)
    turned = str.maketrans("ACGU", "UGCA")
    rows = []
    for number in range(30):
        stem = "".join(generator.choice(list("CG"), 4))
        left, loop, right = (
            "".join(generator.choice(list("AAU"), size)) for size in generator.integers(3, 6, 3)
        )
        letters = left + stem + loop + stem[::-1].translate(turned) + right
        brackets = "." * len(left) + "((((" + "." * len(loop) + "))))" + "." * len(right)
        rows.append((f"m{number}", letters, brackets))
    path = tmp_path_factory.mktemp("molecules") / "molecules.csv"
    pd.DataFrame(rows, columns=["id", "sequence", "structure"]).to_csv(path, index=False)
    return str(path)


def planned(file, strategy, **changes):
    model = "rna" if file.endswith("molecules.csv") else "crf"
    plan = Plan(
        DataPlan(file), model, strategy, groups="column", options=LEARNERS.get(strategy, {})
    )
    return plan.changed(**changes)


@pytest.fixture(scope="module")
def whole(tagged, folded):
    """The events of a learner's whole run on sequences or molecules, made once."""

    @functools.cache
    def events_of(kind, strategy):
        file = {"tagged": tagged, "folded": folded}[kind]
        return list(tune(planned(file, strategy), read_dataset(file)))

    return events_of


@pytest.mark.parametrize("strategy", LEARNERS)
def test_every_learner_labels_sequences(whole, strategy):
    events = whole("tagged", strategy)
    assert isinstance(events[-1], RunFinished)
    results = events[-1].results
    assert set(results["groups"]) == {"initial", "transition", "word", "noise"}
    assert results["test"]["accuracy"] > 0.7
    assert results["sequences"]["count"] == 36
    assert 0 < results["sequences"]["tuned"] <= 36
    assert 0.4 < results["baseline_test"]["accuracy"] < results["test"]["accuracy"]
    assert np.sum(results["confusion"]["tuned"]) == results["right"]["rows"]


@pytest.mark.parametrize("strategy", LEARNERS)
def test_every_learner_folds_molecules(whole, strategy):
    events = whole("folded", strategy)
    assert isinstance(events[-1], RunFinished)
    results = events[-1].results
    assert (len(results["groups"]), results["metric"]) == (15, "pair_f1")
    assert results["pairs"]["tuned"]["true"] == 9 * 4
    assert results["test"]["sensitivity"] > 0.8
    assert len(results["curve"]["tuned"]) == 16


METRIC = {"tagged": "joint_log_loss", "folded": "structure_log_loss"}


@pytest.mark.parametrize("kind", METRIC)
def test_the_grid_gives_the_score_of_a_cold_fit_at_every_penalty(kind, request):
    file = request.getfixturevalue(kind)
    plan = planned(file, "grid", trials=4, folds=3, metric=METRIC[kind])
    dataset = read_dataset(file)
    *trials, last = of(TrialFinished, tune(plan, dataset, executor=InProcess))
    assert len(trials) == 3
    Model = {"tagged": CrfTagger, "folded": RnaFolder}[kind]
    expected = []
    for fold in build_problem(plan, dataset).fold_data():
        model = Model(C=last.setting["C"]).fit(fold.fit_X, fold.fit_y)
        expected.append(float(model.log_losses(fold.score_X, fold.score_y).mean()))
    assert last.fold_scores == pytest.approx(expected, rel=1e-3)
    assert last.score == pytest.approx(np.mean(expected), rel=1e-3)


def test_a_few_training_sequences_are_shown_after_every_step(tagged, whole):
    dataset, events = read_dataset(tagged), whole("tagged", "mm")
    shown = of(SequencesLabelled, events)
    assert [event.step for event in shown] == [event.step for event in of(PenaltyStep, events)]
    problem = build_problem(planned(tagged, "mm"), dataset)
    seen = set(dataset.row_groups[problem.train_rows])
    for sequence in shown[-1].sequences:
        assert sequence.name in seen
        own = dataset.row_groups == sequence.name
        assert sequence.truth == dataset.target[own].tolist()
        assert sequence.tokens == dataset.table.loc[own, "word"].tolist()
        assert np.sum(sequence.marginals, axis=1) == pytest.approx(1.0, abs=1e-3)
        likeliest = np.argmax(sequence.marginals, axis=1)
        assert sequence.labels == [shown[-1].classes[k] for k in likeliest]
    assert from_json(to_json(shown[-1])) == shown[-1]


def test_a_few_training_molecules_are_shown_after_every_step(folded, whole):
    dataset, events = read_dataset(folded), whole("folded", "gradient")
    shown = of(MoleculesFolded, events)
    assert len(shown) == len(of(HyperGradientStep, events))
    for molecule in shown[-1].molecules:
        at = dataset.row_names.tolist().index(molecule.name)
        assert molecule.truth == dataset.target[at]
        assert molecule.sequence == dataset.table.iloc[at, 0]
        assert len(molecule.predicted) == len(molecule.sequence)
        assert all(i < j and 0.01 <= p <= 1.0 for i, j, p in molecule.pairs)


def test_a_resumed_run_ends_like_an_uninterrupted_one(tagged, whole):
    events = whole("tagged", "mm")
    past = events[: events.index(of(SequencesLabelled, events)[0]) + 1]
    resumed = list(tune(planned(tagged, "mm"), read_dataset(tagged), past=past))
    assert resumed[-1].results["groups"] == pytest.approx(events[-1].results["groups"], rel=1e-6)
    steps = of(PenaltyStep, [*past, *resumed])
    assert [step.step for step in steps] == [step.step for step in of(PenaltyStep, events)]


@pytest.mark.parametrize("kind", METRIC)
def test_a_stopped_run_keeps_the_model_of_its_last_step(kind, request, tmp_path):
    file = request.getfixturevalue(kind)
    dataset, plan = read_dataset(file), planned(file, "mm", refit=False)
    folder = RunFolder.create(plan, tmp_path)
    stream = tune(plan, dataset, folder=folder)
    event = until(stream, lambda event: isinstance(event, PenaltyStep) and event.step == 1)[-1]
    last = conclude(plan, dataset, folder.all_events(), folder=folder)
    assert isinstance(last, RunStopped)
    assert last.results["groups"] == pytest.approx(event.penalties)
    kept = best_of(folder)
    problem = build_problem(plan, dataset)
    X, y = problem.test_data
    assert METRICS[METRIC[kind]].needs == "losses"
    assert last.results["test"][METRIC[kind]] == pytest.approx(kept[-1].log_losses(X, y).mean())


@pytest.mark.parametrize("strategy", ["mm", "grid"])
def test_whole_sequences_are_decoded_at_once_where_a_person_wants_it(tagged, strategy, tmp_path):
    dataset = read_dataset(tagged)
    plan = planned(tagged, strategy, decoding="viterbi", trials=2, folds=2, refit=False)
    folder = RunFolder.create(plan, tmp_path)
    *_, last = tune(plan, dataset, folder=folder, executor=InProcess)
    kept = best_of(folder)
    X, y = build_problem(plan, dataset).test_data
    assert kept[-1].decoding == "viterbi"
    assert last.results["test"]["accuracy"] == np.mean(kept.predict(X) == y)
    token_by_token = kept[-1].classes_[kept.predict_proba(X).argmax(axis=1)]
    assert (kept.predict(X) != token_by_token).any()


def test_an_unknown_decoding_is_refused(tagged):
    with pytest.raises(UnusableError, match="posterior, viterbi"):
        build_problem(planned(tagged, "mm", decoding="best"), read_dataset(tagged))


def test_a_label_that_training_never_saw_counts_as_wrong(tagged, tmp_path):
    table = pd.read_csv(tagged)
    second = table[table["sequence"] >= "s9"].copy()
    second.loc[second.index[-1], "tag"] = "Z"
    other = tmp_path / "other.csv"
    second.to_csv(other, index=False)
    data = DataPlan(tagged, test_file=str(other))
    dataset = read_dataset(tagged, test_file=str(other))
    events = list(tune(Plan(data, "crf", "mm", options={"max_steps": 1}), dataset))
    test = events[-1].results["test"]
    rows = dataset.test.rows
    assert test["accuracy"] <= (rows - 1) / rows
    assert any("1 token of the second file has" in said for said in events[-1].results["remarks"])
    assert math.isfinite(test["joint_log_loss"])
    assert events[-1].results["right"]["rows"] == rows
