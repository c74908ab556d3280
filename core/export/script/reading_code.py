"""The lines of an exported script that read a table by pandas in its original format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from keyword import iskeyword
from typing import Any

from core.datasets import cell_values
from core.datasets.cell_values import ColumnFormat
from core.datasets.dataset import DataSource
from core.datasets.files import arff_grammar, filling, plain_columns, quotes
from core.errors import UnusableError
from core.export.script.constructor import CodeWriter, wrapped_list
from core.export.script.sampling_code import carried_lines, sampled_table_code, sampled_text_code

_SHEETS, _COLUMNS = ("xlsx", "xlsb", "xls", "ods"), ("parquet", "feather")
_USUAL = (("encoding", "utf-8"), ("compression", None), ("sep", ","))
_PACKAGES = dict.fromkeys(_SHEETS, "python-calamine") | dict.fromkeys(_COLUMNS, "pyarrow")
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
    """Functions that read the files, one a format; `target_type`: code that converts the target."""
    formats = {source.format for source in sources}
    lines: list[str] = []
    if any(source.strays for source in sources):
        lines += _converter_lines(_reading_arguments(sources[0]))
    rewritten = {n: f for n, f in (sources[0].formats or {}).items() if f.rewrites}
    modules = [cell_values] if rewritten or formats & set(_COLUMNS) else []
    if formats & set(_COLUMNS):
        modules.append(plain_columns)
    if any(map(_is_arff, sources)):
        modules.append(arff_grammar)
    is_carried = any(source.sampled and source.sampled.form for source in sources)
    if any(source.quotes for source in sources) and not is_carried:  # with what draws rows
        modules.append(quotes)
    if modules:
        lines += ["", "", *carried_lines(modules, code)]
    if rewritten:
        lines += ["", "", *_format_lines(rewritten)]
    lines += ["", "", "def parts(table):"]
    if rewritten:
        lines += ["    for name, form in FORMATS.items():"]
        lines += ["        table[name] = read_cells(table[name], form)"]
    lines += ["    table = table[table[TARGET].notna()]  # rows without a target teach nothing"]
    lines += [f"    return table[FEATURES].reset_index(drop=True), table[TARGET]{target_type}"]
    if formats & set(_SHEETS):
        lines += ["", "", *carried_lines([filling], code), "", ""]
        lines += ["def read_sheet(path, merged=(), shown=None, **how):"]
        lines += ["    table = with_fills(pd.read_excel(path, **how), merged, shown)"]
        lines += ['    return parts(table.dropna(how="all"))']
    if not all(_is_arff(source) or source.format in (*_SHEETS, *_COLUMNS) for source in sources):
        lines += ["", "", "def read(path, **how):", "    return parts(pd.read_csv(path, **how))"]
    return [*lines, "", ""]


def _reading_arguments(source: DataSource) -> Mapping[str, Any]:
    return source.read_csv if source.format in _COLUMNS else source.reading or source.read_csv


def _is_arff(source: DataSource) -> bool:
    """Whether it is read by `read_arff`; pandas read it for runs of earlier versions."""
    return source.format == "arff" and "skiprows" not in source.reading


def _converter_lines(arguments: Mapping[str, Any]) -> list[str]:
    replaced = "".join(
        f".replace({value_code(sign)}, {value_code(usual)})"
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


def _format_lines(formats: Mapping[str, ColumnFormat]) -> list[str]:
    lines = ["# How columns are written that pandas alone would read otherwise.", "FORMATS = {"]
    for name, form in formats.items():
        changed = {f.name: getattr(form, f.name) for f in fields(form) if f.name != "rewrites"}
        arguments = [
            f"{key}={value_code(value)}"
            for key, value in changed.items()
            if value != getattr(ColumnFormat(), key)
        ]
        lines.append(f"    {value_code(name)}: ColumnFormat({', '.join(arguments)}),")
    return [*lines, "}"]


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
    file_code = f"checked({path}, {value_code(source.fingerprint)})"
    common, kind = _common_words(sources[0]), source.format
    if kind in _COLUMNS:
        arguments = source.read_csv
        options = source.reading.items()
        reading = "".join(f", {parameter_name(n)}={value_code(v)}" for n, v in options)
        text = wrapped_list(list(arguments.get("dtype", {})), 4)
        table = f"pd.read_{kind}({file_code}{reading})"
        if "places" in source.reading:
            table = f"columns_at({file_code}, {kind!r}{reading})"
        if source.sampled:
            table = sampled_table_code(file_code, source, source.sampled)
        body = f"    {table},\n    text={text},\n"
        return [f"{names} = parts(plain_columns(\n{body}))"]
    arguments = _reading_arguments(source)
    if _is_arff(source):
        stream = unpacked_code(file_code, source, code)
        codes = [
            f"{parameter_name(n)}={CodeWriter().expression(v, 4)}" for n, v in arguments.items()
        ]
        body = "".join(f"    {argument},\n" for argument in (stream, *codes))
        return [f"{names} = parts(read_arff(\n{body}))"]
    if kind in _SHEETS:
        arguments = {"engine": "calamine", **arguments}
    if source.sampled:
        file_code = sampled_text_code(unpacked_code(file_code, source, code), source.sampled)
        arguments = {name: value for name, value in arguments.items() if name != "compression"}
    if source.quotes:
        opened = file_code if source.sampled else unpacked_code(file_code, source, code)
        rewriting = {"encoding": arguments.get("encoding", "utf-8"), **source.quotes}
        given = "".join(f", {parameter_name(n)}={value_code(v)}" for n, v in rewriting.items())
        file_code = f"doubled_text({opened}.read(){given})"
        arguments = {name: value for name, value in arguments.items() if name != "compression"}
    pairs = _argument_codes(arguments, common).items()
    codes = [f"{parameter_name(name)}={value}" for name, value in pairs]
    if strays := source.strays:
        codes.append(f"converters=dict.fromkeys({CodeWriter().expression(strays, 4)}, number)")
    if kind in _SHEETS and source.merged:
        fills = [list(fill) for fill in source.merged]
        codes.append(f"merged={CodeWriter().expression(fills, 4)}")
    if source.shown:
        codes.append(f"shown={CodeWriter().expression(source.shown, 4)}")
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
    """A parameter's name for a script; UnusableError: someone has changed the run's folder."""
    if not name.isidentifier() or iskeyword(name):
        problem = f"“{name[:40]}” is no way of reading a file"
        cure = "resume the run, or start a new one"
        raise UnusableError(problem, where="best.json", cure=cure)
    return name


def _common_words(source: DataSource) -> list[str]:
    """The words for a missing value in most columns that have some; [] for empty cells alone."""
    na_values = _reading_arguments(source).get("na_values", [])
    lists = list(na_values.values()) if isinstance(na_values, dict) else [na_values]
    return min((list(words) for words in lists if len(words) > 1), key=len, default=[])


def _missing_code(na_values: Any, common: list[str]) -> str:
    if not isinstance(na_values, dict):
        return "MISSING" if common and na_values == common else wrapped_list(list(na_values), 4)
    names = [name for name, words in na_values.items() if len(words) > 1]
    extra = {name: [w for w in na_values[name] if w not in common] for name in names}
    special = ", ".join(
        f"{value_code(name)}: [*MISSING, {', '.join(map(value_code, words))}]"
        for name, words in extra.items()
        if words
    )
    worded = wrapped_list([name for name in names if not extra[name]], 4)
    code = 'dict.fromkeys([*FEATURES, TARGET], [""])'
    code += f" | dict.fromkeys({worded}, MISSING)" if worded != "[]" else ""
    return f"{code} | {{{special}}}" if special else code


def value_code(value: Any) -> str:
    """The code of a value."""
    return CodeWriter().expression(value)
