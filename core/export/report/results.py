"""The report's sections on what came out: scores, errors, the setting and the penalties."""

from __future__ import annotations

from functools import partial
from typing import Any

from core.estimators.settings import side_by_side
from core.export.average import members_of
from core.export.finished_run import FinishedRun
from core.export.report import figures
from core.export.report.html import folded, paragraphs, section, table
from core.export.report.structured import curve_section, example_sections, gammas_of, unit
from core.tuning.events import PenaltyStep
from core.tuning.scores.metrics import METRICS

TRUSTED = "Can its probabilities be trusted?"
MOST_SPELT = 8  # labels with words beside them in the table of errors


def result_sections(run: FinishedRun) -> list[str]:
    """The sections that this run's results can fill, in reading order."""
    results = run.results
    sections = [_scores(run)]
    if calibration := results.get("calibration"):
        sections.append(_calibration(run, calibration))
    if predictions := results.get("predictions"):
        sections.append(_predictions(run, predictions))
    if curve := results.get("curve"):
        sections.append(curve_section(curve, gammas_of(results)["tuned"]))
    if confusion := results.get("confusion"):
        sections.append(_confusion(confusion, unit(run.takeaway.task)))
    if costs := results.get("costs"):
        sections.append(_costs(costs))
    if run.learned_penalties:
        sections.append(_penalties(run))
    if results.get("setting") and not run.learned_penalties:
        sections.append(_setting(run))
    return [*sections, *example_sections(run)]


def score_words(metric: str, score: float | None) -> str:
    """A score as people say it: "87.7 %" for shares of rows, a plain number otherwise."""
    if score is None:
        return "–"
    share = metric in METRICS and METRICS[metric].share
    return f"{100 * score:.1f}\N{NO-BREAK SPACE}%" if share else f"{score:.4g}"


def _scores(run: FinishedRun) -> str:
    results, metric = run.results, run.results["metric"]
    test, default = results["test"], results.get("default_test", {})
    baseline = results.get("baseline_test") or {}
    model = "average" if len(members_of(run)) > 1 else "tuned"
    rows = [
        (name, scores[metric], *interval)
        for name, scores, interval in (
            (model, test, results.get("test_interval")),
            ("default setting", default, results.get("default_interval")),
            ("knowing nothing", baseline, results.get("baseline_interval")),
        )
        if scores.get(metric) is not None and interval and None not in interval
    ]
    title = METRICS[metric].title
    label = f"{title[0].lower()}{title[1:]}, on test {unit(run.takeaway.task)}"
    say = partial(score_words, metric)
    drawn = figures.scores(rows, label, say) if rows else ""
    validation = results.get("validation", {})
    columns = {"tuned": test, "default": default, "nothing": baseline, "validation": validation}
    known = {name: scores for name, scores in columns.items() if scores}
    names = list(dict.fromkeys([*test, *default]))
    as_table = table(
        ("measure", *known),
        [(_title(n), *(score_words(n, s.get(n)) for s in known.values())) for n in names],
        row_heads=True,
    )
    notes = [f"Nothing: the baseline, {results['baseline']}."] if baseline else []
    if validation:
        notes.append("Validation: the tuned setting's score during tuning.")
    question = "Dot: score on the test set. Line: its 95 % confidence interval."
    body = drawn + as_table + paragraphs([" ".join(notes)])
    return section("Was tuning worth it?", question, body, "wide fitted")


def _title(measure: str) -> str:
    return METRICS[measure].title if measure in METRICS else measure.replace("_", " ")


def _calibration(run: FinishedRun, calibration: dict[str, Any]) -> str:
    predicted, observed = calibration["predicted"], calibration["observed"]
    label = str(run.takeaway.classes[-1]) if run.takeaway.classes else "the class"
    drawn = figures.calibration(predicted, observed, label)
    rows = zip(predicted, observed, calibration["counts"], strict=True)
    as_table = table(("said", "seen", "rows"), [(round(p, 3), round(o, 3), n) for p, o, n in rows])
    question = "On the dashed line, 70 % means 70 %."
    body = drawn + folded("As a table", as_table)
    return section(TRUSTED, question, body, "narrow")


def _predictions(run: FinishedRun, predictions: dict[str, Any]) -> str:
    actual, tuned = predictions["actual"], predictions["tuned"]
    drawn = figures.predictions(actual, tuned, run.takeaway.target)
    as_table = folded(
        "As a table", table(("actual", "predicted"), list(zip(actual, tuned, strict=True)))
    )
    question = "Each dot is a row of the test set. On the dashed line it is right."
    return section("How close are the predictions?", question, drawn + as_table, "narrow")


def _confusion(confusion: dict[str, Any], rows_are: str) -> str:
    labels, counts = confusion["labels"], confusion["tuned"]
    recall = [_share(row[i], sum(row)) for i, row in enumerate(counts)]
    precision = [_share(row[i], sum(one[i] for one in counts)) for i, row in enumerate(counts)]
    # With many labels "is" and "said" in every cell would make the table wider than the page.
    few = len(labels) <= MOST_SPELT
    rows = [
        (f"is {label}" if few else label, *row, share)
        for label, row, share in zip(labels, counts, recall, strict=True)
    ]
    rows.append(("precision", *precision, ""))
    said = [f"said {label}" if few else label for label in labels]
    diagonal = frozenset((i, i + 1) for i in range(len(labels)))
    body = table(("", *said, "recall"), rows, row_heads=True, marked=diagonal)
    question = f"{rows_are.capitalize()} of the test set."
    question += "" if few else " A row is what they are, a column what the model says."
    question += (
        " Recall: the share of a class that is found. Precision: the share of answers that are "
        "right."
    )
    kind = "half" if len(labels) < 6 else "" if few else "tight"
    return section("Where is it wrong?", question, body, kind)


def _costs(told: dict[str, Any]) -> str:
    (first, a), (second, b) = told["costs"].items()
    ways = (
        (f"threshold {told['threshold']:.2g}", told["tuned"]),
        ("threshold 0.5", told["half"]),
        (f"always “{told['baseline']['says']}”", told["baseline"]),
    )
    rows = [
        (way, of["mistakes"][second], of["mistakes"][first], f"{of['cost']:.3g}")
        for way, of in ways
    ]
    head = ("", f"{second} called {first}", f"{first} called {second}", "cost of a row")
    body = table(head, rows, row_heads=True)
    question = (
        f"To call “{second}” “{first}” costs {b:g}, to call “{first}” “{second}” {a:g}. "
        "Test rows, which had no part in the threshold."
    )
    return section("What do its mistakes cost?", question, body, "half")


def _share(right: int, of: int) -> str:
    return f"{100 * right / of:.1f}\N{NO-BREAK SPACE}%" if of else "–"


def _setting(run: FinishedRun) -> str:
    tuned, default = run.results["setting"], run.results.get("default_setting", {})
    compared = side_by_side(run.plan.model, tuned, default, run.labels_of)
    rows = [(one.label, one.name, one.tuned, one.default) for one in compared]
    ours = unit(run.takeaway.task) != "rows" or run.model.folder
    name = "name" if ours else "in scikit-learn"
    body = table(("setting", name, "tuned", "default"), rows, row_heads=True)
    if len(members_of(run)) > 1:
        return section("The best member's setting", "The others are further below.", body, "half")
    return section("The tuned setting", "What would you type to get this model?", body, "half")


def _penalties(run: FinishedRun) -> str:
    takeaway, off = run.takeaway, run.results.get("switched_off", [])
    steps = run.of_kind(PenaltyStep)
    norms = steps[-1].norms if steps else {}
    drawn = figures.penalty_bars(takeaway.penalties, off) if len(takeaway.penalties) > 1 else ""
    rows = [
        (name, "switched off", None, norms.get(name))
        if name in off
        else (name, penalty, 1 / penalty if penalty > 0 else None, norms.get(name))
        for name, penalty in sorted(
            takeaway.penalties.items(), key=lambda item: (item[0] in off, item[1])
        )
    ]
    other = "1/λ, scikit-learn's C" if unit(takeaway.task) == "rows" else "1/λ"
    as_table = table(("group", "penalty (λ)", other, "size of its weights"), rows)
    body = drawn + (folded("As a table", as_table) if drawn else as_table)
    if (hidden := len(takeaway.penalties) - figures.MOST_BARS) > 0:
        body += paragraphs([f"The {hidden} groups in the middle are in the table only."])
    trusted = {"sequence": "kinds of weights", "structure": "motifs"}
    what = trusted.get(takeaway.task, "columns")
    return section("Learned group penalties", f"Which {what} does the model trust?", body)
