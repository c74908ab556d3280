"""A sentence about each score."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

# Of these a lower score is better.
_LOSSES = ("log_loss", "mse", "mae", "joint_log_loss", "structure_log_loss", "perplexity")
# The registry of metrics needs scipy, which the window loads late: a test compares titles and
# directions with it. {name: (title, words, forms)}
_SCORES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "accuracy": (
        "Accuracy",
        "The share of rows that are right. Where one class is frequent, always giving"
        " that class is right often too.",
        ("accuracy", "share of rows that are right"),
    ),
    "balanced_accuracy": (
        "Accuracy, every class counted the same",
        "The share of each class that is found, averaged over the classes, so that "
        "rare ones count as much as frequent ones.",
        ("accuracy, every class counted the same",),
    ),
    "f1": (
        "F1, averaged over classes",
        "For each class between its precision (which answers are right) and its "
        "recall (which rows are found), averaged over the classes.",
        ("f1",),
    ),
    "auc": (
        "Area under the ROC curve",
        "How often a row of a class is ranked above a row of another: 50 % is guessing. It needs "
        "no threshold, and says nothing of whether probabilities are right.",
        ("area under the roc curve", "roc curve", "auc"),
    ),
    "log_loss": (
        "Log loss",
        "How unlikely the model found what is true, on average (−log of its "
        "probability). It punishes being sure and wrong.",
        ("log loss",),
    ),
    "r2": (
        "Share of variance explained (R²)",
        "How much of the spread of the numbers is explained: 100 % is exact, 0 % is "
        "no better than always giving the mean, below is worse.",
        ("r²", "share of variance explained", "share of variance explained (r²)"),
    ),
    "mse": (
        "Mean squared error",
        "The mean of the squared errors. Large errors count most. Its unit is that of"
        " the target squared.",
        ("mean squared error",),
    ),
    "mae": (
        "Mean absolute error",
        "The mean size of the errors, in the unit of the target.",
        ("mean absolute error",),
    ),
    "sequence_accuracy": (
        "Whole sequences right",
        "The share of sequences in which every token is right.",
        ("whole sequences right",),
    ),
    "joint_log_loss": (
        "Log loss of whole sequences, a token",
        "How unlikely the model found the true labels of a whole sequence, divided by its tokens.",
        ("log loss of whole sequences, a token",),
    ),
    "pair_f1": (
        "Base pairs found (F1)",
        "Between the share of true base pairs that are found and the share of called "
        "ones that are right.",
        ("base pairs found (f1)",),
    ),
    "sensitivity": (
        "True base pairs found",
        "The share of the true base pairs that are found.",
        ("sensitivity", "true base pairs found"),
    ),
    "specificity": (
        "Called base pairs right",
        "The share of the called base pairs that are right.",
        ("called base pairs right",),
    ),
    "roc_area": (
        "Area under sensitivity over specificity",
        "Both at every trade-off γ: the area under the curve that shows how one is "
        "traded for the other.",
        ("area under sensitivity over specificity",),
    ),
    "structure_log_loss": (
        "Log loss of whole structures",
        "How unlikely the model found the true structure as a whole.",
        ("log loss of whole structures",),
    ),
    "completion": (
        "Document completion (log likelihood of a held-out word)",
        "How likely the second half of a text's words is, given the topics that its "
        "first half shows: the mean log likelihood of a word.",
        ("document completion",),
    ),
    "perplexity": (
        "Among how many words it wavers (perplexity)",
        "The same, said otherwise: as if at every word it had to choose among so many"
        " equally likely ones.",
        ("perplexity",),
    ),
    "training_completion": (
        "Document completion of the training texts (log likelihood of a word)",
        "Document completion of the texts that the model learned from. It judges "
        "settings without texts held out.",
        ("document completion of the training texts (log likelihood of a word)",),
    ),
    "log_likelihood": (
        "How well the training data are explained (log likelihood)",
        "How likely the model finds the data that it learned from. It judges settings"
        " of models that say how data come about.",
        ("how well the training data are explained",),
    ),
}


@dataclass(frozen=True)
class ScoreWords:
    """A score in the help."""

    key: str
    title: str
    words: str
    forms: tuple[str, ...]
    name: str


@cache
def score_descriptions() -> tuple[ScoreWords, ...]:
    """Every score."""
    scores = []
    for name, (title, words, forms) in _SCORES.items():
        sentence = f"{words} {'Lower' if name in _LOSSES else 'Higher'} is better."
        scores.append(ScoreWords(f"score-{name}", title, sentence, forms, name))
    return tuple(scores)
