"""The first half of an exported script: reading the raw file, and the same split of its rows."""

import base64
import itertools
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from keyword import iskeyword
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import sklearn.datasets
from sklearn.model_selection import train_test_split

from core.datasets import cell_values
from core.datasets.cell_values import ColumnFormat
from core.datasets.dataset import DataSource, SampleFacts
from core.datasets.files import arff_grammar, filling, plain_columns, quotes, row_sampling
from core.datasets.samples import SAMPLES
from core.errors import UnusableError
from core.export.finished_run import FinishedRun, file_name_of
from core.export.script.constructor import CodeWriter, list_code, wrapped_list
from core.tuning.problem_setup import read_data

_CHECK = '''
def checked(path, fingerprint):
    """The path, with a warning if its bytes are not those that the model was tuned on."""
    if not Path(path).is_file():
        sys.exit(f"{path} is not in this folder. Say where it is: python {sys.argv[0]} FILE")
    if hashlib.sha256(Path(path).read_bytes()).hexdigest() != fingerprint:
        print(f"{path} has changed since the tuning: scores will differ.", file=sys.stderr)
    return path
'''


# A file larger than memory is hashed in pieces.
_STREAMED = """    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(2**22):
            digest.update(chunk)
    if digest.hexdigest() != fingerprint:"""


def _check_lines(sources: Sequence[DataSource]) -> list[str]:
    hash_line = next(line for line in _CHECK.splitlines() if "read_bytes" in line)
    is_large = any(source.sampled for source in sources)
    return (_CHECK.replace(hash_line, _STREAMED) if is_large else _CHECK).splitlines()


def data_block(run: FinishedRun, code: CodeWriter) -> str:
    """Lines that give X and y of every row with a target (and X_test, y_test of a second file)."""
    takeaway = run.takeaway
    if takeaway.source.format == "sample":
        lines = [
            *_table_constants(run, code),
            *sample_lines(run, code),
            "table = table[table[TARGET].notna()]  # rows without a target teach nothing",
            f"X, y = table[FEATURES].reset_index(drop=True), table[TARGET]{_target_type(run)}",
        ]
        return "\n".join(lines)
    code.imports.modules |= {"hashlib", "sys"}
    code.imports.add("pathlib", "Path")
    file = value_code(file_name_of(takeaway.source))
    lines = [f"DATA = sys.argv[1] if len(sys.argv) > 1 else {file}"]
    if takeaway.test_source:
        test_file = value_code(file_name_of(takeaway.test_source))
        lines.append(f"TEST = sys.argv[2] if len(sys.argv) > 2 else {test_file}")
    reading = _libsvm_lines if takeaway.source.format == "libsvm" else _table_lines
    return "\n".join([*lines, *reading(run, code)])


def _table_constants(run: FinishedRun, code: CodeWriter) -> list[str]:
    takeaway = run.takeaway
    code.names[list_code(takeaway.feature_names)] = "FEATURES"
    features = wrapped_list(takeaway.feature_names)
    return [f"TARGET = {value_code(takeaway.target)}", f"FEATURES = {features}"]


def _target_type(run: FinishedRun) -> str:
    classes = run.takeaway.classes
    if run.takeaway.task.has_numbers:
        return ".to_numpy(float)"
    if all(isinstance(label, str) for label in classes):
        return ".to_numpy(str)"
    return ".to_numpy(int)" if all(isinstance(v, int) for v in classes) else ".to_numpy()"


def _table_lines(run: FinishedRun, code: CodeWriter) -> list[str]:
    sources = [source for source in (run.takeaway.source, run.takeaway.test_source) if source]
    return [
        *_table_constants(run, code),
        *missing_words(sources),
        "",
        *_check_lines(sources),
        *sampling_functions(sources, code),
        *reading_functions(sources, _target_type(run), code),
        *read_lines("X, y", "DATA", sources[0], sources, code),
        *(read_lines("X_test, y_test", "TEST", sources[1], sources, code) if sources[1:] else ()),
    ]


def _libsvm_lines(run: FinishedRun, code: CodeWriter) -> list[str]:
    takeaway = run.takeaway
    code.imports.add("sklearn.datasets", "load_svmlight_file")
    sources = [source for source in (takeaway.source, takeaway.test_source) if source]
    lines = ["", *_check_lines(sources), *(sampling_functions(sources, code) or ["", ""])]
    lines += _loading_lines("X, y", "DATA", takeaway.source, code)
    if takeaway.set_aside:
        lines.append("X, y = X[np.isfinite(y)], y[np.isfinite(y)]  # a target is needed")
    if takeaway.test_source:
        lines += _loading_lines("X_test, y_test", "TEST", takeaway.test_source, code)
    return lines


def _loading_lines(names: str, path: str, source: DataSource, code: CodeWriter) -> list[str]:
    file_code = f"checked({path}, {value_code(source.fingerprint)})"
    if source.compression or source.sampled:
        file_code = unpacked_code(file_code, source, code)
    if source.sampled:
        file_code = sampled_text_code(file_code, source.sampled)
    arguments = {name: value for name, value in source.libsvm.items() if value is not False}
    argument_lines = "".join(f"    {code},\n" for code in _argument_codes(arguments))
    if source.libsvm.get("zero_based") is False:
        argument_lines += "    zero_based=False,\n"
    return [f"{names} = load_svmlight_file(\n    {file_code},\n{argument_lines})[:2]"]


def split_block(run: FinishedRun, code: CodeWriter) -> str:
    """Lines that hold out the same rows; empty where a second file or every row is tested."""
    takeaway = run.takeaway
    if takeaway.test_source or run.is_nested:
        return ""
    rows = ".iloc" if takeaway.source.format != "libsvm" else ""
    lines = [f"X_{part}, y_{part} = X{rows}[{part}], y[{part}]" for part in ("train", "test")]
    return "\n".join([*_split_lines(run, code), *lines])


def _split_lines(run: FinishedRun, code: CodeWriter) -> list[str]:
    takeaway = run.takeaway
    calls = _same_calls(run)
    if calls:
        code.imports.add("sklearn.model_selection", "train_test_split")
        return ["# The rows that tuning never saw.", *calls]
    lines = [
        "# The rows that tuning never saw, counted from 0.",
        f"test = np.array({wrapped_list(takeaway.test_rows)})",
    ]
    if np.setdiff1d(np.arange(takeaway.rows), takeaway.test_rows).tolist() == takeaway.train_rows:
        return [*lines, "train = np.setdiff1d(np.arange(len(y)), test)"]
    return [*lines, f"train = np.array({wrapped_list(takeaway.train_rows)})"]


def _same_calls(run: FinishedRun) -> list[str]:
    takeaway, plan = run.takeaway, run.plan
    try:
        target = read_data(plan.data).target
    except UnusableError:  # the file is gone or has changed: the row numbers themselves will do
        return []
    share = plan.data.share_tested(len(target))
    split_rows = takeaway.train_rows, takeaway.test_rows
    # By share or by count, with classes in proportion or without: one of these made the split,
    # unless rows belong together or are the latest.
    for size, stratify in itertools.product((share, len(takeaway.test_rows)), (target, None)):
        options: dict[str, Any] = {"test_size": size, "random_state": plan.seed}
        try:
            train, test = train_test_split(np.arange(len(target)), stratify=stratify, **options)
        except ValueError:
            continue
        is_same = (train.tolist(), test.tolist()) == split_rows
        if is_same or (np.sort(train).tolist(), np.sort(test).tolist()) == split_rows:
            arguments = "".join(f", {name}={value!r}" for name, value in options.items())
            arguments += ", stratify=y" if stratify is not None else ""
            call = f"train, test = train_test_split(np.arange(len(y)){arguments})"
            return [call] if is_same else [call, "train, test = np.sort(train), np.sort(test)"]
    return []


def sample_lines(run: FinishedRun, code: CodeWriter) -> list[str]:
    """Lines that give ``table`` with all columns of the sample, target included."""
    name = run.plan.data.file.removeprefix("sample:")
    table = SAMPLES[name].table()
    loader = f"load_{name.replace('-', '_')}"
    # What scikit-learn brings along need not be carried.
    if not hasattr(sklearn.datasets, loader):
        return _packed_table(table, code)
    code.imports.add("sklearn.datasets", loader)
    lines = [f"bunch = {loader}(as_frame=True)", "table = bunch.frame"]
    names = [str(name) for name in table.columns]
    if names != list(getattr(sklearn.datasets, loader)(as_frame=True).frame.columns):
        column_order = [*run.takeaway.feature_names, run.takeaway.target]
        columns_code = "[*FEATURES, TARGET]" if names == column_order else code.expression(names)
        lines.append(f"table.columns = {columns_code}")
    # The sample names its classes, which scikit-learn numbers.
    if not np.array_equal(table["target"], getattr(sklearn.datasets, loader)().target):
        lines.append('table["target"] = [bunch.target_names[code] for code in bunch.target]')
    return lines


def _packed_table(table: pd.DataFrame, code: CodeWriter) -> list[str]:
    code.imports.modules |= {"base64", "io", "zlib"}
    text = table.to_csv(index=False)
    is_numeric = pd.api.types.is_numeric_dtype
    texts = [str(name) for name in table.columns if not is_numeric(table[name].dtype)]
    dtypes = CodeWriter().expression(dict.fromkeys(texts, "str"), 4)
    arguments = f"    dtype={dtypes},\n" if texts else ""
    packed = base64.b85encode(zlib.compress(text.encode(), 9)).decode()
    lines = "\n".join(packed[start : start + 96] for start in range(0, len(packed), 96))
    return [
        f'PACKED = """\n{lines}\n"""',
        'text = zlib.decompress(base64.b85decode(PACKED.replace("\\n", ""))).decode()',
        f"table = pd.read_csv(\n    io.StringIO(text),\n{arguments})",
    ]


_SHEETS, _COLUMNS = ("xlsx", "xlsb", "xls", "ods"), ("parquet", "feather")
# What pandas does without being told.
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
        lines += ["", "", *format_lines(rewritten)]
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
    # For runs of earlier versions pandas reads it, from the row where its data begin.
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


def format_lines(formats: Mapping[str, ColumnFormat]) -> list[str]:
    """Lines of the variable ``FORMATS``."""
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
    code.imports.modules.add(module)
    return template.format(path)


def read_lines(
    names: str, path: str, source: DataSource, sources: Sources, code: CodeWriter
) -> list[str]:
    """Lines that read one of the `sources` at the variable `path` into the variables `names`."""
    file_code = f"checked({path}, {value_code(source.fingerprint)})"
    common, kind = _common_words(sources[0]), source.format
    if kind in _COLUMNS:
        arguments = source.read_csv
        reading = "".join(f", {code}" for code in _argument_codes(source.reading))
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
        lines = unpacked_code(file_code, source, code), *_argument_codes(arguments)
        body = "".join(f"    {argument},\n" for argument in lines)
        return [f"{names} = parts(read_arff(\n{body}))"]
    if kind in _SHEETS:
        # The package that read the sheet for the run: others see other dates and merged cells.
        arguments = {"engine": "calamine", **arguments}
    if source.sampled or source.quotes:
        file_code = unpacked_code(file_code, source, code)
        arguments = {name: value for name, value in arguments.items() if name != "compression"}
    if source.sampled:
        file_code = sampled_text_code(file_code, source.sampled)
    if source.quotes:
        rewriting = {"encoding": arguments.get("encoding", "utf-8"), **source.quotes}
        file_code = (
            f"doubled_text({', '.join([f'{file_code}.read()', *_argument_codes(rewriting)])})"
        )
    changed = {n: value for n, value in arguments.items() if (n, value) not in _USUAL}
    codes = _argument_codes(changed, common)
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


def _argument_codes(arguments: Mapping[str, Any], common: list[str] | None = None) -> list[str]:
    # `common`: the words of MISSING, where na_values may name them by it.
    codes = []
    for name, value in arguments.items():
        if not name.isidentifier() or iskeyword(name):  # someone has changed the run's folder
            problem = f"“{name[:40]}” is no way of reading a file"
            cure = "resume the run, or start a new one"
            raise UnusableError(problem, where="best.json", cure=cure)
        code = (
            _missing_code(value, common)
            if common is not None and name == "na_values"
            else CodeWriter().expression(value, 4)
        )
        codes.append(f"{name}={code}")
    return codes


def _common_words(source: DataSource) -> list[str]:
    # Those of most columns; none where only empty cells are missing.
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


_FORM = tuple(field.name for field in fields(row_sampling.RowFormat))
_TEXT_FUNCTION = '''

def sampled(opened, rows, seed, **form):
    """The rows of a text that Tunescope drew at random, as a file."""
    into = io.BytesIO()
    sample_lines(opened, RowFormat(**form), rows, seed, into)
    into.seek(0)
    return into
'''
_COLUMNS_FUNCTION = '''

def sampled_table(path, kind, rows, seed, stratified, columns=None):
    """The rows of a table that Tunescope drew at random."""
    data = dataset(path, format=kind)
    target = next(name for name in data.schema.names if name.strip() == TARGET)
    labels = data.to_table(columns=[target]).column(0).to_pylist()
    codes = pd.factorize(pd.Series(labels, dtype=object).map(str))[0] if stratified else None
    return data.take(draw_rows(len(labels), rows, seed, codes), columns=columns).to_pandas()
'''


def sampling_functions(sources: Sequence[DataSource], code: CodeWriter) -> list[str]:
    """The functions that draw rows of the files; none where all rows were read."""
    samples = [source.sampled for source in sources if source.sampled]
    if not samples:
        return []
    lines = ["", "", *carried_lines([quotes, row_sampling], code), ""]
    if any(sample.form for sample in samples):
        code.imports.modules.add("io")
        lines += _TEXT_FUNCTION.splitlines()
    if any(not sample.form for sample in samples):
        code.imports.add("pyarrow.dataset", "dataset")
        lines += _COLUMNS_FUNCTION.splitlines()
    return [*lines, "", ""]


def carried_lines(modules: Sequence[ModuleType], code: CodeWriter) -> list[str]:
    """The lines of modules without their docstrings; `code` gets their imports."""
    lines: list[str] = []
    for text in code.carry(modules).sources:
        _, _, functions = text.strip("\n").removeprefix('"""').partition('"""')
        lines += ["", "", *functions.strip("\n").splitlines()]
    return lines[2:]


def sampled_text_code(file_code: str, sample: SampleFacts) -> str:
    """Code for the drawn rows of a text; `file_code` is code for its unpacked bytes."""
    form = {
        name: value.encode("latin-1") if isinstance(value, str) else value
        for name, value in sample.form.items()
        if name in _FORM
    }
    arguments = "".join(f", {name}={value!r}" for name, value in form.items())
    return f"sampled(lambda: {file_code}, {sample.rows}, {sample.seed}{arguments})"


def sampled_table_code(path: str, source: DataSource, sample: SampleFacts) -> str:
    """Code for the drawn rows of a file of columns."""
    columns = source.reading.get("columns")
    columns_code = f", {list(map(str, columns))!r}" if columns else ""
    numbers = f"{sample.rows}, {sample.seed}, {sample.stratified}"
    return f"sampled_table({path}, {source.format!r}, {numbers}{columns_code})"
