"""The glossary: every term of the field that the window uses, in plain words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from app.help.markup import plain
from app.help.scores import scores

_ONLY_A_LINK = re.compile(r" \[[^\]]+\]\([^)]*\)\.$")  # a sentence of its own


@dataclass(frozen=True)
class Entry:
    """One term.

    Attributes:
        key: its place in the help, after “#”.
        title: the term.
        words: what it means, Markdown with links to other places.
        forms: how the window writes it, in lower case; the title where empty.
    """

    key: str
    title: str
    words: str
    forms: tuple[str, ...] = ()

    @property
    def alone(self) -> str:
        """Its words without links, for a place that leads nowhere."""
        return plain(_ONLY_A_LINK.sub("", self.words))


def _entry(title: str, words: str, *forms: str) -> Entry:
    key = "word-" + re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    return Entry(key, title, words, forms or (title.lower(),))


_TERMS = (
    _entry(
        "Average",
        "Several fitted models that predict together: the mean of what each says. On little data "
        "it is often the safer choice than the single best.",
        "average of",
        "in the average",
        "average against",
        "the average",
    ),
    _entry("Member", "A model that is part of an [average](#word-average).", "member", "members"),
    _entry(
        "Baseline",
        "Knowing nothing: always the most frequent class, or the mean. A model that is not better "
        "has learned nothing of use.",
        "baseline",
        "knowing nothing",
    ),
    _entry(
        "Budget",
        "How long tuning may take, in minutes or [trials](#word-trial). The first limit that is "
        "reached ends the run; the best so far is kept.",
        "budget",
        "time at most",
        "trials at most",
        "how long may it take",
    ),
    _entry(
        "Class",
        "One of the answers of a question with a few of them, such as ill and healthy.",
        "class",
        "classes",
    ),
    _entry(
        "Column",
        "A column of the table: one thing that is known of every [row](#word-row).",
        "column",
        "columns",
    ),
    _entry(
        "Confidence interval",
        "Where a true value lies, as far as the test rows can tell: of 20 such intervals at 95 %, "
        "19 contain it. With few test rows it is wide.",
        "confidence interval",
    ),
    _entry(
        "Correlation",
        "How closely two columns go along with each other: 1 where one tells the other, 0 where "
        "it tells nothing. Of numbers it is that of their ranks.",
        "correlation",
        "correlations",
    ),
    _entry(
        "Confusion matrix",
        "A table of what is true against what the model says, in rows of the test set.",
        "where is it wrong",
        "confusion matrix",
    ),
    _entry(
        "Cross-validation",
        "Every training row is predicted once by a model that did not learn from it: the rows are "
        "divided into [folds](#word-fold) that take turns.",
        "cross-validation",
    ),
    _entry(
        "Nested cross-validation",
        "The whole tuning is repeated, each time without a part of the rows, which then tests what "
        "came out. So every row is tested once, and smaller gains can be shown.",
        "nested cross-validation",
    ),
    _entry(
        "Default setting",
        "What the model uses if nobody tunes it. Where ranges of your own leave it out, it is the "
        "nearest setting inside.",
        "default setting",
        "default settings",
        "default model",
    ),
    _entry(
        "Early end of a trial",
        "A [trial](#word-trial) that falls clearly behind is not finished, to save time. Its score "
        "is an estimate (≈, a hollow dot).",
        "ended early",
    ),
    _entry(
        "Evidence",
        "How likely the training data are, all weights considered. It counts how many weights the "
        "data really determine, and so needs no rows held out. [The strategy](#strategy-evidence).",
        "evidence",
    ),
    _entry(
        "Expected improvement",
        "How much better than the best so far a setting is expected to be, counted over everything "
        "that the [surrogate](#word-surrogate) holds possible there.",
        "expected improvement",
        "how much it may improve",
        "gain",
    ),
    _entry(
        "Feature",
        "A column that the model predicts from.",
        "feature",
        "features",
    ),
    _entry(
        "Fit",
        "Letting a model learn from rows once.",
        "fit",
        "fits",
        "fitted",
    ),
    _entry(
        "Fold",
        "A part of the training rows that a trial is scored on, after learning from the others.",
        "fold",
        "folds",
    ),
    _entry(
        "Gaussian process",
        "A way to guess the score of every setting from those that were tried, together with how "
        "sure the guess is. [The strategy](#strategy-gp).",
        "gaussian process",
        "gaussian processes",
    ),
    _entry(
        "Group of columns",
        "Columns that share one [penalty](#word-penalty). [More](#groups).",
        "group of columns",
        "groups of columns",
        "how columns are grouped",
        "column groups",
        "every group",
        "each group",
        "which groups",
        "arrange the groups",
        "groups",
    ),
    _entry(
        "Held out",
        "Kept away from learning, so that it can judge what was learned.",
        "held out",
        "held-out",
        "hold out",
    ),
    _entry(
        "Giving the target away",
        "A column that was written down after the [target](#word-target) was known, or that says "
        "it in other words (target leakage). A model that leans on it looks perfect and is useless "
        "for new rows, of which nobody knows it yet. [Which columns are left out](#data).",
        "gives the target away",
        "give the target away",
    ),
    _entry(
        "Histogram",
        "Bars that show how the values of a column are spread: the higher a bar, the more rows "
        "have a value there.",
        "histogram",
        "values are spread",
    ),
    _entry(
        "History",
        "What earlier runs left: sizes of the datasets, settings tried, and scores. Never the "
        "data. [More](#history).",
        "history",
        "earlier datasets",
    ),
    _entry(
        "Kernel",
        "How alike two things count as being. For a [Gaussian process](#word-gaussian-process): "
        "how smoothly the score changes with the settings.",
        "kernel",
        "smoothness of the score",
        "which earlier datasets count",
    ),
    _entry(
        "Leave-one-out",
        "Every row is predicted by a model of all the others. [The strategy](#strategy-loo).",
        "leave-one-out",
    ),
    _entry(
        "Log likelihood",
        "The logarithm of how likely the model finds the data. Higher is better.",
        "log likelihood",
    ),
    _entry(
        "Loss",
        "What a model pays for being wrong; learning makes it small. Log loss is that of "
        "probabilities. [As a score](#score-log_loss).",
        "loss",
        "held-out loss",
    ),
    _entry(
        "Missing value",
        "A cell of the table that is empty. The program fills numbers with the median and makes "
        "empty categories one of their own.",
        "missing",
    ),
    _entry(
        "Model",
        "What learns from rows and then predicts others. [The models](#model).",
        "model",
        "models",
    ),
    _entry(
        "Objective",
        "The number that learning makes as small as it can: the loss with what penalties add.",
        "objective",
    ),
    _entry(
        "Overfitting",
        "Learning the training rows by heart, luck included, so that new rows are predicted worse. "
        "[Penalties](#word-penalty) and fewer settings hold it back.",
        "overfitting",
        "by heart",
        "luck",
    ),
    _entry(
        "Penalty",
        "How strongly a model's weights are held back. It keeps a model from learning noise by "
        "heart. L2 keeps all weights small; L1 drops columns.",
        "penalty",
        "penalties",
        "regularization",
        "switched off",
        "l1",
        "l2",
        "shrink",
    ),
    _entry(
        "Precision",
        "The share of a model's answers of a class that are right.",
        "precision",
    ),
    _entry(
        "Residual",
        "What the model says of a row minus what is true; above 0 it says too much.",
        "residual",
        "residuals",
    ),
    _entry("Recall", "The share of a class that the model finds.", "recall"),
    _entry(
        "Prior",
        "What is held likely before any data were seen.",
        "prior",
    ),
    _entry(
        "Prediction interval",
        "Where the true number of a single row lies: of rows like the [test](#word-test-set) rows, "
        "as many as it says are inside. Its width comes from the errors on these. It is wider than "
        "a [confidence interval](#word-confidence-interval), which is about a mean of many rows.",
        "prediction interval",
    ),
    _entry(
        "Probability",
        "How sure the model is of an answer. Where it can be trusted, of the rows said to be 70 % "
        "about 70 of 100 are so.",
        "probability",
        "probabilities",
        "calibration",
    ),
    _entry(
        "Role",
        "What a column is for: predicted (target), predicted from (feature), kept together on one "
        "side (group), or not used (ignore).",
        "role",
    ),
    _entry(
        "Range",
        "From the smallest to the largest value of a [setting](#word-setting) that is tried. On a "
        "log scale equal factors count the same. [More](#ranges).",
        "range",
        "ranges",
        "log scale",
    ),
    _entry(
        "Edge of the range",
        "The best value is the smallest or the largest that was tried: a better one may lie beyond "
        "it. [More](#tune).",
        "edge of its range",
        "edge of the range",
        "widen it",
    ),
    _entry(
        "Stop when nothing improves",
        "After so many [trials](#word-trial) in a row that are no better than the best, a run "
        "ends; more can be asked for afterwards. [More](#patience).",
        "stop when nothing improves",
        "trials in a row",
    ),
    _entry(
        "Fixed setting",
        "A [setting](#word-setting) that keeps one value in all trials; only the others are "
        "searched.",
        "one value",
        "fixed",
        "fix",
    ),
    _entry("Row", "One case in the table.", "row", "rows"),
    _entry(
        "Run",
        "One tuning, from start to end. Runs are kept and can be looked at and gone on with.",
        "run",
        "runs",
    ),
    _entry(
        "Score",
        "How good a setting was. [More](#scores).",
        "score",
        "scores",
        "metric",
        "scored",
    ),
    _entry(
        "Seed",
        "The number that all random choices start from. The same seed gives the same run.",
        "seed",
    ),
    _entry(
        "Setting",
        "One choice for all the knobs of a model, such as how many trees to grow.",
        "setting",
        "settings",
        "hyperparameter",
    ),
    _entry(
        "Standard deviation",
        "How far values usually lie from their mean: two of three within one, 19 of 20 within two.",
        "standard deviation",
        "standard deviations",
        "deviation",
    ),
    _entry(
        "Standard error",
        "How far a measured score usually lies from the true one.",
        "standard error",
        "standard errors",
    ),
    _entry(
        "Standardize",
        "To bring a column to mean 0 and standard deviation 1, so that its unit does not matter.",
        "standardize",
        "standardized",
    ),
    _entry(
        "Strategy",
        "A way of finding a good setting. [The strategies](#strategy).",
        "strategy",
        "strategies",
    ),
    _entry(
        "Surrogate",
        "A model of the scores: what it believes about settings that were not tried.",
        "surrogate",
        "what the model believes",
        "believes",
        "predicted and obtained",
    ),
    _entry(
        "Target",
        "The column that is predicted.",
        "target",
        "what is predicted",
    ),
    _entry(
        "Test set",
        "Rows that tuning never sees. They judge the result at the end.",
        "test set",
        "test rows",
        "test score",
        "test on",
    ),
    _entry(
        "Threshold",
        "The probability from which on a row is called the one class. Costs of mistakes move it.",
        "threshold",
        "what does a mistake cost",
    ),
    _entry(
        "Topic",
        "A group of words that often come together in the same texts.",
        "topic",
        "topics",
    ),
    _entry(
        "Training rows",
        "The rows that models learn from.",
        "training rows",
        "training data",
        "training set",
        "training texts",
    ),
    _entry(
        "Trial",
        "One setting, tried out: fitted on a part of the training rows and scored on the others.",
        "trial",
        "trials",
    ),
    _entry(
        "Validation",
        "Judging a setting by training rows that the model did not learn from. The test set has no "
        "part in it.",
        "validation",
    ),
    _entry(
        "Weight",
        "How much something counts: a column in a model, a model in an average, a class in "
        "learning.",
        "weight",
        "weights",
    ),
    _entry(
        "Likeness of datasets",
        "How close two datasets are in their numbers of rows, columns and classes.",
        "alike",
        "datasets like this one",
    ),
    _entry(
        "Sequence",
        "Rows in an order that matters, such as the words of a sentence. Each is a token.",
        "sequence",
        "sequences",
        "token",
        "tokens",
    ),
    _entry(
        "Base pair",
        "Two letters of an RNA molecule that bind to each other when it folds.",
        "base pair",
        "base pairs",
        "trade-off γ",
    ),
    _entry(
        "Neural network",
        "Layers of simple units (neurons) that each weigh what the layer before says.",
        "neural network",
        "neurons",
        "perceptron",
    ),
    _entry(
        "Decision tree",
        "Questions about columns, one after another, that end in an answer (a leaf).",
        "decision tree",
        "decision trees",
        "trees",
        "leaf",
        "leaves",
    ),
)


@cache
def entries() -> tuple[Entry, ...]:
    """Every entry, by title; the scores are among them."""
    found = (*_TERMS, *(Entry(one.key, one.title, one.words, one.forms) for one in scores()))
    return tuple(sorted(found, key=lambda entry: entry.title.lower()))


@cache
def _pattern() -> tuple[re.Pattern[str], dict[str, Entry]]:
    of_form: dict[str, Entry] = {}
    for entry in entries():
        for form in entry.forms:
            of_form.setdefault(form, entry)
    longest_first = sorted(of_form, key=len, reverse=True)
    alternatives = "|".join(map(re.escape, longest_first))
    return re.compile(rf"(?<![\w-])(?:{alternatives})(?![\w-])", re.IGNORECASE), of_form


def terms_in(text: str) -> list[Entry]:
    """The entries of the terms that a text uses, in order; of overlapping ones the longest."""
    pattern, of_form = _pattern()
    found = (of_form[match.group().lower()] for match in pattern.finditer(text))
    return list(dict.fromkeys(found))
