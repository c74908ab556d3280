"""The outputs of a fitted preparation: their names and sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.impute import MissingIndicator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, TargetEncoder

from core.datasets.encoders import EVERY_LEVEL, MEANS
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
    widths = [(step[0], len(list(_outputs_of_step(*step)))) for step in listed_steps(steps)]
    means = sum(width for step_name, width in widths if step_name.startswith(MEANS))
    others = sum(width for step_name, width in widths if step_name != EVERY_LEVEL)
    return OwnColumns(levels=slice(means, None), means=slice(0, others))


def output_sources(fitted: Pipeline) -> list[str]:
    """The source column of every output of a fitted preparation."""
    return [source for source, _ in _named_outputs(fitted)]


def output_names(fitted: Pipeline) -> list[str]:
    """The name of every output, each once: the column's, a word, "column=level" and the like."""
    seen, unique = Counter[str](), list[str]()
    for _, name in _named_outputs(fitted):
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def encoder_of(step: Any, *kinds: type) -> Any:
    """The step, or the one inside a pipeline, that is of one of these kinds; None for none."""
    inner = [part for _, part in step.steps] if isinstance(step, Pipeline) else [step]
    return next((part for part in inner if isinstance(part, kinds)), None)


def merged_levels(one_hot: OneHotEncoder, index: int) -> set[Any]:
    """The levels that share one output, as in files of earlier versions."""
    merged = getattr(one_hot, "infrequent_categories_", None)
    return set() if merged is None or merged[index] is None else set(merged[index])


def date_parts(step: Pipeline) -> list[tuple[str, Any]]:
    """The parts of a date by name, each with its pipeline behind the reading."""
    if "parts" in step.named_steps:
        return list(step.named_steps["parts"].transformer_list)
    return [("seconds", step)]  # in files of earlier versions


def _named_outputs(fitted: Pipeline) -> list[tuple[str, str]]:
    encode = fitted.named_steps["columns"]
    if isinstance(encode, (TextCounts, CommonCounts)):
        return [(word, word) for word in encode.vocabulary_]
    names = getattr(encode, "feature_names_in_", None)
    if names is None:
        names = [f"feature {i + 1}" for i in range(encode.n_features_in_)]
    elif not isinstance(encode, FunctionTransformer):
        steps = listed_steps(encode.transformers_)
        return [output for step in steps for output in _outputs_of_step(*step)]
    return [(str(name), str(name)) for name in names]


def listed_steps(steps: Sequence[tuple[str, Any, Any]]) -> Iterator[tuple[str, Any, list[str]]]:
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
    texts = [f"={_level_text(n)}" if is_known_level(n) else " (missing)" for n in levels]
    return [*texts, "=rare"] if rare else texts


def _mean_endings(encoder: TargetEncoder) -> list[str]:
    if encoder.target_type_ == "continuous":
        return [" (mean of target)"]
    classes = encoder.classes_ if encoder.target_type_ == "multiclass" else encoder.classes_[1:]
    return [f" (share of {label})" for label in classes]


def _date_endings(part: str, step: Any) -> list[str]:
    one_hot = encoder_of(step, OneHotEncoder)
    if one_hot is None:
        return [{"seconds": "", "missing": " (missing)"}.get(part, f": {part}")]
    return [f": {part}={_level_text(level)}" for level in one_hot.categories_[0]]


def is_known_level(level: Any) -> bool:
    """Whether a level is a value, not that of missing ones."""
    return isinstance(level, str) or not (level is None or level != level)


def _level_text(level: Any) -> str:
    return f"{level:g}" if isinstance(level, float) else str(level)
