"""What happens in the current run, in sentences."""

import math

from app.text.history_text import known_datasets_text, measured_against
from app.text.model_progress_text import what_is_next, who_leads
from app.text.plan_text import setting_text, what_is_held_out
from core.estimators.facts import uncapitalized
from core.estimators.model_settings import model_and_values, title_of
from core.estimators.multi_model import MODEL
from core.figures.example_figures import LabelPicture, PairPicture
from core.penalties.penalty_order import MAX_TIMES, order_text, times_text
from core.tuning import events
from core.tuning.patience import trials_before_stop
from core.tuning.runs.model_runs import model_leaderboard
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import Trial
from core.tuning.scores.score import difference_text, metric_in_short, score_text
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.strategies.strategy import RunContext
from core.wording import count_text, format_decimals, format_number, list_text, percent, quoted

PATIENCE = 8  # trials without improvement that are mentioned
HARDER = 3.0  # ratio of penalties that is mentioned
STILL = 1e-3  # relative change of an objective that hardly moves
MAX_LISTED_GROUPS = 4  # in a sentence


def narration(run: RunState) -> tuple[str, ...]:
    """Method, findings, and the current activity."""
    sentences = (
        *_method_sentences(run),
        *_finding_sentences(run),
        *_learning_sentences(run),
        *_averaging_sentences(run),
        *_current_sentences(run),
    )
    return tuple(sentence for sentence in sentences if sentence)


def _method_sentences(run: RunState) -> tuple[str, ...]:
    plan, group_count = run.started.run_plan, len(run.started.groups)
    proposing = run.surrogate is not None and run.surrogate.proposes
    # A surrogate that only illustrates the run proposes nothing.
    fitted = run.common or (run.surrogate if proposing else None)
    trial_count, task = fitted.trials if fitted else 0, run.started.dataset.task
    strategy = STRATEGIES.get(plan.strategy)  # None for one that is not installed
    context = RunContext(plan.options, trial_count, task, group_count, task.items)
    return (task.learning_text, strategy.works(context) if strategy is not None else "")


def _finding_sentences(run: RunState) -> list[str]:
    sentences = [what_is_held_out(run.started)]
    if run.history is not None:
        sentences.append(known_datasets_text(run.history, run.common))
    if run.common is not None:
        sentences.append(measured_against(run.common, run.history, run.started.metric))
    first = run.pending.get(0) or run.find_trial(0)
    if first is not None and first.reason == "past":
        sentences.append("The first trial was the setting that looked best on earlier datasets.")
    sentences += run.notices
    if run.tunes_several_models:
        failed = [f"{title_of(row.model)}: {row.why}" for row in model_leaderboard(run) if row.why]
        return [*sentences, who_leads(run), *failed, what_is_next(run)]
    best, default = run.best_trial, run.default_trial
    if run.ensemble is not None and which_is_ahead(run.ensemble, run):
        # which tells scores on other rows: two of the same trial would contradict each other
        sentences += [] if best is None else [f"The best so far is trial {best.number}."]
    elif best is not None and default is not None and best.number != default.number:
        scores = [score_text(trial.score, run.started.metric) for trial in (best, default)]
        words = f"The best so far is trial {best.number} with {scores[0]}; the default setting has"
        sentences.append(f"{words} {scores[1]}.")
    if (count := run.without_improvement) >= PATIENCE:
        words = f"No improvement for {count_text(count, 'trial')}: the best may have been found."
        sentences.append(words + _when_it_stops(run))
    return sentences


def _when_it_stops(run: RunState) -> str:
    trials_left = trials_before_stop(run) if run.tuning_ended is None and run.ended is None else 0
    # The budget may end the run before patience does.
    if not trials_left or (run.total and run.done_count + trials_left >= run.total):
        return ""
    return f" After {trials_left} more without a better one the run stops."


def _learning_sentences(run: RunState) -> list[str]:
    sentences = []
    if (step := run.last_step) is not None:
        off = step.switched_off or []
        sentences.append(_contrast(step, off))
        sentences.append(_switched_off(off))
        if isinstance(step, events.HyperGradientStep):
            at_bound = [group for group in step.at_bound if group not in off]
            names = list_text(quoted(at_bound), MAX_LISTED_GROUPS)
            if at_bound:
                sentences.append(f"At the end of the allowed range: the penalty of {names}.")
    examples = sequence_examples_text(run.labelled), molecule_examples_text(run.folded)
    return [*sentences, *examples, topics_text(run.topics), pictures_text(run.images)]


def _averaging_sentences(run: RunState) -> list[str]:
    ensemble, sentences = run.ensemble, list[str]()
    if ensemble is not None:
        sentences += [who_is_in(ensemble), of_which_models(ensemble, run)]
        sentences += [which_is_ahead(ensemble, run), who_is_left_out(ensemble)]
    if ensemble is None or len(ensemble.members) > 1:
        sentences.append(where_they_differ(run.disagreement))
    return sentences


def _current_sentences(run: RunState) -> list[str]:
    excluded = _excluded(run)
    # A run that is over tells how it ended, whatever came last.
    match run.ended:
        case events.RunFailed():
            return [run.ended.sentence, *excluded]
        case events.RunFinished() | events.RunStopped():
            return [f"The run has ended: {run.ended.because}.", *excluded]
    if (event := run.fold) is not None:
        sentence = (
            f"Now every row is tested once: the tuning is repeated {event.folds} times, each time "
            f"without the rows that test it. {event.fold} of {event.folds} parts are done."
        )
        return [sentence, *excluded]
    if run.resumed is not None:
        after = f" after {run.resumed.done} that are done already" if run.resumed.done else ""
        return [f"The run continues{after}.", *excluded]
    if run.learns_penalties:
        return [_step_text(run)]
    last = [] if run.latest is None else [_ended_trial_text(run, run.latest)]
    following = [] if run.begun is None else [_following(run, run.begun)]
    return [*last, *excluded, *following]


def _following(run: RunState, trial: events.TrialStarted) -> str:
    setting = setting_text(run.started, trial.setting)
    if trial.reason == "default":
        of_model = f"of {setting}" if run.tunes_several_models else f"({setting})"
        return f"Now: the default setting {of_model} is tried, to have a comparison."
    return f"Now: {setting} is tried{_why_tried(trial, run.started.metric)}"


def _excluded(run: RunState) -> list[str]:
    if run.exclusion is None:
        return []
    change = "is excluded: it cannot become the best" if run.exclusion.excluded else "counts again"
    return [f"Trial {run.exclusion.number} {change}."]


def _ended_trial_text(run: RunState, trial: Trial) -> str:
    if trial.failure:
        reason = trial.failure.strip() or "no reason was given"
        reason += "" if reason.endswith((".", "!", "?")) else "."
        return f"Trial {trial.number} failed: {reason} The run continues without it."
    setting = setting_text(run.started, trial.setting)
    if trial.behind:
        return f"Just now: {setting} was {ended_early(trial, run.started)}."
    rank = ", not as good as the best"
    if trial.number in run.excluded:
        rank = "; it does not count"
    elif run.best_trial is None or run.best_trial.number == trial.number:
        # The first score is the best of one, which would say nothing.
        rank = "; the first score there is" if run.finished == 1 else ". That is the best so far"
    elif run.best_trial.score == trial.score:
        rank = ", the same as the best"
    return f"Just now: {setting} scores {score_text(trial.score, run.started.metric)}{rank}."


def _why_tried(event: events.TrialStarted, metric: str) -> str:
    """The end of a sentence, after "is tried"."""
    match event.reason:
        case "explore" if event.uncertainty is not None:
            give_or_take = difference_text(metric, event.uncertainty)
            return f" because little is known there (give or take {give_or_take})."
        case "explore":
            return " because nothing is known there."
        case "improve" if event.expected is not None:
            expected = score_text(event.expected, metric)
            return f" because it may be better; about {expected} is expected."
        case "improve":
            return " because it may be better than the best."
        case "past" if MODEL in event.setting:
            return ", because it did best on an earlier dataset and well at the screening."
        case "past" if event.number > 0:
            return ", because it did best on an earlier dataset like this one."
        case "past":
            return " first, because settings like it did best on earlier datasets."
        case "hand":
            return ", because you asked for it."
        case "start":
            return ", to get a first picture."
        case "sample":
            return _why_drawn(event)
    strategy = STRATEGIES.get(event.reason)
    # A strategy of a package that is gone has no words left.
    return f"; it {strategy.why}." if strategy is not None and strategy.why else "."


def _contrast(step: events.PenaltyStep | events.HyperGradientStep, switched_off: list[str]) -> str:
    ranges, least = {group: [C, C] for group, C in step.penalties.items()}, ""
    if isinstance(step, events.HyperGradientStep):
        # Rows that were held out tell groups apart only where their folds agree.
        ranges, least = step.ranges or {}, "at least "
    # What is switched off has no penalty to compare with.
    alive = {g: ends for g, ends in ranges.items() if g not in switched_off and ends[0] > 0}
    if len(alive) < 2:
        return ""
    hardest, softest = max(alive, key=lambda g: alive[g][0]), min(alive, key=lambda g: alive[g][1])
    times = alive[hardest][0] / alive[softest][1]
    # Ratios near 1 come and go with every step.
    if times < HARDER:
        return order_text(alive) if least else "All groups have about the same penalty so far."
    least = "" if times > MAX_TIMES else least
    return f"“{hardest}” is penalized {least}{times_text(times)} times harder than “{softest}”."


def _switched_off(groups: list[str]) -> str:
    names = list_text(quoted(groups), MAX_LISTED_GROUPS)
    if len(groups) < 2:
        return f"{names} is switched off and no longer counts." if groups else ""
    return f"{len(groups)} groups are switched off and no longer count: {names}."


def _step_text(run: RunState) -> str:
    if isinstance(run.last_step, events.HyperGradientStep):
        return _gradient_step(run)
    if run.last_step is None:
        return ""
    event, before = run.last_step, run.steps[-2].objective if len(run.steps) > 1 else math.nan
    if event.step == 0 or not math.isfinite(before):
        return "At the start all penalties are equal; the model is fitted once."
    start, end = format_number(before, 4), format_number(event.objective, 4)
    decrease = before - event.objective
    if abs(decrease) <= STILL * abs(before):
        return f"Step {event.step}: the objective hardly moves any more ({end})."
    verb = "falls" if decrease > 0 else "rises"
    return f"Step {event.step}: the objective {verb} from {start} to {end}."


def _gradient_step(run: RunState) -> str:
    event = run.gradients[-1]
    before = run.gradients[-2].holdout_loss if len(run.gradients) > 1 else math.nan
    if event.step == 0 or not math.isfinite(before):
        when, verb = "At the start", "is"
    else:
        when, verb = f"Step {event.step}:", "stays at"
        if event.holdout_loss < before:
            verb = "falls to"
    units, loss = run.started.dataset.task.units, format_number(event.holdout_loss, 4)
    return f"{when} the error on held-out {units} {verb} {loss}."


MAX_NAMED_MEMBERS = 3  # members listed with their weight
ONE_IN = 10  # one trial in ten is averaged
FOCUSED = 2.0  # effective candidates below which hardly any choice is left
HARDLY = 0.005  # negligible relative difference of scores
ALIKE = 1e-6  # relative difference of equal weights


def who_is_in(event: events.EnsembleUpdated) -> str:
    """The members of the average and their weights."""
    counting = [(n, w) for n, w in zip(event.members, event.weights, strict=True) if w > 0]
    if len(event.members) == 1:
        return _only_member(event)
    weights = [weight for _, weight in counting]
    if len(counting) == len(event.members) and max(weights) - min(weights) <= ALIKE:
        count, words = len(counting), {2: "half", 3: "a third", 4: "a quarter", 5: "a fifth"}
        share = words.get(count, percent(1.0 / count))
        return f"{count} trials are in the average; each counts {share}."
    # The heaviest members are named.
    counting.sort(key=lambda pair: -pair[1])
    named = ", ".join(f"trial {n} {percent(weight)}" for n, weight in counting[:MAX_NAMED_MEMBERS])
    n_unnamed = len(counting) - MAX_NAMED_MEMBERS
    if n_unnamed > 0:
        named += f" and {n_unnamed} more the rest"
    sentence = f"{len(counting)} trials are in the average: {named}."
    weightless = len(event.members) - len(counting)
    if weightless == 1:
        sentence += " One more of the best gets no weight, because it would not improve it."
    elif weightless:
        more = f"{weightless} more of the best get no weight, because they would not improve it."
        sentence += f" {more}"
    return sentence


def of_which_models(event: events.EnsembleUpdated, run: RunState) -> str:
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


def _only_member(event: events.EnsembleUpdated) -> str:
    number, two = event.members[0], 2 * ONE_IN
    # With twice as many trials others were left out, or were no better: the count alone explains it
    # no longer.
    if event.finished >= two or event.kind:
        return f"The average has one member, trial {number}."
    return f"The average has one member so far, trial {number}; from {two} trials on there are two."


def which_is_ahead(event: events.EnsembleUpdated, run: RunState) -> str:
    """The average against the single best on validation data, or ""."""
    if event.average is None or event.single is None or len(event.members) == 1:
        return ""
    metric, default = run.started.metric, run.unchosen_default
    average, single = score_text(event.average, metric), score_text(event.single, metric)
    names = f"the average has {metric_in_short(metric)} {average}, the single best {single}"
    names += "" if default is None else f", the default setting {score_text(default, metric)}"
    ahead = event.average - event.single
    ahead = ahead if run.maximize else -ahead
    size = difference_text(metric, abs(ahead))
    if abs(ahead) <= HARDLY * abs(event.single):
        words = "they hardly differ"
    else:
        words = f"the {'average' if ahead > 0 else 'single best'} is ahead by {size}"
    return f"On validation data that chose none of them, {names}: {words}."


def who_is_left_out(event: events.EnsembleUpdated) -> str:
    """Why good trials are left out, or ""."""
    reasons = [omitted_trial.reason for omitted_trial in event.left_out]
    if len(reasons) <= 1:
        return "".join(reasons)
    more = "is one other" if len(reasons) == 2 else f"are {len(reasons) - 1} others"
    return f"{reasons[-1]} So {more}."


def where_they_differ(event: events.MembersDisagree) -> str:
    """The row with the most disagreement, or ""."""
    if not event.rows or len(event.members) < 2:
        return ""
    row, likely = event.rows[0], ""
    if len(event.classes) == 2:
        likelihoods = [member_shares[1] for member_shares in row.said]
        low, high = percent(min(likelihoods)), percent(max(likelihoods))
        likely = f": “{event.classes[1]}” is {low} to {high} likely"
    return f"The members disagree most about row {row.row + 1}{likely}."


def _why_drawn(event: events.TrialStarted) -> str:
    words = "; it is drawn from what the scores so far make likely."
    if event.candidates is None:
        return words
    if event.candidates < FOCUSED:
        return f"{words} Hardly any other setting is a candidate."
    # Two digits: 1442 says no more than 1400.
    count = format_number(float(f"{event.candidates:.2g}"), 4)
    return f"{words} The effective number of candidate settings is about {count}."


def sequence_examples_text(event: events.SequencesLabelled) -> str:
    """Right tokens of the shown sequences."""
    pictures = [LabelPicture(sequence, event.classes) for sequence in event.sequences]
    right = [is_right for picture in pictures for is_right in picture.is_right]
    sure = sum(max(shares, default=0.0) for s in event.sequences for shares in s.marginals)
    if not right:
        return ""
    return (
        f"In the {len(pictures)} training sequences shown, the model labels {sum(right)} of "
        f"{len(right)} tokens rightly; it is {format_decimals(100 * sure / len(right), 0)}\u00a0% "
        "sure on average."
    )


def molecule_examples_text(event: events.MoleculesFolded) -> str:
    """Base pairs found and called in the shown molecules."""
    pictures = [PairPicture(molecule) for molecule in event.molecules]
    called = sum(len(picture.predicted_pairs) for picture in pictures)
    true = sum(len(picture.true_pairs) for picture in pictures)
    right = sum(len(picture.predicted_pairs & picture.true_pairs) for picture in pictures)
    if not pictures:
        return ""
    return (
        f"In the {len(pictures)} training molecules shown, the model finds {right} of {true} true "
        f"base pairs; {right} of the {called} pairs it calls are right."
    )


NAMED_TOPICS, NAMED_WORDS = 2, 4


def topics_text(event: events.TopicsFound) -> str:
    """How many topics there are, and the largest, or ""."""
    if not event.topics:
        return ""
    topic_texts = [
        f"“{', '.join(topic.words[:NAMED_WORDS])}” ({percent(topic.share)} of all words)"
        for topic in event.topics[:NAMED_TOPICS]
    ]
    count, texts, named = event.count, f"{event.documents:,} texts", " and ".join(topic_texts)
    if count == 1:
        return f"The best setting so far puts the words of all {texts} into one topic: {named}."
    return (
        f"The best setting so far finds {count} topics, groups of words that come together, in "
        f"{texts}; the largest: {named}."
    )


def pictures_text(event: events.ImagesDrawn) -> str:
    """The drawn and reconstructed pictures."""
    if not event.samples:
        return ""
    sentence = (
        f"The best setting so far generates {len(event.samples)} pictures: no such picture is in "
        "the data, the model draws them at random from its latent variables."
    )
    seen = "Beside them are pictures of the data as they are reconstructed from these."
    return f"{sentence} {seen}" if event.reconstructions else sentence


def ended_early(trial: Trial, started: events.RunStarted) -> str:
    """Such as "ended early: clearly behind after 2 of 5 folds"."""
    folds = started.run_plan.folds * started.repeats
    return f"ended early: clearly behind after {trial.fits} of {folds} folds"
