"""New rows for an exported model, by the card in its file: read the way its training file was."""

import difflib
import io
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import pandas as pd
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from core.datasets.cell_values import ColumnFormat, cell_text, moments, read_cells, same_unit
from core.datasets.column_format import MAX_TRIED, chosen_format, date_forms, number_formats
from core.datasets.dataset import SampleFacts
from core.datasets.files import libsvm
from core.datasets.files.csv_table import TextFile
from core.datasets.files.file_bytes import decode_head, open_bytes
from core.datasets.files.file_parts import FilePart
from core.datasets.files.libsvm import looks_like_libsvm
from core.datasets.files.table_reader import TableReader
from core.datasets.raw_table import kinds_like, number_format, stray_finding, stray_texts
from core.errors import UnusableError
from core.json_reading import read_as
from core.records import Record, optional
from core.tuning.run_results import EvaluationFacts, Scores

ATTRIBUTE = "tunescope_"


@dataclass(frozen=True, kw_only=True)
class ModelCard(Record):
    """The run of a model, and how new rows are read for it."""

    run: str = ""
    model: str = ""
    exported: str = ""  # which of the run's models (core.export.exportable_models)
    models: list[str] | None = optional()  # where several were tuned
    strategy: str = ""
    task: str = ""
    target: str
    features: list[str]  # in the model's order
    text: list[str]  # features taken as text
    columns: list[str]  # all of the training file
    format: str  # this and the next four as in the file's DataSource
    read_csv: dict[str, Any]
    libsvm: dict[str, Any]
    formats: dict[str, ColumnFormat] | None = optional()
    fingerprint: str = ""
    validation: Scores = field(default_factory=dict)
    test: Scores = field(default_factory=dict)
    fitted_rows: int = 0
    sampled: SampleFacts | None = optional()
    training: Any = optional()  # TrainingRows as text; strangers may have written anything
    interval: Any = optional()  # the PredictionInterval around predicted numbers
    evaluation: EvaluationFacts | None = None
    versions: dict[str, str] = field(default_factory=dict)  # {library: version}
    dates: dict[str, str] | None = optional()  # of ONNX: {column: format of its dates}
    inputs: dict[str, str] | None = optional()  # of ONNX: {input: column}
    classes: list[Any] | None = optional()


def card_of(pipeline: Any) -> ModelCard | None:
    """The card of an exported pipeline; None for a foreign one."""
    try:
        return read_as(ModelCard, getattr(pipeline, ATTRIBUTE, None))
    except ValueError:
        return None


_MORE = " More follow further down."
_PAIR = re.compile(rb"\d+:\S+")


@dataclass
class ReadNotes:
    """Remarks on a file that was read."""

    ignored_columns: list[str] = field(default_factory=list)  # unknown to the model
    # {column of numbers: sentence on its words, which count as missing}
    unreadable: dict[str, dict[int, str]] = field(default_factory=dict)  # {column: {row: text}}
    strays: dict[str, str] = field(default_factory=dict)

    def add_notes(self, notes: Self) -> None:
        self.ignored_columns = list(dict.fromkeys([*self.ignored_columns, *notes.ignored_columns]))
        for column, sentence in notes.strays.items():
            before = self.strays.get(column, "")
            more = "" if not before or before.endswith(_MORE) else _MORE
            self.strays[column] = f"{before or sentence}{more}"
        self.unreadable = notes.unreadable  # of the rows of this part alone


def rows_of(
    file_part: FilePart, card: ModelCard, notes: ReadNotes | None = None
) -> pd.DataFrame | sparse.csr_matrix:
    """The features of every row in a part of a file; the target may be absent."""
    table_file = file_part.file
    # LIBSVM lines are told by their look, whatever the file is called; without labels, which new
    # rows may lack, no reader takes them for such.
    pairs = isinstance(table_file, TextFile) and (
        looks_like_libsvm(decode_head(table_file.head)[1]) or _without_labels(table_file.head)
    )
    if card.format != "libsvm":
        if pairs:
            raise _wrong_kind(table_file.path, "a table with columns")
        return _feature_table(table_file, card, notes or ReadNotes())
    if not (pairs and isinstance(table_file, TextFile)):
        raise _wrong_kind(table_file.path, "LIBSVM lines (label index:value …)")
    return _libsvm_matrix(table_file, card, file_part.zero_based)


def _wrong_kind(path: Path, wanted: str) -> UnusableError:
    return UnusableError(
        f"the model was trained on {wanted}, and this file is not like that",
        where=path.name,
        cure="give a file like the one it was trained on",
    )


def _without_labels(head: bytes) -> bool:
    lines = (line.partition(b"#")[0].split() for line in head.splitlines())
    first = next((words for words in lines if words), [])
    return bool(first) and all(_PAIR.fullmatch(word) for word in first)


def _libsvm_matrix(
    file: TextFile, card: ModelCard, zero_based: bool | None = None
) -> sparse.csr_matrix:
    path = file.path
    if _without_labels(file.head):
        matrix, from_zero = _unlabelled(file, zero_based)
    else:
        rows = libsvm.read_rows(file, zero_based)
        matrix, from_zero = rows.matrix, rows.zero_based
    wanted = bool(card.libsvm.get("zero_based", False))
    if from_zero and not wanted:
        fault = "an index is 0, but the model's training file counted from 1"
        raise UnusableError(fault, where=path.name, cure="count the features from 1")
    # The training file counted from 0: feature 1 is its second column.
    shift = int(wanted and not from_zero)
    width = len(card.features)
    entries = matrix.tocoo()
    columns = entries.col + shift
    # The model has no weight for features beyond those of its training file.
    is_known = columns < width
    positions = (entries.row[is_known], columns[is_known])
    return sparse.csr_matrix((entries.data[is_known], positions), (matrix.shape[0], width))


def _unlabelled(file: TextFile, zero_based: bool | None = None) -> tuple[sparse.csr_matrix, bool]:
    with open_bytes(file.path, file.compression) as stream:
        lines = stream.read().splitlines()
    # scikit-learn reads a label at the start of every line.
    text = b"\n".join(b"0 " + line for line in lines if line.partition(b"#")[0].strip())
    try:
        matrix = load_svmlight_file(io.BytesIO(text), zero_based=True)[0]
    except (ValueError, OverflowError) as error:
        raise libsvm.load_error(error, file) from None
    # Only an index 0 shows that a file counts from 0.
    if zero_based or (matrix.nnz and matrix.indices.min() == 0):
        return matrix, True
    return matrix[:, 1:], False


def _feature_table(table_file: TableReader, card: ModelCard, notes: ReadNotes) -> pd.DataFrame:
    features, formats = card.features, formats_of_card(card)
    kinds = kinds_like(formats)
    if isinstance(table_file, TextFile):
        # A few rows may hide which decimal sign they are written with; the model's card tells.
        signs, dialect = number_format(card.read_csv), table_file.sniff(features[0])
        if (signs.decimal, signs.thousands) != (dialect.decimal, dialect.thousands):
            kinds = dict.fromkeys(formats, "category")
    raw = table_file.read(kinds, required_column=features[0])
    strays = {f.column: f.sentence for f in raw.findings if f.column in formats}
    if strays:  # as texts, which say in which rows they stand
        raw = table_file.read(kinds | dict.fromkeys(strays, "category"))
    notes.strays |= strays
    table = _name_by_position(raw.table, card)
    table = table.set_axis(_column_names(table, features), axis=1)
    missing = [name for name in features if name not in table.columns]
    if missing:
        raise _missing_columns_error(table_file.path, missing, list(map(str, table)), card)
    if not len(table):
        fault = "there is no row under the names of the columns"
        raise UnusableError(fault, where=table_file.path.name, cure="give one row at least")
    # The target may still be there: it is no stranger.
    known_names = {*features, *card.columns, card.target}
    notes.ignored_columns += [str(name) for name in table.columns if name not in known_names]
    columns = {name: _feature_cells(table[name], formats[name], notes) for name in features}
    return pd.DataFrame(columns, index=table.index)


def formats_of_card(card: ModelCard) -> dict[str, ColumnFormat]:
    """How the cells of every feature are written."""
    numbers, texts = number_format(card.read_csv), ColumnFormat(whole=card.formats is not None)
    formats = {name: texts if name in card.text else numbers for name in card.features}
    return formats | {n: form for n, form in (card.formats or {}).items() if n in formats}


def feature_cells(values: pd.Series, form: ColumnFormat) -> tuple[pd.Series, pd.Series]:
    """A feature of new rows as the model takes it, and the texts that are none of its kind."""
    try:
        cells, strays = _cells_and_strays(values, form)
        # What does not read as in training may be written in another way throughout, such as ISO
        # dates.
        if len(strays) and (rewritten_values := _rewritten(values, form)) is not None:
            # An empty cell is missing in either way of reading, and no stray.
            was_told = cells.notna() | values.index.isin(strays.index)
            cells = _cells_and_strays(rewritten_values, form)[0]
            strays = values[cells.isna() & was_told].astype(str)
    except (ValueError, TypeError):  # a stranger's date format
        return values.where(values.isna(), values.astype(str)), values.iloc[:0]
    return cells, strays


def _cells_and_strays(values: pd.Series, form: ColumnFormat) -> tuple[pd.Series, pd.Series]:
    cells = read_cells(values, form)
    if form.kind == "date":
        return cells, cells[moments(cells, form.date_format).isna() & cells.notna()]
    if form.kind == "number" and values.dtype.kind not in "iuf":
        return cells, stray_texts(values, cells, form)
    # Sheets and columnar files give numbers as such, of which infinite ones alone cannot be used.
    is_infinite = (cells.isna() & values.notna()).to_numpy() & (form.kind == "number")
    return cells, values[is_infinite].astype(str) if is_infinite.any() else values[:0]


def _rewritten(values: pd.Series, form: ColumnFormat) -> pd.Series | None:
    texts = values.map(cell_text, na_action="ignore")
    words = texts[texts.notna() & ~texts.isin(["", *form.missing])]
    if form.kind == "date" and len(forms := date_forms(words.unique().tolist())) == 1:
        cells = read_cells(texts, forms[0])
        return moments(cells, forms[0].date_format).dt.strftime("%Y-%m-%d %H:%M:%S")
    if form.kind == "number":
        usual = chosen_format(number_formats(words.unique()[:MAX_TRIED].tolist()), words.tolist())
        if usual is not None and same_unit(usual.unit or form.unit, form.unit):
            return read_cells(values, replace(usual, missing=form.missing))
    return None


def _feature_cells(values: pd.Series, form: ColumnFormat, notes: ReadNotes) -> pd.Series:
    cells, strays = feature_cells(values, form)
    if len(strays):
        name = str(values.name)
        notes.unreadable[name] = dict(zip(map(int, strays.index), map(str, strays), strict=True))
        if form.kind == "number":
            notes.strays[name] = stray_finding(name, strays).sentence
    return cells


def _column_names(table: pd.DataFrame, features: list[str]) -> list[str]:
    feature_of = {cell_text(name): name for name in features}
    names = [str(name) for name in table.columns]
    return [name if name in features else feature_of.get(cell_text(name), name) for name in names]


def _name_by_position(table: pd.DataFrame, card: ModelCard) -> pd.DataFrame:
    if "names" not in card.read_csv or card.read_csv.get("header") is not None:
        return table  # the training file has a header
    all_names = card.columns
    # All columns of the training file, or all but the target.
    for names in (all_names, [name for name in all_names if name != card.target]):
        if len(names) == table.shape[1]:
            return table.set_axis(names, axis=1)
    return table


def _missing_columns_error(
    path: Path, missing: list[str], file_columns: list[str], card: ModelCard
) -> UnusableError:
    quoted = ", ".join(f"“{name}”" for name in missing[:5]) + (" …" if len(missing) > 5 else "")
    fault = f"columns are missing: {quoted}"
    if len(missing) == 1:
        fault = f"the column {quoted} is missing"
    columns_text = ", ".join(file_columns[:8]) + (" …" if len(file_columns) > 8 else "")
    spare = [name for name in file_columns if name not in (*card.features, card.target)]
    near = [f"“{near}” to “{name}”" for name, near in _nearest_names(missing, spare).items()]
    cure = f"rename {', '.join(near[:3])} if that is what is meant, or " if near else ""
    cure += f"add what is missing; the file has {columns_text}"
    return UnusableError(fault, where=path.name, cure=cure)


def _nearest_names(missing: list[str], spare: list[str]) -> dict[str, str]:
    names_by_key = {_normalized_name(name): name for name in reversed(spare)}
    nearest_names: dict[str, str] = {}
    for name in missing[:20]:
        key = _normalized_name(name)
        near = difflib.get_close_matches(key, list(names_by_key), n=1, cutoff=0.6)
        # One whole word of the longer name will do: “age” is near to “age in years”.
        near += [longer for longer in names_by_key if key and key in longer.split()]
        if near:
            nearest_names[name] = names_by_key.pop(near[0])
    return nearest_names


def _normalized_name(name: str) -> str:
    # "Age (years)" and "age_years" are near.
    return " ".join(re.findall(r"\w+", name.lower().replace("_", " ")))
