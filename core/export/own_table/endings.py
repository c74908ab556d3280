"""The endings of the files that a table with predictions can be written to."""

from __future__ import annotations

from pathlib import Path

TABS = (".tsv", ".tab")
_PAIRS = (".libsvm", ".svm", ".svmlight")
TEXTS = ("", ".csv", *TABS, ".txt", ".data", ".dat", ".psv", *_PAIRS)
SHEETS = {".xlsx": "xlsx", ".xlsm": "xlsx", ".ods": "ods"}
COLUMNAR = {".parquet": "parquet", ".pq": "parquet", ".feather": "feather", ".arrow": "feather"}
PACKED = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz"}
OWN_ALONE = (".xlsm", ".ods", ".arff")  # written of such files alone
LINES = (".conll", ".conllu", ".fasta", ".fa", ".dbn")
_OLD_WORKBOOKS = (".xls", ".xlsb", ".xltx", ".xltm", ".ots")


def own_ending(file: str) -> str:
    """The ending with which the table of a file comes back in its own format, or a near one."""
    ending = Path(file.partition("#")[0]).suffix.lower()
    if ending in _OLD_WORKBOOKS:
        return ".xlsx"
    texts = [text for text in TEXTS if text and text not in _PAIRS]
    return ending if ending in (*texts, *SHEETS, *COLUMNAR, *LINES, ".arff") else ".csv"
