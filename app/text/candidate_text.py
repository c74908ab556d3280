"""Candidates of a run of several models as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.text.plan_text import setting_cells
from core.estimators.facts import uncapitalized
from core.tuning.events import Event, RunFinished, RunStarted, RunStopped
from core.tuning.run_results import CandidateResults, Gain, Interval, Results, Scores
from core.tuning.scores.score import Score, difference_text, metric_in_short

TITLES = {
    "best": "The best setting",
    "simplest": "The simplest, within one standard error of the best",
    "average": "The average",
    "default": "The default setting, without tuning",
    "trial": "A trial that you selected",
}


@dataclass(frozen=True)
class CandidateText:
    """A candidate as text."""

    key: str  # its kind, or the number of a trial
    title: str
    scores: str
    gain: str
    setting: str
    is_selected: bool  # kept now
    is_runs_choice: bool  # kept by the run itself


def candidate_texts(
    results: Results, started: RunStarted, events: Iterable[Event]
) -> list[CandidateText]:
    """The candidates of the newest results, with scores of earlier ones."""
    ends = [e.results for e in events if isinstance(e, (RunFinished, RunStopped))]
    earlier = [previous for previous in ends if previous is not None]
    # The first results that had candidates were made by the run itself, later ones by a person.
    runs_choice = next((previous.taken or "" for previous in earlier if previous.candidates), "")
    candidates = list(results.candidates or [])
    if candidates and not any(candidate.taken for candidate in candidates):
        candidates.append(CandidateResults("trial", setting=results.setting, taken=True))
    return [_candidate_text(entry, results, started, earlier, runs_choice) for entry in candidates]


def _candidate_text(
    candidate: CandidateResults,
    results: Results,
    started: RunStarted,
    earlier: Sequence[Results],
    runs_choice: str,
) -> CandidateText:
    kind, setting = candidate.kind, candidate.setting
    model, values = setting_cells(started, setting) if setting else ("", "")
    title = TITLES.get(kind, kind)
    tested = _find_test(candidate, results, earlier)
    validation = candidate.validation
    # A trial that a person selected is no candidate of the run: its score stands in the results.
    if validation is None and candidate.taken:
        validation = results.validation.get(started.metric)
    scores = []
    if validation is not None:
        score = Score(started.metric, validation, candidate.validation_interval)
        scores.append(f"{score.text} in validation{score.interval_phrase()}")
    scores += _test_phrases(tested, results.metric)
    metric = metric_in_short(results.metric)
    return CandidateText(
        key=kind,
        title=f"{title}: {uncapitalized(model)}" if model else title,
        scores=f"{metric[:1].upper()}{metric[1:]}: {', '.join(scores)}." if scores else "",
        gain=_gain_text(tested.gain),
        setting=candidate.failure or values or _average_size_text(results, earlier),
        is_selected=candidate.taken,
        is_runs_choice=kind == runs_choice,
    )


@dataclass(frozen=True)
class _Test:
    scores: Scores | None = None
    interval: Interval | None = None
    gain: Gain | None = None


def _find_test(candidate: CandidateResults, results: Results, earlier: Sequence[Results]) -> _Test:
    if candidate.taken:
        return _Test(results.test, results.test_interval, results.gain)
    if candidate.kind == "default":
        return _Test(results.default_test, results.default_interval)
    if candidate.test:
        return _Test(candidate.test, candidate.test_interval, candidate.gain)
    # The test of a model that was selected before is still valid: the test rows are the same.
    for before in reversed(earlier):
        if before.taken == candidate.kind:
            return _Test(before.test, before.test_interval, before.gain)
        for same in before.candidates or []:
            if same.kind == candidate.kind and same.test:
                return _Test(same.test, same.test_interval, same.gain)
    return _Test()


def _test_phrases(tested: _Test, metric: str) -> list[str]:
    score = Score(metric, (tested.scores or {}).get(metric), tested.interval)
    if score.value is None:
        return []
    return [f"{score.text} on test rows{score.interval_phrase()}"]


def _gain_text(gain: Gain | None) -> str:
    if gain is None or gain.difference is None:
        return ""
    if gain.difference == 0:
        return "As good as the default setting on test rows."
    size = difference_text(gain.metric, abs(gain.difference))
    direction = "better" if gain.is_positive else "worse"
    sure = ", likely real" if gain.real else ", may be chance"
    if gain.few_units is not None:
        sure = ", too few to tell"
    return f"{size} {direction} than the default setting on test rows{sure}."


def _average_size_text(results: Results, earlier: Sequence[Results]) -> str:
    for run_results in (results, *reversed(earlier)):
        if run_results.ensemble is not None:
            return f"{len(run_results.ensemble.members)} models"
    return ""
