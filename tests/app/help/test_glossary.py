"""The glossary: every term of the field that the window's texts use, and none that they do not."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import app
from app.help.glossary import entries, read_help, terms_in
from core.estimators.registry import MODELS
from core.tuning.scores.metrics import METRICS
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.strategies.strategy import RunContext

APP = Path(app.__file__).parent
ROOT = Path(__file__).parents[3]
NO_WINDOW = ("cli", "help", "diagnostics", "worker")

# Terms of the field that a reader may have to look up, from the indices of textbooks on machine
# learning and statistics; which of them the window uses is found out below.
FIELD = """
accuracy; acquisition function; activation; area under the roc curve; attention; autoencoder;
average; backpropagation; bagging; bandwidth; base pair; baseline; batch; bayes factor; bias;
boosting; bootstrap; budget; calibration; categorical; class; class imbalance; classifier;
clustering; column; confidence interval; confusion matrix; convergence; correlation; covariance;
cross-entropy; cross-validation; data leakage; dataset; decision boundary; decision tree; default
setting; degrees of freedom; dimensionality; dropout; early stopping; embedding; ensemble; entropy;
epoch; evidence; expected improvement; export; f1; false positive; feature; fit; fold; gaussian
process; gini; gradient descent; grid search; held out; hessian; history; hyperparameter; import;
imputation; interpolation; jacobian; kernel; kurtosis; l1; l2; latent variable; learning curve;
learning rate; leave-one-out; length scale; likelihood ratio; log likelihood; log loss; logit;
loss; margin of error; markov chain; mean absolute error; mean squared error; member; metric;
minibatch; missing; model; momentum; multicollinearity; nested cross-validation; neural network;
neurons; normalization; null hypothesis; objective; one-hot; out of distribution; outlier;
overfitting; p-value; parameter sharing; patience; penalty; permutation importance; perplexity;
posterior mean; power analysis; precision; principal component; prior; probability; pruning;
quantile; random search; recall; regularization; residual; resampling; role; row; run; sampler;
score; screening; seed; sensitivity; sequence; setting; sigmoid; significance; skewness; softmax;
specificity; standard deviation; standard error; standardize; stochastic gradient; strategy;
surrogate; t-test; target; test set; threshold; token; topic; training data; training rows;
transfer learning; trial; tree; type i error; underfitting; validation; variance explained; warm
start; weight; z-score
"""
FIELD_TERMS = tuple(re.split(r";\s*", FIELD.strip().replace("\n", " ")))
# What the window's own sentences explain where they use it, a few words away.
SAID_THERE = {
    "boosting",  # part of a model's name, whose page says what it is
    "bootstrap",  # the help on results
    "categorical",
    "classifier",
    "bias",
    "grid search",  # a strategy, with a page
    "random search",  # a strategy, with a page
    "specificity",
    "variance explained",
    "tree",
    "margin",
    "epoch",  # a name in the code, which no one sees
}

# One word per thing, as CONTRIBUTING.md has it, and why some have no entry.
ONE_WORD = (
    *("dataset", "column", "role", "group", "penalty", "loss", "strategy", "sampler", "trial"),
    *("setting", "score", "event", "run", "training set", "validation set", "test set"),
    *("surrogate", "early stopping", "confidence interval", "precision", "recall"),
    *("import", "export", "history"),
)
NOT_SHOWN = {
    "sampler": "Optuna's word, for those who write Python; the window says strategy",
    "event": "a line of the run's folder; the window shows what it says, not what it is",
}


def _strings_of(path):
    """The string literals of a module that are no docstrings, and the fixed parts of f-strings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        first = body[0] if isinstance(body, list) and body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            docs.add(id(first.value))
    for node in ast.walk(tree):
        told = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if told and id(node) not in docs and re.search(r"[A-Z ]|^[a-z]{3,}$", node.value):
            yield node.value


@cache
def window_text():
    """Everything that the window may say, its texts apart from each other."""
    texts = []
    for path in APP.rglob("*.py"):
        if path.relative_to(APP).parts[0] not in NO_WINDOW:
            texts += _strings_of(path)
    for folder in ("tuning/guidance", "figures"):
        for path in (APP.parent / "core" / folder).glob("*.py"):
            texts += _strings_of(path)
    for strategy in STRATEGIES.values():
        texts += [strategy.title, strategy.does, strategy.costs, strategy.shows]
        texts += [strategy.works(RunContext()), strategy.costs_structured]
        for option in strategy.options:
            texts += [option.label, option.help, *option.choice_labels]
    for model in MODELS.values():
        texts += [model.title, model.good_for, model.cost]
        texts += [axis.label for task in model.tasks for axis in model.space(task)]
    texts += [metric.title for metric in METRICS.values()]
    for words in read_help("run_options.json").values():
        texts += [words["label"], words["help"], *words.get("choice_labels", ())]
    for words in read_help("groups.json").values():
        texts += [words["caption"], *words["ways"].values()]
    for words in read_help("plan_fields.json").values():
        texts += words.values()
    return "\0".join(texts)


def _uses(term, text):
    return re.search(rf"(?<![\w-]){re.escape(term)}(?:s|es)?(?![\w-])", text, re.IGNORECASE)


def test_terms_that_are_used_have_entries_and_entries_are_used():
    shown = [term for term in FIELD_TERMS if _uses(term, window_text())]
    assert {"trial", "penalty", "kernel", "confidence interval", "log loss"} <= set(shown)
    assert not {"dropout", "kurtosis", "softmax"} & set(shown)
    wanted = [term for term in shown if term not in SAID_THERE]
    assert [term for term in wanted if not terms_in(f"so the {term} is")] == []
    used = terms_in(window_text())
    assert [entry.key for entry in entries() if entry not in used] == []


def test_entries_say_something_and_the_longest_term_counts():
    forms = [form for entry in entries() for form in entry.forms]
    assert len(forms) == len(set(forms))
    for entry in entries():
        assert len(entry.plain_words.split()) >= 4, entry.title
        assert "](" not in entry.plain_words
        assert not entry.plain_words.endswith("More.")
    titles = [entry.title for entry in terms_in("Nested cross-validation, half-trials, rowing")]
    assert titles == ["Nested cross-validation"]


def _terms_of_contributing():
    """The terms of its sentence, "training, validation and test set" as three."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (listed,) = re.findall(r"One word per thing[^:]*: ([^.]*)\.", text)
    terms = []
    for part in listed.split("; "):
        words = re.split(r", | and ", part)
        shared_noun = words[-1].partition(" ")[2] if " and " in part else ""
        terms += [f"{word} {shared_noun}" for word in words[:-1]] if shared_noun else words[:-1]
        terms.append(words[-1])
    return tuple(terms)


def test_one_word_per_thing_has_an_entry_or_is_not_shown():
    assert _terms_of_contributing() == ONE_WORD
    names = {name for entry in entries() for name in (entry.title.lower(), *entry.forms)}
    lacking = [term for term in ONE_WORD if not names & {term, f"{term}s"}]
    assert lacking == [*NOT_SHOWN]
    assert not any(_uses(term, window_text()) for term in NOT_SHOWN)
