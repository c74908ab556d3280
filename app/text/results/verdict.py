"""The results in words: the headline, the line under it, and the panel at the right."""

from __future__ import annotations

from typing import Any

from app.text.numbers import fixed, plain
from app.text.results.averaging import averaged_in_words, members_of, tuned_in_words
from app.text.results.models import which_models
from app.text.scores import (
    SHARES,
    difference_in_words,
    duration_in_words,
    metric_as_noun,
    metric_in_short,
    score_in_words,
)
from app.text.strategies import lists_values
from app.text.tuning.structured import found_in_short, pairs_in_words, sequences_in_words
from app.text.units import counted, size_of_test_set, task_of, units
from core.space import varies
from core.tuning.evaluation import evaluation_in_words
from core.tuning.events import RunStarted
from core.tuning.results.never_predicted import never_predicted
from core.tuning.runs.competition import tunes_several
from core.tuning.scores.cost_words import costs_in_words

SURE = 1.96  # standard errors, beyond which a difference is more than chance
WARNINGS = ("The validation score", "Validation flattered")  # that remarks begin with
NAMED = 2  # classes that are named in the headline
LISTED = 5  # groups that are named
GRID = 10  # values of each hyperparameter in the grid that a person would have searched
PENALTY_GRID = 21  # C = 2⁻¹⁰ … 2¹⁰
MOST_GRID = 10**9  # fits; more than that is said in words


def headline(results: dict[str, Any], rows: int) -> str:
    """What tuning brought, in one sentence."""
    said = _outcome(results, rows)
    never = never_predicted(results)
    if not never:
        return said
    return f"{said}; the model never predicts {listed(never)}"


def _outcome(results: dict[str, Any], rows: int) -> str:
    gain, metric = results["gain"], results["metric"]
    if results.get("taken") == "default":
        return "You took the default setting"
    only = members_of(results) < 2
    if only and results["setting"] and results["setting"] == results["default_setting"]:
        return "The default setting is the best of those tried"
    over = results.get("gain_over_baseline") or {}
    if over.get("difference") is not None and over["difference"] <= 0:
        words = "The tuned model is not better than {baseline}"
        return words.format(baseline=results["baseline"])
    if not gain["real"]:
        words = "Tuning changed nothing that {rows} could show"
        return words.format(rows=counted(task_of(results), rows))
    size = difference_in_words(metric, abs(gain["difference"]))
    if gain["difference"] > 0:
        words = "Tuning gained {size}, likely real"
        if metric != "accuracy":
            words = "Tuning improved {metric} by {size}, likely real"
    else:
        words = "Tuning lost {size}: the default setting is better here"
    return words.format(size=size, metric=metric_in_short(metric))


def listed(classes: tuple[str, ...]) -> str:
    """Classes in a sentence: “a”, “b” and 3 others; few of them are named."""
    named = [f"“{name}”" for name in classes[:NAMED]]
    if rest := len(classes) - len(named):
        named.append("1 other" if rest == 1 else f"{rest} others")
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"


def line(results: dict[str, Any]) -> str:
    """The scores, and the 95 % confidence interval of the gain."""
    metric = results["metric"]
    tuned = score_in_words(results["test"][metric], metric)
    default = score_in_words(results["default_test"][metric], metric)
    words = "{metric} on test {units} {tuned}, against {default} with the default setting"
    if metric == "accuracy":
        words = "{tuned} of test {units} right, against {default} with the default setting"
    title = metric_in_short(metric)
    values = {"units": units(task_of(results)), "tuned": tuned, "default": default}
    said = words.format(metric=title[:1].upper() + title[1:], **values)
    baseline = (results.get("baseline_test") or {}).get(metric)
    if baseline is not None:
        words = "{said} and {score} knowing nothing"
        said = words.format(said=said, score=score_in_words(baseline, metric))
    if results.get("pairs"):
        said = f"{found_in_short(results['pairs']['tuned'])} · {said}"
    interval = _interval(results["gain"])
    return f"{said} · {interval}" if interval else said


def _interval(gain: dict[str, Any]) -> str:
    """The confidence interval of the gain; "" where there is none or no gain at all."""
    low, high, metric = gain.get("low"), gain.get("high"), gain["metric"]
    if low is None or high is None or low == high:
        return ""
    unit = " points" if metric in SHARES else ""
    words = "95\u00a0% confidence interval of the gain: {low} to {high}{unit}"
    return words.format(low=_signed(metric, low), high=_signed(metric, high), unit=unit)


def _signed(metric: str, value: float) -> str:
    sign = "+" if value > 0 else "−" if value < 0 else ""
    size = fixed(100 * abs(value), 1) if metric in SHARES else plain(abs(value))
    return f"{sign}{size}"


def in_plain_words(results: dict[str, Any], started: RunStarted) -> tuple[str, ...]:
    """The panel: on which rows, how sure, how far validation was above, and what it took."""
    said = (
        *which_models(results, started),
        *_on_which_rows(results, started),
        *averaged_in_words(results),
        *(costs_in_words(results["costs"]) if results.get("costs") else ()),
        results.get("metric_reason", ""),
        _how_sure(results, int(results.get("rows") or started.dataset.get("test_rows", 0))),
        _against_baseline(results),
        _validation(results),
        _switched_off(results),
        _what_it_took(results, started),
        _failures(results),
        evaluation_in_words(results),
        *results.get("remarks", ()),
    )
    return tuple(sentence for sentence in said if sentence)


def _on_which_rows(results: dict[str, Any], started: RunStarted) -> tuple[str, ...]:
    aside = size_of_test_set(started.dataset) or counted("", 0)
    if results.get("pairs"):
        return pairs_in_words(results["pairs"])
    if results.get("right"):
        words = "On {tested}, {model} is right on {tuned}, the default setting on {default}."
        right, whole = results["right"], results.get("sequences")
        said = words.format(
            tested=_tested(results, aside if whole else counted("", right["rows"])),
            tuned=right["tuned"],
            default=right["default"],
            model=tuned_in_words(results),
        )
        return (said, sequences_in_words(whole)) if whole else (said,)
    metric = results["metric"]
    words = "On {tested}, {model} has {metric} {tuned}, the default setting {default}."
    said = words.format(
        tested=_tested(results, aside),
        model=tuned_in_words(results),
        metric=metric_as_noun(metric),
        tuned=score_in_words(results["test"][metric], metric),
        default=score_in_words(results["default_test"][metric], metric),
    )
    return (said,)


def _tested(results: dict[str, Any], much: str) -> str:
    """Which rows were tested: "the test set of 81 rows"."""
    if results.get("folds"):
        words = "all {much}, each tested once by {folds}-fold cross-validation"
        return words.format(much=much, folds=results["folds"])
    words = "the test file of {much}" if results.get("second_file") else ""
    return (words or "the test set of {much}").format(much=much)


def _how_sure(results: dict[str, Any], rows: int) -> str:
    gain, metric = results["gain"], results["metric"]
    if gain.get("low") is None or gain.get("high") is None:
        return ""
    if gain["low"] == gain["high"] == 0:
        words = "Both do equally well on these {units}: there is no gain."
        return words.format(units=units(task_of(results)))
    said = _explained(gain)
    if gain["real"] and gain["difference"] > 0:
        words = "The gain is likely real. It could still be as small as {low}."
        return f"{said} {words.format(low=difference_in_words(metric, gain['low']))}"
    if gain["real"] and not results.get("validation"):
        return f"{said} " + "The loss is likely real."
    if gain["real"]:
        words = "The loss is likely real: what looked best in validation is worse here."
        return f"{said} {words}"
    if gain["low"] > 0:
        words = (
            "The tuned model likely beats the default setting, but not the baseline: the gain is "
            "of no use."
        )
        return f"{said} {words}"
    words = "With {rows} chance alone makes such differences."
    return f"{said} {words.format(rows=counted(task_of(results), rows))}"


def _explained(gain: dict[str, Any]) -> str:
    """The confidence interval and what such an interval means."""
    words = "{interval}. Of 20 such intervals, 19 contain the true gain{test}."
    test = ""
    if gain.get("p") is not None:
        p = "p < 0.001" if gain["p"] < 0.001 else f"p = {plain(gain['p'], 2)}"
        test = " ({method} test: {p})".format(method=gain["method"], p=p)
    return words.format(interval=_interval(gain), test=test)


def _against_baseline(results: dict[str, Any]) -> str:
    """What is gained over knowing nothing."""
    over = results.get("gain_over_baseline") or {}
    if over.get("difference") is None:
        return ""
    metric, baseline = results["metric"], results["baseline"]
    score = (results.get("baseline_test") or {}).get(metric)
    words = "Knowing nothing ({baseline}) gives {score}; {model} is {size} better."
    if over["difference"] <= 0:
        words = "Knowing nothing ({baseline}) gives {score}, which is no worse."
    return words.format(
        baseline=baseline,
        score=score_in_words(score, metric),
        model=tuned_in_words(results),
        size=difference_in_words(metric, abs(over["difference"])),
    )


def _validation(results: dict[str, Any]) -> str:
    """How far the validation score was above the test score, and whether that is chance."""
    metric = results["metric"]
    difference = results.get("optimism", results.get("flattery"))  # as earlier versions had it
    score = results.get("validation", {}).get(metric)
    if not results.get("validation"):
        return "No validation data was used: the test score is the only one."
    if difference is None or score is None:  # held-out rows gave a loss, not this metric
        return ""
    if any(remark.startswith(WARNINGS) for remark in results.get("remarks", ())):
        return ""  # said there
    said = score_in_words(score, metric)
    if difference <= 0:
        return f"The validation score, {said}, was no better than the test score."
    words = "The validation score, {score}, was {size} {way} the test score{chance}."
    error = results.get("optimism_error", results.get("flattery_error"))
    within = error is not None and difference <= SURE * error
    return words.format(
        score=said,
        size=difference_in_words(metric, difference),
        way="above" if results.get("maximize", True) else "below",
        chance=", no more than chance explains" if within else "",
    )


def _switched_off(results: dict[str, Any]) -> str:
    groups = results.get("switched_off") or []
    if not groups:
        return ""
    names = ", ".join(f"“{group}”" for group in groups[:LISTED])
    if len(groups) > LISTED:
        words = "{names} and {count} more"
        names = words.format(names=names, count=len(groups) - LISTED)
    return f"Switched off, because they add nothing: {names}."


def _what_it_took(results: dict[str, Any], started: RunStarted) -> str:
    values = {
        "fits": results["fits"],
        "trials": results["trials"],
        "time": duration_in_words(results["seconds"]),
    }
    if results["trials"]:
        said = "{trials} settings were tried in {time}, with {fits} fits.".format(**values)
    else:
        said = "Learning needed {fits} fits, and the whole run {time}.".format(**values)
    needed = grid_fits(started)
    if needed is None or needed <= results["fits"]:
        return said
    if needed > MOST_GRID:
        return f"{said} " + "A grid search over as much would never end."
    words = "A grid search would have needed {needed}."
    if started.kind == "penalties" and len(started.groups) > 1:
        words = "A grid search for one common penalty would have needed {needed}."
    return f"{said} {words.format(needed=f'{needed:,}')}"


def grid_fits(started: RunStarted) -> int | None:
    """Fits of the usual grid search for the same hyperparameters; None where the run was one.

    For penalties it is the search for a single one: a grid over every group's would never end.
    """
    folds = int(started.plan.get("folds", 5))
    if started.kind == "penalties":
        return PENALTY_GRID * folds + 1
    unlike = lists_values(started.plan.get("strategy", "")) or tunes_several(started)
    if unlike or not started.space:
        return None
    points = 1
    for axis in filter(varies, started.space):
        points *= len(axis["choices"]) if axis["kind"] == "choice" else GRID
    return points * folds + 1


def _failures(results: dict[str, Any]) -> str:
    failed = results.get("failed", 0)
    if not failed:
        return ""
    if failed == 1:
        return "One trial failed; the Tune page says why."
    return f"{failed} trials failed; the Tune page says why."
