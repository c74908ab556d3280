"""The glossary: every term of the field that the window's texts use, and none that they do not."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import app
from app.help.glossary import entries, terms_in
from core.estimators.registry import MODELS
from core.tuning.scores.metrics import METRICS
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.strategies.strategy import Moment

APP = Path(app.__file__).parent
NO_WINDOW = ("cli", "help", "diagnostics", "worker")

# Terms of the field that a reader may have to look up, from the indices of textbooks on machine
# learning and statistics; which of them the window uses is found out below.
FIELD = """
accuracy; acquisition function; activation; area under the roc curve; attention; autoencoder;
average; backpropagation; bagging; bandwidth; base pair; baseline; batch; bayes factor; bias;
boosting; bootstrap; budget; calibration; categorical; class; class imbalance; classifier;
clustering; column; confidence interval; confusion matrix; convergence; correlation; covariance;
cross-entropy; cross-validation; data leakage; decision boundary; decision tree; default setting;
degrees of freedom; dimensionality; dropout; early stopping; embedding; ensemble; entropy; epoch;
evidence; expected improvement; f1; feature; fit; fold; gaussian process; gini; gradient descent;
grid search; held out; hessian; history; hyperparameter; imputation; interpolation; jacobian;
kernel; kurtosis; l1; l2; learning rate; leave-one-out; length scale; likelihood ratio;
log likelihood; log loss; logit; loss; margin of error; markov chain; mean absolute error;
mean squared error; member; metric; minibatch; missing; model; momentum; multicollinearity;
nested cross-validation; neural network; neurons; normalization; null hypothesis; objective;
one-hot; outlier; overfitting; p-value; parameter sharing; penalty; perplexity; posterior mean;
power analysis; precision; principal component; prior; probability; pruning; quantile;
random search;
recall; regularization; residual; resampling; role; row; run; sampler; score; seed; sensitivity;
sequence; setting; sigmoid; significance; skewness; softmax; specificity; standard deviation;
standard error; standardize; stochastic gradient; strategy; surrogate; t-test; target; test set;
threshold; token; topic; training data; training rows; transfer learning; trial; tree;
type i error; underfitting; validation; variance explained; warm start; weight; z-score
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
    # Names in the code, which no one sees.
    "ensemble",
    "epoch",
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
def window_texts():
    """Everything that the window may say."""
    texts = []
    for path in APP.rglob("*.py"):
        if path.relative_to(APP).parts[0] not in NO_WINDOW:
            texts += _strings_of(path)
    for path in (APP.parent / "core" / "tuning" / "guidance").glob("*.py"):
        texts += _strings_of(path)
    for strategy in STRATEGIES.values():
        texts += [strategy.title, strategy.does, strategy.costs, strategy.shows]
        texts += [strategy.works(Moment()), strategy.costs_structured]
        for option in strategy.options:
            texts += [option.label, option.help, *option.choice_labels]
    for model in MODELS.values():
        texts += [model.title, model.good_for, model.cost]
        texts += [axis.label for task in model.tasks for axis in model.space(task)]
    texts += [metric.title for metric in METRICS.values()]
    return texts


def _uses(term, text):
    return re.search(rf"(?<![\w-]){re.escape(term)}(?:s|es)?(?![\w-])", text, re.IGNORECASE)


USED = [term for term in FIELD_TERMS if any(_uses(term, text) for text in window_texts())]


def test_the_list_finds_what_is_used_and_what_is_not():
    assert {"trial", "penalty", "kernel", "confidence interval", "log loss"} <= set(USED)
    assert not {"dropout", "kurtosis", "softmax"} & set(USED)


@pytest.mark.parametrize("term", [term for term in USED if term not in SAID_THERE])
def test_every_term_that_is_used_has_an_entry(term):
    assert terms_in(f"so the {term} is")


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.key)
def test_every_entry_is_used(entry):
    assert any(entry in terms_in(text) for text in window_texts())


def test_no_form_belongs_to_two_entries():
    forms = [form for entry in entries() for form in entry.forms]
    assert len(forms) == len(set(forms))


def test_entries_say_something_by_themselves():
    for entry in entries():
        assert len(entry.alone.split()) >= 4, entry.title
        assert "](" not in entry.alone
        assert not entry.alone.endswith("More.")


def test_the_longest_term_counts_and_parts_of_words_do_not():
    titles = [entry.title for entry in terms_in("Nested cross-validation, half-trials, rowing")]
    assert titles == ["Nested cross-validation"]
