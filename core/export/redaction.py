"""A run without what it quotes of the data: cells, rows, tokens and words of texts.

Names of columns, groups and classes stay; so do categories and vocabulary in files that predict.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from core.datasets.column_format import NOTHING
from core.datasets.dataset import DataSource
from core.records import Record
from core.tuning.events import (
    Event,
    ImagesDrawn,
    MoleculesFolded,
    RunFinished,
    RunStopped,
    SequencesLabelled,
    TopicsFound,
    TrialFailed,
)
from core.tuning.payloads import OmittedTrial
from core.tuning.results.model_metadata import ModelMetadata

if TYPE_CHECKING:
    from core.export.finished_run import FinishedRun

_SHOW_ROWS = (SequencesLabelled, MoleculesFolded, ImagesDrawn)
_QUOTED = re.compile("“([^”]*)”")
_OF_TEXT = re.compile("(?s): (word|words|part) “.*”$")  # as core.datasets.texts.tfidf has it
_ERROR = re.compile(r"(\w+): .*", re.DOTALL)  # as core.tuning.scores.scoring.one_line_error has it


def _public_names(takeaway: ModelMetadata) -> set[str]:
    columns = [column.name for column in takeaway.columns]
    classes = [str(label) for label in takeaway.classes]
    named = [takeaway.dataset, takeaway.target, *takeaway.group_names, *takeaway.feature_names]
    return {*columns, *classes, *named}


def without_examples(run: FinishedRun) -> FinishedRun:
    """The run for exports that may not hold rows and examples."""
    public_names = _public_names(run.takeaway)
    return replace(
        run,
        events=_redact_events(run.events, public_names),
        results=_redact_results(run.results, public_names),
        takeaway=_redact_metadata(run.takeaway),
        allows_examples=False,
    )


def _without_quotes(sentence: str, public_names: Collection[str]) -> str:
    return _QUOTED.sub(lambda match: match[0] if match[1] in public_names else "“…”", sentence)


def _redact_metadata(takeaway: ModelMetadata) -> ModelMetadata:
    public_names = _public_names(takeaway)
    outputs = takeaway.output_names if takeaway.task.has_target else []
    return replace(
        takeaway,
        source=_redact_source(takeaway.source),
        test_source=takeaway.test_source and _redact_source(takeaway.test_source),
        columns=[replace(column, categories=()) for column in takeaway.columns],
        output_names=_numbered(outputs, takeaway.feature_names),
        findings=[_without_quotes(finding, public_names) for finding in takeaway.findings],
        readings=[],  # each is told by a cell
        encodings=[],  # with medians, which are cells too
    )


def _redact_results(value: Any, public_names: Collection[str]) -> Any:
    match value:
        case Record() | OmittedTrial():
            by_name = {each.name: getattr(value, each.name) for each in fields(value)}
            return replace(value, **_redact_results(by_name, public_names))
        case dict():
            return {name: _redact_results(inner, public_names) for name, inner in value.items()}
        case list():
            return [_redact_results(inner, public_names) for inner in value]
        case str():
            return _without_quotes(value, public_names)
    return value


def _redact_events(events: list[Event], public_names: Collection[str]) -> list[Event]:
    shown = (event for event in events if not isinstance(event, _SHOW_ROWS))
    return [_redact_event(event, public_names) for event in shown]


def _redact_event(event: Event, public_names: Collection[str]) -> Event:
    match event:
        case TrialFailed(reason=reason):
            return replace(event, reason=_without_quotes(_ERROR.sub(r"\1.", reason), public_names))
        case TopicsFound(topics=topics):
            return replace(event, topics=[replace(topic, words=[]) for topic in topics])
        case RunFinished(results=results) | RunStopped(results=results):
            return replace(event, results=_redact_results(results, public_names))
    return event


def _redact_source(source: DataSource) -> DataSource:
    missing = source.read_csv.get("na_values")
    if not isinstance(missing, dict):
        return source
    strays = [name for name, words in missing.items() if set(words) - NOTHING]
    if not strays:
        return source
    words = {"na_values": {name: [w for w in ws if w in NOTHING] for name, ws in missing.items()}}
    return replace(
        source,
        read_csv={**source.read_csv, **words},
        reading={**source.reading, **words} if "na_values" in source.reading else source.reading,
        strays=strays,
    )


def _numbered(outputs: list[str], features: list[str]) -> list[str]:
    seen: defaultdict[str, int] = defaultdict(int)
    by_length = sorted(features, key=len, reverse=True)
    names = []
    for output in outputs:
        source = "" if output in features else _source_of(output, by_length)
        if source and (kind := _OF_TEXT.match(output[len(source) :])):
            seen[source] += 1
            names.append(f"{source}: {kind[1]} {seen[source]}")
        elif source and output[len(source)] != ":":
            seen[source] += 1
            names.append(f"{source}=category {seen[source]}")
        else:
            names.append(output)
    return names


def _source_of(output: str, features: list[str]) -> str:
    return next((name for name in features if output.startswith((f"{name}=", f"{name}: "))), "")
