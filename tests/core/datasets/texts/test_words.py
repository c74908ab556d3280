"""Words of texts in many languages: how they are cut, and which are stop words."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.datasets.texts.documents import documents_of_texts, language_of_texts
from core.datasets.texts.stop_words import CHOICES, LANGUAGES, check_choice, stop_words
from core.datasets.texts.vocabulary import WordRules, chosen_rules
from core.datasets.texts.words import words_of
from core.errors import UnusableError

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


@pytest.mark.parametrize("language", SENTENCES)
def test_the_language_is_told_from_a_sentence(language: str) -> None:
    assert language_of_texts([SENTENCES[language]]) == language


def test_other_languages_are_not_told() -> None:
    for text in (*CHINESE, "Laiva oli lähtenyt satamasta ennen myrskyä", "ship anchor harbour", ""):
        assert language_of_texts([text]) == "frequency"


@given(st.text(st.characters(codec="latin-1")))
def test_words_of_latin_letters_are_runs_of_three(text: str) -> None:
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
        ("Größe a1b abc_d x1 été", ["größe", "été"]),
        ("Ελληνικά слова", ["ελληνικά", "слова"]),
        ("", []),
    ],
)
def test_words_by_hand(text: str, words: list[str]) -> None:
    assert words_of(text) == words


@given(st.text(st.sampled_from("今天气机器学习模型"), min_size=2))
def test_every_two_letters_of_chinese_are_a_word(text: str) -> None:
    assert words_of(text) == [text[k : k + 2] for k in range(len(text) - 1)]


def test_stop_words_of_the_language_are_left_out() -> None:
    texts = [f"{SENTENCES['de']} Nummer {word}" for word in ("Anker", "Segel", "Kapitän") * 10]
    texts[::2] = [text.replace("Hafen", "Kai").replace("Sturm", "Sonne") for text in texts[::2]]
    german = documents_of_texts(texts, rules=WordRules(language="auto")).vocabulary
    assert "hafen" in german
    assert not {"und", "das", "den", "dem", "vor", "hatte"} & set(german)
    loose = WordRules(language="none", max_document_share=1.0)
    assert {"und", "das", "hafen"} <= set(documents_of_texts(texts, rules=loose).vocabulary)


def test_words_by_frequency_alone() -> None:
    random = np.random.default_rng(0)
    rare = [f"w{''.join(random.choice(list('abcdefgh'), 4))}" for _ in range(300)]
    texts = [
        " ".join([*random.choice(rare, 12), *(["laiva"] if i % 10 < 7 else [])]) for i in range(100)
    ]
    by_frequency = documents_of_texts(texts, rules=WordRules(language="frequency")).vocabulary
    assert "laiva" not in by_frequency
    assert "laiva" in documents_of_texts(texts, rules=WordRules(language="en")).vocabulary


def test_a_chosen_size_and_language(tmp_path: Path) -> None:
    assert check_choice("German") == "de"
    assert set(LANGUAGES) < set(CHOICES)
    assert all(len(word) >= 3 for code in LANGUAGES if code != "en" for word in stop_words(code))
    for size, language, said in ((1, "en", "2 to 100,000"), (10, "xx", "use auto, en, de")):
        with pytest.raises(UnusableError, match=said):
            chosen_rules(size, language)
    path = tmp_path / "texts.csv"
    random = np.random.default_rng(0)
    words = [f"w{''.join(random.choice(list('abcdefgh'), 4))}" for _ in range(300)]
    lines = [" ".join(random.choice(words, 30)) for _ in range(200)]
    path.write_text("\n".join(["text", *lines]) + "\n")
    dataset = read_dataset(str(path), words=chosen_rules(50, "auto"))
    assert len(dataset.documents.vocabulary) == 50


@pytest.mark.parametrize("header", ["评论\n", "text\n", ""])
def test_chinese_texts_are_documents(tmp_path: Path, header: str) -> None:
    random = np.random.default_rng(0)
    texts = ["，".join(random.choice(CHINESE, 3)) + f"{'甲乙丙丁'[i % 4]}。" for i in range(40)]
    path = tmp_path / "texts.csv"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        path.write_bytes((header + "\n".join(texts) + "\n").encode(encoding))
        dataset = read_dataset(str(path))
        assert (dataset.task, dataset.rows) == ("topics", 40)
        assert {"天气", "机器", "学习", "餐厅"} <= set(dataset.documents.vocabulary)
        assert "language of the texts is not one" in dataset.findings[-1].sentence


@pytest.mark.parametrize("text", ["hello\nworld\n", "雨\n雪\n"])
def test_texts_of_one_word_have_no_topics(tmp_path: Path, text: str) -> None:
    path = tmp_path / "texts.csv"
    path.write_text("text\n" + text * 50, encoding="utf-8")
    for task in ("", "topics"):
        with pytest.raises(UnusableError, match="no text has two words that count, and topics"):
            read_dataset(str(path), DataOptions(task=task))
    path.write_text("text\n" + "hello\nworld\n" * 50 + "hello again world\n" * 3)
    with pytest.raises(UnusableError, match="only 3 of 103 texts have two words that count"):
        read_dataset(str(path), DataOptions(task="topics"))
