"""The average in plain words."""

from __future__ import annotations

from app.text.number_format import format_number, percent
from app.text.score_text import metric_in_short
from core.estimators.facts import uncapitalized
from core.estimators.model_settings import model_and_values, title_of
from core.tuning.events import EnsembleUpdated, MembersDisagree, RunStarted, TrialStarted
from core.tuning.runs.state import RunState

MAX_NAMED_MEMBERS = 3  # members listed with their weight
ONE_IN = 10  # one trial in ten is averaged
FOCUSED = 2.0  # effective candidates below which hardly any choice is left
HARDLY = 0.005  # negligible relative difference of scores
ALIKE = 1e-6  # relative difference of equal weights


def who_is_in(event: EnsembleUpdated) -> str:
    """The members of the average and their weights."""
    counting = [(n, w) for n, w in zip(event.members, event.weights, strict=True) if w > 0]
    if len(event.members) == 1:
        return _only_member(event)
    weights = [weight for _, weight in counting]
    if len(counting) == len(event.members) and max(weights) - min(weights) <= ALIKE:
        share, count = _equal_share(len(counting)), len(counting)
        return f"{count} of {event.finished} models are in the average; each counts {share}."
    counting.sort(key=lambda pair: -pair[1])
    named = ", ".join(f"trial {n} {percent(weight)}" for n, weight in counting[:MAX_NAMED_MEMBERS])
    n_unnamed = len(counting) - MAX_NAMED_MEMBERS
    if n_unnamed > 0:
        named += f" and {n_unnamed} more the rest"
    sentence = f"{len(counting)} of {event.finished} models are in the average: {named}."
    weightless = len(event.members) - len(counting)
    if weightless:
        more = f"{weightless} more of the best get no weight, because they would not improve it."
        if weightless == 1:
            more = "One more of the best gets no weight, because it would not improve it."
        sentence = f"{sentence} {more}"
    return sentence


def of_which_models(event: EnsembleUpdated, run: RunState) -> str:
    """How many members each model has; "" for one model."""
    kinds: dict[str, int] = {}
    for number, weight in zip(event.members, event.weights, strict=True):
        trial = run.find_trial(number)
        if weight > 0 and trial is not None:
            title = title_of(model_and_values(run.started.run_plan.model, trial.setting)[0])
            kinds[title] = kinds.get(title, 0) + 1
    if not run.tunes_several_models or len(kinds) < 2:
        return ""
    ranked = sorted(kinds, key=lambda title: -kinds[title])
    return f"They are {', '.join(f'{kinds[t]} × {uncapitalized(t)}' for t in ranked)}."


def _only_member(event: EnsembleUpdated) -> str:
    words = "The average has one member so far, trial {number}; from {two} trials on there are two."
    if event.finished >= 2 * ONE_IN or event.kind:  # others were left out, or were no better
        words = "The average has one member, trial {number}."
    return words.format(number=event.members[0], two=2 * ONE_IN)


def _equal_share(count: int) -> str:
    words = {2: "half", 3: "a third", 4: "a quarter", 5: "a fifth"}
    return words.get(count, percent(1.0 / count))


def which_is_ahead(event: EnsembleUpdated, run: RunStarted) -> str:
    """The average against the single best on validation data, or ""."""
    if event.average is None or event.single is None or len(event.members) == 1:
        return ""
    average, single = format_number(event.average, 4), format_number(event.single, 4)
    ahead = event.average - event.single
    ahead = ahead if run.maximize else -ahead
    size = format_number(abs(ahead), 2)
    if abs(ahead) <= HARDLY * abs(event.single):
        words = "they hardly differ"
    else:
        words = f"the {'average' if ahead > 0 else 'single best'} is ahead by {size}"
    return (
        "On validation data that chose neither, the average has "
        f"{metric_in_short(run.metric)} {average} and the single best {single}: {words}."
    )


def who_is_left_out(event: EnsembleUpdated) -> str:
    """Why good trials are left out, or ""."""
    reasons = [omitted_trial.reason for omitted_trial in event.left_out]
    if len(reasons) <= 1:
        return "".join(reasons)
    more = f"So are {len(reasons) - 1} others."
    if len(reasons) == 2:
        more = "So is one other."
    return f"{reasons[-1]} {more}"


def where_they_differ(event: MembersDisagree) -> str:
    """The row with the most disagreement, or ""."""
    if not event.rows or len(event.members) < 2:
        return ""
    row = event.rows[0]
    if len(event.classes) == 2:
        likelihoods = [member_shares[1] for member_shares in row.said]
        low, high = percent(min(likelihoods)), percent(max(likelihoods))
        likely = f"“{event.classes[1]}” is {low} to {high} likely"
        return f"The members disagree most about row {row.row + 1}: {likely}."
    return f"The members disagree most about row {row.row + 1}."


def why_drawn(event: TrialStarted) -> str:
    """Why a drawn setting is tried, with a placeholder for it."""
    words = "Now: {setting} is tried; it is drawn from what the scores so far make likely."
    if event.candidates is None:
        return words
    if event.candidates < FOCUSED:
        return f"{words} {'Hardly any other setting is a candidate.'}"
    among = "The effective number of candidate settings is about {count}."
    rough = float(f"{event.candidates:.2g}")  # two digits: 1442 says no more than 1400
    return f"{words} {among.replace('{count}', format_number(rough, 4))}"
