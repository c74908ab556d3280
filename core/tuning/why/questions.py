"""What can be asked about a finished run, and how long the answers take; nothing is computed."""

from core.datasets.task import TABLE_TASKS
from core.tuning.run_results import Results
from core.tuning.runs.state import RunState

ROWS, IMPORTANCE, DEPENDENCE, LEARNING = "rows", "importance", "dependence", "learning"
SETTINGS = "settings"  # asks the trials alone: neither the data nor a model
FOLDER = "answers"
SOON = 6.0  # seconds up to which a question is answered unasked
CURVE_SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)  # of the training rows of the learning curve
CURVE_REPEATS = 3


def can_explain(results: Results | None, task: str) -> bool:
    """Whether a run has results about rows of a table."""
    return results is not None and task in TABLE_TASKS and not results.documents


def seconds_before(question: str, state: RunState) -> float:
    """A forecast of an answer's seconds: its fits, and the shuffling of columns."""
    if question == SETTINGS:
        return SOON
    fit = seconds_of_fit(state)
    if question == LEARNING:
        folds = max(1, state.results.folds) if state.results is not None else 1
        curve_fits = CURVE_REPEATS * sum(share for share in CURVE_SHARES if share < 1)
        return fit + curve_fits * fit / folds
    return fit


def seconds_of_fit(state: RunState) -> float:
    """A forecast of `fit_tested_model`: of all members of an average, of all outer folds."""
    results = state.results or Results()
    folds = max(1, results.folds)
    members = () if results.ensemble is None else results.ensemble.members
    timed_trials = [trial for trial in map(state.find_trial, members) if trial is not None]
    if not timed_trials and state.best_trial is not None:
        timed_trials = [state.best_trial]
    if timed_trials:
        return folds * sum(trial.took / max(trial.fits, 1) for trial in timed_trials)
    return folds * results.seconds / max(results.fits, 1)
