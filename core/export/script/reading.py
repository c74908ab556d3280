"""The part of an exported script that reads a table, by pandas, in the format that it had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from keyword import iskeyword
from typing import Any

from core.datasets.files import filling, plain_columns
from core.errors import UnusableError
from core.export.bundle.modules import bundle
from core.export.script.constructor import Code, wrapped_list
from core.export.script.drawn import drawn_table, drawn_text
from core.export.without_examples import common_words

_SHEETS, _COLUMNS = ("xlsx", "ods"), ("parquet", "feather")
_USUAL = (("encoding", "utf-8"), ("compression", None), ("sep", ","))
_PACKAGES = {"xlsx": "openpyxl", "ods": "odfpy", "parquet": "pyarrow", "feather": "pyarrow"}
_OPENED = {
    "gzip": ("gzip", "gzip.open({})"),
    "bz2": ("bz2", "bz2.open({})"),
    "xz": ("lzma", "lzma.open({})"),
    "zip": ("zipfile", "(lambda z: z.open(z.namelist()[0]))(zipfile.ZipFile({}))"),
}
Sources = Sequence[Mapping[str, Any]]


def packages_of(sources: Sources) -> list[str]:
    """What pandas needs to read the files."""
    return sorted({_PACKAGES[one["format"]] for one in sources if one["format"] in _PACKAGES})


def missing_words(sources: Sources) -> list[str]:
    """A line with the words for a missing value, where the first file has some."""
    words = _common_words(sources[0])
    return [f"MISSING = {wrapped_list(words)}"] if words else []


def reading_functions(sources: Sources, target_type: str, code: Code) -> list[str]:
    """The functions that read the files: one for every kind of format among them.

    Args:
        sources: the data file, and the test file if there is one.
        target_type: what gives the target its type.
        code: is told what the functions import.
    """
    formats = {str(one["format"]) for one in sources}
    lines: list[str] = []
    if any(one.get("strays") for one in sources):
        lines += _converter(_how(sources[0]))
    lines += ["", "", "def parts(table):"]
    lines += ["    table = table[table[TARGET].notna()]  # rows without a target teach nothing"]
    lines += [f"    return table[FEATURES].reset_index(drop=True), table[TARGET]{target_type}"]
    if formats & set(_SHEETS):
        lines += ["", "", *_carried(filling, code), "", ""]
        lines += ["def read_sheet(path, merged=(), **how):"]
        lines += ["    table = with_fills(pd.read_excel(path, **how), merged)"]
        lines += ['    return parts(table.dropna(how="all"))']
    if formats & set(_COLUMNS):
        lines += ["", "", *_carried(plain_columns, code)]
    if formats - {*_SHEETS, *_COLUMNS}:
        lines += ["", "", "def read(path, **how):", "    return parts(pd.read_csv(path, **how))"]
    return [*lines, "", ""]


def _how(source: Mapping[str, Any]) -> Mapping[str, Any]:
    """What pandas is told."""
    columnar = source["format"] in _COLUMNS
    found: Mapping[str, Any] = (not columnar and source.get("reading")) or source["read_csv"]
    return found


def _converter(how: Mapping[str, Any]) -> list[str]:
    """A function for columns of numbers where words that are not told count as missing."""
    replaced = "".join(
        f".replace({_said(sign)}, {_said(usual)})"
        for sign, usual in (
            ("_", "?"),  # which Python takes for a sign between thousands
            (how.get("thousands", ""), ""),
            (how.get("decimal", "."), "."),
        )
        if sign not in ("", usual)
    )
    return [
        "",
        "",
        "def number(cell):",
        '    """The number in a cell; missing where there is none."""',
        "    try:",
        f"        return float(cell{replaced} if isinstance(cell, str) else cell)",
        "    except (TypeError, ValueError):",
        "        return np.nan",
    ]


def _carried(module: Any, code: Code) -> list[str]:
    """The source of a module of ours that imports pandas and Python's own library alone."""
    found = bundle([module])
    for name, taken in found.names.items():
        code.modules.add(f"from {name} import {', '.join(sorted(taken))}")
    text = "\n".join(found.sources).strip("\n")
    _, _, below = text.removeprefix('"""').partition('"""')  # what the module is, is said there
    return below.strip("\n").splitlines()


def unpacked(path: str, source: Mapping[str, Any], code: Code) -> str:
    """Code for the unpacked bytes of a text; `path` is code for where it lies."""
    if not source.get("compression"):
        return f'open({path}, "rb")'
    module, form = _OPENED[source["compression"]]
    code.modules.add(f"import {module}")
    return form.format(path)


def read_lines(
    names: str, path: str, source: Mapping[str, Any], sources: Sources, code: Code
) -> list[str]:
    """Lines that read a file.

    Args:
        names: what is made.
        path: the variable that holds the path.
        source: how the file was read, as the takeaway has it.
        sources: all files.
        code: is told what they import.
    """
    opened = f"checked({path}, {_said(source['fingerprint'])})"
    common, kind = _common_words(sources[0]), source["format"]
    if kind in _COLUMNS:
        how = source["read_csv"]
        reading = "".join(
            f", {parameter(n)}={_said(v)}" for n, v in source.get("reading", {}).items()
        )
        text = wrapped_list(list(how.get("dtype", {})), 4)
        missing = _missing_code(how.get("na_values", []), common)
        table = f"pd.read_{kind}({opened}{reading})"
        if source.get("sampled"):
            table = drawn_table(opened, source)
        body = "".join(f"    {part},\n" for part in (table, f"text={text}", f"missing={missing}"))
        return [f"{names} = parts(plain_columns(\n{body}))"]
    how = _how(source)
    if source.get("sampled"):
        opened = drawn_text(unpacked(opened, source, code), source)
        how = {name: value for name, value in how.items() if name != "compression"}
    given = [f"{parameter(n)}={c}" for n, c in _arguments(how, common).items()]
    if strays := source.get("strays"):
        given.append(f"converters=dict.fromkeys({Code().expression(strays, 4)}, number)")
    if kind in _SHEETS and source.get("merged"):
        given.append(f"merged={Code().expression(source['merged'], 4)}")
    body = "".join(f"    {part},\n" for part in (opened, *given))
    function = "read_sheet" if kind in _SHEETS else "read"
    return [f"{names} = {function}(\n{body})"]


def _arguments(how: Mapping[str, Any], common: list[str]) -> dict[str, str]:
    """Code for every argument that is not pandas' own."""
    return {
        name: _missing_code(value, common) if name == "na_values" else Code().expression(value, 4)
        for name, value in how.items()
        if (name, value) not in _USUAL
    }


def parameter(name: str) -> str:
    """The name of a parameter, as it may stand in a script.

    Raises:
        UnusableError: it is none; the run's folder was changed by someone.
    """
    if not name.isidentifier() or iskeyword(name):
        raise UnusableError(
            f"“{name[:40]}” is no way of reading a file",
            where="best.json",
            cure="resume the run, or start a new one",
        )
    return name


def _common_words(source: Mapping[str, Any]) -> list[str]:
    """The words for a missing value that hold in every column."""
    given = _how(source).get("na_values", [])
    return common_words(given) if isinstance(given, dict) else list(given)


def _missing_code(given: Any, common: list[str]) -> str:
    if given == common:
        return "MISSING"
    if not isinstance(given, dict):
        return wrapped_list(list(given), 4)
    own = {
        column: [word for word in words if word not in common] for column, words in given.items()
    }
    special = ", ".join(
        f"{_said(column)}: [*MISSING, {', '.join(map(_said, words))}]"
        for column, words in own.items()
        if words
    )
    return f"dict.fromkeys([*FEATURES, TARGET], MISSING) | {{{special}}}"


def _said(value: Any) -> str:
    return Code().expression(value)
