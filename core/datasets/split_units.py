"""What no split divides: equal items, their relatives, and columns that say what belongs together.

Copies on both sides make scores optimistic. With few distinct values, or units, items are divided.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from core.datasets.column_format import date_format, holds_for_share, seconds_since_1970
from core.datasets.columns import unknown_column
from core.datasets.dataset import Dataset
from core.datasets.dataset_summary import Column
from core.datasets.finding import Finding, SuggestedChange, column_change, option_with_value
from core.datasets.molecules import plain_letters
from core.errors import UnusableError
from core.wording import shortened_text

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
LARGEST_UNIT = 0.2  # of all items, one fold of five; more frequent items are no copies
_CHANCE_ROWS = 5000  # distinct rows for the probability that two are equal by chance


def equal_items(dataset: Dataset, codes: Mapping[str, np.ndarray] = {}) -> np.ndarray:
    """A code for every item, the same for equal ones; `codes`: those of texts, of some columns.

    Rows are equal in every feature (missing equals missing), sequences in all tokens, molecules in
    parsed letters, texts up to case and blanks. An empty text and a sparse row of zeros equal none.
    """
    # Hashes of 64 bits: of a million rows two differing ones agree once in 40 million files.
    if dataset.matrix is not None:
        hashes, empty = _matrix_hashes(dataset.matrix), np.diff(dataset.matrix.indptr) == 0
        return _codes_of_hashes(hashes, empty)
    table = dataset.table
    assert table is not None
    if dataset.task.has_sequences:
        return pd.factorize(_sequence_hashes(dataset))[0]
    if dataset.task.has_one_column:
        texts = table.iloc[:, 0].astype("string").fillna("")
        if dataset.task.has_pairs:
            texts = texts.str.strip().map(plain_letters)
        else:
            texts = texts.str.casefold().str.split().str.join(" ")
        return _codes_of_hashes(texts.to_numpy(), (texts == "").to_numpy(dtype=bool))
    distinct = {column.name: column.distinct for column in dataset.columns}
    return _row_codes(table, distinct, {} if dataset.set_aside else codes)


def _row_codes(
    table: pd.DataFrame, distinct: Mapping[str, int], codes: Mapping[str, np.ndarray] = {}
) -> np.ndarray:
    """A code for every row, the same for those that are equal in every column."""
    is_text = {str(name): dtype.kind not in "iuf" for name, dtype in table.dtypes.items()}
    # Columns with many different values tell rows apart soonest, and numbers most quickly.
    names = sorted(is_text, key=lambda name: (is_text[name], -distinct.get(name, 0)))
    row_hashes, rows = np.zeros(len(table), dtype=np.uint64), np.arange(len(table))
    # Columns of few levels share a number of 64 bits before it is mixed.
    hashes, number, numbers = row_hashes, row_hashes, 1
    # Logarithms of the number of different rows that there may be, and that tells most of them.
    combinations, needed = 0.0, np.log(10 * len(table) + 1)
    for name in names:
        values = codes.get(name, table[name].array)
        digits, levels = _column_digits(values if len(rows) == len(table) else values[rows])
        if numbers * levels > 2**64:
            hashes, number, numbers = _mix_bits(hashes + number + _GOLDEN), np.zeros_like(number), 1
        number, numbers = number * np.uint64(levels % 2**64) + digits, numbers * levels
        combinations += np.log(max(1, distinct.get(name, 1)))
        if combinations >= needed:
            needed = 2 * combinations
            row_hashes[rows] = mixed = _mix_bits(hashes + number + _GOLDEN)  # 0 mixes to 0
            # What differs from all others is not looked at in the rest of the columns.
            is_twin = _have_twins(mixed)
            rows, hashes = rows[is_twin], mixed[is_twin]
            number, numbers = np.zeros_like(hashes), 1
            if not len(rows):
                return np.arange(len(table))
    row_hashes[rows] = _mix_bits(hashes + number + _GOLDEN)
    return pd.factorize(row_hashes)[0]


def _column_digits(values: Any) -> tuple[np.ndarray, int]:
    """Numbers from 0, the same for equal values, and how many there may be."""
    if values.dtype.kind == "f":
        amounts = np.asarray(values, dtype=np.float64) + 0.0  # −0 is 0
        amounts[np.isnan(amounts)] = np.nan  # NaNs of one bit pattern
        return amounts.view(np.uint64), 2**64
    integers = np.asarray(values) if values.dtype.kind in "iu" else pd.factorize(values)[0]
    low, high = int(integers.min(initial=0)), int(integers.max(initial=0))
    return integers.astype(np.uint64) - np.uint64(low % 2**64), high - low + 1


def _have_twins(hashes: np.ndarray) -> np.ndarray:
    ordered = np.sort(hashes)
    if (ordered[1:] != ordered[:-1]).all():
        return np.zeros(len(hashes), dtype=bool)
    return pd.Series(hashes).duplicated(keep=False).to_numpy()


def item_codes(dataset: Dataset, rows: np.ndarray | None = None) -> np.ndarray:
    """The number of every row's item (the row, or its sequence), from 0 in order of appearance."""
    if not dataset.task.has_sequences:
        return np.arange(dataset.rows if rows is None else len(rows))
    assert dataset.row_groups is not None
    return pd.factorize(dataset.row_groups if rows is None else dataset.row_groups[rows])[0]


def chance_of_twins(dataset: Dataset, equal: np.ndarray) -> float:
    """The expected number of rows equal to a given one by chance, were columns independent.

    `equal`: of `equal_items`.
    (n − 1) Π_j Σ_v p_jv², p_jv the share of value v in column j among distinct rows; else 0.
    """
    table = dataset.table
    if table is None or not dataset.task.is_table:
        return 0.0
    codes, values = pd.factorize(dataset.target)
    # A row that comes very often is no accident of independent columns and would drown the others.
    common = np.bincount(equal)[equal] > LARGEST_UNIT * dataset.rows
    first = np.sort(np.unique(equal * (len(values) + 1) + codes, return_index=True)[1])
    first = first[~common[first]]
    first = first[:: max(1, len(first) // _CHANCE_ROWS)]
    if len(first) < 2:
        return float(dataset.rows - 1)
    chance, sample = 1.0, table.iloc[first]
    for name in table.columns:
        counts = sample[name].value_counts(dropna=False).to_numpy().astype(float)
        chance *= float((counts * (counts - 1)).sum()) / (len(first) * (len(first) - 1))
        if not chance:
            break
    return (dataset.rows - 1) * chance


def shared_items(dataset: Dataset, test: Dataset) -> tuple[int, int]:
    """The number of test items that equal one of the first file, and the number of test items."""
    combined: Any = {"matrix": None, "table": None, "row_groups": None}
    if dataset.matrix is not None and test.matrix is not None:
        combined["matrix"] = sparse.vstack([dataset.matrix, test.matrix], format="csr")
    elif dataset.table is not None and test.table is not None:
        tables = [dataset.table, test.table[dataset.table.columns]]
        combined["table"] = pd.concat(tables, ignore_index=True)
    train_count = dataset.rows
    if dataset.task.has_sequences:
        train_codes, test_codes = item_codes(dataset), item_codes(test)
        train_count = int(train_codes.max()) + 1
        combined["row_groups"] = np.concatenate([train_codes, train_count + test_codes])
    codes = equal_items(replace(dataset, **combined))
    return int(np.isin(codes[train_count:], codes[:train_count]).sum()), len(codes) - train_count


def _matrix_hashes(matrix: sparse.csr_matrix) -> np.ndarray:
    values = np.ascontiguousarray(matrix.data, dtype=np.float64)
    column_hashes = matrix.indices.astype(np.uint64) * _GOLDEN
    entries = _mix_bits(_mix_bits(values.view(np.uint64)) + column_hashes)
    # A stored zero equals one that is left out.
    entries[values == 0] = 0
    # The sum of a row's entries, whatever their order, from one running sum.
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(entries, dtype=np.uint64)])
    return sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]]


def _sequence_hashes(dataset: Dataset) -> np.ndarray:
    assert dataset.table is not None
    features = dataset.table.drop(columns=dataset.sequence_name, errors="ignore")
    tokens = _row_codes(features, {}).astype(np.uint64)
    codes = item_codes(dataset)
    starts = np.flatnonzero(np.diff(codes, prepend=-1))  # the rows of a sequence are adjacent
    lengths = np.bincount(codes)
    positions = (np.arange(len(codes)) - np.repeat(starts, lengths)).astype(np.uint64)
    hashes = _mix_bits(_mix_bits(tokens) + (positions + np.uint64(1)) * _GOLDEN)
    return np.add.reduceat(hashes, starts)


def _mix_bits(codes: np.ndarray) -> np.ndarray:
    """The finalizer of splitmix64 (Steele, Lea and Flood 2014)."""
    codes = (codes ^ (codes >> np.uint64(30))) * _MIX[0]
    codes = (codes ^ (codes >> np.uint64(27))) * _MIX[1]
    return codes ^ (codes >> np.uint64(31))


def _codes_of_hashes(hashes: np.ndarray, alone: np.ndarray) -> np.ndarray:
    codes = pd.factorize(hashes)[0]
    codes[alone] = codes.max(initial=-1) + 1 + np.arange(int(alone.sum()))
    return pd.factorize(codes)[0]


MIN_UNITS = 10
MAX_COPIES = 20  # of an item on average; beyond, equal items are no copies
MAX_GROUPS = 1000  # beyond, the usual splitters of groups take minutes
_EQUAL = {
    "row": "equal another row in every feature",
    "sequence": "have the same tokens as another",
    "molecule": "have the same letters as another",
    "text": "say the same as another",
}


def with_units(
    dataset: Dataset, together: bool = True, codes: Mapping[str, np.ndarray] = {}
) -> Dataset:
    """The dataset with its units, and findings; unless `together`, a person's own groups only.

    `codes`: as of `equal_items`.
    """
    # A person's groups come first; equal items join them or, where they cannot, stay divided.
    findings, equal, units = _group_findings(dataset), equal_items(dataset, codes), dataset.units
    counts = np.bincount(equal)
    groups, task = dataset.row_groups, dataset.task
    # Splitters of groups take minutes for very many, while units are split in one pass.
    if together and units is None and groups is not None and not task.has_sequences:
        units = groups if not task.is_table or len(pd.unique(groups)) > MAX_GROUPS else None
    if (counts > 1).any():
        reason = (
            _reason_to_divide(dataset, equal, counts) if together else "they are divided one by one"
        )
        if not reason:
            joined_units, reason = _join_equal_items(dataset, equal, counts)
            units = units if reason else joined_units
        findings.append(_units_finding(dataset, counts, reason, together))
    return replace(dataset, units=units, findings=(*dataset.findings, *findings))


def join_codes(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Codes of rows that either of two codings (from 0, without gaps) joins, transitively."""
    first_count, second_count = int(first.max()) + 1, int(second.max()) + 1
    ends = (np.ones(len(first), dtype=np.int8), (first, second + first_count))
    links = sparse.coo_array(ends, shape=(first_count + second_count,) * 2)
    _, components = sparse.csgraph.connected_components(links, directed=False)
    return pd.factorize(components[first])[0]


def _reason_to_divide(dataset: Dataset, equal: np.ndarray, counts: np.ndarray) -> str:
    # With few different rows there would be hardly anything to put on the other side.
    if len(counts) < max(MIN_UNITS, int(counts.sum()) / MAX_COPIES):
        items = dataset.task.items
        return f"there are only {len(counts):,} different ones, so {items} are divided one by one"
    if chance_of_twins(dataset, equal) >= 1:
        return "so few values make that likely, and rows are divided one by one"
    return ""


def _join_equal_items(
    dataset: Dataset, equal: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray | None, str]:
    items, codes = item_codes(dataset), equal.copy()
    common = counts[equal] > LARGEST_UNIT * len(equal)
    codes[common] = len(counts) + np.arange(int(common.sum()))
    units = pd.factorize(codes)[0][items]
    previous_units = dataset.units
    if previous_units is None and not dataset.task.has_sequences:
        previous_units = dataset.row_groups
    if previous_units is not None:
        groups = pd.factorize(previous_units)[0]
        units = join_codes(groups, units)
        # Copies in several groups can chain nearly all of these together, and nothing could be
        # split.
        if np.bincount(units).max() > max(LARGEST_UNIT * len(units), np.bincount(groups).max()):
            return None, "they would join most groups, so only the groups stay together"
    if dataset.task.has_sequences:
        units = join_codes(items, units)
    return units, ""


def _units_finding(dataset: Dataset, counts: np.ndarray, reason: str, together: bool) -> Finding:
    twins, items = int(counts[counts > 1].sum()), int(counts.sum())
    word = dataset.task.item
    column = "" if dataset.task.is_table or dataset.is_sparse else dataset.feature_names[0]
    outcome = reason or f"equal {word}s stay on one side of every split"
    if not reason and (max_copies := int(counts.max())) > LARGEST_UNIT * items:
        outcome += f", but for what comes {max_copies:,} times, too often for one side"
    sentence = f"{twins:,} of {items:,} {word}s {_EQUAL[word]}; {outcome}"
    if together or not reason:
        return Finding(f"{sentence}.", column)
    offer = SuggestedChange(f"Keep equal {word}s together", "--together", fields={"together": True})
    warning = f"{sentence}, so scores may look too good."
    return Finding(warning, column, 10 * twins > items, offer)


def _group_findings(dataset: Dataset) -> list[Finding]:
    groups = dataset.units if dataset.task.has_sequences else dataset.row_groups
    if groups is None:
        return []
    name = next((column.name for column in dataset.columns if column.role == "group"), "")
    items, count = dataset.task.items, int(item_codes(dataset).max()) + 1
    sentence = (
        f"{items.capitalize()} with the same “{name or 'qid'}” stay on one side of every split:"
        f" {len(pd.unique(groups)):,} groups of {count:,} {items}."
    )
    offer = column_change(f"Divide the {items} of one group", "--role", name, "ignore")
    return [Finding(sentence, name, proposal=offer if name else None)]


def shared_finding(dataset: Dataset, test: Dataset) -> list[Finding]:
    """The finding on test items that are in the first file too; [] where that is chance."""
    (shared, items), word = shared_items(dataset, test), dataset.task.item
    if not shared or chance_of_twins(dataset, equal_items(dataset)) >= 1:
        return []
    sentence = (
        f"{shared:,} of {items:,} {word}s of the test file {_EQUAL[word]}, of the first file;"
        " scores may look too good."
    )
    return [Finding(sentence, serious=10 * shared > items)]


# Columns that say what belongs together or when it was: suggestions, which a person takes or not.
MIN_GROUPS = 8  # enough for a test set and five folds of whole groups
_MIN_CODES, _MIN_DATES = 20, 10
_SAMPLE = 2000
_LONGEST = 24  # letters of a name on a button


def _word_set(words: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", words))


_WHO = _word_set(
    "patient subject customer client user household session person participant member donor "
    "respondent student pupil employee player driver owner visitor account animal case "
    "individual family proband volunteer device machine vehicle author"
)
_WORK = _word_set(
    "document doc file article author speaker page chapter book dialogue dialog conversation "
    "thread source abstract paper letter story"
)
_FAMILY = _word_set("family families fam rfam clan superfamily")
_SIGN = _word_set("id uid uuid guid no nr num number code key name identifier acc")
_NOT_LATER = _word_set("birth birthday birthdate dob born death expiry expires expiration")
_CODE = re.compile(r"[A-Za-z]{0,6}[-_ #.]?\d{2,}[A-Za-z]?|[0-9a-f]{8}[-0-9a-f]*")


def name_words(name: str) -> list[str]:
    """The words of a column's name, in lower case: "PatientID" and "patient_id" have two."""
    spaced_name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return re.findall(r"[a-z]+", spaced_name.lower())


def family_column(columns: Sequence[str]) -> str:
    """The column named as the family of molecules; "" if none."""
    for name in columns:
        words = name_words(name)
        if words and set(words) & _FAMILY and set(words) <= _FAMILY | _SIGN | {"rna"}:
            return name
    return ""


def proposals(dataset: Dataset, table: pd.DataFrame) -> list[Finding]:
    """Suggestions to keep rows together, or to test on the latest rows."""
    findings = []
    if not dataset.task.has_pairs and all(column.role != "group" for column in dataset.columns):
        findings += _suggest_group(dataset, table)
    if dataset.times is None and dataset.task.is_table:
        findings += _suggest_date_split(dataset)
    return findings


def _suggest_group(dataset: Dataset, table: pd.DataFrame) -> list[Finding]:
    free = [c for c in dataset.columns if c.role in ("feature", "ignore") and c.name in table]
    features = [column.name for column in dataset.columns if column.role == "feature"]
    names, others = (_WORK if dataset.task.has_sequences else _WHO), list[Column]()
    named = [column for column in free if _is_called(column.name, names)]
    if dataset.task.has_sequences:
        named = [c for c in named if _of_whole_sequences(dataset, table[c.name])]
    else:
        named += [c for c in free if _is_signed(c.name) and c not in named]
        others = [column for column in free if column not in named]
    # Names tell best; columns of codes are asked only where no name does.
    for is_code, column in [*((False, c) for c in named), *((True, c) for c in others)]:
        if is_code and not _holds_codes(column, table[column.name]):
            continue
        is_learned_from = column.name in features
        # A column that is learned from would be lost, and must not be the only one.
        if (not dataset.task.has_target and is_learned_from) or features == [column.name]:
            continue
        values = table[column.name].dropna()
        is_number = pd.api.types.is_numeric_dtype(values.dtype)
        if column.kind == "date" or (is_number and (values % 1 != 0).any()):  # it measures
            continue
        different = int(values.nunique())
        if MIN_GROUPS <= different < len(values) and (not is_code or 2 * different <= len(values)):
            return [_group_finding(dataset, column.name, (different, len(values)), is_code)]
    return []


def _of_whole_sequences(dataset: Dataset, values: pd.Series) -> bool:
    pairs = pd.DataFrame({"sequence": dataset.row_groups, "value": values.to_numpy()})
    sequences = int(pairs["sequence"].nunique())
    return len(pairs.drop_duplicates()) == sequences > int(pairs["value"].nunique())


def _is_called(name: str, names: frozenset[str]) -> bool:
    words = set(name_words(name))
    return bool(words & names) and words <= names | _SIGN


def _is_signed(name: str) -> bool:
    words = name_words(name)
    return len(words) > 1 and words[-1] in ("id", "uid", "uuid", "guid")


def _holds_codes(column: Column, values: pd.Series) -> bool:
    if column.kind not in ("category", "text") or column.distinct < _MIN_CODES:
        return False
    spread = values.array[:: max(1, len(values) // _SAMPLE)].dropna()
    # A tenth without a code decides for most columns.
    if not any(map(_CODE.fullmatch, map(str, spread[: len(spread) // 10 + 1].tolist()))):
        return False
    return holds_for_share(_CODE.fullmatch, list(map(str, spread.tolist())), 0.9)


def unit_noun(dataset: Dataset) -> str:
    """What is called one of what no split divides: "patient", "group", "different row"."""
    names = [column.name for column in dataset.columns if column.role == "group"]
    words = [word for name in names for word in name_words(name) if word not in _SIGN]
    if len(names) == 1 and words and set(words) <= _WHO | _WORK | _FAMILY:
        return " ".join(words)
    if names or (dataset.row_groups is not None and not dataset.task.has_sequences):
        return "group"
    return dataset.task.item if dataset.units is None else f"different {dataset.task.item}"


def _group_finding(dataset: Dataset, name: str, counts: tuple[int, int], is_code: bool) -> Finding:
    words = [word for word in name_words(name) if word not in _SIGN and not is_code]
    who = shortened_text(" ".join(words) or f"“{name}”", _LONGEST)
    items, (different, count) = dataset.task.items, counts
    if dataset.task.has_sequences:
        count = int(item_codes(dataset).max()) + 1
    offer = column_change(f"Keep the {items} of one {who} together", "--role", name, "group")
    sentence = (
        f"“{name}” has {different:,} different values in {count:,} {items}. "
        f"Where {items} of one {who} are on both sides of a split, scores may look too good."
    )
    return Finding(sentence, name, proposal=offer)


def _suggest_date_split(dataset: Dataset) -> list[Finding]:
    for column in dataset.columns:
        name, is_clock = column.name, column.date_format.startswith("%H")  # an hour without a day
        is_free = column.kind == "date" and column.role != "group" and not is_clock
        if not is_free or column.distinct < _MIN_DATES or set(name_words(name)) & _NOT_LATER:
            continue
        # One suggestion is enough: the first column of dates.
        option = option_with_value("--test-latest", name)
        offer = SuggestedChange("Test on the latest rows", option, fields={"latest": name})
        end = "If the model is to predict rows that come later, test it on the latest ones."
        return [Finding(f"“{name}” holds dates. {end}", name, proposal=offer)]
    return []


def with_times(dataset: Dataset, table: pd.DataFrame, column: str) -> Dataset:
    """The dataset with the points in time of a column of the file's table; or UnusableError."""
    names = [str(name) for name in table.columns]
    if column not in names:
        raise unknown_column(column, names, "test on the latest rows")
    where, cure = f"{dataset.name}, column {column}", "choose a column of dates"
    if column == dataset.target_name:
        raise UnusableError("the column is what is predicted", where=where, cure=cure)
    # Rows without a target are in the file and not in the dataset.
    if len(table) > dataset.rows:
        table = table[dataset.has_target(table[dataset.target_name])]
    times = _time_points(table[column], where)
    known_times = times[np.isfinite(times)]
    if len(known_times) < 2 or known_times.min() == known_times.max():
        cure = "choose another column"
        raise UnusableError("there are no two different times", where=where, cure=cure)
    items = dataset.task.items
    sentence = (
        f"The latest {items} by “{column}” test the result, earlier ones train; validation rows are"
        f" drawn at random among those. What belongs together with {items} of the test is left out"
        " of training."
    )
    if missing := len(times) - len(known_times):
        sentence += f" Rows without a time ({missing:,}) train."
    offer = SuggestedChange(f"Test on {items} drawn at random", "", fields={"latest": ""})
    findings = (*dataset.findings, Finding(sentence, column, proposal=offer))
    return replace(dataset, times=times, findings=findings)


def _time_points(values: pd.Series, where: str) -> np.ndarray:
    if pd.api.types.is_numeric_dtype(values.dtype):
        return values.to_numpy(dtype=float, na_value=np.nan)
    form = date_format(values)
    if not form:
        cure = "choose a column of dates, or write them like 2024-12-31"
        raise UnusableError("the column holds neither dates nor numbers", where=where, cure=cure)
    timestamps = pd.to_datetime(values.str.strip(), format=form, errors="coerce", utc=True)
    return seconds_since_1970(timestamps)
