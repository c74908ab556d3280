"""What may be taken away from a run of several models, in words: each with its scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from app.text.scores import difference_in_words, metric_in_short, score_in_words
from app.text.settings import in_a_cell
from core.estimators.facts import uncapitalized
from core.tuning.events import Event, RunFinished, RunStarted, RunStopped

TITLES = {
    "best": "The best setting",
    "simplest": "The simplest, within one standard error of the best",
    "average": "The average",
    "default": "The default setting, without tuning",
    "trial": "A trial that you took",
}
TESTED = ("test", "test_interval", "gain")  # what is known of a candidate that was tested


@dataclass(frozen=True)
class Told:
    """A candidate in words.

    Attributes:
        key: its kind, or the number of a trial.
        title, scores, gain, setting: what is said of it; "" where nothing is.
        taken: whether it is the one that is kept now.
        own: whether it is the one that the run took by itself.
    """

    key: str
    title: str
    scores: str
    gain: str
    setting: str
    taken: bool
    own: bool


def candidates(
    results: Mapping[str, Any], started: RunStarted, events: Iterable[Event]
) -> list[Told]:
    """Those that the run offers, each with what is known of it, and one that a person took.

    Args:
        results: the newest of the run.
        started: its first event.
        events: all of them: earlier results may have tested what the newest did not.
    """
    earlier = [e.results for e in events if isinstance(e, (RunFinished, RunStopped)) and e.results]
    own = next((str(one["taken"]) for one in earlier if one.get("candidates")), "")
    found = list(results.get("candidates") or [])
    if found and not any(one.get("taken") for one in found):
        setting = results.get("setting") or {}
        found.append({"kind": "trial", "setting": setting, "taken": True})
    return [_told(one, results, started, earlier, own) for one in found]


def _told(
    one: Mapping[str, Any],
    results: Mapping[str, Any],
    started: RunStarted,
    earlier: list[dict[str, Any]],
    own: str,
) -> Told:
    kind, setting = str(one["kind"]), one.get("setting") or {}
    model, values = in_a_cell(started, setting) if setting else ("", "")
    title = TITLES.get(kind, kind)
    return Told(
        key=kind,
        title=f"{title}: {uncapitalized(model)}" if model else title,
        scores=_scores(one, results, started, earlier),
        gain=_gain(_tested(one, results, earlier).get("gain")),
        setting=one.get("failure") or values or _of_average(results, earlier),
        taken=bool(one.get("taken")),
        own=kind == own,
    )


def _tested(
    one: Mapping[str, Any], results: Mapping[str, Any], earlier: list[dict[str, Any]]
) -> Mapping[str, Any]:
    """What the test said of it, in these results or in earlier ones."""
    if one.get("taken"):
        return results
    if one["kind"] == "default":
        return {"test": results.get("default_test"), "test_interval": results["default_interval"]}
    if one.get("test"):
        return one
    for before in reversed(earlier):
        if before.get("taken") == one["kind"]:
            return before
        for other in before.get("candidates") or []:
            if other["kind"] == one["kind"] and other.get("test"):
                return dict(other)
    return {}


def _scores(
    one: Mapping[str, Any],
    results: Mapping[str, Any],
    started: RunStarted,
    earlier: list[dict[str, Any]],
) -> str:
    metric, said = str(results["metric"]), []
    validation = one.get("validation")
    if validation is None and one.get("taken"):
        validation = results.get("validation", {}).get(started.metric)
    if validation is not None:
        said.append(f"{score_in_words(validation, started.metric)} in validation")
    tested = _tested(one, results, earlier)
    test, ends = (tested.get("test") or {}).get(metric), tested.get("test_interval") or ()
    if test is not None:
        words = f"{score_in_words(test, metric)} on test rows"
        if len(ends) == 2 and None not in ends:
            low, high = (score_in_words(end, metric) for end in ends)
            words += f" (95\u00a0% confidence interval {low} to {high})"
        said.append(words)
    name = metric_in_short(metric)
    return f"{name[:1].upper()}{name[1:]}: {', '.join(said)}." if said else ""


def _gain(gain: Mapping[str, Any] | None) -> str:
    if not gain or gain.get("difference") is None:
        return ""
    metric, difference = str(gain["metric"]), float(gain["difference"])
    size = difference_in_words(metric, abs(difference))
    way = "better" if difference > 0 else "worse"
    if difference == 0:
        return "As good as the default setting on test rows."
    sure = ", likely real" if gain.get("real") else ", may be chance"
    return f"{size} {way} than the default setting on test rows{sure}."


def _of_average(results: Mapping[str, Any], earlier: list[dict[str, Any]]) -> str:
    """How many models it has, where one of the results has it."""
    for known in (results, *reversed(earlier)):
        if ensemble := known.get("ensemble"):
            return f"{len(ensemble['members'])} models"
    return ""
