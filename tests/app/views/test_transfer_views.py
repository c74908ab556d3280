"""Views of runs that are told of earlier datasets."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from app.text.history_text import best_setting, dataset_size_text, datasets_used
from app.worker.evaluator_process import evaluate_request, joint_history_of, surface_of
from core.gp.transfer import joint_evaluator as transfer_evaluator
from core.gp.transfer.joint_fitting import JointSurface
from core.space import Axis
from core.tuning.events import TrialExcluded

OF_HISTORY = ["common slice", "nearest", "standardizing", "common surface", "predicted"]


@pytest.fixture
def told(board, feed, history):
    """Feeds a run to a board whose requests to evaluate are answered at once, in this process."""
    board.asked = []

    def look(request):
        board.asked.append(request)
        board.take_evaluation(evaluate_request(request))

    board.evaluation_wanted.connect(look)

    def give(*more, **how):
        feed([*history.run(**how), *more])
        feed([])
        return board

    return give


def surfaces(board):
    """What the evaluator would be asked of the run as it stands."""
    record = board.record
    run = record.run
    return surface_of(JointSurface, run.common), joint_history_of(run.history), record.axes


def test_slice_and_surface_equal_the_evaluator(told, history, feed):
    board = told()
    view = board.views["common slice"]
    found = transfer_evaluator.joint_slice(*surfaces(board), "C")
    mean, sd = np.array(found["mean"]), np.array(found["sd"])
    assert np.allclose(view.mean.x, np.log10(found["x"]))
    assert np.allclose(view.mean.y, mean)
    assert np.allclose(view.wide_band.low, mean - 2 * sd)
    assert np.isclose(10**view.next.value, found["next_x"])
    common = board.record.run.common
    datasets = board.record.run.history.datasets
    expected = sorted(
        (np.log10(values[0]), response)
        for at, responses in zip(common.neighbours, common.past_responses, strict=True)
        for values, response in zip(datasets[at].values, responses, strict=True)
    )
    assert len(expected) == 4 * history.TRIED
    drawn = sorted(zip(view.earlier.x, view.earlier.y, strict=True))
    assert np.allclose(drawn, expected, atol=1e-5)
    scores = np.array(history.SCORES)
    z = (scores - scores.mean()) / scores.std()  # population figures, worked by hand
    assert np.allclose(view.trials.clear.y, z)
    assert view.trials.best.y.tolist() == [z.max()]
    assert view.earlier.symbol != view.trials.clear.symbol
    view = board.views["common surface"]
    found = transfer_evaluator.joint_image(*surfaces(board), ("C", "tol"))
    assert np.allclose(view.image.image, found["mean"])
    assert len(view.earlier.x) == len(found["earlier"])
    assert np.isnan(view.contours.x).sum() == len(found["contours"])
    view = board.views["common slice"]
    view.choosers[0].setCurrentIndex(2)
    view.choosers[0].activated.emit(2)
    feed([])
    assert view.answer.axis == "max_iter"
    assert np.allclose(
        sorted(view.earlier.x), sorted(v[2] for one in view.datasets_used() for v in one.values)
    )


def test_an_excluded_trial_is_no_longer_among_the_clear_ones(told):
    board = told(TrialExcluded(number=3))
    view = board.views["common slice"]
    assert len(view.trials.clear.y) == 4
    assert len(view.trials.hollow.y) == 1


def test_a_choice_along_an_axis(told, feed, history):
    kernel = Axis("kernel", "Kernel", "choice", choices=("linear", "rbf"), default="rbf")
    space = (history.SPACE[0], kernel)
    started = history.begun(space=space)
    datasets = [
        history.earlier(at, values=[[1.0, "rbf"], [10.0, "linear"]], scores=[0.7, 0.8])
        for at in range(2)
    ]
    read = replace(history.read(0), axes=["C", "kernel"], datasets=datasets)
    fitted = replace(
        history.common(0, read), lengths=[0.3] * 3, next=[0.5, 1.0, 0.0], neighbours=[1, 0]
    )
    board = told(started, read, fitted)
    view = board.views["common slice"]
    view.choosers[0].setCurrentIndex(1)
    view.choosers[0].activated.emit(1)
    feed([])
    assert sorted(view.earlier.x) == [0.0, 0.0, 1.0, 1.0]
    assert view.table_data()[1][0][0] == "linear"
    assert "Highest at " in view.describe()


def test_the_nearest_come_first_and_say_what_they_are(told, history):
    board = told()
    view = board.views["nearest"]
    assert [one.id for one in view.datasets()] == [f"dataset {n}" for n in range(4)]
    assert np.allclose(
        [end for _, _, end in view.marks["bars"].bars], [100 / (1 + 0.3 * n) for n in range(4)]
    )
    assert view.marks["bars"]._hatched == [False, False, False, True]
    assert view.marks["words"].words[1][2].startswith("77 % similar · 11 trials")
    for words in (
        "6 datasets for this model, 4 of them similar to yours",
        "300 rows × 8 columns, 2 classes; 100 % sim",
    ):
        assert words in view.describe()
    _, rows = view.table_data()
    assert rows[3][:3] == [2400, 17, 2]
    assert (rows[3][4], rows[3][-1]) == (pytest.approx(0.9), "shipped with Tunescope")
    assert rows[0][-2].startswith("C = ")


def test_words_of_bars_stay_within_the_plot_and_many_scroll(
    told, board, feed, history, assert_words_fit
):
    for width in (640, 1060, 1500):
        board.resize(width, 720)
        view = told().views["nearest"]
        feed([])
        assert_words_fit(view, "words")
        assert all("…" not in name for name in view.plot.left.position_scale.choices)
    board = told(history.begun(), history.read(40), history.common(0, history.read(40), used=40))
    view = board.views["nearest"]
    assert view.row_count == 40
    assert view.scroll_bar.isVisible()


def test_what_is_said_before_there_is_a_history_or_a_trial(feed, history, told):
    views = feed([history.begun()]).views
    for name in OF_HISTORY:
        assert not views[name].has_content()
        assert "appear" in views[name]._empty.text(), name
    for name, trials in (("nearest", 5), ("common slice", 0)):
        view = told(count=0, trials=trials).views[name]
        assert not view.has_content()
        assert view._empty.text().startswith("The history holds no other dataset")
    view = told(count=0).views["common slice"]
    assert len(view.earlier.x) == 0
    assert "The history is empty: this comes from this dataset's 5 trials." in view.describe()
    for trials in (0, 1):  # before the first trial nothing was fitted
        assert told(trials=trials).views["common slice"].has_content() is bool(trials)


def test_mean_and_deviation_are_borrowed_until_two_scores_are_there(told, history):
    view = told(trials=1).views["standardizing"]
    assert view.describe().startswith("Mean 81.0\u00a0%, standard deviation 3.1 points: from earl")
    assert len(view.marks["mean"].x) == 0
    assert view.marks["borrowed mean"].y.tolist() == [0.81, 0.81]
    view = told(trials=3).views["standardizing"]
    assert view.describe().startswith("Mean 81.3\u00a0%, standard deviation 2.1 points: from this")
    assert view.describe() in view._caption.text()
    means = [np.mean(history.SCORES[:2]), np.mean(history.SCORES[:3])]
    scales = [np.std(history.SCORES[:2]), np.std(history.SCORES[:3])]
    assert np.allclose(view.marks["mean"].y, np.repeat(means, 2))
    assert np.allclose(view.marks["band"].high - view.marks["mean"].y, np.repeat(scales, 2))
    assert view.marks["mean"].x.tolist() == [1.5, 2.5, 2.5, 3.5]
    assert view.marks["dots"].y.tolist() == list(history.SCORES[:3])
    headers, rows = view.table_data()
    assert len(headers) == len(rows[0])
    assert [row[-1] for row in rows] == ["earlier datasets", "this dataset", "this dataset"]


def test_predicted_against_observed_and_a_selected_trial(told, history, qtbot):
    board = told()
    view = board.views["predicted"]
    # What the history foretold as a response, one deviation above the mean, is a score by now.
    mean, deviation = np.mean(history.SCORES[:5]), np.std(history.SCORES[:5])
    assert view.marks["first"].x == pytest.approx([mean + deviation, *history.EXPECTED[1:]])
    assert view.marks["first"].y.tolist() == list(history.SCORES)
    assert [text for _, _, text in view.marks["numbers"].words] == ["0", "1", "2", "3", "4"]
    assert np.allclose(view.marks["whiskers"].x[3:5], [0.815, 0.855])
    assert list(view.marks["diagonal"].x) == list(view.marks["diagonal"].y)
    # nor does 0.81 for 0.856 within half a deviation.
    assert view.describe().startswith("3 of 5 trials came out within one standard deviation")
    assert view.table_data()[1][1] == [1, 0.835, 0.02, 0.84]
    assert "as earlier datasets predict" in view._caption.text()
    assert view.plot.bottom.title == "predicted accuracy"
    model = board.views["trials"].model
    notes = {model.trial_at(row).number: model.note_text(model.trial_at(row)) for row in range(5)}
    assert notes[0] == "from earlier datasets"
    assert notes[1] == "promising"
    board.select_trial(3)
    board.redraw_now()
    assert view.highlight.x.tolist() == [0.845]
    assert board.views["standardizing"].highlight.y.tolist() == [0.86]
    assert len(board.views["common slice"].highlight.x) == 1


def test_sizes_and_best_settings_in_words(history):
    assert dataset_size_text([np.log(50), np.log(3), 0]) == "50 rows × 3 columns, numbers"
    assert dataset_size_text([np.log(50), np.log(3), 4], short=True) == "50 × 3, 4 classes"
    worse = history.earlier(0, scores=[0.5, math.nan, 0.2], values=[[1], [2], [3]], maximize=False)
    assert best_setting(worse, ["C"]) == {"C": 3}
    assert best_setting(replace(worse, scores=[]), ["C"]) == {}
    assert datasets_used(None, None) == []


@pytest.mark.parametrize(("strategy", "title"), [("scot", "rank"), ("transfer", "better than")])
def test_ranks_are_not_called_standard_deviations(told, strategy, title):
    view = told(strategy=strategy).views["common slice"]
    assert ("one standard deviation better" in view._caption.text()) is (strategy == "transfer")
    assert view.plot.left.title.startswith(title)
    assert view.plot.left.direction.endswith(": higher is better.")
