"""Texts and counts become documents by the rules; unusable ones get one sentence."""

from __future__ import annotations

import gzip
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer

from core.datasets.texts.documents import (
    count_words,
    documents_of_counts,
    documents_of_texts,
    refuse_too_few,
)
from core.datasets.texts.vocabulary import WordRules, common_words
from core.errors import UnusableError

POSTS = [
    "The ship sailed; the SHIP sank. Anchor!",
    "A ship and an anchor, is it? It is.",
    "Recipes: onion, onion, salt.",
    "salt of the sea, and onion42 or on_ion",
]


def table(documents):
    """{word: counts of every document}."""
    dense = documents.counts.toarray().T
    return {w: row.tolist() for w, row in zip(documents.vocabulary, dense, strict=True)}


def test_words_of_one_text_and_stop_words_are_left_out():
    assert table(documents_of_texts(POSTS)) == {
        "anchor": [1, 1, 0, 0],
        "salt": [0, 0, 1, 1],
        "ship": [2, 1, 0, 0],
    }


def test_words_in_nearly_every_text_are_left_out():
    texts = ["ship anchor"] * 10 + ["ship"] * 9 + ["anchor"]
    # ship is in 19 of 20 texts, exactly the 95 % that are allowed; one more is too many.
    assert documents_of_texts(texts).vocabulary == ("anchor", "ship")
    assert documents_of_texts([*texts[:-1], "anchor ship"]).vocabulary == ("anchor",)


def test_the_most_frequent_are_kept_and_equals_by_the_alphabet():
    texts = ["ccc bbb aaa", "ccc bbb aaa", "ccc ddd", "ddd", "zzz zzz"]
    rules = WordRules(size=3)
    assert documents_of_texts(texts, rules=rules).vocabulary == ("aaa", "bbb", "ccc")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Äpfel ÄPFEL a\u0308pfel", {"äpfel": 3}),
        ("море Море 42 x1y", {"море": 2}),
        ("abc123 abc_d abc-def don't", {"abc": 1, "def": 1, "don": 1}),
        ("naïve café", {"naïve": 1, "café": 1}),
    ],
)
def test_a_word_is_three_letters_of_any_alphabet(text, words):
    found = documents_of_texts([text, text, "other"], rules=WordRules(max_document_share=1.0))
    assert {w: n[0] for w, n in table(found).items()} == words


def test_random_texts_are_counted_as_a_plain_counter_does():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdé"), 3)) for _ in range(80)]
    texts = [" ".join(rng.choice(words, rng.integers(0, 30))) for _ in range(60)]
    found = documents_of_texts(
        texts, rules=WordRules(size=25, max_document_share=0.4, min_documents=3)
    )
    counters = [Counter(text.split()) for text in texts]
    total, spread = Counter(), Counter()
    for counter in counters:
        total.update(counter)
        spread.update(counter.keys())
    allowed = [w for w in total if 3 <= spread[w] <= 24]
    best = sorted(sorted(allowed, key=lambda w: (-total[w], w))[:25])
    assert list(found.vocabulary) == best
    assert found.counts.toarray().tolist() == [[c[w] for w in best] for c in counters]
    assert found.token_counts.tolist() == [sum(c[w] for w in best) for c in counters]


def test_further_texts_are_counted_over_the_same_words():
    found = documents_of_texts(POSTS)
    again = count_words(POSTS, found.vocabulary)
    assert abs(again - found.counts).nnz == 0
    new = count_words(["Ship ship whale", None, ""], found.vocabulary)
    assert new.toarray().tolist() == [[0, 0, 2], [0, 0, 0], [0, 0, 0]]


def test_given_counts_follow_the_same_rules_as_texts():
    texts = [*POSTS, "anchor salt wind", "wind"]
    counter = CountVectorizer(token_pattern=r"(?u)\b[^\W\d_]{3,}\b")
    counts = counter.fit_transform(texts)
    given = documents_of_counts(counts, counter.get_feature_names_out().tolist())
    assert table(given) == table(documents_of_texts(texts))
    dense = documents_of_counts(counts.toarray())
    # Without names "the" is a word like others.
    assert len(dense.vocabulary) > len(given.vocabulary)
    assert all(word.startswith("word ") for word in dense.vocabulary)


def test_words_may_be_chosen_from_training_documents_alone():
    counts = sparse.csr_matrix([[1, 0, 2], [1, 0, 0], [0, 0, 1], [0, 5, 0], [0, 5, 0]])
    assert common_words(counts).tolist() == [0, 1, 2]
    assert common_words(counts[:3]).tolist() == [0, 2]


def test_texts_without_words_are_refused():
    with pytest.raises(UnusableError, match="no text has a word of three or more letters"):
        documents_of_texts(["12 34", "a b?"], "posts.csv, column text")
    with pytest.raises(UnusableError, match="there are no texts"):
        documents_of_texts([])


def test_when_no_word_is_left_it_says_how_many_there_were():
    with pytest.raises(UnusableError) as caught:
        documents_of_texts(["the whale", "and then", "some other ship"], "posts.csv")
    assert caught.value.sentence == (
        "posts.csv: no word is left of 7: all are stop words, in only 1 document, or in over 95%"
        " of the documents; give more or longer texts."
    )


@pytest.mark.parametrize(
    ("value", "words", "sentence"),
    [
        (-2, ("ship", "salt"), "c.libsvm, document 2, word “salt”: -2 is a negative count;"),
        (1.5, (), "c.libsvm, document 2, word 2: 1.5 is no whole number;"),
        (np.nan, (), "c.libsvm, document 2, word 2: nan is no whole number;"),
        (np.inf, (), "c.libsvm, document 2, word 2: inf is no whole number;"),
    ],
)
def test_counts_that_are_none_are_refused(value, words, sentence):
    counts = sparse.csr_matrix(np.array([[1.0, 0.0], [1.0, value], [1.0, 1.0]]))
    with pytest.raises(UnusableError) as caught:
        documents_of_counts(counts, words, "c.libsvm")
    assert caught.value.sentence.startswith(sentence)


def test_words_must_be_as_many_as_columns():
    with pytest.raises(UnusableError, match="1 words for 2 columns"):
        documents_of_counts([[1, 2]], ["one"])


def test_fewer_documents_than_a_minibatch_are_refused():
    refuse_too_few(100, 100)
    with pytest.raises(UnusableError) as caught:
        refuse_too_few(80, 100, "posts.csv")
    assert caught.value.sentence == (
        "posts.csv: a minibatch of 100 is more than there is to train on, 80 documents;"
        " give more documents."
    )


def test_the_newsgroups_keep_a_thousand_words(shared_data):
    with gzip.open(shared_data / "20news_train_counts.libsvm.gz") as file:
        counts, _ = load_svmlight_file(file)
    words = pd.read_csv(shared_data / "20news_vocabulary.csv", keep_default_na=False)["term"]
    found = documents_of_counts(counts, words.tolist())
    assert found.counts.shape == (11314, 1000)
    assert "space" in found.vocabulary
    assert "the" not in found.vocabulary
    left = np.asarray(counts.sum(axis=0)).ravel()[~words.isin(found.vocabulary)]
    assert left.max() <= found.counts.sum(axis=0).min()
