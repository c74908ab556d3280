"""The options of an average over the best models."""

from __future__ import annotations

from core.options import Option

WEIGHTS = Option(
    "weights",
    "How much each model counts",
    "choice",
    "uniform",
    "uniform: all models of the average the same, as in the paper. tempered: better scores count "
    "more. greedy: as often as a model improves the average on held-out rows when models are added "
    "one by one (Caruana and others 2004).",
    choices=("uniform", "tempered", "greedy"),
    choice_labels=(
        "All the same (uniform)",
        "Better ones more (tempered)",
        "What improves the average (greedy)",
    ),
)
JUDGED = Option(
    "judged",
    "What settings are judged by",
    "choice",
    "automatic",
    "cv: every row is predicted by a model that did not see it (cross-validation). validation: a "
    "fifth of the training rows, held out once, which costs one fit a trial. training: the rows "
    "that the model was fitted to, as the paper does without validation; only for models of how "
    "the data come about (topics, by document completion; deep latent Gaussian). Automatic takes "
    "training for those and cv for all others.",
    choices=("automatic", "cv", "validation", "training"),
    choice_labels=(
        "Automatic",
        "Cross-validation (cv)",
        "A part held out once (validation)",
        "How well it explains the training rows (training)",
    ),
)
AVERAGING = (WEIGHTS, JUDGED)
