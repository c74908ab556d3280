"""The views of trials' scores: the best so far, and what was predicted of each."""

import numpy as np

from app.text.plan_text import surrogate_of
from app.views.plot.view import View
from app.views.surrogate_view import WITH_HISTORY
from core.figures import run_figures as figures
from core.figures.figure import Figure
from core.tuning import events


class BestSoFar(View):
    """Dots for trials, crosses for failures, a staircase for the best."""

    name = "best"
    title = "Best so far"
    question = "Is it still getting better?"
    waiting = "Scores appear here when the first trial is done."
    zooms = True
    listens = (
        *(events.TrialFinished, events.TrialFailed, events.TrialExcluded),
        *(events.Progress, events.RunResumed),
    )

    def has_content(self) -> bool:
        return bool(self.run.trials)

    def figure(self) -> Figure:
        return figures.best_so_far_figure(self.run, self.record.filtered())

    def draw(self) -> None:
        super().draw()
        # What lies at an edge can be chosen there, failed trials too.
        self.mark_trials(self.run.numbers, self.plot.seen_heights(self.run.scores))
        self.set_question(self.question)


class Timeline(View):
    """A bar a trial, in its worker's row."""

    name = "timeline"
    title = "When did each trial run?"
    question = "Which trials took long, ended early or failed, and how many ran at a time?"
    waiting = "Trials appear here as they end."
    has_legend = True
    late = True
    of_all = True
    interval = 0.2
    listens = (events.TrialFinished, events.TrialFailed)

    def has_content(self) -> bool:
        return len(self.run.trials) > 1

    def figure(self) -> Figure:
        return figures.timeline_figure(self.run)


class PredictedVsObserved(View):
    """A dot a trial with a whisker of one deviation."""

    name = "predicted"
    title = "Predicted and observed score"
    question = "Do trials come out as predicted? On the line they do."
    of_history = "Do first trials come out as earlier datasets predict? On the line they do."
    waiting = "Trials appear here as soon as the strategy predicts their scores."
    listens = (events.TrialFinished, events.TrialFailed, events.TrialExcluded)
    late = True

    @classmethod
    def wants(cls, started: events.RunStarted) -> bool:
        return bool(surrogate_of(started))

    def start(self, started: events.RunStarted) -> None:
        earlier = surrogate_of(started) in WITH_HISTORY
        self.question = self.of_history if earlier else type(self).question
        self.set_words(self.title, self.question)

    def has_content(self) -> bool:
        run = self.run
        predictions = (run.prediction(trial) for trial in reversed(run.trials) if not trial.failure)
        return any(prediction is not None for prediction in predictions)

    def figure(self) -> Figure:
        return figures.expectation_figure(self.run, self.record.filtered())

    def draw(self) -> None:
        super().draw()
        run = self.run
        expected = np.full(len(run.numbers), np.nan)
        for trial, prediction, _ in figures.predicted_trials(run):
            expected[run.row_of[trial.number]] = prediction
        self.mark_trials(expected, run.scores)
