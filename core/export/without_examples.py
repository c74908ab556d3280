"""A run without what it quotes of the data: cells, rows, tokens and words of texts.

Names of columns, groups and classes stay, for no model can be told without them. What a model
itself knows (its categories, its vocabulary) stays in the files that predict.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

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
from core.tuning.results.takeaway import Takeaway

if TYPE_CHECKING:
    from core.export.finished_run import FinishedRun

_SHOW_ROWS = (SequencesLabelled, MoleculesFolded, ImagesDrawn)
_QUOTED = re.compile("“([^”]*)”")
_OF_TEXT = re.compile("(?s): (word|words|part) “.*”$")  # as core.datasets.texts.tfidf has it
_ERROR = re.compile(r"(\w+): .*", re.DOTALL)  # as core.tuning.scores.scoring.in_a_sentence has it


def _told_of(takeaway: Takeaway) -> set[str]:
    """The names of columns, classes, groups and the file."""
    columns = [str(column["name"]) for column in takeaway.columns]
    classes = [str(label) for label in takeaway.classes]
    named = [takeaway.dataset, takeaway.target, *takeaway.group_names, *takeaway.feature_names]
    return {*columns, *classes, *named}


def quieted(run: FinishedRun) -> FinishedRun:
    """The run as it may leave the computer where rows and examples may not."""
    told = _told_of(run.takeaway)
    return replace(
        run,
        events=_quiet_events(run.events, told),
        results=_quiet_results(run.results, told),
        takeaway=_quiet_takeaway(run.takeaway),
        examples=False,
    )


def _without_quotes(sentence: str, told: Collection[str]) -> str:
    """The sentence, with "…" for all in quotes that is no name."""
    return _QUOTED.sub(lambda found: found[0] if found[1] in told else "“…”", sentence)


def _quiet_takeaway(takeaway: Takeaway) -> Takeaway:
    """What lies beside the pipeline, without cells."""
    told = _told_of(takeaway)
    outputs = [] if takeaway.task == "topics" else takeaway.output_names
    return replace(
        takeaway,
        source=_quiet_source(takeaway.source),
        test_source=_quiet_source(takeaway.test_source),
        columns=[{**column, "categories": []} for column in takeaway.columns],
        output_names=_numbered(outputs, takeaway.feature_names),
        findings=[_without_quotes(finding, told) for finding in takeaway.findings],
    )


def _quiet_results(results: Any, told: Collection[str]) -> Any:
    """The results, without cells in their sentences."""
    match results:
        case dict():
            return {name: _quiet_results(value, told) for name, value in results.items()}
        case list():
            return [_quiet_results(value, told) for value in results]
        case str():
            return _without_quotes(results, told)
    return results


def _quiet_events(events: list[Event], told: Collection[str]) -> list[Event]:
    """The events, without rows, words of topics and cells in the reasons of failures."""
    return [_quiet(event, told) for event in events if not isinstance(event, _SHOW_ROWS)]


def _quiet(event: Event, told: Collection[str]) -> Event:
    match event:
        case TrialFailed(reason=reason):
            return replace(event, reason=_without_quotes(_ERROR.sub(r"\1.", reason), told))
        case TopicsFound(topics=topics):
            return replace(event, topics=[replace(topic, words=[]) for topic in topics])
        case RunFinished(results=results) | RunStopped(results=results):
            return replace(event, results=_quiet_results(results, told))
    return event


def _quiet_source(source: dict[str, Any]) -> dict[str, Any]:
    """How the file was read; `strays`: columns of numbers with words that count as missing."""
    missing = source.get("read_csv", {}).get("na_values")
    if not isinstance(missing, dict):
        return source
    common = common_words(missing)
    strays = [name for name, words in missing.items() if len(words) > len(common)]
    quiet = {**source, "read_csv": {**source["read_csv"], "na_values": common}, "strays": strays}
    if "na_values" in source.get("reading", {}):
        quiet["reading"] = {**source["reading"], "na_values": common}
    return quiet


def common_words(missing: dict[str, list[str]]) -> list[str]:
    """The words for a missing value that hold in every column."""
    lists = list(missing.values())
    return [word for word in lists[0] if all(word in other for other in lists)]


def _numbered(outputs: list[str], features: list[str]) -> list[str]:
    """Names of prepared columns; a category, or a word of texts, by its number instead."""
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
