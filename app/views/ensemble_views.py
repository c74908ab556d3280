"""The views of an average over models: its members, its score, how its trials are drawn."""

import numpy as np

from app.views.plot.scrolled_views import ScrolledBars
from app.views.plot.view import View
from core.figures import member_figures as figures
from core.figures.figure import Bars, Dots, Figure
from core.figures.run_figures import average_figure, candidates_figure, scored_averages
from core.tuning import events
from core.tuning.runs.trial_table import tunes_several
from core.wording import count_text, percent


class EnsembleView(View):
    """A view of runs that average their best models."""

    @classmethod
    def wants(cls, started: events.RunStarted) -> bool:
        return super().wants(started) and started.averages

    @property
    def shown_moment(self) -> int:
        return self.moment_of(self.run.ensemble)


BAR_TARGETS = 9  # places of a bar that can be clicked


class MemberWeights(EnsembleView, ScrolledBars):
    """A bar a member, the best first."""

    name = "members"
    title = "Who is in the average"
    question = "Who predicts together, how much does each count, and how good was its trial?"
    waiting = "The first model joins the average when the first trial has a score."
    listed = "Members shown"
    listens = (
        *(events.EnsembleUpdated, events.TrialFinished, events.TrialExcluded),
        *(events.RunFinished, events.RunStopped),
    )
    late = True
    names_share = 0.4

    def has_content(self) -> bool:
        return bool(self.run.weights)

    def is_needed(self) -> bool:
        return sum(weight > 0 for weight in self.run.weights.values()) > 1

    def figure(self) -> Figure:
        return figures.live_members_figure(self.run, self.record.best_k)

    def draw(self) -> None:
        super().draw()
        ranked = figures.ranked_trials(self.run, self.record.best_k)
        bars = self.shown_figure().mark(Bars, "bars")
        numbers = figures.shown_members(self.run, ranked)
        rows = {number: row for row, number in enumerate(numbers)}
        heights = [rows.get(number, np.nan) for number in self.run.numbers.tolist()]
        ends = [bars.ends[rows[n]] if n in rows else np.nan for n in self.run.numbers.tolist()]
        self.ring_trials(np.array(ends, float), np.array(heights, float))
        # A bar is to be met anywhere, not at its end alone.
        shares = np.linspace(0.0, 1.0, BAR_TARGETS)
        x, y = np.outer(bars.ends, shares).ravel(), np.repeat(bars.rows, BAR_TARGETS)
        self.canvas.set_pickable(self.plot, x, y, np.repeat(numbers, BAR_TARGETS))
        count = len(ranked) - len(numbers)
        omitted_text = f" Not in it: {count_text(count, 'other trial')}." if count else ""
        self.set_question(f"{self.question}{omitted_text}")

    def _trial_text(self, number: int) -> str:
        words = f"weight {percent(self.run.weights.get(number, 0.0))} of the average"
        reason = figures.omission_reasons(self.run).get(number, "")
        return "\n".join(line for line in (super()._trial_text(number), words, reason) if line)


class Disagreement(EnsembleView, ScrolledBars):
    """A dot a member for each held-out row; a diamond is the truth."""

    name = "disagreement"
    title = figures.DISAGREEMENT
    question = "On which held-out rows do the averaged models disagree most?"
    waiting = "Rows appear here when the average has two members, which is after 20 trials."
    wide = True
    late = True
    has_legend = True
    names_share = 0.5
    listed = "Rows shown"
    listens = (events.MembersDisagree,)

    @classmethod
    def wants(cls, started: events.RunStarted) -> bool:
        has_holdout_rows = started.judged != "training" and not tunes_several(started)
        return super().wants(started) and has_holdout_rows

    def has_content(self) -> bool:
        return bool(self.run.disagreement.rows) and len(self.run.disagreement.members) > 1

    def figure(self) -> Figure:
        return figures.disagreement_figure(self.run.disagreement, self.record.selected)

    def draw(self) -> None:
        super().draw()
        dots, event = self.shown_figure().mark(Dots, "members"), self.run.disagreement
        numbers = np.tile(np.array(event.members), len(event.rows))
        self.canvas.set_pickable(self.plot, np.array(dots.x), np.array(dots.y), numbers)


class AverageAgainstBest(EnsembleView):
    """Solid with circles: the average; dashed with diamonds: the best; a level: the default."""

    name = "average"
    title = "Average against single best"
    question = (
        "Does the average beat the one best setting, on validation data that chose neither? “Best "
        "so far” looks better: its rows chose it."
    )
    waiting = "They appear here when the average has two members, which is after 20 trials."
    zooms = True
    late = True
    listens = (events.EnsembleUpdated, events.RunFinished, events.RunStopped, events.RunResumed)

    def has_content(self) -> bool:
        return bool(scored_averages(self.run))

    def waiting_reason(self) -> str:
        if not self.run.ensembles and tunes_several(self.run.started):
            return "They appear here as soon as two trials have a score on all folds."
        if self.run.started.judged == "training":
            return (
                "No rows are held out here that could say which is better: settings are judged by "
                "the training rows. The Results page compares both on test data when the run has "
                "ended."
            )
        if len(self.run.weights) < 2:
            return super().waiting_reason()
        return (
            "The members' predictions of held-out rows are not at hand: the run was resumed, or "
            "this score can only be had of a whole model. The Results page compares both on test "
            "data when the run has ended."
        )

    def figure(self) -> Figure:
        return average_figure(self.run)


class EffectiveCandidates(EnsembleView):
    """The number for every trial, on a log scale."""

    name = "focus"
    title = "Effective number of candidates"
    question = (
        "Among how many settings is the next one drawn? 1: it is certain. 4,096: it could be "
        "anywhere."
    )
    waiting = "It appears here when the first even spread of trials is done."
    zooms = True
    late = True
    listens = (events.TrialFinished, events.TrialFailed, events.RunResumed)

    @classmethod
    def wants(cls, started: events.RunStarted) -> bool:
        return super().wants(started) and not tunes_several(started)

    def has_content(self) -> bool:
        return any(trial.candidates for trial in self.run.trials)

    def figure(self) -> Figure:
        return candidates_figure(self.run)

    def draw(self) -> None:
        super().draw()
        counts = [trial.candidates or np.nan for trial in self.run.trials]
        self.mark_trials(self.run.numbers, np.log10(np.array(counts, dtype=float)))
