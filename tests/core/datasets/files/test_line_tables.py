"""CoNLL, CoNLL-U and FASTA with structures: read, refused, and written back."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.datasets.files import conll
from core.datasets.files.csv_table import TextFile
from core.datasets.files.dot_brackets import dot_bracket_table, dot_bracket_text
from core.datasets.files.registry import open_table
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.errors import UnusableError
from core.export.bundle.csv_rows import UnreadableError, columns_of

SENTENCES = [[('"', "Q"), ("the", "D"), ("dog", "N"), (".", ".")], [("it", "P"), ("runs", "V")]]
MOLECULES = ">one first\nGGGGAAACCCC\n((((...)))) (-5.40)\n>two\nGGCGAAAGCC\n(((....))) [ -3.10]\n"
UNIVERSAL = """\
# newdoc id = d
# sent_id = s-1
# text = vámonos al mar
1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tvamos\tir\tVERB\t_\tNumber=Plur\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\t_\tCase=Acc\t1\tobj\t_\tSpaceAfter=No
2.1\t#\t_\t_\t_\t_\t_\t_\t_\t_
3\tmar\tmar\tNOUN\t_\t_\t1\tobl\t_\t_

# sent_id = s-2
1\t#\t#\tSYM\t_\t_\t0\troot\t_\t_
2\tmar\tmar\tNOUN\t_\t_\t1\tobl\t_\t_
"""


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def tokens(sign: str, sentences: list[list[tuple[str, ...]]] = SENTENCES) -> str:
    return "\n\n".join("\n".join(sign.join(row) for row in rows) for rows in sentences) + "\n"


@pytest.mark.parametrize("sign", ["\t", " "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_sequences_are_numbered_by_blank_lines(tmp_path: Path, sign: str, end: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(tokens(sign, SENTENCES * 20).replace("\n", end).encode())
    dataset = read_dataset(str(path))
    assert (dataset.task, dataset.rows) == ("sequence", 120)
    assert (dataset.sequence_name, dataset.target_name) == ("sentence", "label")
    assert dataset.table["token"].tolist()[:6] == ['"', "the", "dog", ".", "it", "runs"]
    assert dataset.table["sentence"].tolist()[:7] == ["1", "1", "1", "1", "2", "2", "3"]
    assert list(dataset.target[:6]) == ["Q", "D", "N", ".", "P", "V"]


def test_lines_columns_and_documents(tmp_path: Path) -> None:
    text = "-DOCSTART- -X- -X- O\n\n" + tokens(" ", [[("#", "a", "x", "O"), ("u", "b", "y", "B")]])
    text += "\n# a comment\n" + tokens(" ", [[("w", "c", "x", "O"), ("u", "b", "y", "I")]])
    raw = open_table(str(written(tmp_path / "a.conll", text))).read({})
    assert list(raw.table.columns) == ["sentence", "token", "column 2", "column 3", "label"]
    assert raw.table["token"].tolist() == ["#", "u", "w", "u"]
    assert raw.table["sentence"].tolist() == ["1", "1", "2", "2"]
    assert [raw.line_of(row) for row in range(4)] == [3, 4, 7, 8]
    assert (
        raw.findings[0].sentence == "1 mark of a document's beginning (-DOCSTART-) is passed over."
    )


def test_a_header_is_known_by_its_words_or_by_the_target(tmp_path: Path) -> None:
    text = "word\tpos\tNER\n" + tokens("\t", [[("a", "b", "c"), ("d", "e", "f")]] * 3)
    raw = open_table(str(written(tmp_path / "a.tsv", text))).read({})
    assert list(raw.table.columns) == ["sentence", "word", "pos", "NER"]
    text = "Wort\tArt\tMarke\n" + tokens("\t", [[("a", "b", "c"), ("d", "e", "f")]] * 9)
    dataset = read_dataset(str(written(tmp_path / "a.tsv", text)), DataOptions(target="Marke"))
    assert (dataset.target_name, dataset.rows, dataset.task) == ("Marke", 18, "sequence")


def test_conll_u_has_its_own_names(tmp_path: Path) -> None:
    raw = open_table(str(written(tmp_path / "a.conllu", UNIVERSAL))).read({})
    assert set(raw.table.columns) == {"sentence", *conll.UNIVERSAL}
    assert raw.table.columns[-1] == "UPOS"  # the target where none is chosen
    assert raw.table["FORM"].tolist() == ["vamos", "nos", "mar", "#", "mar"]
    assert raw.table["sentence"].tolist() == ["1", "1", "1", "2", "2"]
    assert raw.line_of(3) == 11
    said = [finding.sentence for finding in raw.findings]
    assert said[0] == "2 lines of multiword tokens and empty nodes (1-2, 1.1) are passed over."
    proposal = raw.findings[1].proposal
    assert proposal is not None
    assert set(proposal.roles) == {*conll.UNIVERSAL} - {"ID", "FORM", "UPOS"}


@pytest.mark.parametrize(
    "text",
    [
        "a\tb\n1\t2\n\n3\t4\n\n5\t6\n",  # blank lines between the rows of a table of numbers
        "x y\n\n1 2\n\n3 4\n",
        "\n\n".join(f"word{i}\tlabel{i % 2}" for i in range(20)),  # one token each
        "name,label\na,b\n\nc,d\ne,f\n",
        "1\ta\tX\tY\t1\t2\t3.5\t4\t5\t6\n2\tb\tX\tY\t1\t2\t3.5\t4\t5\t6\n",
        "1 1:2.5\n0 1:3\n\n1 1:2\n0 1:3\n",
        "It was a day.\nNobody came.\n\nThe end.\n",
    ],
)
def test_other_texts_stay_tables(tmp_path: Path, text: str) -> None:
    assert isinstance(open_table(str(written(tmp_path / "a.txt", text))), TextFile)


@pytest.mark.parametrize("packed", [False, True])
def test_fasta_and_rnafold_become_molecules(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "a.fa"
    path.write_bytes(gzip.compress(MOLECULES.encode()) if packed else MOLECULES.encode())
    dataset = read_dataset(str(path))
    assert (dataset.task, dataset.source.format) == ("structure", "dot-brackets")
    assert dataset.table["sequence"].tolist() == ["GGGGAAACCCC", "GGCGAAAGCC"]
    assert list(dataset.target) == ["((((...))))", "(((....)))"]
    assert list(dataset.row_names) == ["one first", "two"]


LINES = "the D\nbig A\ndog N\n. .\n\nit P\nruns V\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (LINES * 2 + "it P x\n" + LINES, 15),
        ("the D x\n" + LINES + "\n" + LINES, 1),
        ((UNIVERSAL + "\n") * 3 + UNIVERSAL.replace("vamos\tir", "vamos ir"), 44),
    ],
)
def test_a_line_of_another_width_is_named(tmp_path: Path, refusal, text: str, line: int) -> None:
    assert f"a.txt, line {line}: the line has" in refusal(written(tmp_path / "a.txt", text))


def test_a_table_with_a_blank_behind_each_comma_is_none_of_tokens(tmp_path: Path) -> None:
    rows = "".join(f"ann, {i}, oslo\n" + "\n" * (i % 3 == 0) for i in range(20))
    text = f"name, age, city\n{rows}bob, 3, new york\n"
    assert isinstance(open_table(str(written(tmp_path / "a.txt", text))), TextFile)


@pytest.mark.parametrize("sign", [" ", "\t"])
def test_a_comment_is_no_token_whatever_its_width(sign: str) -> None:
    """Before a sequence, and of words that label no token; else # is a token as another."""
    sentences = [[("the", "D"), ("#", "N")], [("#", "D"), ("runs", "V")]]
    text = f"# comment{sign}here\n# another\n{tokens(sign, sentences)}\n# last{sign}comment\n"
    table = conll.conll_table(text.splitlines())
    assert table.columns == [["1", "1", "2", "2"], ["the", "#", "#", "runs"], list("DNDV")]
    assert table.lines == [3, 4, 6, 7]
    back = list(conll.with_labels(text.splitlines(), list("uvwx")))
    assert back[:3] == [f"# comment{sign}here", "# another", f"the{sign}D{sign}u"]


def test_what_rnafold_prints_beside_the_structure() -> None:
    """The forms of `RNAfold`, `RNAfold -p`, wrapped lines, and a file without names."""
    ensemble = (
        ">a\nGGGGAAA\nACCCC\n((((....)))) ( -1.20)\n"
        "((((,...}))) [ -1.50]\n((((....)))) { -1.20 d=0.60}\n"
        " frequency of mfe structure in ensemble 0.61; ensemble diversity 1.2\n"
    )
    table = dot_bracket_table(ensemble.splitlines())
    assert table.columns == {
        "name": ["a"],
        "sequence": ["GGGGAAAACCCC"],
        "structure": ["((((....))))"],
    }
    bare = dot_bracket_table("GGGAAACCC\n(((...))) (-1.0)\nGCAAAAGC\n((....))\n".splitlines())
    assert bare.names == ["molecule 1", "molecule 2"]
    assert bare.lines == [1, 3]
    wrapped = dot_bracket_table(">w\nGGGA\nAACCC\n(((.\n..)))\n".splitlines())
    assert wrapped.structures == ["(((...)))"]
    knots = dot_bracket_table("#Name: k\n#Length: 9\nGGGAAACCC\n((AA.))aa\n".splitlines())
    assert (knots.names, knots.structures) == (["k"], ["((AA.))aa"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (tokens("\t", SENTENCES * 3000) + "a\tb\tc\n", "the line has 3 columns, and the others"),
        (">a\nACGU\n((..))\n", "line 1, column structure: the structure has 6"),
        (">a\n(((...)))\nACGU\n>b\nACGU\n....\n", "line 2: a structure stands before its letters"),
        (">a\nGGGAAACCC\n(((...)))\nwhat is this?\n", "line 4: “what is this?” is neither"),
        (">a\nGGGAAACCC\n>b\nGGGAAACCC\n(((...)))\n", "column structure: the structure is empty"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = written(tmp_path / "a.txt", text)
    task = "structure" if text.startswith(">") else "sequence"
    with pytest.raises(UnusableError) as caught:
        read_dataset(str(path), DataOptions(task=task))
    assert words in caught.value.sentence
    assert caught.value.cure


def test_new_rows_are_read_as_they_come() -> None:
    """As exported scripts read them, with the labels or without."""
    needed = ["sentence", "token", "column 2"]
    labelled = "a\tA\tx\nb\tB\ty\n\nc\tC\tx\n"
    columns, lines = columns_of(labelled, needed)
    bare, _ = columns_of("a\tA\nb\tB\n\nc\tC\n", needed)
    assert {name: columns[name] for name in needed} == bare
    assert lines == [1, 2, 4]
    assert columns_of(UNIVERSAL, ["sentence", "FORM"])[0]["FORM"][0] == "vamos"
    as_table = "token,column 2,sentence\na,A,7\n"
    assert columns_of(as_table, needed)[0]["sentence"] == ["7"]
    folded, _ = columns_of(MOLECULES, ["sequence"])
    assert folded["sequence"] == ["GGGGAAACCCC", "GGCGAAAGCC"]
    assert columns_of(">x\nACGU\n>y\nGG\n", ["sequence"])[0]["sequence"] == ["ACGU", "GG"]
    with pytest.raises(UnreadableError, match="line 2: the line has 3 columns"):
        columns_of("a\tA\nb\tB\ty\n", needed)


def test_labels_go_back_behind_the_tokens() -> None:
    text = "# c\n" + tokens("\t")
    labels = list("uvwxyz")
    back = "\n".join(conll.with_labels(text.splitlines(keepends=True), labels))
    assert back == '# c\n"\tQ\tu\nthe\tD\tv\ndog\tN\tw\n.\t.\tx\n\nit\tP\ty\nruns\tV\tz'
    universal = list(conll.with_labels(UNIVERSAL.splitlines(), ["A", "B", "C", "D", "E"]))
    assert universal[5].endswith("obj\t_\tSpaceAfter=No|prediction=B")
    assert universal[4].endswith("root\t_\tprediction=A")
    assert universal[:4] == UNIVERSAL.splitlines()[:4]
    again = conll.conll_table(universal)
    assert again.columns[-1] == [
        *("prediction=A", "SpaceAfter=No|prediction=B", "prediction=C", "prediction=D"),
        "prediction=E",
    ]


WORD = st.text("abc.,\"'#|-0é", min_size=1, max_size=5)


@given(st.lists(st.lists(st.tuples(WORD, WORD, st.sampled_from("OBI")), min_size=1), min_size=1))
def test_labels_are_read_again(sentences: list[list[tuple[str, str, str]]]) -> None:
    words = [("w", *row) for sentence in sentences for row in sentence]
    text = tokens("\t", [[("w", *row) for row in sentence] for sentence in sentences])
    labels = [f"l{i}" for i in range(len(words))]
    table = conll.conll_table(conll.with_labels(text.splitlines(), labels))
    numbers = [str(i) for i, sentence in enumerate(sentences, 1) for _ in sentence]
    assert table.columns == [numbers, *map(list, zip(*words, strict=True)), labels]


@given(st.lists(st.tuples(st.text("ab 1", min_size=1), st.text("ACGU", min_size=4)), min_size=1))
def test_molecules_are_written_and_read_again(molecules: list[tuple[str, str]]) -> None:
    names = [" ".join(name.split()) or "x" for name, _ in molecules]
    letters = [bases for _, bases in molecules]
    structures = ["(" + "." * (len(bases) - 2) + ")" for bases in letters]
    text = dot_bracket_text(names, letters, structures)
    assert dot_bracket_table(text.splitlines()).columns == {
        "name": names,
        "sequence": letters,
        "structure": structures,
    }


def test_a_blank_line_within_a_quoted_text_is_no_end_of_a_sequence(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    path.write_text('"label"\t"text"\n' + '"a"\t"so\n\nit is"\n"b"\t"or not"\n' * 20)
    dataset = read_dataset(str(path), DataOptions(target="label"))
    assert dataset.rows == 40
