"""The folder export of topic models and deep latent Gaussian models.

Its zip file has README.txt, model.npz and predict.py, and for topics words.csv and topics.csv.
"""

from __future__ import annotations

import ast
import csv
import importlib
import io
import re
import textwrap
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.files.addresses import split_sheet_address
from core.datasets.files.unpacking_limits import check_archive
from core.errors import UnusableError
from core.estimators.lda.topic_words import topic_sizes, topic_words, word_probabilities
from core.export.bundle.csv_rows import UnreadableError
from core.export.bundle.folder_arrays import FORMAT, folder_arrays, members_of_model
from core.export.bundle.modules import bundle_modules
from core.export.files.npz_file import damaged_npz_error, npz_bytes
from core.export.files.parameter_arrays import Arrays
from core.export.finished_run import FinishedRun
from core.export.spreadsheet_cells import escape_formula

MODEL, PROGRAM = "model.npz", "predict.py"
MAX_TOPIC_WORDS = 20
_ENTRY_TIME = (1980, 1, 1, 0, 0, 0)  # the same bytes for the same run
READING = (
    "core.export.cell_format",
    "core.datasets.files.quotes",
    "core.datasets.files.conll",
    "core.datasets.files.dot_brackets",
    "core.export.bundle.csv_rows",
)
_MAIN = "core.export.bundle.bundle_main"


@dataclass(frozen=True)
class PredictorProgram:
    """The program in a folder, by its predictions (`core.estimators.model.Model.folder`)."""

    kind: str  # in model.npz
    does: str  # one sentence
    files: str  # its input and output
    modules: tuple[str, ...]  # each after those that it imports from
    predicts: str  # the module with `predict_table`
    opening: str  # of README.txt, with {noun} and {dataset}
    needs: str = "numpy"


PROGRAMS = {
    "topics": PredictorProgram(
        "lda",
        "Finds the topics of new documents.",
        "NEW.csv has the column of texts, or LIBSVM lines of counts where the model was trained "
        "on these. OUT.csv gets the share of every topic, and how well the words of one random "
        "half of the document are predicted by the other: its log density in nats, averaged over "
        "all models of the average, and the number of these words.",
        (*READING, "core.datasets.texts.words", "core.export.bundle.topic_prediction", _MAIN),
        "core.export.bundle.topic_prediction",
        "These are the topics of {dataset} as Tunescope tuned them",
    ),
    "classes": PredictorProgram(
        "dlgm",
        "Predicts the classes of new rows.",
        "NEW.csv has the columns that the model was trained on, in any order; cells may be "
        "written in other ways, and the target may be absent. OUT.csv gets the class, and the "
        "probability of every class, averaged over all models of the average.",
        (
            *READING,
            "core.estimators.dlgm.network",
            "core.estimators.dlgm.predictive",
            "core.datasets.cell_values",
            "core.export.bundle.column_preparation",
            "core.export.bundle.dlgm_prediction",
            _MAIN,
        ),
        "core.export.bundle.dlgm_prediction",
        "This is {noun} for {dataset} as Tunescope tuned it",
        "numpy and pandas",
    ),
}
_BY_KIND = {program.kind: program for program in PROGRAMS.values()}


def write(run: FinishedRun, path: Path) -> None:
    """Write the zip file."""
    folder, arrays = _folder_name(run), folder_arrays(run)
    files = {
        "README.txt": _readme_text(run, arrays).encode(),
        MODEL: npz_bytes(arrays),
        PROGRAM: program_source(run).encode(),
    }
    if run.model.folder == "topics":
        files |= _topic_tables(run)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(f"{folder}/{name}", _ENTRY_TIME)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content)


def program_source(run: FinishedRun) -> str:
    """The text of the program in the folder."""
    predictor = PROGRAMS[run.model.folder]
    source_bundle = bundle_modules(importlib.import_module(name) for name in predictor.modules)
    usage = f"    python {PROGRAM} NEW.csv OUT.csv"
    needs = f"The model is {MODEL} beside this file. It needs {predictor.needs}."
    paragraphs = [predictor.does, usage, textwrap.fill(predictor.files, 96), needs]
    standard_lines, library_lines = source_bundle.import_lines()
    description = "\n\n".join(paragraphs)
    lines = [
        f'"""{description}\n"""',
        "",
        "from __future__ import annotations",
        "",
        *standard_lines,
        "",
        *library_lines,
    ]
    end = f'model = Path(__file__).with_name("{MODEL}")'
    main = f'if __name__ == "__main__":\n    {end}\n'
    main += "    sys.exit(run_file(model, predict_table, sys.argv[1:]))\n"
    text = "\n\n\n".join(["\n".join(lines), *source_bundle.sources, main])
    ast.parse(text)  # a program that Python cannot read must never leave the house
    return text


def _folder_name(run: FinishedRun) -> str:
    name = re.sub(r"[^\w.-]+", "-", Path(run.takeaway.dataset).name.split(".")[0]).strip("-.")
    return f"{name or 'model'}-{run.plan.model}"


def _readme_text(run: FinishedRun, arrays: Arrays) -> str:
    count = len(arrays["weights"])
    model_text = f"the average of {count} models" if count > 1 else "one model"
    program = PROGRAMS[run.model.folder]
    first = program.opening.format(noun=run.model.noun, dataset=run.takeaway.dataset)
    first += f", {model_text}: {run.test_score_text('.6g')}."
    second = (
        f"python {PROGRAM} NEW.csv OUT.csv predicts a new file, and needs only {program.needs}."
    )
    return textwrap.fill(first, 80) + "\n\n" + textwrap.fill(second, 80) + "\n"


def _topic_tables(run: FinishedRun) -> dict[str, bytes]:
    members, weights = members_of_model(run.pipeline[-1])
    best = members[int(np.argmax(weights))]
    words = [str(word) for word in run.pipeline[0].named_steps["columns"].vocabulary_]
    named = [f"topic {k + 1}" for k in range(len(best.components_))]
    sizes, tops = topic_sizes(best), topic_words(best, words, MAX_TOPIC_WORDS)
    order = np.argsort(-sizes, kind="stable")
    largest_first = [[named[k], f"{sizes[k]:.5f}", " ".join(tops[k])] for k in order]
    word_shares = zip(words, word_probabilities(best).T, strict=True)
    rows = [[word, *(f"{share:.4g}" for share in shares)] for word, shares in word_shares]
    return {
        "topics.csv": _csv_bytes(["topic", "share of all words", "likeliest words"], largest_first),
        "words.csv": _csv_bytes(["word", *named], rows),
    }


def _csv_bytes(header: list[str], rows: list[list[str]]) -> bytes:
    stream = io.StringIO()
    safe = ([escape_formula(cell) for cell in row] for row in [header, *rows])
    csv.writer(stream, lineterminator="\n").writerows(safe)
    return stream.getvalue().encode()


def holds_model(path: Path) -> bool:
    """Whether an npz file comes from an exported zip file."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            check_archive(arrays.zip, path)
            return str(arrays["kind"]) in _BY_KIND
    except Exception:  # whatever is wrong with it, it is not that file
        return False


def load_folder_arrays(path: Path) -> Arrays:
    """The arrays in an exported zip or its npz file, without running code, or UnusableError."""
    try:
        with np.load(_model_inside(path), allow_pickle=False) as arrays:
            loaded = {name: arrays[name] for name in arrays.files}
        version, kind = int(loaded["format"]), str(loaded["kind"])
    except UnusableError:
        raise
    except Exception as error:
        # Damaged archives raise many kinds of exceptions.
        raise damaged_npz_error(path) from error
    if version > FORMAT:
        fault = "this model was exported by a newer Tunescope"
        raise UnusableError(fault, where=str(path), cure="update Tunescope")
    if kind not in _BY_KIND:
        raise damaged_npz_error(path)
    return loaded


def _model_inside(path: Path) -> Any:
    with zipfile.ZipFile(path) as archive:
        check_archive(archive, path)
        if path.suffix.lower() == ".npz":
            return path
        entries = [e for e in archive.infolist() if e.filename.split("/")[-1] == MODEL]
        if not entries:
            raise damaged_npz_error(path)
        content = archive.read(entries[0])
    inside = io.BytesIO(content)
    with zipfile.ZipFile(inside) as archive:
        check_archive(archive, path, len(content))
    inside.seek(0)
    return inside


def predict_rows(path: Path, file: str, report: Any) -> pd.DataFrame:
    """Predictions for a file by the very code of the folder's program, or UnusableError."""
    from core.export.bundle.structured_prediction import text_of_file

    arrays = load_folder_arrays(path)
    predict_table = importlib.import_module(_BY_KIND[str(arrays["kind"])].predicts).predict_table
    name = Path(split_sheet_address(file)[0]).name
    try:
        text = text_of_file(file, arrays["settings"])
        with np.errstate(all="ignore"):
            header, rows = predict_table(arrays, text, report)
    except UnreadableError as error:
        where = f"{name}, {error.where}" if error.where else name
        raise UnusableError(error.what, where=where, cure=error.cure) from None
    except (KeyError, ValueError, IndexError, TypeError, AttributeError) as error:
        raise damaged_npz_error(path) from error  # arrays that do not fit together
    return pd.DataFrame(rows, columns=header)
