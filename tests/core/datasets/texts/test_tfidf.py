"""TF-IDF of a column of texts: equal to scikit-learn's vectorizers, of the fitted rows alone."""

from __future__ import annotations

import random
import string
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from core.datasets.dataset import Dataset
from core.datasets.preparation import output_names, output_sources, plain_preparation, preparation
from core.datasets.samples import SAMPLES
from core.datasets.texts import ngrams
from core.datasets.texts.tfidf import TextTfidf

WORDS = ["anchor", "Harbour", "sailor", "naïve", "butter-milk", "übung", "don't", "a", "x1", "is"]
STRANGE = [
    "<p>Good &amp; <b>bold</b></p><script>alert('x')</script>",
    "😀😀 👍🏽 great 😀",
    "今天天气很好我们去公园散步吧 今天天气很好",
    "สวัสดีครับ ขอบคุณ",
    "مرحبا بالعالم كيف حالك",
    "tab\tand\x0bfeed\x1fand\x7fbell\x07 bell\x07",
    "\u200bzero\u200bwidth\u2028line\x85next",
    "=1+1",
    "   ",
    "",
    "é e\u0301",
    "İstanbul STRASSE straße",
]


def table(texts: list[str | None]) -> pd.DataFrame:
    return pd.DataFrame({"text": pd.Series(texts, dtype="str")})


def made_up(count: int, seed: int) -> list[str | None]:
    generator = random.Random(seed)
    texts: list[str | None] = [
        " ".join(generator.choices(WORDS, k=generator.randint(0, 30))) for _ in range(count)
    ]
    return [*texts, *STRANGE, *STRANGE]


def peers(most: int, fewest: int = 2) -> list[TfidfVectorizer]:
    """scikit-learn's own, as a person would write them."""
    rules = {"sublinear_tf": True, "min_df": fewest, "max_features": most}
    return [
        TfidfVectorizer(ngram_range=(1, 2), **rules),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), **rules),
    ]


@pytest.mark.parametrize("most", [25_000, 40])
def test_equals_scikit_learns_own_vectorizers(most):
    fit, score = made_up(50, 0), made_up(20, 1)
    ours = TextTfidf(most=most)
    found = ours.fit_transform(table(fit))
    words, parts = peers(most)
    expected = sparse.hstack([words.fit_transform(fit), parts.fit_transform(fit)])
    assert ours.words_.tolist() == words.get_feature_names_out().tolist()
    assert ours.parts_.tolist() == parts.get_feature_names_out().tolist()
    assert abs(found - expected).max() < 1e-12
    expected = sparse.hstack([words.transform(score), parts.transform(score)])
    assert abs(ours.transform(table(score)) - expected).max() < 1e-12


def test_counts_are_the_same_in_portions(monkeypatch):
    texts = made_up(60, 2)
    whole = TextTfidf().fit(table(texts))
    expected = whole.transform(table(texts))
    monkeypatch.setattr(ngrams, "_AT_ONCE", 50)
    again = TextTfidf().fit(table(texts))
    assert again.words_.tolist() == whole.words_.tolist()
    assert abs(again.transform(table(texts)) - expected).max() == 0


@pytest.mark.parametrize("texts", [["", " ", None], ["?", "!", ""], ["a", "b", "?"]])
def test_where_no_word_is_left_a_column_of_zeros_stands(texts):
    ours = TextTfidf()
    found = ours.fit_transform(table(texts))
    assert found.shape[0] == 3
    assert found.shape[1] == len(ours.output_names()) >= 1
    assert np.isfinite(found.toarray()).all()
    rows = table(["a new text", None])
    assert abs(ours.as_plain().transform(rows) - ours.transform(rows)).max() == 0


def test_unknown_words_are_zeros_and_of_few_texts_every_word_counts():
    found = TextTfidf().fit(table([*made_up(20, 3), None])).transform(table([None, "  ", "qqq"]))
    assert (found.nnz, found.format, found.dtype) == (0, "csr", np.float64)
    ours = TextTfidf().fit(table(["one two", "three four"]))
    assert ours.fewest_ == 1
    assert "three four" in ours.words_.tolist()


def test_as_plain_predicts_the_same_by_scikit_learn_alone():
    fit, score = table(made_up(50, 4)), table(made_up(20, 5))
    for directions in (0, 7):
        ours = TextTfidf(directions=directions)
        found = ours.fit_transform(fit)
        assert sparse.issparse(found) == (directions == 0)
        plain = ours.as_plain()
        assert "core." not in repr([type(part) for part in plain.named_steps.values()])
        difference = plain.transform(score) - ours.transform(score)
        assert abs(difference).max() < 1e-12
        anew = ours.unfitted_pipeline().fit_transform(fit)
        assert abs(anew - found).max() < 1e-6


def test_directions_are_those_of_a_singular_value_decomposition():
    fit = table(made_up(30, 6))
    whole = TextTfidf().fit_transform(fit).toarray()
    ours = TextTfidf(directions=3)
    found = ours.fit_transform(fit)
    best = np.linalg.svd(whole, compute_uv=False)[:3]
    assert np.square(found).sum() == pytest.approx(np.square(best).sum(), rel=1e-3)
    np.testing.assert_allclose(ours.components_ @ ours.components_.T, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(found, whole @ ours.components_.T, atol=1e-12)


@pytest.mark.slow
def test_a_huge_cell_and_a_word_without_end():
    generator = np.random.default_rng(0)
    word = "".join(generator.choice(list(string.ascii_lowercase), 60_000))
    texts = ["sailor " * 30_000, word, "the sailor came", "the sailor went"]
    ours = TextTfidf().fit(table(texts))
    assert "sailor" in ours.words_.tolist()
    assert max(map(len, ours.words_.tolist())) <= ngrams.LONGEST_NAME
    rows = ours.transform(table(texts))
    words = peers(25_000)[0].fit(texts)
    column = ours.words_.tolist().index("the sailor")
    assert column == words.vocabulary_["the sailor"]
    assert rows[2, column] > 0


@pytest.fixture
def reviews(read) -> Callable[..., Dataset]:
    """Reads the sample of reviews from a file, with a person's choices."""
    return lambda **choices: read(SAMPLES["reviews"].table(), **choices)


def test_texts_stand_beside_standardized_columns_as_they_are(reviews):
    dataset = reviews()
    fitted = preparation(dataset, scale=True, sparse_ok=True)
    X = fitted.fit_transform(dataset.features)
    sources, names = np.array(output_sources(fitted)), output_names(fitted)
    assert sparse.issparse(X)
    assert X.shape[1] == len(names) == len(set(names))
    price = X[:, np.flatnonzero(sources == "price")].toarray()
    np.testing.assert_allclose([price.mean(), price.std()], [0, 1], atol=1e-12)
    texts = X[:, np.flatnonzero(sources == "review")]
    squares = np.asarray(texts.multiply(texts).sum(axis=1)).ravel()
    np.testing.assert_allclose(squares, 2.0)  # words and parts have length 1 each
    assert "review: word “sturdy”" in names
    assert "review: words “never late”" in names
    assert "review: part “urdy ”" in names


def test_no_word_of_the_scored_rows_is_known(reviews):
    dataset = reviews()
    table = dataset.table.copy()
    table.loc[400:, "review"] = "zyzzyva zyzzyvas " + table.loc[400:, "review"]
    fitted = preparation(dataset, scale=True, sparse_ok=True).fit(table.iloc[:400])
    assert not [name for name in output_names(fitted) if "zyz" in name]
    alone = peers(25_000)[0].fit(table["review"].iloc[:400])
    words = [name for name in output_names(fitted) if ": word" in name]
    assert len(words) == len(alone.vocabulary_)


def test_the_plain_preparation_of_a_table(reviews):
    dataset = reviews()
    for sparse_ok in (True, False):
        fitted = preparation(dataset, scale=True, sparse_ok=sparse_ok).fit(dataset.features)
        plain = plain_preparation(fitted)
        rows = dataset.features.tail(50)
        assert abs(plain.transform(rows) - fitted.transform(rows)).max() < 1e-12
        assert not any("core" in str(type(step)) for _, step, _ in plain[0].transformers_)
        # What was fitted is still itself.
        assert any(isinstance(step, TextTfidf) for _, step, _ in fitted[0].transformers_)


def test_a_category_by_a_persons_word_is_none_of_words(reviews):
    dataset = reviews(kinds={"review": "category"})
    assert not dataset.has_texts
    fitted = preparation(dataset, scale=True, sparse_ok=True)
    fitted.fit(dataset.features, dataset.target)
    assert not [name for name in output_names(fitted) if ": word" in name]
    dataset = reviews(kinds={"bought": "text"})
    fitted = preparation(dataset, scale=True, sparse_ok=True).fit(dataset.features)
    assert "bought: word “teapot”" in output_names(fitted)
