"""Streams of events of structured models, made up and always the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from core.datasets.molecules import bracket_pairs
from core.json_reading import read_as
from core.tuning.events import (
    DatasetFacts,
    Event,
    FoldedMolecule,
    HyperGradientStep,
    LabelledSequence,
    MoleculesFolded,
    PenaltyStep,
    RunStarted,
    SequencesLabelled,
)
from core.tuning.run_results import Results

TAGS = (
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN",
    "PUNCT", "SCONJ", "SYM", "VERB", "X",
)  # fmt: skip
WORDS = (
    "the", "president", "a", "nominated", "individuals", "to", "replace", "jurists", "on",
    "federal", "courts", "in", "Washington", ",", "internationalization", "of", "I", "was", ".",
)  # fmt: skip
CRF_GROUPS = (
    "initial", "transition", "word", "suffix3", "suffix2", "prefix2", "shape", "position",
)  # fmt: skip
MOTIFS = (
    "base pairings", "terminal mismatch interactions", "hairpin loop lengths",
    "explicit internal loop sizes", "bulge loop lengths", "internal loop lengths",
    "symmetric internal loop lengths", "internal loop asymmetry", "single base bulge nucleotides",
    "1x1 internal loop nucleotides", "helix stacking interactions", "helix closing interactions",
    "multi-branch loop lengths", "single base pair stacking interactions", "external loop lengths",
)  # fmt: skip


def labelled(
    step: int = 5, lengths: Sequence[int] = (25, 7, 40), classes: Sequence[str] = TAGS
) -> SequencesLabelled:
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
                tokens=[WORDS[at] for at in rng.integers(len(WORDS), size=length)],
                truth=[classes[at] for at in truth],
                labels=[classes[at] for at in shares.argmax(axis=1)],
                marginals=shares.round(4).tolist(),
            )
        )
    return SequencesLabelled(step=step, classes=list(classes), sequences=sequences)


def hairpins(length: int, rng: np.random.Generator) -> str:
    """A dot-bracket structure of a few stems side by side, some inside another."""
    signs = ["."] * length
    start = 2
    outer = length >= 60
    if outer:
        for at in range(6):
            signs[at], signs[length - 2 - at] = "(", ")"
        start = 9
    while start + 16 < length - (9 if outer else 0):
        stem, loop = int(rng.integers(3, 7)), int(rng.integers(3, 8))
        end = start + 2 * stem + loop
        if end >= length - (9 if outer else 0):
            break
        signs[start : start + stem] = "(" * stem
        signs[end - stem : end] = ")" * stem
        start = end + int(rng.integers(1, 5))
    return "".join(signs)


def folded(step: int = 5, lengths: Sequence[int] = (116, 30, 72, 150)) -> MoleculesFolded:
    """Molecules of which more and more true pairs are called; some pairs are wrong."""
    molecules = []
    for number, length in enumerate(lengths):
        rng = np.random.default_rng(100 + number)
        letters = "".join(rng.choice(list("ACGU"), size=length))
        truth, other = hairpins(length, rng), hairpins(length, np.random.default_rng(7 + number))
        sure = min(0.95, 0.3 + 0.1 * step)
        shares = {pair: sure * float(rng.uniform(0.6, 1.0)) for pair in bracket_pairs(truth)}
        shares |= {
            p: float(rng.uniform(0.02, 0.4)) for p in bracket_pairs(other) if p not in shares
        }
        called = {pair for pair in bracket_pairs(truth) if shares[pair] > 0.55}
        paired = {at for pair in called for at in pair}
        for i, j in bracket_pairs(other):
            crosses = any(a < i < b < j or i < a < j < b for a, b in called)
            if shares[i, j] > 0.1 and not crosses and not paired & {i, j}:
                called.add((i, j))
                paired |= {i, j}
        signs = ["."] * length
        for i, j in called:
            signs[i], signs[j] = "(", ")"
        molecules.append(
            FoldedMolecule(
                name=f"RF0000{number + 1}_A",
                sequence=letters,
                truth=truth,
                predicted="".join(signs),
                pairs=[[i, j, round(p, 4)] for (i, j), p in sorted(shares.items())],
            )
        )
    return MoleculesFolded(step=step, molecules=molecules)


def structured_run(
    task: str, groups: Sequence[str] = (), steps: int = 6, strategy: str = "mm", **given: object
) -> Iterator[Event]:
    """A run on sequences or molecules, with the examples of every step."""
    names = list(groups or (CRF_GROUPS if task == "sequence" else MOTIFS))
    model = {"sequence": "crf", "structure": "rna"}[task]
    counts = {"task": task, "rows": 2400, "train_rows": 1800, "test_rows": 600}
    if task == "sequence":
        counts |= {"train_sequences": 180, "test_sequences": 60}
    yield RunStarted(
        run=f"{model}-{strategy}",
        plan={"model": model, "strategy": strategy},
        dataset=DatasetFacts(name="made up", **counts),
        kind="penalties",
        groups=dict.fromkeys(names, 10),
        total=100,
    )
    rng = np.random.default_rng(3)
    goals = dict(zip(names, rng.uniform(-1, 2, len(names)), strict=True))
    for step in range(steps):
        share = 1 - 0.6**step
        d = {name: 2.3 * goal * share for name, goal in goals.items()}
        if strategy == "gradient":
            yield HyperGradientStep(step=step, holdout_loss=50 + 20 * 0.5**step, d=d)
        else:
            C = {name: float(np.exp(value)) for name, value in d.items()}
            yield PenaltyStep(
                step=step, objective=400 + 200 * 0.5**step, loss=300.0, penalties=C,
                norms=dict.fromkeys(names, 1.0), fits=step + 1,
            )  # fmt: skip
        make = labelled if task == "sequence" else folded
        yield make(step, **given)


def results_of(task: str, classes: Sequence[str] = TAGS) -> Results:
    """Results as the core gives them, for tokens or for molecules."""
    metric, score = {"sequence": ("accuracy", 0.902), "structure": ("pair_f1", 0.6)}[task]
    common = {
        "metric": metric, "maximize": True, "test": {metric: score},
        "default_test": {metric: 0.93 * score},
        "test_interval": [score - 0.03, score + 0.03],
        "default_interval": [score - 0.07, score - 0.01],
    }  # fmt: skip
    if task == "structure":
        gammas, share = 2.0 ** np.arange(-5, 11), np.linspace(0.1, 0.8, 16)
        return read_as(Results, common | {
            "pairs": {"tuned": {"right": 620, "called": 1069, "true": 1000},
                      "default": {"right": 560, "called": 1050, "true": 1000}, "molecules": 75},
            "curve": {
                "tuned": np.stack([gammas, share, 0.9 - 0.6 * share**2], axis=1).tolist(),
                "default": np.stack([gammas, 0.95 * share, 0.85 - 0.65 * share**2], 1).tolist(),
            },
        })  # fmt: skip
    rng = np.random.default_rng(2)
    counts = rng.poisson(1.2, (len(classes), len(classes)))
    counts[np.diag_indices(len(classes))] = rng.integers(20, 1400, len(classes))
    counts[-1, 0] = 200  # the last class is often taken for the first
    return read_as(Results, common | {
        "confusion": {"labels": list(classes), "tuned": counts.tolist(),
                      "default": counts.T.tolist()},
        "sequences": {"tuned": 21, "default": 17, "count": 60},
    })  # fmt: skip
