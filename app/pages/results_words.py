"""The results in words: the headline, the line under it, and the panel at the right."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QCoreApplication

from app.pages.results_averaging import averaged_in_words, members_of, tuned_in_words
from app.pages.results_structured import found_in_short, pairs_in_words, sequences_in_words
from app.scores import difference_in_words, duration_in_words, metric_as_noun, metric_in_short
from app.units import counted, put_aside, task_of, units
from app.views.numbers import fixed
from app.views.result_view import SHARES, score_in_words
from core.tuning.cost_words import costs_in_words
from core.tuning.events import RunStarted

MUCH = 0.05  # from here on the results carry a remark on how far validation flattered
LISTED = 5  # groups that are named
GRID = 10  # values of each hyperparameter in the grid that a person would have searched
PENALTY_GRID = 21  # C = 2⁻¹⁰ … 2¹⁰
MOST_GRID = 10**9  # fits; more than that is said in words


def _tr(text: str) -> str:
    return QCoreApplication.translate("Results", text)


def headline(results: dict[str, Any], rows: int) -> str:
    """What tuning brought, in one sentence."""
    gain, metric = results["gain"], results["metric"]
    only = members_of(results) < 2
    if only and results["setting"] and results["setting"] == results["default_setting"]:
        return _tr("The default setting is the best of those tried")
    if not gain["real"]:
        words = _tr("Tuning changed nothing that {rows} could show")
        return words.format(rows=counted(task_of(results), rows))
    size = difference_in_words(metric, abs(gain["difference"]))
    if gain["difference"] > 0:
        words = _tr("Tuning gained {size}, likely real")
        if metric != "accuracy":
            words = _tr("Tuning improved {metric} by {size}, likely real")
    else:
        words = _tr("Tuning lost {size}: the default setting is better here")
    return words.format(size=size, metric=metric_in_short(metric))


def line(results: dict[str, Any]) -> str:
    """Both scores, and where the difference lies with 95 % confidence."""
    metric, gain = results["metric"], results["gain"]
    tuned = score_in_words(results["test"][metric], metric)
    default = score_in_words(results["default_test"][metric], metric)
    words = _tr("{metric} on unseen {units} {tuned}, against {default} with the default setting")
    if metric == "accuracy":
        words = _tr("{tuned} of unseen {units} right, against {default} with the default setting")
    title = metric_in_short(metric)
    values = {"units": units(task_of(results)), "tuned": tuned, "default": default}
    said = words.format(metric=title[:1].upper() + title[1:], **values)
    if results.get("pairs"):
        said = f"{found_in_short(results['pairs']['tuned'])} · {said}"
    if gain.get("low") is None or gain.get("high") is None or gain["low"] == gain["high"]:
        return said
    between = _tr("19 in 20 chance that the gain lies between {low} and {high}")
    low, high = _bound(metric, gain["low"]), difference_in_words(metric, gain["high"])
    return f"{said} · {between.format(low=low, high=high)}"


def _bound(metric: str, value: float) -> str:
    return fixed(100 * value, 1) if metric in SHARES else difference_in_words(metric, value)


def in_plain_words(results: dict[str, Any], started: RunStarted) -> tuple[str, ...]:
    """The panel: on which rows, how sure, how far validation flattered, and what it took."""
    said = (
        *_on_which_rows(results, started),
        *averaged_in_words(results),
        *(costs_in_words(results["costs"]) if results.get("costs") else ()),
        results.get("metric_reason", ""),
        _how_sure(results, int(started.dataset.get("test_rows", 0))),
        _flattery(results),
        _switched_off(results),
        _what_it_took(results, started),
        _failures(results),
        *results.get("remarks", ()),
    )
    return tuple(sentence for sentence in said if sentence)


def _on_which_rows(results: dict[str, Any], started: RunStarted) -> tuple[str, ...]:
    aside = put_aside(started.dataset) or counted("", 0)
    if results.get("pairs"):
        return pairs_in_words(results["pairs"])
    if results.get("right"):
        words = _tr(
            "On {aside} that were put aside at the start, {model} is right on {tuned}, the default "
            "setting on {default}."
        )
        right, whole = results["right"], results.get("sequences")
        said = words.format(
            aside=aside if whole else counted("", right["rows"]),
            tuned=right["tuned"],
            default=right["default"],
            model=tuned_in_words(results),
        )
        return (said, sequences_in_words(whole)) if whole else (said,)
    metric = results["metric"]
    words = _tr(
        "On {aside} that were put aside at the start, {model} has {metric} {tuned}, the default "
        "setting {default}."
    )
    said = words.format(
        aside=aside,
        model=tuned_in_words(results),
        metric=metric_as_noun(metric),
        tuned=score_in_words(results["test"][metric], metric),
        default=score_in_words(results["default_test"][metric], metric),
    )
    return (said,)


def _how_sure(results: dict[str, Any], rows: int) -> str:
    gain, metric = results["gain"], results["metric"]
    if gain.get("low") is None or gain.get("high") is None:
        return ""
    low, high = gain["low"], gain["high"]
    if gain["real"] and gain["difference"] > 0:
        words = _tr("The gain is likely real. It could still be as small as {low}.")
        return words.format(low=difference_in_words(metric, low))
    if gain["real"] and not results.get("validation"):
        return _tr("The loss is likely real.")
    if gain["real"]:
        return _tr("The loss is likely real: what looked best in validation is worse here.")
    if low == high == 0:
        words = _tr("Both do equally well on these {units}: there is no gain to speak of.")
        return words.format(units=units(task_of(results)))
    words = _tr(
        "With {rows} chance alone makes such differences: the true gain can lie anywhere "
        "between {low} and {high}."
    )
    values = {"low": _bound(metric, low), "high": difference_in_words(metric, high)}
    return words.format(rows=counted(task_of(results), rows), **values)


def _flattery(results: dict[str, Any]) -> str:
    flattery, metric = results.get("flattery"), results["metric"]
    promised = results.get("validation", {}).get(metric)
    if not results.get("validation"):
        return _tr("No validation data was used, so nothing could flatter.")
    if flattery is None or promised is None:  # held-out rows gave a loss, not this metric
        return ""
    said = _tr("Validation promised {score}:").format(score=score_in_words(promised, metric))
    size = difference_in_words(metric, abs(flattery))
    if flattery <= 0:
        return f"{said} " + _tr("it did not flatter.")
    if metric in SHARES and flattery > MUCH and results.get("remarks"):
        return f"{said} " + _tr("that was too much.")  # a remark of the results says by how much
    words = _tr("it flattered by {size}, which is usual.")
    if metric not in SHARES or flattery > MUCH:
        words = _tr("it flattered by {size}.")
    return f"{said} {words.format(size=size)}"


def _switched_off(results: dict[str, Any]) -> str:
    groups = results.get("switched_off") or []
    if not groups:
        return ""
    names = ", ".join(f"“{group}”" for group in groups[:LISTED])
    if len(groups) > LISTED:
        words = _tr("{names} and {count} more")
        names = words.format(names=names, count=len(groups) - LISTED)
    return _tr("Switched off, because they add nothing: {names}.").format(names=names)


def _what_it_took(results: dict[str, Any], started: RunStarted) -> str:
    values = {
        "fits": results["fits"],
        "trials": results["trials"],
        "time": duration_in_words(results["seconds"]),
    }
    if results["trials"]:
        said = _tr("{trials} settings were tried in {time}, with {fits} fits.").format(**values)
    else:
        said = _tr("The whole run needed {fits} fits and took {time}.").format(**values)
    needed = grid_fits(started)
    if needed is None or needed <= results["fits"]:
        return said
    if needed > MOST_GRID:
        return f"{said} " + _tr("A grid search over as much would never end.")
    words = _tr("A grid search would have needed {needed}.")
    if started.kind == "penalties" and len(started.groups) > 1:
        words = _tr("A grid search for one common penalty would have needed {needed}.")
    return f"{said} {words.format(needed=f'{needed:,}'.replace(',', ' '))}"


def grid_fits(started: RunStarted) -> int | None:
    """Fits of the usual grid search for the same hyperparameters; None where the run was one.

    For penalties it is the search for a single one: a grid over every group's would never end.
    """
    folds = int(started.plan.get("folds", 5))
    if started.kind == "penalties":
        return PENALTY_GRID * folds + 1
    if started.plan.get("strategy") == "grid" or not started.space:
        return None
    points = 1
    for axis in started.space:
        points *= len(axis["choices"]) if axis["kind"] == "choice" else GRID
    return points * folds + 1


def _failures(results: dict[str, Any]) -> str:
    failed = results.get("failed", 0)
    if not failed:
        return ""
    if failed == 1:
        return _tr("One trial gave no score; the Tune page says why.")
    return _tr("{failed} trials gave no score; the Tune page says why.").format(failed=failed)
