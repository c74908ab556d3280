"""Online LDA beside scikit-learn's: a pass over documents in minibatches of 100, by the processor.

Both learn from the same documents with the same priors and learning rate, and predict one half of
every held-out document from the other. Without --data the documents are drawn from planted topics;
with it they are the 20 Newsgroups counts of that folder (20news_train_counts.libsvm.gz and
20news_vocabulary.csv), their most frequent 1,000 words, 80 % to train on and 10 % held out. With
--files they are a person's own: counts as LIBSVM, or a table with a column of texts.
Likelihoods are means over seeds, for they differ from start to start; times are the median.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
import own_files
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.decomposition import LatentDirichletAllocation

from core.datasets.texts.documents import divide_documents, documents_of_counts
from core.estimators.lda.lda_likelihood import completion_log_densities, split_halves
from core.estimators.lda.online_lda import OnlineLda


def generated(documents: int = 11_314, words: int = 1000) -> sparse.csr_matrix:
    """Documents of 50 planted topics and about 58 words each."""
    rng = np.random.default_rng(0)
    frequent = rng.dirichlet(np.full(words, 0.5)) * 20.0
    beta = rng.gamma(frequent + 1e-9, size=(50, words)) + 1e-12
    beta /= beta.sum(axis=1, keepdims=True)
    theta = rng.dirichlet(np.full(50, 0.05), documents)
    lengths = np.maximum(1, rng.lognormal(3.6, 0.9, documents).astype(int))
    rows = [rng.multinomial(n, p @ beta) for n, p in zip(lengths, theta, strict=True)]
    return sparse.csr_matrix(np.stack(rows).astype(float))


def newsgroups(folder: Path) -> sparse.csr_matrix:
    """The training posts' most frequent thousand words."""
    counts, _ = load_svmlight_file(str(folder / "20news_train_counts.libsvm.gz"))
    words = pd.read_csv(folder / "20news_vocabulary.csv", keep_default_na=False)["term"]
    return documents_of_counts(counts, words.tolist(), where=str(folder)).counts


def named(given: str) -> sparse.csr_matrix:
    """The counts in a file, or of the words of its texts; the words that the program keeps."""
    return own_files.dataset_of(given, "topics").documents.counts


def own(K: int, alpha: float, eta: float, passes: int, seed: int) -> OnlineLda:
    """Our model."""
    return OnlineLda(K, alpha=alpha, eta=eta, passes=passes, random_state=seed)


def peer(K: int, alpha: float, eta: float, passes: int, seed: int) -> LatentDirichletAllocation:
    """scikit-learn's; it counts minibatches from 1, so that its offset is one less."""
    return LatentDirichletAllocation(
        K,
        doc_topic_prior=alpha,
        topic_word_prior=eta,
        learning_method="online",
        batch_size=100,
        learning_offset=9.0,
        learning_decay=0.7,
        max_iter=passes,
        random_state=seed,
    )


def per_token(model: OnlineLda | LatentDirichletAllocation, X: sparse.csr_matrix) -> float:
    """Held-out log likelihood of a token, in nats."""
    if isinstance(model, OnlineLda):
        logs, tokens = completion_log_densities(model, X, 0)
        return float(logs.sum() / tokens.sum())
    first, second = split_halves(X, 0)
    beta = model.components_ / model.components_.sum(axis=1, keepdims=True)
    p = np.log(model.transform(first) @ beta)
    return float(second.multiply(p).sum() / second.sum())


def beside(
    train: sparse.csr_matrix,
    held: sparse.csr_matrix,
    K: int,
    priors: tuple[float, float],
    passes: int,
    seeds: int,
) -> None:
    """Print one line: seconds and likelihoods of both."""
    taken: dict[str, list[float]] = {"own": [], "peer": []}
    found: dict[str, list[float]] = {"own": [], "peer": []}
    for seed in range(seeds):
        # scikit-learn takes documents as they come, and files are sorted: a random order for both.
        shuffled = train[np.random.default_rng(seed).permutation(train.shape[0])]
        for name, make in (("own", own), ("peer", peer)):
            model = make(K, *priors, passes, seed)
            start = time.process_time()
            model.fit(shuffled)
            taken[name].append(time.process_time() - start)
            found[name].append(per_token(model, held))
    mine, theirs = (statistics.median(taken[name]) for name in ("own", "peer"))
    error = np.sqrt(sum(np.var(found[name]) for name in found) / max(1, seeds - 1))
    print(
        f"K {K:>3}  α {priors[0]:<6g} η {priors[1]:<6g} passes {passes}"
        f"{theirs:>9.2f} s{mine:>9.2f} s{theirs / mine:>7.1f}"
        f"{np.mean(found['peer']):>12.4f}{np.mean(found['own']):>10.4f}  ± {error:.4f}"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with the 20 Newsgroups counts")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="the first line only")
    own_files.add_to(parser, "word counts as LIBSVM, or tables with a column of texts,")
    chosen = parser.parse_args()
    with own_files.refusing(parser):
        usual = () if chosen.files else (newsgroups(chosen.data) if chosen.data else generated(),)
        for X in [named(given) for given in chosen.files] or usual:
            table(X, chosen.seeds, chosen.quick)


def table(X: sparse.csr_matrix, seeds: int, quick: bool) -> None:
    """Print the lines of one file."""
    rows, _, test = divide_documents(X.shape[0], 0)
    train, held = X[rows], X[test]
    print(f"{train.shape[0]:,} documents, {train.shape[1]:,} words, {train.nnz:,} counts")
    # Compiles what is measured.
    completion_log_densities(own(3, 0.1, 0.1, 1, 0).fit(train[:200]), held[:9], 0)
    print(f"{'':<34}{'scikit-learn':>11}{'ours':>11}{'ratio':>7}{'peer/token':>12}{'ours':>10}")
    lines = [(50, (0.02, 0.02), 1), (50, (0.2, 0.2), 1), (100, (0.05, 0.5), 1)]
    for K, priors, passes in lines[:1] if quick else lines:
        beside(train, held, K, priors, passes, seeds)


if __name__ == "__main__":
    main()
