"""How many topics generated texts of 5, 10 and 15 subjects come back as, and which are found.

A row for each corpus: topics of the best score of new texts, subjects with a topic of their own,
and the same of random starts. `.venv/bin/python tests/benchmarks/bench_topic_count.py`
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.estimators.lda.fitted_topics import completion, word_probabilities
from core.estimators.lda.online_lda import OnlineLda
from tests.core.estimators.lda.test_anchor_words import subject_corpus

PASSES = 5


def fit(X, topics, seed, *, is_random):
    model = OnlineLda(topics, alpha=0.1, eta=0.02, passes=PASSES, random_state=seed)
    if not is_random:
        return model.fit(X)
    rng = np.random.default_rng(seed)
    for _ in range(PASSES):
        model.partial_fit(X[rng.permutation(X.shape[0])], documents=X.shape[0])
    return model


def best_topics(X, new, beta, seed, *, is_random):
    """The topics of the best score, and how many subjects are the nearest of a topic of theirs."""
    scores = {}
    for topics in sorted({len(beta) + step for step in (-3, -2, -1, 0, 1, 2, 4, len(beta))}):
        logs, tokens = completion(fit(X, topics, seed, is_random=is_random), new).T
        scores[topics] = logs.sum() / tokens.sum()
    own = word_probabilities(fit(X, len(beta), seed, is_random=is_random))
    distances = abs(own[:, None] - beta).sum(axis=2) / 2
    return max(scores, key=scores.get), int((distances.min(axis=0) < 0.2).sum())


if __name__ == "__main__":
    print("subjects texts seed | anchors: topics, subjects | random: topics, subjects")
    for subjects in (5, 10, 15):
        for texts in (400, 1000, 2000):
            for seed in range(2):
                X, beta = subject_corpus(subjects, texts, seed)
                new, _ = subject_corpus(subjects, 400, seed + 100)
                columns = [best_topics(X, new, beta, seed, is_random=r) for r in (False, True)]
                print(subjects, texts, seed, *columns, flush=True)
