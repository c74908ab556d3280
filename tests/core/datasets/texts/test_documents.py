"""Words of texts in many languages, and documents of texts and counts by the rules."""

from __future__ import annotations

import gzip
import re
import unicodedata
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.feature_extraction.text import CountVectorizer

from core.datasets.reading import read_dataset
from core.datasets.texts.documents import (
    count_words,
    documents_of_counts,
    documents_of_texts,
    language_of_texts,
    refuse_too_few,
)
from core.datasets.texts.stop_words import CHOICES, LANGUAGES, check_choice, stop_words
from core.datasets.texts.vocabulary import WordRules, chosen_rules, common_words
from core.datasets.texts.words import words_of
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


def test_words_of_one_text_and_stop_words_are_left_out_in_further_texts_too():
    found = documents_of_texts(POSTS)
    assert table(found) == {"anchor": [1, 1, 0, 0], "salt": [0, 0, 1, 1], "ship": [2, 1, 0, 0]}
    assert abs(count_words(POSTS, found.vocabulary) - found.counts).nnz == 0
    new = count_words(["Ship ship whale", None, ""], found.vocabulary)
    assert new.toarray().tolist() == [[0, 0, 2], [0, 0, 0], [0, 0, 0]]


def test_words_in_nearly_every_text_are_left_out():
    texts = ["ship anchor"] * 10 + ["ship"] * 9 + ["anchor"]
    # ship is in 19 of 20 texts, exactly the 95 % that are allowed; one more is too many.
    assert documents_of_texts(texts).vocabulary == ("anchor", "ship")
    assert documents_of_texts([*texts[:-1], "anchor ship"]).vocabulary == ("anchor",)


def test_the_most_frequent_are_kept_and_equals_by_the_alphabet():
    texts = ["ccc bbb aaa", "ccc bbb aaa", "ccc ddd", "ddd", "zzz zzz"]
    rules = WordRules(size=3)
    assert documents_of_texts(texts, rules=rules).vocabulary == ("aaa", "bbb", "ccc")


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


def test_given_counts_follow_the_same_rules_as_texts():
    texts = [*POSTS, "anchor salt wind", "wind"]
    counter = CountVectorizer(token_pattern=r"(?u)\b[^\W\d_]{3,}\b")
    counts = counter.fit_transform(texts)
    documents = documents_of_counts(counts, counter.get_feature_names_out().tolist())
    assert table(documents) == table(documents_of_texts(texts))
    dense = documents_of_counts(counts.toarray())
    # Without names "the" is a word like others.
    assert len(dense.vocabulary) > len(documents.vocabulary)
    assert all(word.startswith("word ") for word in dense.vocabulary)


def test_words_may_be_chosen_from_training_documents_alone():
    counts = sparse.csr_matrix([[1, 0, 2], [1, 0, 0], [0, 0, 1], [0, 5, 0], [0, 5, 0]])
    assert common_words(counts).tolist() == [0, 1, 2]
    assert common_words(counts[:3]).tolist() == [0, 2]


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["12 34", "a b?"], "posts.csv: no text has a word of three or more letters"),
        ([], "posts.csv: there are no texts"),
        (
            ["the whale", "and then", "some other ship"],
            "no word is left of 7: all are stop words, in only 1 document, or in over 95%",
        ),
    ],
)
def test_texts_without_words_are_refused(texts, words):
    with pytest.raises(UnusableError) as caught:
        documents_of_texts(texts, "posts.csv")
    assert words in caught.value.sentence


@pytest.mark.parametrize(
    ("value", "words", "sentence"),
    [
        (-2, ("ship", "salt"), "c.libsvm, document 2, word “salt”: -2 is a negative count;"),
        (1.5, (), "c.libsvm, document 2, word 2: 1.5 is no whole number;"),
        (np.nan, (), "c.libsvm, document 2, word 2: nan is no whole number;"),
        (np.inf, (), "c.libsvm, document 2, word 2: inf is no whole number;"),
        (1, ("one",), "c.libsvm: there are 1 words for 2 columns"),
    ],
)
def test_counts_that_are_none_are_refused(value, words, sentence):
    counts = sparse.csr_matrix(np.array([[1.0, 0.0], [1.0, value], [1.0, 1.0]]))
    with pytest.raises(UnusableError) as caught:
        documents_of_counts(counts, words, "c.libsvm")
    assert caught.value.sentence.startswith(sentence)


def test_fewer_documents_than_a_minibatch_are_refused():
    refuse_too_few(100, 100)
    with pytest.raises(UnusableError, match=r"posts\.csv: a minibatch of 100 .* 80 documents"):
        refuse_too_few(80, 100, "posts.csv")


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


SENTENCES = {
    "en": "The ship had left the harbour before the storm, and nobody knew where it would go.",
    "de": "Das Schiff hatte den Hafen vor dem Sturm verlassen, und niemand wusste, wohin es fuhr.",
    "fr": "Le navire avait quitté le port avant la tempête, et personne ne savait où il allait pour"
    " les marins qui sont dans la ville.",
    "es": "El barco había dejado el puerto antes de la tormenta, y nadie sabía para dónde iba con"
    " los marineros que estaban en la ciudad.",
    "it": "La nave aveva lasciato il porto prima della tempesta, e nessuno sapeva dove andava con i"
    " marinai che sono nella città.",
    "pt": "O navio tinha deixado o porto antes da tempestade, e ninguém sabia para onde ia com os"
    " marinheiros que estavam na cidade, mas não muito longe.",
    "nl": "Het schip had de haven voor de storm verlaten, en niemand wist waar het naar toe ging.",
    "sv": "Skeppet hade lämnat hamnen före stormen, och ingen visste vart det skulle gå med alla"
    " som var där.",
    "da": "Skibet havde forladt havnen før stormen, og ingen vidste, hvor det skulle hen med alle"
    " der ikke var blevet hjemme.",
    "pl": "Statek opuścił port przed burzą i nikt nie wiedział, gdzie jest teraz ani dla kogo"
    " płynie, ale nie tylko on.",
    "ru": "Корабль покинул гавань перед бурей, и никто не знал, куда он плывёт и что это было для"
    " всех.",
}
CHINESE = [
    "今天天气很好我们去公园散步",
    "机器学习模型需要很多训练数据",
    "这家餐厅的面条非常好吃推荐",
]


OTHERS = [*CHINESE, "Laiva oli lähtenyt satamasta ennen myrskyä", "ship anchor harbour", ""]


@pytest.mark.parametrize(
    ("language", "text"), [*SENTENCES.items(), *(("frequency", text) for text in OTHERS)]
)
def test_the_language_is_told_from_a_sentence(language, text):
    assert language_of_texts([text]) == language


@given(st.text(st.characters(codec="latin-1")))
def test_words_of_latin_letters_are_runs_of_three(text):
    lower = unicodedata.normalize("NFC", text.lower())
    assert words_of(text) == re.findall(r"\b[^\W\d_]{3,}\b", lower)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("今天天气", ["今天", "天天", "天气"]),
        ("用Python写代码。", ["用", "python", "写代", "代码"]),
        ("雨", ["雨"]),
        ("2024年3月", ["年", "月"]),
        ("東京タワーへ行く", ["東京", "京タ", "タワ", "ワー", "ーへ", "へ行", "行く"]),
        ("กินข้าว", ["กิน", "ินข", "นข้", "ข้า", "้าว"]),
        ("고양이 가 좋아", ["고양이", "좋아"]),
        ("Größe a1b abc_d x1 été don't", ["größe", "été", "don"]),
        ("Äpfel ÄPFEL a\u0308pfel", ["äpfel"] * 3),
        ("Ελληνικά слова", ["ελληνικά", "слова"]),
        ("", []),
    ],
)
def test_words_by_hand(text, words):
    assert words_of(text) == words


@given(st.text(st.sampled_from("今天气机器学习模型"), min_size=2))
def test_every_two_letters_of_chinese_are_a_word(text):
    assert words_of(text) == [text[k : k + 2] for k in range(len(text) - 1)]


def test_stop_words_of_the_language_are_left_out():
    texts = [f"{SENTENCES['de']} Nummer {word}" for word in ("Anker", "Segel", "Kapitän") * 10]
    texts[::2] = [text.replace("Hafen", "Kai").replace("Sturm", "Sonne") for text in texts[::2]]
    german = documents_of_texts(texts, rules=WordRules(language="auto")).vocabulary
    assert "hafen" in german
    assert not {"und", "das", "den", "dem", "vor", "hatte"} & set(german)
    loose = WordRules(language="none", max_document_share=1.0)
    assert {"und", "das", "hafen"} <= set(documents_of_texts(texts, rules=loose).vocabulary)


def test_words_by_frequency_alone():
    random, rare = np.random.default_rng(1), made_up_words(300)
    texts = [
        " ".join([*random.choice(rare, 12), *(["laiva"] if i % 10 < 7 else [])]) for i in range(100)
    ]
    for language, is_word in (("frequency", False), ("en", True)):
        found = documents_of_texts(texts, rules=WordRules(language=language)).vocabulary
        assert ("laiva" in found) == is_word


def made_up_words(count: int) -> list[str]:
    random = np.random.default_rng(0)
    return [f"w{''.join(random.choice(list('abcdefgh'), 4))}" for _ in range(count)]


def test_a_chosen_size_and_language(write):
    assert check_choice("German") == "de"
    assert set(LANGUAGES) < set(CHOICES)
    assert all(len(word) >= 3 for code in LANGUAGES if code != "en" for word in stop_words(code))
    for size, language, said in ((1, "en", "2 to 100,000"), (10, "xx", "use auto, en, de")):
        with pytest.raises(UnusableError, match=said):
            chosen_rules(size, language)
    random = np.random.default_rng(0)
    lines = [" ".join(random.choice(made_up_words(300), 30)) for _ in range(200)]
    path = write("\n".join(["text", *lines]) + "\n")
    assert len(read_dataset(path, words=chosen_rules(50, "auto")).documents.vocabulary) == 50


@pytest.mark.parametrize("header", ["评论\n", "text\n", ""])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_chinese_texts_are_documents(write, header, encoding):
    random = np.random.default_rng(0)
    texts = ["，".join(random.choice(CHINESE, 3)) + f"{'甲乙丙丁'[i % 4]}。" for i in range(40)]
    dataset = read_dataset(write(header + "\n".join(texts) + "\n", encoding=encoding))
    assert (dataset.task, dataset.rows) == ("topics", 40)
    assert {"天气", "机器", "学习", "餐厅"} <= set(dataset.documents.vocabulary)
    assert "language of the texts is not one" in dataset.findings[-1].sentence


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ("hello\nworld\n" * 50, "no text has two words that count, and topics"),
        ("雨\n雪\n" * 50, "no text has two words that count, and topics"),
        ("hello\nworld\n" * 50 + "hello again world\n" * 3, "only 3 of 103 texts have two words"),
    ],
)
def test_texts_of_one_word_have_no_topics(read, texts, words):
    with pytest.raises(UnusableError, match=words):
        read("text\n" + texts, task="topics")
    if words.startswith("no text"):
        with pytest.raises(UnusableError, match=words):
            read("text\n" + texts)
