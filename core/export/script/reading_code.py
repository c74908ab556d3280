"""The lines of an exported script that read a table by pandas in its original format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from keyword import iskeyword
from typing import Any

from core.datasets.dataset import DataSource
from core.datasets.files import filling, plain_columns
from core.errors import UnusableError
from core.export.bundle.modules import bundle_modules
from core.export.redaction import common_words
from core.export.script.constructor import CodeWriter, wrapped_list
from core.export.script.sampling_code import sampled_table_code, sampled_text_code

_SHEETS, _COLUMNS = ("xlsx", "ods"), ("parquet", "feather")
_USUAL = (("encoding", "utf-8"), ("compression", None), ("sep", ","))
_PACKAGES = {"xlsx": "openpyxl", "ods": "odfpy", "parquet": "pyarrow", "feather": "pyarrow"}
_OPENING_CODE = {
    "gzip": ("gzip", "gzip.open({})"),
    "bz2": ("bz2", "bz2.open({})"),
    "xz": ("lzma", "lzma.open({})"),
    "zip": ("zipfile", "(lambda z: z.open(z.namelist()[0]))(zipfile.ZipFile({}))"),
}
Sources = Sequence[DataSource]


def packages_of(sources: Sources) -> list[str]:
    """The packages that pandas needs to read the files."""
    return sorted({_PACKAGES[source.format] for source in sources if source.format in _PACKAGES})


def missing_words(sources: Sources) -> list[str]:
    """A line with the words for a missing value, where the first file has some."""
    words = _common_words(sources[0])
    return [f"MISSING = {wrapped_list(words)}"] if words else []


def reading_functions(sources: Sources, target_type: str, code: CodeWriter) -> list[str]:
    """The functions that read the files, one for every kind of format; `code` gets their imports.

    `target_type` is code that converts the target.
    """
    formats = {source.format for source in sources}
    lines: list[str] = []
    if any(source.strays for source in sources):
        lines += _converter_lines(_reading_arguments(sources[0]))
    lines += ["", "", "def parts(table):"]
    lines += ["    table = table[table[TARGET].notna()]  # rows without a target teach nothing"]
    lines += [f"    return table[FEATURES].reset_index(drop=True), table[TARGET]{target_type}"]
    if formats & set(_SHEETS):
        lines += ["", "", *_module_lines(filling, code), "", ""]
        lines += ["def read_sheet(path, merged=(), **how):"]
        lines += ["    table = with_fills(pd.read_excel(path, **how), merged)"]
        lines += ['    return parts(table.dropna(how="all"))']
    if formats & set(_COLUMNS):
        lines += ["", "", *_module_lines(plain_columns, code)]
    if formats - {*_SHEETS, *_COLUMNS}:
        lines += ["", "", "def read(path, **how):", "    return parts(pd.read_csv(path, **how))"]
    return [*lines, "", ""]


def _reading_arguments(source: DataSource) -> Mapping[str, Any]:
    return source.read_csv if source.format in _COLUMNS else source.reading or source.read_csv


def _converter_lines(arguments: Mapping[str, Any]) -> list[str]:
    replaced = "".join(
        f".replace({_value_code(sign)}, {_value_code(usual)})"
        for sign, usual in (
            ("_", "?"),  # which Python takes for a sign between thousands
            (arguments.get("thousands", ""), ""),
            (arguments.get("decimal", "."), "."),
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


def _module_lines(module: Any, code: CodeWriter) -> list[str]:
    source_bundle = bundle_modules([module])
    for name, imported_names in source_bundle.names.items():
        code.modules.add(f"from {name} import {', '.join(sorted(imported_names))}")
    text = "\n".join(source_bundle.sources).strip("\n")
    _, _, functions = text.removeprefix('"""').partition('"""')  # without the docstring
    return functions.strip("\n").splitlines()


def unpacked_code(path: str, source: DataSource, code: CodeWriter) -> str:
    """Code for the unpacked bytes of a text; `path` is code too."""
    if not source.compression:
        return f'open({path}, "rb")'
    module, template = _OPENING_CODE[source.compression]
    code.modules.add(f"import {module}")
    return template.format(path)


def read_lines(
    names: str, path: str, source: DataSource, sources: Sources, code: CodeWriter
) -> list[str]:
    """Lines that read one of the `sources` at the variable `path` into the variables `names`."""
    file_code = f"checked({path}, {_value_code(source.fingerprint)})"
    common, kind = _common_words(sources[0]), source.format
    if kind in _COLUMNS:
        arguments = source.read_csv
        options = source.reading.items()
        reading = "".join(f", {parameter_name(n)}={_value_code(v)}" for n, v in options)
        text = wrapped_list(list(arguments.get("dtype", {})), 4)
        missing = _missing_code(arguments.get("na_values", []), common)
        table = f"pd.read_{kind}({file_code}{reading})"
        if source.sampled:
            table = sampled_table_code(file_code, source, source.sampled)
        body = f"    {table},\n    text={text},\n    missing={missing},\n"
        return [f"{names} = parts(plain_columns(\n{body}))"]
    arguments = _reading_arguments(source)
    if source.sampled:
        file_code = sampled_text_code(unpacked_code(file_code, source, code), source.sampled)
        arguments = {name: value for name, value in arguments.items() if name != "compression"}
    pairs = _argument_codes(arguments, common).items()
    codes = [f"{parameter_name(name)}={value}" for name, value in pairs]
    if strays := source.strays:
        codes.append(f"converters=dict.fromkeys({CodeWriter().expression(strays, 4)}, number)")
    if kind in _SHEETS and source.merged:
        fills = [list(fill) for fill in source.merged]
        codes.append(f"merged={CodeWriter().expression(fills, 4)}")
    body = "".join(f"    {argument},\n" for argument in (file_code, *codes))
    function = "read_sheet" if kind in _SHEETS else "read"
    return [f"{names} = {function}(\n{body})"]


def _argument_codes(arguments: Mapping[str, Any], common: list[str]) -> dict[str, str]:
    return {
        name: _missing_code(value, common)
        if name == "na_values"
        else CodeWriter().expression(value, 4)
        for name, value in arguments.items()
        if (name, value) not in _USUAL
    }


def parameter_name(name: str) -> str:
    """The name of a parameter, checked before it is written into a script.

    Raises:
        UnusableError: it is none; someone has changed the run's folder.
    """
    if not name.isidentifier() or iskeyword(name):
        problem = f"“{name[:40]}” is no way of reading a file"
        cure = "resume the run, or start a new one"
        raise UnusableError(problem, where="best.json", cure=cure)
    return name


def _common_words(source: DataSource) -> list[str]:
    na_values = _reading_arguments(source).get("na_values", [])
    return common_words(na_values) if isinstance(na_values, dict) else list(na_values)


def _missing_code(na_values: Any, common: list[str]) -> str:
    if na_values == common:
        return "MISSING"
    if not isinstance(na_values, dict):
        return wrapped_list(list(na_values), 4)
    special = []
    for column, words in na_values.items():
        if codes := [_value_code(word) for word in words if word not in common]:
            special.append(f"{_value_code(column)}: [*MISSING, {', '.join(codes)}]")
    return f"dict.fromkeys([*FEATURES, TARGET], MISSING) | {{{', '.join(special)}}}"


def _value_code(value: Any) -> str:
    return CodeWriter().expression(value)
