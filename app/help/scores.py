"""What each score counts, in a sentence beside the title that the window shows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from core.tuning.scores.metrics import METRICS

_WORDS = {
    "accuracy": "The share of rows that are right. Where one class is frequent, always giving that "
    "class is right often too.",
    "balanced_accuracy": "The share of each class that is found, averaged over the classes, so "
    "that rare ones count as much as frequent ones.",
    "f1": "For each class between its precision (which answers are right) and its recall (which "
    "rows are found), averaged over the classes.",
    "auc": "How often a row of a class is ranked above a row of another: 50 % is guessing. It "
    "needs no threshold, and says nothing of whether probabilities are right.",
    "log_loss": "How unlikely the model found what is true, on average (−log of its probability). "
    "It punishes being sure and wrong.",
    "r2": "How much of the spread of the numbers is explained: 100 % is exact, 0 % is no better "
    "than always giving the mean, below is worse.",
    "mse": "The mean of the squared errors. Large errors count most. Its unit is that of the target "
    "squared.",
    "mae": "The mean size of the errors, in the unit of the target.",
    "sequence_accuracy": "The share of sequences in which every token is right.",
    "joint_log_loss": "How unlikely the model found the true labels of a whole sequence, divided "
    "by its tokens.",
    "pair_f1": "Between the share of true base pairs that are found and the share of called ones "
    "that are right.",
    "sensitivity": "The share of the true base pairs that are found.",
    "specificity": "The share of the called base pairs that are right.",
    "roc_area": "Both at every trade-off γ: the area under the curve that shows how one is traded "
    "for the other.",
    "structure_log_loss": "How unlikely the model found the true structure as a whole.",
    "completion": "How likely the second half of a text's words is, given the topics that its "
    "first half shows: the mean log likelihood of a word.",
    "perplexity": "The same, said otherwise: as if at every word it had to choose among so many "
    "equally likely ones.",
    "training_completion": "Document completion of the texts that the model learned from. It "
    "judges settings without texts held out.",
    "log_likelihood": "How likely the model finds the data that it learned from. It judges "
    "settings of models that say how data come about.",
}
_FORMS = {
    "accuracy": ("accuracy", "share of rows that are right"),
    "f1": ("f1",),
    "r2": ("r²", "share of variance explained", "share of variance explained (r²)"),
    "log_loss": ("log loss",),
    "auc": ("area under the roc curve", "roc curve", "auc"),
    "sensitivity": ("sensitivity", "true base pairs found"),
    "completion": ("document completion",),
    "perplexity": ("perplexity",),
    "log_likelihood": ("how well the training data are explained",),
}


@dataclass(frozen=True)
class ScoreWords:
    """A score as the help tells it.

    Attributes:
        key, title, words, forms: as in the glossary.
        name: on the command line.
    """

    key: str
    title: str
    words: str
    forms: tuple[str, ...]
    name: str


@cache
def scores() -> tuple[ScoreWords, ...]:
    """Every score, titles as in the window; of one that came with an extension, what is known."""
    return tuple(
        ScoreWords(
            f"score-{name}",
            metric.title,
            f"{_WORDS.get(name, '')} {'Higher' if metric.maximize else 'Lower'} is better.".strip(),
            _FORMS.get(name, (metric.title.lower(),)),
            name,
        )
        for name, metric in METRICS.items()
    )
