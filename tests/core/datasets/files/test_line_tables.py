"""ARFF, CoNLL, CoNLL-U and FASTA with structures: read, refused, and written back."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_calls import agree
from scipy.io import arff

from core.datasets.files import conll
from core.datasets.files.arff_grammar import parse_arff
from core.datasets.files.csv_table import TextFile
from core.datasets.files.dot_brackets import dot_bracket_table, dot_bracket_text
from core.datasets.files.registry import open_table
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.errors import UnusableError
from core.export.bundle.csv_rows import UnreadableError, columns_of

Write = Callable[..., str]
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


HEAD = """% A comment before all
@RELATION 'yields of 2024'

@ATTRIBUTE size NUMERIC
@attribute "the colour" {red, 'dark green', blue}
@attribute 'it\\'s' real
@attribute when date "yyyy-MM-dd"
@attribute note string
@attribute class {a,b}

@DATA
"""
COLOURS = ("red", "'dark green'", "blue")
NOTES = ("none", "'a, b'")
WIDE = "@relation r\n" + "".join(f"@attribute a{i} real\n" for i in range(20_000))
ARFF_ROWS = [
    f"{i % 7}, {COLOURS[i % 3]}, {i / 4}, 2024-01-{i + 1:02d}, {NOTES[i % 2]}, {'ab'[i % 2]}"
    for i in range(28)
]
ARFF = HEAD + "\n".join(ARFF_ROWS) + "\n"


def tokens(sign: str, sentences: list[list[tuple[str, ...]]] = SENTENCES) -> str:
    return "\n\n".join("\n".join(sign.join(row) for row in rows) for rows in sentences) + "\n"


@pytest.mark.parametrize("sign", ["\t", " "])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_sequences_are_numbered_by_blank_lines(write: Write, sign: str, end: str) -> None:
    dataset = read_dataset(write(tokens(sign, SENTENCES * 20).replace("\n", end)))
    assert (dataset.task, dataset.rows) == ("sequence", 120)
    assert (dataset.sequence_name, dataset.target_name) == ("sentence", "label")
    assert dataset.table["token"].tolist()[:6] == ['"', "the", "dog", ".", "it", "runs"]
    assert dataset.table["sentence"].tolist()[:7] == ["1", "1", "1", "1", "2", "2", "3"]
    assert list(dataset.target[:6]) == ["Q", "D", "N", ".", "P", "V"]


def test_lines_columns_and_documents(write: Write) -> None:
    text = "-DOCSTART- -X- -X- O\n\n" + tokens(" ", [[("#", "a", "x", "O"), ("u", "b", "y", "B")]])
    text += "\n# a comment\n" + tokens(" ", [[("w", "c", "x", "O"), ("u", "b", "y", "I")]])
    raw = open_table(write(text)).read({})
    assert list(raw.table.columns) == ["sentence", "token", "column 2", "column 3", "label"]
    assert raw.table["token"].tolist() == ["#", "u", "w", "u"]
    assert raw.table["sentence"].tolist() == ["1", "1", "2", "2"]
    assert [raw.line_of(row) for row in range(4)] == [3, 4, 7, 8]
    assert "1 mark of a document's beginning (-DOCSTART-)" in raw.findings[0].sentence


def test_a_header_is_known_by_its_words_or_by_the_target(write: Write) -> None:
    rows = tokens("\t", [[("a", "b", "c"), ("d", "e", "f")]] * 9)
    raw = open_table(write("word\tpos\tNER\n" + rows)).read({})
    assert list(raw.table.columns) == ["sentence", "word", "pos", "NER"]
    dataset = read_dataset(write("Wort\tArt\tMarke\n" + rows), DataOptions(target="Marke"))
    assert (dataset.target_name, dataset.rows, dataset.task) == ("Marke", 18, "sequence")


def test_conll_u_has_its_own_names(write: Write) -> None:
    raw = open_table(write(UNIVERSAL)).read({})
    assert set(raw.table.columns) == {"sentence", *conll.UNIVERSAL}
    assert raw.table.columns[-1] == "UPOS"  # the target where none is chosen
    assert raw.table["FORM"].tolist() == ["vamos", "nos", "mar", "#", "mar"]
    assert raw.table["sentence"].tolist() == ["1", "1", "1", "2", "2"]
    assert raw.line_of(3) == 11
    passed, annotations = raw.findings
    assert "2 lines of multiword tokens and empty nodes (1-2, 1.1)" in passed.sentence
    assert set(annotations.proposal.roles) == {*conll.UNIVERSAL} - {"ID", "FORM", "UPOS"}


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
        # a blank behind each comma
        "name, age, city\n" + "ann, 1, oslo\nbob, 2, oslo\n\n" * 9 + "cy, 3, new york\n",
    ],
)
def test_other_texts_stay_tables(write: Write, text: str) -> None:
    assert isinstance(open_table(write(text)), TextFile)


@pytest.mark.parametrize("pack", [str.encode, lambda text: gzip.compress(text.encode())])
def test_fasta_and_rnafold_become_molecules(write: Write, pack: Callable[[str], bytes]) -> None:
    dataset = read_dataset(write(pack(MOLECULES)))
    assert (dataset.task, dataset.source.format) == ("structure", "dot-brackets")
    assert dataset.table["sequence"].tolist() == ["GGGGAAACCCC", "GGCGAAAGCC"]
    assert list(dataset.target) == ["((((...))))", "(((....)))"]
    assert list(dataset.row_names) == ["one first", "two"]


LINES = "the D\nbig A\ndog N\n. .\n\nit P\nruns V\n"


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
        ("@relation x\n@attribute a real\n1,2\n", "line 3: “1,2” declares no attribute"),
        ("@relation x\n@data\n1,2\n", "line 2: no attribute is declared"),
        ("@relation x\n@attribute a real\n", "there is no @data"),
        ("@relation x\n@attribute a real\n@data\n", "no row below @data"),
        (ARFF + "1,red,2\n", "line 40: the row has 3 values where 6"),
        (ARFF + "{0 1, 6 3}\n", "line 40: the index “6” is none of 0 to 5"),
        (HEAD + "{0 1, 0 3}\n", "line 12: the index “0” stands twice"),
        (HEAD + "{0 1, x 3}\n", "line 12: the index “x 3” is none of 0 to 5"),
        (HEAD + "{0 1, 1 red\n", "line 12: a brace ({) opens here"),
        (HEAD + ARFF_ROWS[0] + ", {heavy}\n", "line 12: the row has 7 values where 6"),
        (HEAD + "{0 1}, {heavy}\n", "line 12: “{heavy}” is no weight"),
        (HEAD + "1,'red' x,1,?,?,a\n", "line 12: text follows a quote"),
        (HEAD + ARFF_ROWS[0] + "\n1,green,1,?,?,a\n", "line 13: “green” is none of the values"),
        (HEAD + "1,'red,1,?,?,a\n", "line 12: a quote (') opens here"),
        ("@relation x\n@attribute a relational\n@attribute b real\n@end a\n", "(relational)"),
        ("@relation x\n@attribute a complex\n@data\n1\n", "“complex” is no type"),
        (WIDE + "@data\n" + "{}\n" * 3000, "the sparse rows have more than"),
        (HEAD + "1,'" + "\\'" * 100_000 + "\n", "a quote (') opens here"),
        (HEAD + "1," + " " * 300_000 + "'red'" + " " * 300_000 + "x\n", "line 12"),
        (LINES * 2 + "it P x\n" + LINES, "line 15: the line has 3 columns, and the others have 2"),
        ("the D x\n" + LINES + "\n" + LINES, "line 1: the line has"),
        ((UNIVERSAL + "\n") * 3 + UNIVERSAL.replace("s\tir", "s ir"), "line 44: the line has"),
        (tokens("\t", SENTENCES * 3000) + "a\tb\tc\n", "the line has 3 columns, and the others"),
        (">a\nACGU\n((..))\n", "line 1, column structure: the structure has 6"),
        (">a\n(((...)))\nACGU\n>b\nACGU\n....\n", "line 2: a structure stands before its letters"),
        (">a\nGGGAAACCC\n(((...)))\nwhat is this?\n", "line 4: “what is this?” is neither"),
        (">a\nGGGAAACCC\n>b\nGGGAAACCC\n(((...)))\n", "column structure: the structure is empty"),
    ],
    ids=itertools.count(),
)
def test_what_is_refused(write: Write, refusal, text: str, words: str) -> None:
    task = {">": "structure", "@": "", "%": ""}.get(text[0], "sequence")
    assert words in refusal(write(text, "a.txt"), task=task)


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


@settings(deadline=None)
@given(st.lists(st.lists(st.tuples(WORD, WORD, st.sampled_from("OBI")), min_size=1), min_size=1))
def test_labels_are_read_again(sentences: list[list[tuple[str, str, str]]]) -> None:
    words = [("w", *row) for sentence in sentences for row in sentence]
    text = tokens("\t", [[("w", *row) for row in sentence] for sentence in sentences])
    labels = [f"l{i}" for i in range(len(words))]
    table = conll.conll_table(conll.with_labels(text.splitlines(), labels))
    numbers = [str(i) for i, sentence in enumerate(sentences, 1) for _ in sentence]
    assert table.columns == [numbers, *map(list, zip(*words, strict=True)), labels]


@settings(deadline=None)
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


def test_a_blank_line_within_a_quoted_text_is_no_end_of_a_sequence(write: Write) -> None:
    text = '"label"\t"text"\n' + '"a"\t"so\n\nit is"\n"b"\t"or not"\n' * 20
    assert read_dataset(write(text), DataOptions(target="label")).rows == 40


def test_names_types_and_values(write: Write) -> None:
    lines = list(ARFF_ROWS)
    lines[4] = "?,?,?,?,?,a"
    lines.insert(7, "% a comment between rows")
    packed = gzip.compress((HEAD + "\n".join(lines) + "\n%\n").encode())
    # Its first lines tell what it is, whatever its name.
    dataset = read_dataset(write(packed, "table.csv.gz"), DataOptions(roles={"note": "feature"}))
    assert (dataset.source.format, dataset.rows) == ("arff", 28)
    kinds = {column.name: (column.kind, column.missing) for column in dataset.columns}
    assert kinds == {
        "size": ("number", 1),
        "the colour": ("category", 1),
        "it's": ("number", 1),
        "when": ("date", 1),
        "note": ("category", 1),
        "class": ("category", 0),
    }
    assert dataset.table["the colour"].iloc[1] == "dark green"
    assert dataset.table["note"].tolist()[:2] == ["none", "a, b"]  # only ? stands for nothing
    agree(dataset)


def test_classes_of_digits_are_classes(write: Write) -> None:
    text = "@relation r\n@attribute p real\n@attribute class {0,1,2}\n@data\n"
    dataset = read_dataset(write(text + "".join(f"{i / 3},{i % 3}\n" for i in range(40))))
    assert (dataset.task, dataset.classes) == ("multiclass", ("0", "1", "2"))


def parsed(kinds: list[str], *rows: str) -> pd.DataFrame:
    head = [f"@attribute x{i} {kind}" for i, kind in enumerate(kinds)]
    return parse_arff(["@relation r", *head, "@data", *rows]).table


def test_sparse_rows_leave_out_zeros_and_first_values() -> None:
    table = parsed(
        ["real", "{X,Y}", "string", "{'class A','class B'}"],
        "{0 1.5, 3 'class B'}",
        "{ 1 Y ,2 '\"' }",
        "{}",
        "2, X, 'a, b', \"class A\"",
        '{0 ?, 2 "it\\\'s"} , {3}',
    )
    np.testing.assert_array_equal(table["x0"], [1.5, 0, 0, 2, np.nan])
    assert table["x1"].tolist() == ["X", "Y", "X", "X", "X"]
    assert table["x2"].fillna("none").tolist() == ["none", '"', "none", "a, b", "it's"]
    assert table["x3"].tolist() == ["class B", "class A", "class A", "class A", "class A"]


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        (""" 'A','B' , '"','C,D' """, ["A", "B", '"', "C,D"]),
        (r""" '\'','\\','\\\'',"\\," """, ["'", "\\", "\\'", "\\,"]),
        (r""" "\n","\t","\u123a","abc\011abc" """, ["\n", "\t", "\u123a", "abc\tabc"]),
        ("O'Brien, 5%, a\\b, {", ["O'Brien", "5%", "a\\b", "{"]),
        ("a\tb\t'c d'\te", ["a", "b", "c d", "e"]),
        ("a,b,c,d % a comment", ["a", "b", "c", "d"]),
        ("a,b,c,d,", ["a", "b", "c", "d"]),
        ("'a' , 'b' , c d , ?, {2.5} % heavy", ["a", "b", "c d", None]),
    ],
)
def test_cells_of_a_row(row: str, cells: list[str | None]) -> None:
    found = parsed(["string"] * 4, row).iloc[0]
    assert [None if pd.isna(cell) else cell for cell in found] == cells


def test_declared_dates_are_iso_dates() -> None:
    table = parsed(
        ["date yyyy", "DATE 'dd.MM.yyyy'", 'date "d/M/yy HH:mm"', "date", "date odd-QQ"],
        "1999, 31.01.1999, '28/4/17 13:00', 2024-01-05T12:30:00, 7",
        "2004, 01.12.2004, ?, 2024-01-05T00:00:00, 8",
    )
    assert table.iloc[0].tolist() == [
        *("1999-01-01", "1999-01-31", "2017-04-28 13:00:00", "2024-01-05 12:30:00", "7")
    ]
    assert table.iloc[1].fillna("").tolist() == ["2004-01-01", "2004-12-01", "", "2024-01-05", "8"]


def test_names_twice_and_weights_are_said(write: Write) -> None:
    text = "@relation r\n@attribute p real\n@attribute p real\n@attribute y {a,b}\n@data\n"
    text += "".join(f"{i % 7},{i / 3},{'ab'[i % 2]},{{{i}.5}}\n" for i in range(40))
    dataset = read_dataset(write(text))
    assert dataset.feature_names == ["p", "p (2)"]
    said = " ".join(finding.sentence for finding in dataset.findings)
    assert "Two columns are called “p”" in said
    assert "40 rows have weights, left out here" in said
    agree(dataset)


def test_lines_of_byte_order_marks_alone_are_no_declarations(write: Write) -> None:
    assert isinstance(open_table(write("\ufeff\n" * 18)), TextFile)


def test_the_line_of_a_row(write: Write) -> None:
    text = "% c\n@relation r\n@attribute p real\n@data\n\n1\n% c\n{}\n\n3\n"
    raw = open_table(write(text)).read({})
    assert [raw.line_of(row) for row in range(4)] == [6, 8, 10, 0]
    assert raw.table["p"].tolist() == [1, 0, 3]


def test_files_of_scipy_are_what_scipy_reads() -> None:
    """All of its tests' files without relations and times of a zone, where it has them here."""
    folder = Path(arff.__file__).parent / "tests" / "data"
    compared = 0
    for path in sorted(folder.glob("*.arff")):
        try:
            theirs, meta = arff.loadarff(path)
            raw = open_table(str(path)).read({})
        except (NotImplementedError, arff.ParseArffError, UnusableError):
            continue
        compared += 1
        assert list(raw.table.columns) == meta.names()
        for name, kind in zip(meta.names(), meta.types(), strict=True):
            ours = raw.table[name]
            if kind == "numeric":
                np.testing.assert_array_equal(ours, theirs[name])
            elif kind == "nominal":
                assert ours.tolist() == [value.decode() for value in theirs[name]]
            else:
                moments = pd.to_datetime(ours, format="ISO8601").to_numpy("datetime64[s]")
                np.testing.assert_array_equal(moments, theirs[name].astype("datetime64[s]"))
    if not compared:
        pytest.skip("scipy is installed without its tests' files")
    assert compared > 8
