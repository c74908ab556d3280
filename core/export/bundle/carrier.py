"""Models that files carry as named numpy arrays, with the program that predicts from them.

A model names the module that has its `CARRIER` (`core.estimators.model.Model.carrier`), whose
arrays begin and end with

format, kind: (), version of its list of arrays; the model's name
settings: (), JSON text: columns, how the training file was written, run, versions
"""

import base64
import csv
import importlib
import io
import json
import re
import textwrap
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.files.addresses import split_sheet_address
from core.datasets.files.csv_table import TextFile
from core.datasets.files.delimited_rows import is_number
from core.datasets.files.file_bytes import GuardedFile, check_archive, open_bytes
from core.datasets.files.line_table import LineFile
from core.datasets.files.quotes import DOUBLED, quote_reading
from core.datasets.files.registry import open_table
from core.datasets.files.table_reader import TableReader
from core.errors import UnusableError
from core.estimators.registry import MODELS
from core.estimators.stored.skops_nodes import read_array
from core.export.bundle.csv_rows import UTF_16, CellFormat, UnreadableError, cell_format_of, text_of
from core.export.bundle.modules import program_text
from core.export.finished_run import FinishedRun, members_of, score_text
from core.export.spreadsheet_cells import escape_formula
from core.ordinary_files import open_ordinary
from core.records import JsonObject, to_plain

Arrays = dict[str, np.ndarray]
Content = tuple[Arrays, JsonObject]  # a model's arrays between kind and settings, and settings
Report = Callable[[int, int], None]
MODEL, PROGRAM = "model.npz", "predict.py"  # in folders
_ENTRY_TIME = (1980, 1, 1, 0, 0, 0)  # the same bytes for the same run
READING_MODULES = (
    "core.datasets.files.quotes",
    "core.datasets.files.conll",
    "core.datasets.files.dot_brackets",
    "core.export.bundle.csv_rows",
)
MAIN_MODULE = "core.export.bundle.bundle_main"


@dataclass(frozen=True)
class Carrier:
    """What a model is as arrays, and as a program."""

    version: int  # the newest list of arrays, which newer files exceed
    does: str  # what the program does, one sentence
    files: str  # its input and output
    modules: tuple[str, ...]  # of the program, each after those that it imports from
    # (arrays, text of a file, report) -> header and rows; in one of the modules
    predict_table: Callable[[Mapping[str, np.ndarray], str, Report], tuple[list[str], list[Any]]]
    # (run, fitted members, their weights) -> what the file holds
    arrays: Callable[[FinishedRun, list[Any], np.ndarray | None], Content]
    check: Callable[[Arrays], None] = lambda arrays: None  # ValueError for parts that do not fit
    program: str = PROGRAM  # its file name
    needs: str = "numpy"  # the libraries of the program in a folder
    tables: Callable[[FinishedRun], dict[str, bytes]] = lambda run: {}  # beside it in the folder
    # what the JSON export has beside the parameters, and the arrays of that
    document: Callable[[Arrays], JsonObject] = lambda arrays: {}
    arrays_of_document: Callable[[JsonObject], Arrays] = lambda document: {}


def carrier_of(model: str) -> Carrier | None:
    """The carrier of a model; None where scikit-learn's classes carry it, or it is unknown."""
    module = MODELS[model].carrier if model in MODELS else ""
    # Carriers import what computes, where numba alone takes a second.
    carrier: Carrier | None = importlib.import_module(module).CARRIER if module else None
    return carrier


def arrays_of(run: FinishedRun) -> Arrays:
    """The arrays of a run's fitted model, or of the members of its average."""
    carrier, model = _carrier_of_run(run), run.pipeline[-1]
    members, weights = model_members(model)
    arrays, settings = carrier.arrays(run, members, weights)
    # A single model stays readable to versions that knew no averages.
    version = 1 if weights is None else carrier.version
    return {
        "format": np.array(version),
        "kind": np.array(run.plan.model),
        **arrays,
        "settings": np.array(json.dumps(settings, ensure_ascii=False)),
    }


def _carrier_of_run(run: FinishedRun) -> Carrier:
    carrier = carrier_of(run.plan.model)
    assert carrier is not None  # the forms of its exports are those of such models
    return carrier


def model_members(model: Any) -> tuple[list[Any], np.ndarray | None]:
    """The fitted members of an average, and their weights; of a single model, itself and None."""
    members = getattr(model, "estimators_", None)
    if members is None:
        pairs = getattr(model, "members_", None) or getattr(model, "members", None)
        if pairs is None:
            return [model], None
        members = [member for _, member in pairs]
    weights = np.ones(len(members)) if model.weights is None else model.weights
    return list(members), np.asarray(weights, dtype=np.float64)


def weight_shares(members: list[Any], weights: np.ndarray | None) -> np.ndarray:
    """The members' weights with sum 1."""
    raw = np.ones(len(members)) if weights is None else weights
    return raw / raw.sum()


def cell_format_of_run(run: FinishedRun) -> CellFormat:
    """The format of cells in the training file."""
    source = run.takeaway.source
    options = source.read_csv
    reading = quote_reading(options, source.quotes)
    return CellFormat(
        quote=options.get("quotechar", '"'),
        padded=bool(options.get("skipinitialspace", False)),
        decimal=options.get("decimal", "."),
        thousands=options.get("thousands", ""),
        missing=options.get("na_values", [""]),
        encoding=options.get("encoding", ""),
        reading=None if reading == DOUBLED else reading,
    )


def folder_settings(run: FinishedRun) -> JsonObject:
    """The settings of a model in a folder, its own come behind."""
    return {
        "reading": to_plain(cell_format_of_run(run)),
        "zero_based": bool(run.takeaway.source.libsvm.get("zero_based", False)),
        "run": run.name,
        "versions": run.takeaway.versions,
    }


# Writing ----------------------------------------------------------------------------------


def write_npz(run: FinishedRun, path: Path) -> None:
    """Write the arrays; ``numpy.load(path, allow_pickle=False)`` gives them back."""
    path.write_bytes(npz_bytes(arrays_of(run)))


def npz_bytes(arrays: Arrays) -> bytes:
    """The bytes of an npz file."""
    if any(np.asarray(array).dtype.hasobject for array in arrays.values()):
        raise TypeError("objects would be pickled, and nobody could read them")
    stream = io.BytesIO()
    named: dict[str, Any] = dict(arrays)
    np.savez_compressed(stream, **named)
    return stream.getvalue()


def write_script(run: FinishedRun, path: Path) -> None:
    """Write one program with the model inside, which predicts with numpy alone."""
    carrier, count = _carrier_of_run(run), len(members_of(run))
    model = f"The average of {count} models is inside" if count > 1 else "The model is inside"
    metric, scores = run.results.metric, run.results.test
    score = score_text(scores[metric]) if metric in scores else "not measured"
    origin = (
        f"{model}: tuned by Tunescope on {run.takeaway.dataset}, {metric.replace('_', ' ')} on "
        f"test rows {score}. It needs numpy, and is faster where numba is installed."
    )
    versions = ", ".join(f"{name} {version}" for name, version in run.takeaway.versions.items())
    packed_model = base64.b85encode(npz_bytes(arrays_of(run))).decode()
    lines = (packed_model[start : start + 96] for start in range(0, len(packed_model), 96))
    model_code = 'MODEL = """\n' + "\n".join(lines) + '\n"""'
    notes = (origin, f"Made with {versions}.")
    main = "    sys.exit(run_packed(MODEL, predict_table, sys.argv[1:]))\n"
    path.write_text(_program_text(carrier, notes, [model_code], main), encoding="utf-8")


def write_folder(run: FinishedRun, path: Path, card: str) -> None:
    """Write a zip file of one folder: README.md, the arrays, the program, and tables if any."""
    carrier = _carrier_of_run(run)
    notes = [f"The model is {MODEL} beside this file. It needs {carrier.needs}."]
    main = f'    model = Path(__file__).with_name("{MODEL}")\n'
    main += "    sys.exit(run_file(model, predict_table, sys.argv[1:]))\n"
    files = {
        "README.md": f"{card}\n    python {PROGRAM} NEW.csv OUT.csv\n".encode(),
        MODEL: npz_bytes(arrays_of(run)),
        PROGRAM: _program_text(carrier, notes, [], main).encode(),
        **carrier.tables(run),
    }
    # A name that every system can unpack.
    name = re.sub(r"[^\w.-]+", "-", Path(run.takeaway.dataset).name.split(".")[0]).strip("-.")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file_name, content in files.items():
            folder = f"{name or 'model'}-{run.plan.model}"
            entry = zipfile.ZipInfo(f"{folder}/{file_name}", _ENTRY_TIME)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content)


def _program_text(carrier: Carrier, notes: Sequence[str], model: list[str], main: str) -> str:
    paragraphs = [textwrap.fill(words, 96) for words in (carrier.files, *notes)]
    usage = f"    python {carrier.program} NEW.csv OUT.csv"
    description = "\n\n".join([carrier.does, usage, *paragraphs])
    blocks = [*model, f'if __name__ == "__main__":\n{main}']
    return program_text(description, [*carrier.modules, MAIN_MODULE], blocks)


def csv_bytes(header: list[str], rows: list[list[str]]) -> bytes:
    """The bytes of a table beside a model; no spreadsheet calculates its cells."""
    stream = io.StringIO()
    safe = ([escape_formula(cell) for cell in row] for row in [header, *rows])
    csv.writer(stream, lineterminator="\n").writerows(safe)
    return stream.getvalue().encode()


# Reading ----------------------------------------------------------------------------------


def load_arrays(path: Path) -> Arrays:
    """The arrays in an npz or zip file; no code is run. UnusableError: damaged, too large."""
    try:
        with open_ordinary(path) as file, zipfile.ZipFile(file) as archive:
            check_archive(archive, path)
            contents = _arrays_in(archive, path, path.suffix.lower() == ".zip")
    except UnusableError:
        raise
    except Exception as error:  # of many kinds for damaged bytes, sizes and encryption
        raise damaged_file_error(path) from error
    return checked_arrays(contents, path)


def _arrays_in(archive: zipfile.ZipFile, path: Path, is_folder: bool) -> Arrays:
    if not is_folder:
        names = [name for name in archive.namelist() if name.endswith(".npy")]
        return {name.removesuffix(".npy"): read_array(archive.read(name)) for name in names}
    content = archive.read(next(n for n in archive.namelist() if n.split("/")[-1] == MODEL))
    with zipfile.ZipFile(io.BytesIO(content)) as inner:  # which may swell once more
        check_archive(inner, path, len(content))
        return _arrays_in(inner, path, False)


def checked_arrays(arrays: Arrays, path: Path) -> Arrays:
    """The arrays, which may come from anywhere; UnusableError: newer, no model's, or damaged."""
    try:
        version, kind = int(arrays["format"]), str(arrays["kind"])
    except (KeyError, TypeError, ValueError):
        fault = "this file holds no model of sequences or molecules"
        cure = "give a .npz or .json file that Tunescope exported from such a run"
        raise UnusableError(fault, where=str(path), cure=cure) from None
    carrier = carrier_of(kind)
    # A kind that is unknown here may be one that a newer version has.
    if version > (carrier.version if carrier else 2):
        fault = "this model was exported by a newer Tunescope"
        raise UnusableError(fault, where=str(path), cure="update Tunescope")
    try:
        if carrier is None:
            raise ValueError("its kind is unknown")
        carrier.check(arrays)
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        reason = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
        fault = f"this model file is damaged ({reason})"
        raise UnusableError(fault, where=str(path), cure="export the model again") from None
    return arrays


def damaged_file_error(path: Path) -> UnusableError:
    """The error for a file whose bytes do not fit its ending."""
    problem = f"this is no {path.suffix.lower()} model file, or it is damaged"
    return UnusableError(problem, where=str(path), cure="export the model again")


# Predicting -------------------------------------------------------------------------------


def predict_rows(
    arrays: Arrays, file: str, report: Report, path: Path | None = None
) -> pd.DataFrame:
    """The predictions of checked arrays for a table of any format; `path`: of their file."""
    carrier = carrier_of(str(arrays["kind"]))
    assert carrier is not None
    try:
        # The very code of the exported programs.
        text = _text_of_file(file, cell_format_of(json.loads(str(arrays["settings"]))))
        with np.errstate(all="ignore"):
            header, rows = carrier.predict_table(arrays, text, report)
        return pd.DataFrame(rows, columns=header)
    except UnreadableError as error:
        name = Path(split_sheet_address(file)[0]).name
        where = f"{name}, {error.where}" if error.where else name
        raise UnusableError(error.what, where=where, cure=error.cure) from None
    except (LookupError, ValueError, ArithmeticError, TypeError, AttributeError) as error:
        # Arrays that were just made fit together: this is a defect.
        if path is None:
            raise
        raise damaged_file_error(path) from error  # arrays that do not fit together


def _text_of_file(file: str, cell_format: CellFormat) -> str:
    opened_file = open_table(file)
    if isinstance(opened_file, (TextFile, LineFile)):
        is_utf_16 = opened_file.head.startswith(UTF_16)
        stream = open_bytes(opened_file.path, opened_file.compression)
        with GuardedFile(stream, opened_file.path.name, wide=is_utf_16) as bytes_file:
            return text_of(bytes_file.read(), cell_format.encoding)
    return _csv_text(opened_file, cell_format.quote, cell_format.decimal)


def _csv_text(table_file: TableReader, quote: str, decimal: str) -> str:
    kinds = dict.fromkeys(table_file.first_cells(), "category")
    table = table_file.read(kinds, ("",)).table.astype(object)
    if decimal != ".":

        def with_decimal_sign(cell: Any) -> Any:
            is_numeric = isinstance(cell, str) and is_number(cell)
            return cell.replace(".", decimal) if is_numeric else cell

        table = table.map(with_decimal_sign)
    return str(table.to_csv(index=False, quotechar=quote))
