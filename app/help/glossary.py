"""The glossary of the window."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from app.help.markup import without_markup
from app.help.score_help import score_descriptions

_ONLY_A_LINK = re.compile(r" \[[^\]]+\]\([^)]*\)\.$")  # a sentence that is only a link


@dataclass(frozen=True)
class GlossaryEntry:
    """One term."""

    key: str  # the anchor in the help
    title: str
    words: str  # Markdown with links
    forms: tuple[str, ...] = ()  # spellings in the window, in lower case

    @property
    def plain_words(self) -> str:
        """The text without links."""
        return without_markup(_ONLY_A_LINK.sub("", self.words))


def _term(title: str, words: str, forms: str = "") -> GlossaryEntry:
    name = re.sub(r" \(.*\)$", "", title.lower())  # without the synonym in brackets
    key = "word-" + re.sub(r"[^a-z0-9]+", "-", name).strip("-")
    return GlossaryEntry(key, title, words, tuple(forms.split("; ")) if forms else (name,))


_TERMS = (
    _term(
        "Average (ensemble)",
        "Several fitted models that predict together: the mean of what each predicts. On little "
        "data it is often the safer choice than the single best.",
        "average of; in the average; average against; the average; ensemble",
    ),
    _term("Member", "A model that is part of an [average](#word-average).", "member; members"),
    _term(
        "Baseline",
        "Always the most frequent class, or the mean. A model that is not better has learned "
        "nothing of use.",
    ),
    _term(
        "Budget",
        "How long tuning may take, in minutes or [trials](#word-trial). The first limit that is "
        "reached ends the run; the best so far is kept.",
        "budget; time at most; trials at most; how long may it take",
    ),
    _term(
        "Class",
        "One of the answers of a question with a few of them, such as ill and healthy.",
        "class; classes",
    ),
    _term(
        "Column",
        "A column of the table: one thing that is known of every [row](#word-row).",
        "column; columns",
    ),
    _term(
        "Dataset",
        "The table, texts, sequences or molecules of a file, as they are tuned on. [More](#data).",
        "dataset; datasets",
    ),
    _term(
        "Confidence interval",
        "Where a true value lies, as far as the test rows can tell: of 20 such intervals at 95 %, "
        "19 contain it. With few test rows it is wide.",
        "confidence interval",
    ),
    _term(
        "Likely real",
        "Of a gain or a loss: its whole [confidence interval](#word-confidence-interval) lies on "
        "one side of 0, so that it is statistically significant. Otherwise it may be chance.",
        "likely real; may be chance",
    ),
    _term(
        "Correlation",
        "How closely two columns go along with each other: 1 where one tells the other, 0 where "
        "it tells nothing. Of numbers it is that of their ranks.",
        "correlation; correlations",
    ),
    _term(
        "Confusion matrix",
        "A table of true classes against predicted ones, in rows of the test set.",
        "where is it wrong; confusion matrix",
    ),
    _term(
        "Cross-validation",
        "Every training row is predicted once by a model that did not learn from it: the rows are "
        "divided into [folds](#word-fold) that take turns.",
        "cross-validation",
    ),
    _term(
        "Nested cross-validation",
        "The whole tuning is repeated, each time without a part of the rows, which then tests what "
        "came out. So every row is tested once, and smaller gains can be shown.",
        "nested cross-validation",
    ),
    _term(
        "Default setting",
        "What the model uses if nobody tunes it. Where ranges of your own leave it out, it is the "
        "nearest setting inside.",
        "default setting; default settings; default model",
    ),
    _term(
        "Early end of a trial",
        "A [trial](#word-trial) that falls clearly behind is not finished, to save time (pruned, "
        "as Optuna calls it). Its score is an estimate (≈, a hollow dot).",
        "ended early",
    ),
    _term(
        "Evidence",
        "How likely the training data are, all weights considered. It counts how many weights the "
        "data really determine, and so needs no rows held out. [The strategy](#strategy-evidence).",
        "evidence",
    ),
    _term(
        "Expected improvement",
        "How much better than the best so far a setting is expected to be, counted over everything "
        "that the [surrogate](#word-surrogate) holds possible there.",
        "expected improvement; how much it may improve; gain",
    ),
    _term("Feature", "A column that the model predicts from.", "feature; features"),
    _term(
        "Export",
        "To save a model, or what is known of a run, in a file for use elsewhere. [More](#export).",
        "export; exported",
    ),
    _term(
        "Import",
        "To add what other computers or programs have tried to the [history](#word-history). "
        "[More](#history).",
        "import; imported",
    ),
    _term("Fit", "Letting a model learn from rows once.", "fit; fits; fitted"),
    _term(
        "Fold",
        "A part of the training rows that a trial is scored on, after learning from the others.",
        "fold; folds",
    ),
    _term(
        "Gaussian process",
        "A way to guess the score of every setting from those that were tried, together with how "
        "sure the guess is. [The strategy](#strategy-gp).",
        "gaussian process; gaussian processes",
    ),
    _term(
        "Group of columns",
        "Columns that share one [penalty](#word-penalty). [More](#groups).",
        "group of columns; groups of columns; how columns are grouped; column groups; "
        "every group; each group; which groups; arrange the groups; groups",
    ),
    _term(
        "Held out",
        "Kept away from learning, so that it can judge what was learned.",
        "held out; held-out; hold out",
    ),
    _term(
        "Target leakage",
        "A column that was written down after the [target](#word-target) was known, or that says "
        "it in other words, leaks the target. A model that leans on it looks perfect and is "
        "useless for new rows, of which nobody knows it yet. [Which columns are left out](#data).",
        "target leakage; leaks the target; leak the target",
    ),
    _term(
        "Histogram",
        "Bars that show how the values of a column are spread: the higher a bar, the more rows "
        "have a value there.",
        "histogram; values are spread",
    ),
    _term(
        "History",
        "What earlier runs left: sizes of the datasets, settings tried, and scores. Never the "
        "data. [More](#history).",
        "history; earlier datasets",
    ),
    _term(
        "Kernel",
        "How similar two things are taken to be. For a [Gaussian process](#word-gaussian-process): "
        "how smoothly the score changes with the settings.",
        "kernel; smoothness of the score; which earlier datasets count",
    ),
    _term(
        "Latent variable",
        "What a model assumes behind the rows of a table, and is no column of it.",
        "latent variable; latent variables",
    ),
    _term(
        "Learning curve", "How the score grows with the number of training rows.", "learning curve"
    ),
    _term(
        "Learning rate",
        "How large the steps are in which a model learns. Smaller ones need more of them, and are "
        "often more accurate.",
        "learning rate",
    ),
    _term(
        "Leave-one-out",
        "Every row is predicted by a model of all the others. [The strategy](#strategy-loo).",
        "leave-one-out",
    ),
    _term(
        "Log likelihood",
        "The logarithm of how likely the model finds the data. Higher is better.",
        "log likelihood",
    ),
    _term(
        "Loss",
        "What a model pays for being wrong; learning makes it small. Log loss is that of "
        "probabilities. [As a score](#score-log_loss).",
        "loss; held-out loss",
    ),
    _term(
        "Missing value",
        "A cell of the table that is empty. The program fills numbers with the median and makes "
        "empty categories one of their own.",
        "missing",
    ),
    _term(
        "Model",
        "What learns from rows and then predicts others. [The models](#model).",
        "model; models",
    ),
    _term(
        "Objective",
        "The number that learning makes as small as it can: the loss with what penalties add.",
        "objective",
    ),
    _term(
        "Overfitting",
        "Learning the training rows by heart, luck included, so that new rows are predicted worse. "
        "[Penalties](#word-penalty) and fewer settings hold it back.",
        "overfitting; by heart; luck",
    ),
    _term(
        "Penalty",
        "How strongly a model's weights are held back. It keeps a model from learning noise by "
        "heart. L2 keeps all weights small; L1 drops columns. A group at the upper limit of its "
        "penalty is switched off (pruned).",
        "penalty; penalties; regularization; switched off; l1; l2; shrink",
    ),
    _term("Precision", "The share of a model's answers of a class that are right.", "precision"),
    _term(
        "Permutation importance",
        "How much worse the score becomes if the values of a column are shuffled among the rows.",
        "permutation importance; which columns matter",
    ),
    _term(
        "True and false positives",
        "Rows that are predicted to be of a class, rightly and wrongly; the others are the "
        "negatives. The false positive rate is the share of rows of other classes that are "
        "predicted to be of it.",
        "true positives; false positive; false positives; false positive rate; "
        "true negatives; false negatives",
    ),
    _term(
        "Residual",
        "What the model predicts for a row minus what is true; above 0 the prediction is too high.",
        "residual; residuals",
    ),
    _term("Recall", "The share of a class that the model finds.", "recall"),
    _term("Prior", "What is held likely before any data were seen.", "prior"),
    _term(
        "Prediction interval",
        "Where the true number of a single row lies: of rows like the [test](#word-test-set) rows, "
        "as many as it says are inside. Its width comes from the errors on these. It is wider than "
        "a [confidence interval](#word-confidence-interval), which is about a mean of many rows.",
        "prediction interval",
    ),
    _term(
        "Probability",
        "How sure the model is of an answer. Where it can be trusted, of the rows said to be 70 % "
        "about 70 of 100 are so.",
        "probability; probabilities; calibration",
    ),
    _term(
        "Role",
        "What a column is for: predicted (target), predicted from (feature), kept together on one "
        "side (group), or not used (ignore).",
        "role",
    ),
    _term(
        "Range",
        "From the smallest to the largest value of a [setting](#word-setting) that is tried. On a "
        "log scale equal factors count the same. [More](#ranges).",
        "range; ranges; log scale",
    ),
    _term(
        "Edge of the range",
        "The best value is the smallest or the largest that was tried: a better one may lie beyond "
        "it. [More](#tune).",
        "edge of its range; edge of the range; widen it",
    ),
    _term(
        "Stop when nothing improves",
        "After so many [trials](#word-trial) in a row that are no better than the best, a run "
        "ends (early stopping; the number is its patience). More can be asked for afterwards. "
        "[More](#patience).",
        "stop when nothing improves; trials in a row; early stopping; patience",
    ),
    _term(
        "Fixed setting",
        "A [setting](#word-setting) that keeps one value in all trials; only the others are "
        "searched.",
        "one value; fixed; fix",
    ),
    _term("Row", "One case in the table.", "row; rows"),
    _term(
        "Run",
        "One tuning, from start to end. Runs are kept; they can be looked at and continued.",
        "run; runs",
    ),
    _term("Score", "How good a setting was. [More](#scores).", "score; scores; metric; scored"),
    _term(
        "Screening",
        "Where several [models](#word-model) are tuned in one run, each is fitted first on part of "
        "the rows, to see which promise most.",
        "screening",
    ),
    _term(
        "Seed",
        "The number that all random choices start from. The same seed gives the same run.",
        "seed",
    ),
    _term(
        "Setting",
        "One choice for all the knobs of a model, such as how many trees to grow.",
        "setting; settings; hyperparameter",
    ),
    _term(
        "Standard deviation",
        "How far values usually lie from their mean: two of three within one, 19 of 20 within two.",
        "standard deviation; standard deviations; deviation",
    ),
    _term(
        "Standard error",
        "How far a measured score usually lies from the true one.",
        "standard error; standard errors",
    ),
    _term(
        "Standardize",
        "To bring a column to mean 0 and standard deviation 1, so that its unit does not matter.",
        "standardize; standardized",
    ),
    _term(
        "Strategy",
        "A way of finding a good setting. [The strategies](#strategy).",
        "strategy; strategies",
    ),
    _term(
        "Surrogate",
        "A model of the scores: what it expects of settings that were not tried.",
        "surrogate; what the surrogate expects; predicted and observed score",
    ),
    _term(
        "Effective number of candidates",
        "Among how many [settings](#word-setting) the next one is drawn in effect: 1 where it is "
        "certain.",
        "effective number of candidates; effective candidates",
    ),
    _term("Target", "The column that is predicted.", "target; what is predicted"),
    _term(
        "Test set",
        "Rows that tuning never sees. They judge the result at the end.",
        "test set; test rows; test score; test on",
    ),
    _term(
        "Threshold",
        "The probability from which on a row is called the one class. Costs of mistakes move it.",
        "threshold; what does a mistake cost",
    ),
    _term("Topic", "A group of words that often come together in the same texts.", "topic; topics"),
    _term(
        "Training rows",
        "The rows that models learn from.",
        "training rows; training data; training set; training texts",
    ),
    _term(
        "Unlike the training rows",
        "Out of distribution: the model has seen no such row, so that its prediction is a guess. "
        "[More](#export).",
        "unlike the training rows; out of distribution",
    ),
    _term(
        "Trial",
        "One setting, tried out: fitted on a part of the training rows and scored on the others.",
        "trial; trials",
    ),
    _term(
        "Validation",
        "Judging a setting by training rows that the model did not learn from. The test set has no "
        "part in it.",
        "validation; validation set; validation rows",
    ),
    _term(
        "Weight",
        "How much something counts: a column in a model, a model in an average, a class in "
        "learning.",
        "weight; weights",
    ),
    _term(
        "Similarity of datasets",
        "How close two datasets are in their numbers of rows, columns and classes.",
        "similarity; datasets like this one",
    ),
    _term(
        "Sequence",
        "Rows in an order that matters, such as the words of a sentence. Each is a token.",
        "sequence; sequences; token; tokens",
    ),
    _term(
        "Base pair",
        "Two letters of an RNA molecule that bind to each other when it folds.",
        "base pair; base pairs; trade-off γ",
    ),
    _term(
        "Neural network",
        "Layers of simple units (neurons) that each weigh what the layer before puts out.",
        "neural network; neurons; perceptron",
    ),
    _term(
        "Decision tree",
        "Questions about columns, one after another, that end in an answer (a leaf).",
        "decision tree; decision trees; trees; leaf; leaves",
    ),
)


@cache
def entries() -> tuple[GlossaryEntry, ...]:
    """Every entry, by title, with the scores."""
    scores = (GlossaryEntry(s.key, s.title, s.words, s.forms) for s in score_descriptions())
    return tuple(sorted((*_TERMS, *scores), key=lambda entry: entry.title.lower()))


@cache
def _pattern() -> tuple[re.Pattern[str], dict[str, GlossaryEntry]]:
    of_form: dict[str, GlossaryEntry] = {}
    for entry in entries():
        for form in entry.forms:
            of_form.setdefault(form, entry)
    longest_first = sorted(of_form, key=len, reverse=True)
    alternatives = "|".join(map(re.escape, longest_first))
    return re.compile(rf"(?<![\w-])(?:{alternatives})(?![\w-])", re.IGNORECASE), of_form


def terms_in(text: str) -> list[GlossaryEntry]:
    """Entries of the terms in a text; of overlapping terms the longest."""
    pattern, of_form = _pattern()
    matching_entries = (of_form[match.group().lower()] for match in pattern.finditer(text))
    return list(dict.fromkeys(matching_entries))
