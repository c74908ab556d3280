"""The models of a run that a person may select, as text."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from app.text.plan_text import setting_cells
from core.figures.score_figures import score_rows
from core.tuning.events import Event, RunFinished, RunStarted, RunStopped
from core.tuning.run_results import CandidateResults, Gain, Results, completed_candidates
from core.tuning.scores.score import Score, difference_text, metric_in_short
from core.wording import amount_text


@dataclass(frozen=True)
class CandidateText:
    """A candidate as text."""

    key: str  # its kind, or the number of a trial
    title: str
    scores: str
    gain: str
    setting: str
    speed: str  # "10,000 rows a second", or "" where unknown
    lacks_test: bool  # could be tested, and was not
    is_selected: bool  # kept now
    is_runs_choice: bool  # kept by the run itself


def candidate_texts(
    results: Results, started: RunStarted, events: Iterable[Event]
) -> list[CandidateText]:
    """The candidates, with the tests of earlier results of the same run."""
    # The first results that had candidates were made by the run itself, later ones by a person.
    earlier = (e.results for e in events if isinstance(e, (RunFinished, RunStopped)))
    runs_choice = next((r.taken or "" for r in earlier if r is not None and r.candidates), "")
    names = [row.name for row in score_rows(results)]
    return [
        _candidate_text(
            candidate, name, results, started, is_runs_choice=candidate.kind == runs_choice
        )
        for name, candidate in zip(names, completed_candidates(results), strict=False)
    ]


def _candidate_text(
    candidate: CandidateResults,
    name: str,
    results: Results,
    started: RunStarted,
    *,
    is_runs_choice: bool,
) -> CandidateText:
    setting, validation = candidate.setting, candidate.validation
    # A trial that a person selected is no candidate of the run: its score stands in the results.
    if validation is None and candidate.taken:
        validation = results.validation.get(started.metric)
    scores = []
    if validation is not None:
        score = Score(started.metric, validation, candidate.validation_interval)
        scores.append(f"{score.text} in validation{score.interval_phrase()}")
    tested = Score(
        results.metric, (candidate.test or {}).get(results.metric), candidate.test_interval
    )
    if tested.value is not None:
        scores.append(f"{tested.text} on test rows{tested.interval_phrase()}")
    metric, seconds = metric_in_short(results.metric), candidate.row_seconds
    return CandidateText(
        key=candidate.kind,
        title=name,
        scores=f"{metric[:1].upper()}{metric[1:]}: {', '.join(scores)}." if scores else "",
        gain=_gain_text(candidate.gain, is_optimistic=results.is_optimistic and candidate.taken),
        setting=candidate.failure or (setting_cells(started, setting)[1] if setting else ""),
        # Measured beside whatever else the computer did: one digit.
        speed=f"{amount_text(float(f'{1 / seconds:.1g}'))} rows a second" if seconds else "",
        lacks_test=candidate.test is None and not candidate.failure,
        is_selected=candidate.taken,
        is_runs_choice=is_runs_choice,
    )


def completed_results(results: Results, events: Iterable[Event]) -> Results:
    """The results with the tests of the same candidates in earlier results."""
    ends = [e.results for e in events if isinstance(e, (RunFinished, RunStopped))]
    earlier = [previous for previous in ends if previous is not None]
    return replace(results, candidates=completed_candidates(results, earlier) or None)


def _gain_text(gain: Gain | None, *, is_optimistic: bool) -> str:
    if gain is None or gain.difference is None:
        return ""
    if gain.difference == 0:
        return "As good as the default setting on test rows."
    size = difference_text(gain.metric, abs(gain.difference))
    direction = "better" if gain.is_positive else "worse"
    sure = ", likely real" if gain.real else ", may be chance"
    if is_optimistic:
        sure = ", which helped to choose it"
    if gain.few_units is not None:
        sure = ", too few to tell"
    return f"{size} {direction} than the default setting on test rows{sure}."
