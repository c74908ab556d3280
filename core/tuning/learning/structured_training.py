"""The losses of models of sequences and molecules, and the training examples that views show."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from core.datasets.dataset import Dataset
from core.datasets.groups import penalty_groups, prefix_groups
from core.estimators.structured.crf_tagger import CrfTagger
from core.estimators.structured.rna_folder import RnaFolder
from core.losses.crf.crf_loss import CrfLoss, build_crf
from core.losses.rna.rna_loss import RnaLoss, build_rna
from core.optimize.loss import Loss
from core.tuning.events import FoldedMolecule, LabelledSequence, MoleculesFolded, SequencesLabelled
from core.tuning.learning.training import PenaltyTraining
from core.tuning.problem import Problem, Split, take_rows

_EXAMPLES = 5  # of the training rows: the test set stays unused
_TOKENS, _BASES = (5, 40), (20, 150)  # lengths that can be read on a screen
_MIN_PAIR_PROBABILITY = 0.01


def structured_training(problem: Problem, rows: np.ndarray) -> PenaltyTraining:
    """The training of a model of sequences or molecules on some rows."""
    make = _crf_training if problem.dataset.task.has_sequences else _rna_training
    return make(problem, rows)


@dataclass(frozen=True)
class _StructuredTraining(PenaltyTraining):
    """What the losses of sequences and of molecules have in common."""

    loss: CrfLoss | RnaLoss

    @property
    def counted(self) -> np.ndarray:
        return self.loss.seen_parameters

    def loss_pair(self, problem: Problem, split: Split) -> tuple[Loss, Loss]:
        fit, held = (self.loss.for_data(*_loss_data(problem.dataset, rows)) for rows in split)
        return fit, held

    def fitted_model(self, w: np.ndarray, penalties: dict[str, float]) -> Any:
        raise NotImplementedError

    def pipeline(
        self, w: np.ndarray, penalties: dict[str, float], classes: tuple[Any, ...]
    ) -> Pipeline:
        # The estimators encode tokens and letters by themselves.
        return Pipeline([("prepare", "passthrough"), ("model", self.fitted_model(w, penalties))])


def _loss_data(dataset: Dataset, rows: np.ndarray) -> tuple[Any, Any]:
    X, y = take_rows(dataset.features, rows), dataset.target[rows]
    return (X, y) if dataset.task.has_sequences else (X.iloc[:, 0].tolist(), y.tolist())


def _single_penalty(penalties: dict[str, float]) -> float:
    return next(iter(penalties.values())) if len(penalties) == 1 else 1.0


@dataclass(frozen=True)
class CrfTraining(_StructuredTraining):
    """The loss of a linear-chain CRF on the training sequences."""

    loss: CrfLoss
    sequence: str
    decoding: str
    examples: tuple[pd.DataFrame, np.ndarray]  # tokens and labels of the sequences shown

    @property
    def occurrences(self) -> np.ndarray:
        return self.loss.occurrences

    def fitted_model(self, w: np.ndarray, penalties: dict[str, float]) -> CrfTagger:
        tagger = CrfTagger(_single_penalty(penalties), self.sequence, self.decoding)
        return tagger.set_weights(self.loss, w, penalties, self.groups)

    def display_event(self, step: int, w: np.ndarray) -> SequencesLabelled:
        X, y = self.examples
        # At w the penalties do not matter any more.
        tagger = self.fitted_model(w, {})
        marginals, labels = tagger.predict_proba(X), tagger.predict(X)
        names = X[self.sequence].astype(str).to_numpy()
        tokens = _token_texts(X.drop(columns=self.sequence))
        rows_by_name = {name: np.flatnonzero(names == name) for name in dict.fromkeys(names)}
        sequences = [
            LabelledSequence(
                name=str(name),
                tokens=[tokens[row] for row in rows],
                truth=[str(y[row]) for row in rows],
                labels=[str(labels[row]) for row in rows],
                marginals=np.round(marginals[rows], 4).tolist(),
            )
            for name, rows in rows_by_name.items()
        ]
        classes = [str(label) for label in tagger.classes_]
        return SequencesLabelled(step=step, classes=classes, sequences=sequences)


def _token_texts(features: pd.DataFrame) -> list[str]:
    # Words are texts; numbers beside them say less to a reader.
    texts = [name for name in features if not pd.api.types.is_numeric_dtype(features[name])]
    return features[(texts or list(features))[0]].astype(str).tolist()


def _crf_training(problem: Problem, rows: np.ndarray) -> CrfTraining:
    dataset = problem.dataset
    X, y = _loss_data(dataset, rows)
    loss = build_crf(X, dataset.sequence_name, y, list(dataset.classes))
    names, groups = structured_groups(problem.plan.groups, loss.names, loss.sources)
    example_rows = _examples(pd.factorize(X[dataset.sequence_name])[0], *_TOKENS, problem.plan.seed)
    examples = (X.iloc[example_rows], np.asarray(y)[example_rows])
    sequence, decoding = dataset.sequence_name, problem.plan.decoding
    return CrfTraining(names, groups, loss, sequence, decoding, examples)


@dataclass(frozen=True)
class RnaTraining(_StructuredTraining):
    """The loss of the folding model on the training molecules."""

    loss: RnaLoss
    gamma: float
    examples: tuple[tuple[str, str, str], ...]  # (name, letters, structure) of those shown

    def fitted_model(self, w: np.ndarray, penalties: dict[str, float]) -> RnaFolder:
        return RnaFolder(_single_penalty(penalties), self.gamma).set_weights(
            self.loss, w, penalties, self.groups
        )

    def display_event(self, step: int, w: np.ndarray) -> MoleculesFolded:
        folder = self.fitted_model(w, {})
        X = pd.DataFrame({"letters": [letters for _, letters, _ in self.examples]})
        foldings = zip(self.examples, folder.pair_probabilities(X), folder.predict(X), strict=True)
        molecules = [
            FoldedMolecule(
                name=name,
                sequence=letters,
                truth=truth,
                predicted=str(predicted),
                pairs=_likely_pairs(probabilities),
            )
            for (name, letters, truth), probabilities, predicted in foldings
        ]
        return MoleculesFolded(step=step, molecules=molecules)


def _likely_pairs(probabilities: np.ndarray) -> list[list[float]]:
    pairs = np.argwhere(probabilities >= _MIN_PAIR_PROBABILITY)
    return [[int(i), int(j), round(float(probabilities[i, j]), 4)] for i, j in pairs]


def _rna_training(problem: Problem, rows: np.ndarray) -> RnaTraining:
    dataset = problem.dataset
    letters, structures = _loss_data(dataset, rows)
    loss = build_rna(letters, structures)
    names, groups = structured_groups(problem.plan.groups, loss.names, loss.sources)
    row_names = dataset.row_names
    titles = [f"Molecule {row + 1}" if row_names is None else str(row_names[row]) for row in rows]
    molecule_of_base = np.repeat(np.arange(len(letters)), [len(sequence) for sequence in letters])
    example_bases = _examples(molecule_of_base, *_BASES, problem.plan.seed)
    molecules = np.unique(molecule_of_base[example_bases]).tolist()
    examples = tuple((titles[k], letters[k], structures[k]) for k in molecules)
    return RnaTraining(names, groups, loss, problem.plan.gamma, examples)


def structured_groups(
    spec: Any, names: Sequence[str], sources: Sequence[str]
) -> tuple[list[str], np.ndarray]:
    """The groups of the parameters of a structured model, by their `names` and `sources`.

    `spec` is as in `Plan.groups`, where a column is a source: initial, transition and every feature
    column, or every motif.
    """
    if spec == "prefix":
        columns = [c for c in dict.fromkeys(sources) if c not in ("initial", "transition")]
        group_of = {c: group for group, members in prefix_groups(columns).items() for c in members}
        # Groups by prefix are groups by column with fewer names.
        spec, sources = "column", [group_of.get(source, source) for source in sources]
    return penalty_groups(spec, names, sources)


def _examples(unit_of_row: np.ndarray, min_length: int, max_length: int, seed: int) -> np.ndarray:
    lengths = np.bincount(unit_of_row)
    readable_units = np.flatnonzero((lengths >= min_length) & (lengths <= max_length))
    # Where none has such a length, the shortest ones are read most easily.
    if not len(readable_units):
        readable_units = np.argsort(lengths, kind="stable")[:_EXAMPLES]
    chosen_units = np.random.default_rng(seed).permutation(readable_units)[:_EXAMPLES]
    return np.flatnonzero(np.isin(unit_of_row, chosen_units))
