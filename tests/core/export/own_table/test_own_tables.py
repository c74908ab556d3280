"""A table comes back as it was, with answers behind: other libraries read it, byte by byte."""

import csv
import gzip
import io
import zipfile

import numpy as np
import pandas as pd
import pytest

from core.datasets.files.registry import open_table
from core.errors import UnusableError
from core.export.bundle.carrier import csv_bytes
from core.export.own_table.answer_rows import Answers
from core.export.own_table.own_table import output_form, own_table_of, write_own_table
from core.export.report.html import html_table
from core.export.spreadsheet_cells import escape_formula

ANSWERS = pd.DataFrame(
    {"prediction": ["yes", "no", "yes"], "probability of yes": [0.75, 0.25, 1.0]}
)
ROWS = 'id,price,day,note\n007,70,2024-05-01,"a, ""b"""\n8,1.50,01.05.2024,  x  \n9,,,\n'


def written(place, file, out, answers=ANSWERS, *, parts=1, column="", least_sure_first=False):
    """The path, and the sentences."""
    table_file = open_table(str(file))
    form = output_form(place / out, table_file)
    places = np.array_split(np.arange(len(answers)), parts)
    tables = [answers.iloc[place].reset_index(drop=True) for place in places]
    table = own_table_of(table_file, column)
    beside = Answers(iter(tables), least_sure_first=least_sure_first)
    sentences = write_own_table(place / out, form, table, beside)
    return place / out, sentences


def made(place, content, name="rows.csv"):
    file = place / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


LINES = {
    "comma": ROWS.encode(),
    "BOM": b"\xef\xbb\xbf" + ROWS.encode(),
    "CRLF": ROWS.replace("\n", "\r\n").encode(),
    "CR": ROWS.replace("\n", "\r").encode(),
    "no last line end": ROWS.rstrip("\n").encode(),
    "cp1252": ROWS.replace("id", "größe").replace("x", "é€").encode("cp1252"),
    "UTF-8": ROWS.replace("x", "Ωé").encode(),
    "tabs": ROWS.replace(",", "\t").encode(),
    "bars": ROWS.replace(",", "|").encode(),
    "notes above": b"# made by hand\nA title\n\n" + ROWS.encode(),
    "blank lines": ROWS.replace("\n8", "\n\n8").encode() + b"\n\n",
    "lines in cells": ROWS.replace("a, ", "a,\n\n ").encode(),
    "doubled decimal": b"id;price;n\n007;1,5;x\n8;2,25;y\n9;3;z\n",
    "names of rows": b"price n\nr1 1.5 x\nr2 2.5 y\nr3 3.5 z\n",
    "ends with a comma": b"id,price\n7,1.5,\n8,2.5,\n9,3.5,\n",
}


@pytest.mark.parametrize("kind", LINES)
def test_every_line_of_a_text_is_the_beginning_of_the_line_that_comes_back(tmp_path, kind):
    file = made(tmp_path, LINES[kind])
    path, sentences = written(tmp_path, file, "out.csv", parts=2)
    before, after = (p.read_bytes() for p in (file, path))
    end = next(e for e in (b"\r\n", b"\n", b"\r") if e in before)
    pairs = list(zip(before.split(end), after.split(end), strict=True))
    assert all(now.startswith(line) for line, now in pairs)
    behind = [now.removeprefix(line) for line, now in pairs if now != line]
    assert len(behind) == 4  # the header and three rows
    assert sentences == []
    sign = {"tabs": b"\t", "bars": b"|", "doubled decimal": b";", "names of rows": b" "}
    sign = sign.get(kind, b",")
    number = b"0,75" if kind == "doubled decimal" else b"0.75"
    lead = b"" if kind == "ends with a comma" else sign
    assert behind[1] == lead + b"yes" + sign + number


@pytest.mark.parametrize(
    ("codec", "mark"), [("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_utf_16_comes_back_in_utf_16(tmp_path, codec, mark, end):
    text = ROWS.replace("x", "Ωé").replace("\n", end)
    path, _ = written(tmp_path, made(tmp_path, mark + text.encode(codec)), "out.csv")
    assert path.read_bytes().startswith(mark)
    lines = path.read_bytes().decode("utf-16").split(end)
    assert all(now.startswith(line) for line, now in zip(text.split(end), lines, strict=True))
    assert lines[1].endswith(",yes,0.75")


@pytest.mark.parametrize(
    ("text", "line", "answered"),
    [
        # A short row is filled, so that the answers stand under their names.
        ("a,b,c\n1,2,3\n4,5\n6,7,8\n", 2, "4,5,,no,0.25"),
        # One column of texts gets a sign that none of them has.
        ("words\nGood, so good.\nBad; so bad.\nNone.\n", 1, "Good, so good.\tyes\t0.75"),
        # A name that the table has is numbered.
        (
            "x,prediction,prediction (2)\n1,a,b\n2,a,b\n3,a,b\n",
            0,
            "x,prediction,prediction (2),prediction (3),probability of yes",
        ),
        ("1,2\n3,4\n5,6\n", 0, "1,2,yes,0.75"),  # without a header
    ],
)
def test_answers_stand_behind_their_rows(tmp_path, text, line, answered):
    path, sentences = written(tmp_path, made(tmp_path, text), "out.csv")
    assert path.read_text().splitlines()[line] == answered
    headless = "The file has no header; behind its columns stand: prediction, probability of yes."
    assert sentences == ([headless] if text.startswith("1") else [])


def test_cells_that_a_spreadsheet_would_run_are_texts_and_that_is_said(tmp_path):
    rows = 'a,b\n=1+1,-5\n"+cmd|x, y",+49 %\n-,"@SUM(1)"\n'
    path, sentences = written(tmp_path, made(tmp_path, rows), "out.csv")
    cells = list(csv.reader(io.StringIO(path.read_text())))
    assert [row[:2] for row in cells[1:]] == [
        ["'=1+1", "-5"], ["'+cmd|x, y", "+49 %"], ["-", "'@SUM(1)"],
    ]  # fmt: skip
    assert sentences[0].startswith("3 cells begin like formulas and are written as text")
    path, sentences = written(tmp_path, made(tmp_path, rows), "out.xlsx")
    assert sentences[0].startswith("3 cells begin like formulas")
    sheet = zipfile.ZipFile(path).read("xl/worksheets/sheet1.xml")
    assert b"<f>" not in sheet
    assert b'<c t="inlineStr"><is><t xml:space="preserve">=1+1</t></is></c>' in sheet
    answers = ANSWERS.assign(prediction=["=1+1", "no", "no"])
    path, sentences = written(tmp_path, made(tmp_path, ROWS), "out.csv", answers)
    assert path.read_text().splitlines()[1].endswith(",'=1+1,0.75")
    assert sentences[0].startswith("1 cell begins like a formula and is")


def test_letters_that_an_encoding_lacks_are_said(tmp_path):
    answers = ANSWERS.assign(prediction=["Ω", "“é”", "no"])
    path, sentences = written(tmp_path, made(tmp_path, LINES["cp1252"]), "out.csv", answers)
    lines = path.read_bytes().decode("cp1252").splitlines()
    assert lines[1].endswith(",?,0.75")
    assert lines[2].endswith(",“é”,0.25")
    assert "cp1252, lacks letters of “Ω”, where" in sentences[0]


def test_the_name_says_tabs_and_compression(tmp_path):
    file = made(tmp_path, ROWS)
    path, _ = written(tmp_path, file, "out.tsv")
    read = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)
    assert read["id"].tolist() == ["007", "8", "9"]
    assert read["note"].tolist() == ['a, "b"', "  x  ", ""]
    path, _ = written(tmp_path, file, "out.csv.gz")
    lines = gzip.decompress(path.read_bytes()).splitlines()
    assert lines[1] == ROWS.encode().splitlines()[1] + b",yes,0.75"
    packed = tmp_path / "packed.csv.gz"
    packed.write_bytes(gzip.compress(ROWS.encode()))
    plain, _ = written(tmp_path, packed, "plain.csv")
    assert plain.read_bytes() == gzip.decompress(path.read_bytes())


@pytest.mark.parametrize("name", ["out.json", "out.xls", "out.ods", "out.arff", "out.xlsx.gz"])
def test_an_ending_that_cannot_be_written_is_refused(tmp_path, name):
    file = open_table(str(made(tmp_path, ROWS)))
    with pytest.raises(UnusableError, match="no file that ends in"):
        output_form(tmp_path / name, file)


def test_more_or_fewer_rows_than_answers_are_refused(tmp_path):
    file = made(tmp_path, ROWS)
    for answers in (ANSWERS[:2], pd.concat([ANSWERS, ANSWERS])):
        for out in ("out.csv", "out.xlsx", "out.tsv"):
            with pytest.raises(UnusableError, match="another number of rows"):
                written(tmp_path, file, out, answers)


WORDS = [
    "red", "a b", "x, y", 'said "no"', "two\nlines", "", "a;b", "a\tb", "-5", "+x", "=1+1", "it's",
    "  x ", '"', "back\\slash", "ü", "10,5", "#note", "'q'", "12 %", "-a",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(15))
def test_tables_of_csv_writers_come_back(tmp_path, seed):
    random = np.random.default_rng(seed)
    width, sign = int(random.integers(2, 6)), str(random.choice([",", ";", "\t", "|"]))
    rows = [["id", *(f"c{column}" for column in range(width)), "x"]]
    for number in range(int(random.integers(3, 40))):
        words = random.choice(WORDS, width).tolist()
        rows.append([str(number), *words, f"{random.random():.3f}"])
    quoting = int(random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    codec = str(random.choice(["utf-8", "utf-8-sig", "cp1252", "utf-16"]))
    end = str(random.choice(["\n", "\r\n"]))
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=sign, lineterminator=end, quoting=quoting).writerows(rows)
    file = made(tmp_path, text.getvalue().encode(codec))
    answers = pd.DataFrame({"prediction": [f'{n}{sign} "y"' for n in range(len(rows) - 1)]})
    path, sentences = written(tmp_path, file, "out.csv", answers, parts=2, column="id")
    back = io.StringIO(path.read_bytes().decode(codec), newline="")
    formulas = ["+x", "=1+1", "-a"]
    assert list(csv.reader(back, delimiter=sign)) == [
        [*(f"'{cell}" if cell in formulas else cell for cell in row), answer]
        for row, answer in zip(rows, ["prediction", *answers["prediction"]], strict=True)
    ]
    count = sum(row.count(word) for row in rows for word in formulas)
    assert [sentence.split()[0] for sentence in sentences] == [str(count)] * (count > 0)


# Parquet and Feather ----------------------------------------------------------------------------


@pytest.fixture
def columns():
    table = pd.DataFrame(
        {
            "id": np.array([2**63, 5, 70], dtype=np.uint64),
            "count": pd.array([1, None, 70], dtype="Int16"),
            "day": pd.to_datetime(["2024-05-01", None, "2024-05-03"]),
            "zone": pd.to_datetime(["2024-05-01 10:00"] * 3).tz_localize("Europe/Berlin"),
            "kind": pd.Categorical(["a", "b", "a"], ["b", "a", "never"], ordered=True),
            "note": ["007", " x ", None],
        }
    )
    return table.assign(parts=[[1, 2], [], [3]])


@pytest.mark.parametrize("ending", ["parquet", "feather"])
@pytest.mark.parametrize("parts", [1, 2])
def test_a_columnar_file_keeps_its_schema(tmp_path, columns, ending, parts):
    pa = pytest.importorskip("pyarrow")
    file = tmp_path / f"rows.{ending}"
    getattr(columns, f"to_{ending}")(file)
    path, sentences = written(tmp_path, file, f"out.{ending}", parts=parts)
    before, after = (pa_table(pa, p) for p in (file, path))
    assert after.schema.names == [*before.schema.names, "prediction", "probability of yes"]
    assert after.select(before.schema.names).equals(before, check_metadata=False)
    assert after.schema.metadata == before.schema.metadata
    assert after["probability of yes"].to_pylist() == [0.75, 0.25, 1.0]
    read = getattr(pd, f"read_{ending}")(path)
    pd.testing.assert_frame_equal(read[list(columns)], columns)
    assert sentences == []


def pa_table(pa, path):
    if path.suffix == ".parquet":
        from pyarrow.parquet import read_table

        return read_table(path)
    with pa.ipc.open_file(str(path)) as file:
        return file.read_all()


def test_parquet_is_written_in_groups_with_its_compression(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    table = pd.DataFrame({"x": np.arange(50_000)})
    table.to_parquet(tmp_path / "rows.parquet", compression="zstd", row_group_size=7_000)
    answers = pd.DataFrame({"prediction": np.arange(50_000) / 7})
    path, _ = written(tmp_path, tmp_path / "rows.parquet", "out.parquet", answers, parts=9)
    read, metadata = pd.read_parquet(path), pq.read_metadata(path)
    assert (read["prediction"] == read["x"] / 7).all()
    assert metadata.num_row_groups > 1
    assert metadata.row_group(0).column(0).compression == "ZSTD"


def test_other_formats_hold_the_same_cells(tmp_path):
    pytest.importorskip("pyarrow")
    path, _ = written(tmp_path, made(tmp_path, ROWS), "out.parquet")
    read = pd.read_parquet(path)
    assert read["id"].tolist() == ["007", "8", "9"]
    assert read["probability of yes"].tolist() == [0.75, 0.25, 1.0]
    path, _ = written(tmp_path, path, "again.csv")
    lines = list(csv.reader(io.StringIO(path.read_text())))
    assert lines[0][-2:] == ["prediction (2)", "probability of yes (2)"]
    assert lines[1][:4] == ["007", "70", "2024-05-01", 'a, "b"']


# Workbooks --------------------------------------------------------------------------------------


@pytest.fixture
def book(tmp_path):
    # A workbook with formats, a title, a formula, merged cells, another sheet, a blank row.
    openpyxl = pytest.importorskip("openpyxl")
    from openpyxl.styles import Font, PatternFill

    made_book = openpyxl.Workbook()
    sheet = made_book.active
    sheet.title = "Orders & more"
    sheet["A1"] = "Orders of May"
    rows = [["id", "price", "day", "twice"], ["007", 1.5, pd.Timestamp("2024-05-01"), "=B4*2"]]
    rows += [["8", 70, pd.Timestamp("2024-05-02"), 140], [], ["9", None, None, 3]]
    for number, row in enumerate(rows, 3):
        for column, value in enumerate(row, 1):
            sheet.cell(number, column, value)
    sheet["B4"].number_format = '0.00 "€"'
    sheet["C4"].number_format = "dd.mm.yyyy"
    sheet["A3"].font = Font(bold=True)
    sheet["G4"].fill = PatternFill("solid", fgColor="FFFF00")  # empty, behind the table
    sheet.merge_cells("A1:D1")
    made_book.create_sheet("other")["B2"] = "stays"
    made_book.save(tmp_path / "book.xlsx")
    return tmp_path / "book.xlsx"


def test_a_workbook_keeps_all_that_it_had(tmp_path, book):
    openpyxl = pytest.importorskip("openpyxl")
    path, sentences = written(tmp_path, book, "out.xlsx", ANSWERS.assign(reason=["=1", "", "ä<&"]))
    assert sentences == []
    before, after = openpyxl.load_workbook(book), openpyxl.load_workbook(path)
    assert after.sheetnames == before.sheetnames
    for name in before.sheetnames:
        for row in before[name].iter_rows():
            for cell in row:
                now = after[name][cell.coordinate]
                if cell.value is not None:
                    assert (now.value, now.number_format) == (cell.value, cell.number_format)
    sheet = after["Orders & more"]
    assert str(sheet.merged_cells) == "A1:D1"
    assert sheet["A3"].font.bold
    shown = [[sheet.cell(row, column).value for column in (5, 6, 7)] for row in range(3, 8)]
    assert shown == [
        ["prediction", "probability of yes", "reason"], ["yes", 0.75, "=1"], ["no", 0.25, None],
        [None, None, None], ["yes", 1, "ä<&"],
    ]  # fmt: skip
    assert sheet["G4"].data_type == "s"  # no formula
    others = [z for z in zipfile.ZipFile(book).namelist() if "sheet1.xml" not in z]
    assert all(zipfile.ZipFile(path).read(z) == zipfile.ZipFile(book).read(z) for z in others)
    calamine = pytest.importorskip("python_calamine")
    rows = calamine.load_workbook(str(path)).get_sheet_by_name("Orders & more").to_python()
    assert [row[4:6] for row in rows[2:]] == [
        ["prediction", "probability of yes"], ["yes", 0.75], ["no", 0.25], ["", ""], ["yes", 1.0],
    ]  # fmt: skip


def test_a_text_becomes_a_workbook_whose_cells_show_what_they_were(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    path, _ = written(tmp_path, made(tmp_path, ROWS), "out.xlsx")
    sheet = openpyxl.load_workbook(path).active
    assert [c.value for c in sheet[1]] == ["id", "price", "day", "note", *ANSWERS]
    assert [c.value for c in sheet[2]][:4] == ["007", 70, "2024-05-01", 'a, "b"']
    assert [c.value for c in sheet[3]][:4] == ["8", 1.5, "01.05.2024", "  x  "]
    assert sheet["B3"].number_format == "0.00"
    assert sheet["B2"].number_format == "General"
    calamine = pytest.importorskip("python_calamine")
    rows = calamine.load_workbook(str(path)).get_sheet_by_index(0).to_python()
    assert rows[1] == ["007", 70.0, "2024-05-01", 'a, "b"', "yes", 0.75]


ODS = """<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.3"><office:body>
<office:spreadsheet><table:table table:name="other"><table:table-row><table:table-cell
 office:value-type="string"><text:p>stays</text:p></table:table-cell></table:table-row></table:table>
<table:table table:name="rows"><table:table-column table:number-columns-repeated="1024"/>
<table:table-row><table:table-cell office:value-type="string"><text:p>id</text:p></table:table-cell
><table:table-cell office:value-type="string"><text:p>price</text:p></table:table-cell
><table:table-cell table:number-columns-repeated="1022"/></table:table-row>
<table:table-row table:number-rows-repeated="2"><table:table-cell
 office:value-type="string"><text:p>007</text:p></table:table-cell><table:table-cell
 office:value-type="float" office:value="1.5"><text:p>1.50</text:p></table:table-cell
></table:table-row>
<table:table-row><table:table-cell office:value-type="string"><text:p>8</text:p></table:table-cell
><table:table-cell table:number-columns-repeated="1023"/></table:table-row>
<table:table-row table:number-rows-repeated="1048570"><table:table-cell
 table:number-columns-repeated="1024"/></table:table-row></table:table></office:spreadsheet>
</office:body></office:document-content>"""


MANIFEST = """<manifest:manifest manifest:version="1.3"
 xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry
 manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/>
<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/>
</manifest:manifest>"""


def test_an_open_document_keeps_all_that_it_had(tmp_path):
    calamine = pytest.importorskip("python_calamine")
    file = tmp_path / "book.ods"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", ODS)
        archive.writestr("META-INF/manifest.xml", MANIFEST)
    answers = pd.DataFrame({"prediction": ["yes", "yes", "no"], "p": [0.75, 0.75, 0.25]})
    path, _ = written(tmp_path, f"{file}#rows", "out.ods", answers)
    assert zipfile.ZipFile(path).namelist()[0] == "mimetype"
    book = calamine.load_workbook(str(path))
    assert book.get_sheet_by_name("other").to_python() == [["stays"]]
    assert book.get_sheet_by_name("rows").to_python() == [
        ["id", "price", "prediction", "p"], ["007", 1.5, "yes", 0.75], ["007", 1.5, "yes", 0.75],
        ["8", "", "no", 0.25],
    ]  # fmt: skip


# ARFF -------------------------------------------------------------------------------------------


def test_an_arff_file_comes_back_with_attributes_behind(tmp_path):
    arff = pytest.importorskip("scipy.io.arff")
    text = "% a note\n@relation r\n@attribute x real\n@attribute k {a,b}\n@data\n"
    text += "1.50,a\n% c\n?,b\n3,a\n"
    answers = pd.DataFrame({"prediction": ["1", "2", "3"], "probability of a": [0.75, 0.25, 1.0]})
    path, _ = written(tmp_path, made(tmp_path, text, "rows.arff"), "out.arff", answers)
    lines = path.read_text().splitlines()
    assert [line for line in lines if line in text.splitlines()] == [
        line for line in text.splitlines() if line[0] in "%@"
    ]
    assert lines[-3:] == ["% c", "?,b,2,0.25", "3,a,3,1.0"]
    numbers = path.read_text().replace("prediction string", "prediction numeric")
    read, meta = arff.loadarff(io.StringIO(numbers))
    assert meta.names() == ["x", "k", "prediction", "probability of a"]
    assert read["probability of a"].tolist() == [0.75, 0.25, 1.0]
    path, _ = written(tmp_path, made(tmp_path, text, "rows.arff"), "out.csv", answers)
    assert path.read_text().splitlines()[1] == "1.50,a,1,0.75"


def test_tokens_and_molecules_come_back_in_their_form(tmp_path):
    tokens = "the\tD\nhouse\tN\n\nruns\tV\nthe\tD\nred\tA\nhouse\tN\n\n" * 8
    labels = pd.DataFrame({"prediction": list("ABCDEF") * 8, "probability of A": 0.5})
    path, sentences = written(tmp_path, made(tmp_path, tokens, "rows.conll"), "out.conll", labels)
    lines = path.read_text().split("\n")
    assert len(lines) == len(tokens.split("\n"))
    assert lines[:6] == ["the\tD\tA", "house\tN\tB", "", "runs\tV\tC", "the\tD\tD", "red\tA\tE"]
    assert sentences[0].startswith("The format has no place for probability of A")
    molecules = made(tmp_path, ">m1\nGGGAAACCC\n>m2\nGCAAAAGC\n", "rows.fa")
    structures = pd.DataFrame({"structure": ["(((...)))", "((....))"]})
    path, _ = written(tmp_path, molecules, "out.fa", structures)
    assert path.read_text() == ">m1\nGGGAAACCC\n(((...)))\n>m2\nGCAAAAGC\n((....))\n"
    path, _ = written(tmp_path, molecules, "out.csv", structures)
    assert path.read_text().splitlines()[1].endswith(",(((...)))")


# Formulas --------------------------------------------------------------------------------------

FORMULAS = [
    "=cmd|' /C calc'!A0", "+cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0", "@SUM(1)", "\t=1", "\r=1",
    "\u22122+cmd|' /C calc'!A0", '=HYPERLINK("http://x","y")', "=1+1", "-a", "+", "-", "\n=1",
    "-1 to =1", "+1(2)", "-1!A1", "\uff1d1",
]  # fmt: skip
PLAIN = ["", "a", "a=1", "blood-pressure", "-1", "+0.5", "-1.5e-7", "\u22120.3 to +0.4",
         "+3.1 points", "\u22123.1 %", "1,500", "-1,500.5 s"]  # fmt: skip


@pytest.mark.parametrize("cell", FORMULAS)
def test_formulas_become_text(cell):
    text = "'" + cell.replace("\r", "\n")
    assert escape_formula(cell) == text
    header, row = csv.reader(io.StringIO(csv_bytes(["word"], [[cell]]).decode(), newline=""))
    assert (header, row) == (["word"], [text])
    assert not html_table([cell], [[cell]]).count(f">{cell}<")


@pytest.mark.parametrize("cell", [*PLAIN, -1.5, 0, None, float("-inf"), True])
def test_numbers_and_words_stay(cell):
    assert escape_formula(cell) is cell


def test_no_cell_begins_another_row():
    written = csv_bytes(["word"], [["a\r=cmd|' /C calc'!A0"], ["b\r\n=1"], ["c\n=1"]]).decode()
    assert "\r" not in written
    assert len(list(csv.reader(io.StringIO(written)))) == 4


# Least sure first -------------------------------------------------------------------------------

SHARES = (0.75, 0.5, 0.75, 0.875, 0.5, 0.625)  # of the likeliest class; equal ones stay in order
DOUBTS = pd.DataFrame(
    {
        "prediction": list("abcdef"),
        "probability of no": [1 - share for share in SHARES],
        "probability of yes": SHARES,
    }
)
ORDER = sorted(range(6), key=SHARES.__getitem__)  # a stable sort: 1, 4, 5, 0, 2, 3
TEXTS = {
    "comma": 'id,note\n0,"a, ""b"""\n1,x\n2,\n3,"two\n\nlines"\n4,y\n5,z\n',
    "notes and blank lines": "A title\n\nid,note\n0,a\n\n1,b\n2,c\n3,d\n4,e\n\n5,f\n\n",
    "no last line end": "id,note\n0,a\n1,b\n2,c\n3,d\n4,e\n5,f",
    "units": "id,time\n,s\n0,1.5\n1,2.5\n2,3.5\n3,4.5\n4,5.5\n5,6.5\n",
    "ARFF": "% a note\n@relation r\n@attribute id real\n@data\n0\n% c\n1\n2\n3\n4\n5\n",
}


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "CRLF", "CR"])
def test_the_rows_of_a_text_are_sorted_and_all_other_lines_stay(tmp_path, kind, codec):
    end = {"CRLF": "\r\n", "CR": "\r"}.get(codec, "\n")
    codec = codec if codec.startswith("utf") else "cp1252"
    name = "rows.arff" if kind == "ARFF" else "rows.csv"
    if name == "rows.arff" and end == "\r":
        pytest.skip("ARFF files have no such line ends")
    file = made(tmp_path, TEXTS[kind].replace("\n", end).encode(codec), name)
    parted = {"parts": 2, "column": "id"}
    plain, _ = written(tmp_path, file, f"plain{name[4:]}", DOUBTS, **parted)
    path, _ = written(tmp_path, file, f"out{name[4:]}", DOUBTS, **parted, least_sure_first=True)
    with_cells = TEXTS[kind].replace("two\n\nlines", "two\0\0lines")
    before, after = (
        p.read_bytes().decode(codec).replace(end, "\n").replace("two\n\nlines", "two\0\0lines")
        for p in (plain, path)
    )
    lines = before.split("\n")
    rows = [place for place, line in enumerate(lines) if line[:1].isdigit()]
    assert len(rows) == 6
    assert len(lines) == len(with_cells.split("\n")) + (3 if kind == "ARFF" else 0)
    expected = list(lines)
    for place, row in zip(rows, ORDER, strict=True):
        expected[place] = lines[rows[row]]
    assert after.split("\n") == expected


def test_a_compressed_text_and_another_format_are_sorted(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    file = made(tmp_path, "id,n\n" + "".join(f"00{i},{i}\n" for i in range(6)))
    ids = [f"00{i}" for i in ORDER]
    path, _ = written(tmp_path, file, "out.csv.gz", DOUBTS, least_sure_first=True)
    read = pd.read_csv(io.BytesIO(gzip.decompress(path.read_bytes())), dtype={"id": str})
    assert read["id"].tolist() == ids
    path, sentences = written(tmp_path, file, "out.xlsx", DOUBTS, least_sure_first=True)
    sheet = openpyxl.load_workbook(path).active
    assert [row[0].value for row in sheet] == ["id", *ids]
    assert sentences == []
    tsv, _ = written(tmp_path, file, "out.tsv", DOUBTS, least_sure_first=True)
    assert pd.read_csv(tsv, sep="\t", dtype=str)["id"].tolist() == ids


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_a_columnar_file_is_sorted_with_its_schema(tmp_path, columns, ending):
    pa = pytest.importorskip("pyarrow")
    file = tmp_path / f"rows.{ending}"
    rows = pd.concat([columns, columns], ignore_index=True)
    rows["kind"] = pd.Categorical([*"abab", None, "never"], ["b", "a", "never"], ordered=True)
    getattr(rows, f"to_{ending}")(file)
    path, _ = written(tmp_path, file, f"out.{ending}", DOUBTS, parts=3, least_sure_first=True)
    before, after = (pa_table(pa, p) for p in (file, path))
    assert after.select(before.schema.names).equals(before.take(ORDER), check_metadata=False)
    assert after.schema.metadata == before.schema.metadata
    assert after["prediction"].to_pylist() == [list("abcdef")[i] for i in ORDER]
    table, _ = written(tmp_path, file, "out.csv", DOUBTS, least_sure_first=True)
    assert pd.read_csv(table)["prediction"].tolist() == after["prediction"].to_pylist()


def sheet_of(place, name="rows.xlsx", formula=None):
    openpyxl = pytest.importorskip("openpyxl")
    made_book = openpyxl.Workbook()
    sheet = made_book.active
    sheet["A1"] = "Orders"
    rows = [
        ["id", "day"],
        *([i, pd.Timestamp("2024-05-01") + pd.Timedelta(days=i)] for i in range(6)),
    ]
    rows.insert(4, [])
    for number, row in enumerate(rows, 2):
        for column, value in enumerate(row, 1):
            sheet.cell(number, column, value)
    if formula:
        sheet["B8"] = formula
    sheet["B3"].number_format = "dd.mm.yyyy"
    made_book.create_sheet("other")["B2"] = "stays"
    made_book.save(place / name)
    return place / name


def test_the_rows_of_a_workbook_are_sorted_with_their_formats(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    path, sentences = written(
        tmp_path, sheet_of(tmp_path), "out.xlsx", DOUBTS, least_sure_first=True
    )
    book = openpyxl.load_workbook(path)
    cells = list(book.worksheets[0].values)
    assert cells[0][0] == "Orders"
    assert [row[0] for row in cells[1:]] == ["id", 1, 4, 5, None, 0, 2, 3]
    assert [row[2] for row in cells[1:]] == ["prediction", "b", "e", "f", None, "a", "c", "d"]
    assert [str(row[1])[8:10] for row in cells[2:]] == ["02", "05", "06", "", "01", "03", "04"]
    assert book.worksheets[0]["B7"].number_format == "dd.mm.yyyy"
    assert book["other"]["B2"].value == "stays"
    assert sentences == []


def test_a_sheet_of_formulas_is_sorted_in_a_new_workbook_and_that_is_said(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    file = sheet_of(tmp_path, formula="=1+1")
    path, sentences = written(tmp_path, file, "out.xlsx", DOUBTS, least_sure_first=True)
    rows = list(openpyxl.load_workbook(path).active.values)
    assert [row[2] for row in rows] == ["prediction", *"befacd"]
    assert "in a new workbook" in sentences[0]


def test_an_open_document_is_sorted_and_one_of_formulas_is_refused(tmp_path):
    calamine = pytest.importorskip("python_calamine")
    # The first row is stored once for two.
    answers = pd.DataFrame(
        {"prediction": list("aab"), "probability of no": 0.0, "probability of yes": [0.9, 0.9, 0.6]}
    )
    for name, content in (
        ("rows.ods", ODS),
        (
            "bound.ods",
            ODS.replace('office:value="1.5"', 'office:value="1.5" table:formula="of:=1+.5"'),
        ),
    ):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
            archive.writestr("content.xml", content)
            archive.writestr("META-INF/manifest.xml", MANIFEST)
    path, _ = written(
        tmp_path, f"{tmp_path / 'rows.ods'}#rows", "o.ods", answers, least_sure_first=True
    )
    rows = calamine.load_workbook(str(path)).get_sheet_by_name("rows").to_python()
    assert [row[:3] for row in rows] == [
        ["id", "price", "prediction"], ["8", "", "b"], ["007", 1.5, "a"], ["007", 1.5, "a"],
    ]  # fmt: skip
    with pytest.raises(UnusableError, match=r"are not sorted in a \.ods file"):
        written(tmp_path, f"{tmp_path / 'bound.ods'}#rows", "b.ods", answers, least_sure_first=True)
