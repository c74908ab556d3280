"""Streams of events of structured models, made up and always the same."""

from __future__ import annotations

import numpy as np

from core.datasets.molecules import bracket_pairs
from core.json_reading import read_as
from core.tuning.events import (
    DatasetFacts,
    FoldedMolecule,
    HyperGradientStep,
    LabelledSequence,
    MoleculesFolded,
    PenaltyStep,
    RunStarted,
    SequencesLabelled,
)
from core.tuning.run_results import Results

TAGS = ("ADJ", *(f"TAG{number}" for number in range(16)))  # as many as parts of speech
WORDS = ("the", "president", "nominated", "internationalization", ",")
GROUPS = (
    "base pairings", "terminal mismatch interactions", "hairpin loop lengths",
    "explicit internal loop sizes", "symmetric internal loop lengths", "bulge loop lengths",
    "single base bulge nucleotides", "single base pair stacking interactions",
)  # fmt: skip
STEM, SHIFTED = "((((.....))))..", "(((.....)))...."


def labelled(step=5, lengths=(25, 7, 40), classes=TAGS):
    """Sequences whose labels become surer and righter with the steps."""
    sequences = []
    for number, length in enumerate(lengths):
        rng = np.random.default_rng(number)
        truth = rng.integers(len(classes), size=length)
        scores = rng.normal(size=(length, len(classes))) * 1.5
        scores[np.arange(length), truth] += 1.0 + step * rng.random(length)
        shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        sequences.append(
            LabelledSequence(
                name=str(number + 12),
                tokens=[WORDS[at % len(WORDS)] for at in range(length)],
                truth=[classes[at] for at in truth],
                labels=[classes[at] for at in shares.argmax(axis=1)],
                marginals=shares.round(4).tolist(),
            )
        )
    return SequencesLabelled(step=step, classes=list(classes), sequences=sequences)


def folded(step=5, lengths=(116, 30, 72, 150)):
    """Molecules of stems, of which every third is paired wrongly."""
    molecules = []
    for number, length in enumerate(lengths):
        letters = "".join(np.random.default_rng(number).choice(list("ACGU"), size=length))
        stems = range(length // len(STEM))
        truth = (STEM * len(stems)).ljust(length, ".")
        called = "".join(STEM if at % 3 else SHIFTED for at in stems).ljust(length, ".")
        true = set(bracket_pairs(truth))
        shares = {pair: 0.7 if pair in true else 0.3 for pair in true | {*bracket_pairs(called)}}
        pairs = [[i, j, share] for (i, j), share in sorted(shares.items())]
        molecules.append(FoldedMolecule(f"RF0000{number + 1}_A", letters, truth, called, pairs))
    return MoleculesFolded(step=step, molecules=molecules)


def structured_run(task, steps=6, strategy="mm", **given):
    """A run on sequences or molecules, with the examples of every step."""
    model = {"sequence": "crf", "structure": "rna"}[task]
    counts = {"task": task, "rows": 2400, "train_rows": 1800, "test_rows": 600}
    if task == "sequence":
        counts |= {"train_sequences": 180, "test_sequences": 60}
    yield RunStarted(
        run=f"{model}-{strategy}",
        plan={"model": model, "strategy": strategy},
        dataset=DatasetFacts(name="made up", **counts),
        kind="penalties",
        groups=dict.fromkeys(GROUPS, 10),
        total=100,
    )
    for step in range(steps):
        d = {name: (at - 3) * (1 - 0.6**step) for at, name in enumerate(GROUPS)}
        if strategy == "gradient":
            yield HyperGradientStep(step=step, holdout_loss=50 + 20 * 0.5**step, d=d)
        else:
            C = {name: float(np.exp(value)) for name, value in d.items()}
            yield PenaltyStep(step=step, objective=400 + 200 * 0.5**step, penalties=C)
        make = labelled if task == "sequence" else folded
        yield make(step, **given)


def results_of(task, classes=TAGS):
    """Results as the core gives them, for tokens or for molecules."""
    metric, score = {"sequence": ("accuracy", 0.902), "structure": ("pair_f1", 0.6)}[task]
    common = {"metric": metric, "test": {metric: score}, "default_test": {metric: 0.93 * score}}
    if task == "structure":
        gammas, share = 2.0 ** np.arange(-5, 11), np.linspace(0.1, 0.8, 16)
        tuned = np.stack([gammas, share, 0.9 - 0.6 * share**2], axis=1).tolist()
        default = np.stack([gammas, 0.95 * share, 0.85 - 0.65 * share**2], axis=1).tolist()
        return read_as(Results, common | {"curve": {"tuned": tuned, "default": default}})
    counts = np.random.default_rng(2).poisson(1.2, (len(classes), len(classes)))
    counts += 900 * np.eye(len(classes), dtype=int)
    counts[-1, 0] = 200  # the last class is often taken for the first
    confusion = {"labels": list(classes), "tuned": counts.tolist(), "default": counts.T.tolist()}
    sequences = {"tuned": 21, "default": 17, "count": 60}
    return read_as(Results, common | {"confusion": confusion, "sequences": sequences})
