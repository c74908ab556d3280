"""What is said of columns, of more rows, and of a threshold."""

from __future__ import annotations

from typing import Any

from app.text.numbers import fixed, percent, plain
from app.text.scores import difference_in_words, metric_in_short

FEW_TRIALS = 25
MOST_ALIKE = 2  # groups of alike columns that are named


def columns_in_words(answer: dict[str, Any]) -> str:
    """Which columns say the same, and what was left out, a few sentences."""
    said = []
    for one in answer.get("alike", [])[:MOST_ALIKE]:
        names = one["names"]
        few = f"{', '.join(names[:2])} and {len(names) - 2} more" if len(names) > 3 else ""
        named = few or " and ".join([", ".join(names[:-1]), names[-1]])
        said.append(
            f"{named} say nearly the same (correlation {fixed(one['least'], 2)} or more): each can "
            "stand for the other, so that all look unimportant."
        )
    if (more := len(answer.get("alike", [])) - MOST_ALIKE) > 0:
        said.append(f"So do {more} more group{'s' if more > 1 else ''} of columns.")
    if answer.get("screened"):
        shown, total = len(answer["columns"]), answer["total"]
        said.append(
            f"Of {total} columns the {shown} that its answers go along with most were shuffled."
        )
    if answer.get("rows", 0) < answer.get("test_rows", 0):
        said.append(f"{answer['rows']:,} of {answer['test_rows']:,} test rows, drawn at random.")
    if not answer.get("done", True):
        said.append(f"{answer['shuffled']:,} of {answer['asked']:,} columns shuffled so far.")
    return " ".join(said)


def settings_in_words(answer: dict[str, Any]) -> str:
    """What settings explain together only, and which trials tell it."""
    rest = percent(answer["together"])
    said = [f"The other {rest} lies in several settings together, or in chance."]
    trials, of = answer["trials"], answer["of"]
    said.append(f"{trials:,} of {of:,} trials, drawn at random." if trials < of else "")
    if trials < FEW_TRIALS:
        said.append(f"{trials} trials tell little: see how long the lines are.")
    return " ".join(filter(None, said))


def learning_in_words(answer: dict[str, Any]) -> str:
    """Would more rows help, a sentence of the answer."""
    gain = answer.get("gain")
    if not answer.get("done"):
        return "More sizes are being tried …"
    if gain is None:
        return "There are too few rows to tell."
    metric = answer["metric"]
    low, high = (difference_in_words(metric, gain[end]) for end in ("low", "high"))
    how = (
        f"from {gain['from']} to {gain['to']} training rows, {metric_in_short(metric)} became "
        f"better by {difference_in_words(metric, gain['mean'])} (95\u00a0% confidence interval "
        f"{low} to {high})"
    )
    first = {
        "yes": "Yes, likely",
        "no": "No, likely not",
        "unclear": "That cannot be told",
    }[answer["answer"]]
    last = {
        "yes": "Twice as many rows may help again, usually by less.",
        "no": "Other columns or another model are likelier to help.",
        "unclear": "If more rows help, then by little.",
    }[answer["answer"]]
    return f"{first}: {how}. {last}"


def threshold_in_words(
    label: str, threshold: float, scale: str, counts: tuple[int, int, int, int]
) -> str:
    """What a threshold does.

    Args:
        label: the class.
        threshold: from which on a row is called it.
        scale: probability or score.
        counts: true positives, false positives, rows of the class, others.
    """
    true, false, of_class, others = counts
    called = true + false
    recall = percent(true / of_class) if of_class else "–"
    precision = percent(true / called) if called else "–"
    return (
        f"“{label}” from a {scale} of {plain(threshold)} on: {true} of {of_class} are found "
        f"(recall {recall}), {of_class - true} missed; {called} are called “{label}”, {true} "
        f"of them rightly (precision {precision}); {others - false} of {others} others "
        "are left alone."
    )
