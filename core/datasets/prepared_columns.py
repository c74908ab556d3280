"""The outputs of a fitted preparation: their names and sources, and a sentence for each column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, TargetEncoder

from core.datasets.dataset import Column
from core.datasets.encoders import EVERY_LEVEL
from core.datasets.texts.tfidf import TextTfidf
from core.datasets.texts.word_counts import CommonCounts, TextCounts


@dataclass(frozen=True)
class OwnColumns:
    """Which prepared columns are for models that want levels, and which for the others."""

    levels: slice
    means: slice


def own_columns(fitted: Any) -> OwnColumns | None:
    """Each kind of model's own columns; None where all take all."""
    encode = fitted.named_steps["columns"] if isinstance(fitted, Pipeline) else None
    steps = getattr(encode, "transformers_", [])
    if EVERY_LEVEL not in [step_name for step_name, _, _ in steps]:
        return None
    widths = [len(list(_outputs_of_step(*step))) for step in _listed(steps)]
    return OwnColumns(levels=slice(widths[0], None), means=slice(0, sum(widths[:-1])))


def output_sources(fitted: Pipeline) -> list[str]:
    """The source column of every output of a fitted preparation."""
    return [source for source, _ in _named_outputs(fitted)]


def output_names(fitted: Pipeline) -> list[str]:
    """The name of every output, each once: the column's, or a word.

    Or "column=level", "column (missing)", "column (mean of target)", "column (share of class)",
    "column: month", "column: month=5".
    """
    names = [name for _, name in _named_outputs(fitted)]
    if len(set(names)) == len(names):
        return names
    seen: Counter[str] = Counter()
    unique: list[str] = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def encoding_sentences(fitted: Pipeline, columns: Sequence[Column], rows: int) -> dict[str, str]:
    """What became of each column that was encoded or filled, {column: a sentence}.

    `fitted` is the preparation, `rows` the number of rows in which `columns` were described.
    """
    described = {column.name: column for column in columns}
    encode = fitted.named_steps["columns"]
    steps = list(_listed(getattr(encode, "transformers_", ())))
    telling = {n for _, step, names in steps if isinstance(step, MissingIndicator) for n in names}
    sentences: dict[str, str] = {}
    for step_name, step, names in steps:
        if isinstance(step, (MissingIndicator, TextTfidf)):
            continue
        for index, name in enumerate(names):
            column = described.get(name)
            share = column.missing / rows if column is not None and rows else 0.0
            if step_name == EVERY_LEVEL:
                sentences[name] += "; for linear models a column each"
            elif encoder := encoder_of(step, OneHotEncoder, TargetEncoder):
                words = _level_words(encoder, index, share, column.distinct if column else 0)
                sentences[name] = f"“{name}”: {words}"
            elif words := _words_of(step, index, share, tells=name in telling):
                sentences[name] = f"“{name}”: {words}"
    return {name: sentences[name] for name in described if name in sentences}


def encoder_of(step: Any, *kinds: type) -> Any:
    """The step, or the one inside a pipeline, that is of one of these kinds; None for none."""
    inner = [part for _, part in step.steps] if isinstance(step, Pipeline) else [step]
    return next((part for part in inner if isinstance(part, kinds)), None)


def merged_levels(one_hot: OneHotEncoder, index: int) -> set[Any]:
    """The levels that share one output, as in files of earlier versions."""
    merged = getattr(one_hot, "infrequent_categories_", None)
    return set() if merged is None or merged[index] is None else set(merged[index])


def date_parts(step: Pipeline) -> list[tuple[str, Any]]:
    """The parts of a date by name, each with its pipeline behind the reading.

    In files of earlier versions the steps themselves are those of the seconds.
    """
    if "parts" in step.named_steps:
        return list(step.named_steps["parts"].transformer_list)
    return [("seconds", step)]


def _named_outputs(fitted: Pipeline) -> list[tuple[str, str]]:
    encode = fitted.named_steps["columns"]
    if isinstance(encode, (TextCounts, CommonCounts)):
        return [(word, word) for word in encode.vocabulary_]
    names = getattr(encode, "feature_names_in_", None)
    if names is None:
        count = encode.n_features_in_
        return [(f"feature {i + 1}", f"feature {i + 1}") for i in range(count)]
    if isinstance(encode, FunctionTransformer):
        return [(str(name), str(name)) for name in names]
    outputs: list[tuple[str, str]] = []
    for step_name, step, sources in _listed(encode.transformers_):
        outputs += _outputs_of_step(step_name, step, sources)
    return outputs


def _listed(steps: Sequence[tuple[str, Any, Any]]) -> Iterator[tuple[str, Any, list[str]]]:
    """The steps that give outputs, each with its columns as a list."""
    for step_name, step, names in steps:
        if step_name != "remainder":
            yield step_name, step, [names] if isinstance(names, str) else [str(n) for n in names]


def _outputs_of_step(step_name: str, step: Any, sources: list[str]) -> Iterator[tuple[str, str]]:
    encoder = encoder_of(step, OneHotEncoder, TargetEncoder)
    for index, source in enumerate(sources):
        if isinstance(step, TextTfidf):
            endings = [f": {name}" for name in step.output_names()]
        elif step_name.startswith("date "):
            endings = [end for part in date_parts(step) for end in _date_endings(*part)]
        elif isinstance(step, MissingIndicator):
            endings = [" (missing)"]
        elif isinstance(encoder, OneHotEncoder):
            endings = _level_endings(encoder, index)
        else:
            endings = [""] if encoder is None else _mean_endings(encoder)
        yield from ((source, source + ending) for ending in endings)


def _level_endings(one_hot: OneHotEncoder, index: int) -> list[str]:
    rare = merged_levels(one_hot, index)
    levels = [level for level in one_hot.categories_[index] if level not in rare]
    endings = [f"={_level_text(level)}" if _is_known(level) else " (missing)" for level in levels]
    return [*endings, "=rare"] if rare else endings


def _mean_endings(encoder: TargetEncoder) -> list[str]:
    if encoder.target_type_ == "continuous":
        return [" (mean of target)"]
    classes = encoder.classes_ if encoder.target_type_ == "multiclass" else encoder.classes_[1:]
    return [f" (share of {label})" for label in classes]


def _date_endings(part: str, step: Any) -> list[str]:
    if part == "seconds":
        return [""]
    if part == "missing":
        return [" (missing)"]
    one_hot = encoder_of(step, OneHotEncoder)
    if one_hot is None:
        return [f": {part}"]
    return [f": {part}={_level_text(level)}" for level in one_hot.categories_[0]]


def _is_known(level: Any) -> bool:
    return isinstance(level, str) or not (level is None or level != level)


def _level_text(level: Any) -> str:
    return f"{level:g}" if isinstance(level, float) else str(level)


def _words_of(step: Any, index: int, share: float, *, tells: bool) -> str:
    """What became of a number, yes/no or date, or ""; `share` of its values are missing."""
    if isinstance(step, Pipeline) and "read" in step.named_steps:
        return _date_words(step, share)
    fill = encoder_of(step, SimpleImputer)
    if fill is None or not share:
        return ""
    number = float(np.nan_to_num(fill.statistics_[index]))
    value = f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"
    if fill.strategy == "most_frequent":
        ordinal = (
            step.named_steps["encode"] if "encode" in getattr(step, "named_steps", {}) else None
        )
        value = value if ordinal is None else str(ordinal.categories_[index][int(number)])
    filled = {"median": "the median", "mean": "the mean"}.get(fill.strategy, "the most frequent,")
    return f"{_share_text(share)} missing: {filled} {value}" + (
        " and a column that says so" if tells else ""
    )


def _level_words(
    encoder: OneHotEncoder | TargetEncoder, index: int, share: float, distinct: int
) -> str:
    known = sum(_is_known(level) for level in encoder.categories_[index])
    missing = f"; {_share_text(share)} missing" if share else ""
    if share and known < len(encoder.categories_[index]):
        missing += ", a value of their own"
    if isinstance(encoder, TargetEncoder):
        return f"{known:,} values, each by {_mean_words(encoder)} among its rows{missing}"
    if rare := merged_levels(encoder, index):
        return f"{known - len(rare):,} values have a column each, {len(rare):,} rare ones share one"
    if distinct > known:
        return f"{known:,} of {distinct:,} values have a column each, the others none{missing}"
    every = {1: "the one value has a column", 2: "both values have a column each"}
    return every.get(known, f"all {known:,} values have a column each") + missing


def _mean_words(encoder: TargetEncoder) -> str:
    kinds: Mapping[str, str] = {
        "continuous": "the mean of the target",
        "multiclass": "the share of every class",
    }
    return kinds.get(encoder.target_type_) or f"the share of {encoder.classes_[1]}"


def _date_words(step: Pipeline, share: float) -> str:
    parts = [part for part, _ in date_parts(step)]
    taken = ["a number", *(part for part in parts if part not in ("seconds", "missing"))]
    text = " and ".join([", ".join(taken[:-1]), taken[-1]]) if len(taken) > 1 else taken[0]
    if not share:
        return f"as {text}"
    tells = " and a column that says so" if "missing" in parts else ""
    return f"as {text}; {_share_text(share)} missing: the middle date{tells}"


def _share_text(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "under 1 %"
