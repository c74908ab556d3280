"""Views of runs that are told of earlier datasets."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF

from app.text.history_text import best_setting, dataset_size_text, datasets_used
from app.worker.evaluator_process import evaluate_request, joint_history_of, joint_surface_of
from core.gp.transfer import joint_evaluator as transfer_evaluator
from core.space import Axis
from core.tuning.events import TrialExcluded, TrialFinished, TrialStarted

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
    return joint_surface_of(run.common), joint_history_of(run.history), record.axes


def test_slice_and_surface_equal_the_evaluator(told, history, feed):
    board = told()
    view = board.views["common slice"]
    found = transfer_evaluator.joint_slice(*surfaces(board), "C")
    mean, sd = np.array(found["mean"]), np.array(found["sd"])
    assert np.allclose(view.mean.x, np.log10(found["x"]))
    assert np.allclose(view.mean.y, mean)
    assert np.allclose(view.wide_band.low, mean - 2 * sd)
    assert np.isclose(10**view.next.value, found["next_x"])
    view, common = board.views["common slice"], board.record.run.common
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
    assert np.allclose(view.dots.y, z)
    assert view.best.y.tolist() == [z.max()]
    assert view.earlier.symbol != view.dots.symbol
    view = board.views["common surface"]
    found = transfer_evaluator.joint_image(*surfaces(board), "C", "tol")
    assert np.allclose(view.image.image, found["mean"])
    assert len(view.earlier.x) == len(found["earlier"])
    assert np.isnan(view.contours.x).sum() == len(found["contours"])
    view = board.views["common slice"]
    view.axis.setCurrentIndex(2)
    view.axis.activated.emit(2)
    feed([])
    assert view.answer.axis == "max_iter"
    assert np.allclose(
        sorted(view.earlier.x), sorted(v[2] for one in view.datasets_used() for v in one.values)
    )


def test_an_excluded_trial_is_no_longer_among_the_clear_ones(told):
    board = told(TrialExcluded(number=3))
    view = board.views["common slice"]
    assert len(view.dots.y) == 4
    assert len(view.other_dots.y) == 1


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
    view.axis.setCurrentIndex(1)
    view.axis.activated.emit(1)
    feed([])
    assert sorted(view.earlier.x) == [0.0, 0.0, 1.0, 1.0]
    assert view.table_data()[1][0][0] == "linear"
    assert "Highest at " in view.describe()


def test_the_nearest_come_first_and_say_what_they_are(told, history):
    board = told()
    view = board.views["nearest"]
    assert [one.id for one in view.datasets()] == [f"dataset {n}" for n in range(4)]
    assert np.allclose(
        [end for _, _, end in view.bars.bars], [100 / (1 + 0.3 * n) for n in range(4)]
    )
    assert view.bars._hatched == [False, False, False, True]
    assert view.words.words[1][2].startswith("77 % similar · 11 trials")
    said = view.describe()
    assert "The history holds 6 earlier datasets; the 4 nearest count." in said
    assert "The nearest has 300 rows × 8 columns, 2 classes; 100 % similar, distance 0." in said
    headers, rows = view.table_data()
    assert headers[:3] == ["rows", "columns", "classes"]
    assert rows[3][:3] == [2400, 17, 2]
    assert rows[3][4] == pytest.approx(0.9)
    assert rows[3][-1] == "shipped with Tunescope"
    assert rows[0][-2].startswith("C = ")


def test_words_of_bars_stay_within_the_plot_and_many_scroll(told, board, feed, history):
    for width in (560, 1060, 1500):
        board.resize(width, 720)
        view = told().views["nearest"]
        feed([])
        area = view.plot.vb.sceneBoundingRect()
        metrics = view.plot.left.metrics
        for x, row, text in view.words.words:
            end = view.plot.vb.mapFromViewToItem(view.plot.vb, QPointF(x, row)).x()
            assert end + 6 + metrics.horizontalAdvance(text) <= area.width() + 1, width
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
    view = told(count=0).views["nearest"]
    assert not view.has_content()
    assert view._empty.text().startswith("The history holds no other dataset")
    assert view.content.accessibleDescription() == view._empty.text()
    slices = told(count=0, trials=0).views["common slice"]
    assert slices._empty.text().startswith("The history holds no other dataset")
    slices = told(count=0).views["common slice"]
    assert slices.has_content()
    assert len(slices.earlier.x) == 0
    assert "The history is empty: this comes from this dataset's 5 trials." in slices.describe()
    board = told(trials=0)
    assert not board.views["common slice"].has_content()  # nothing was fitted
    board = told(trials=1)
    assert board.asked[0].fitted.trials == 0 or board.record.run.common.trials == 1
    assert board.views["common slice"].has_content()


def test_mean_and_deviation_are_borrowed_until_two_scores_are_there(told, history):
    view = told(trials=1).views["standardizing"]
    assert view.describe() == (
        "Mean 0.81, standard deviation 0.031: from earlier datasets until two scores differ."
    )
    assert len(view.mean.x) == 0
    assert view.borrowed_mean.y.tolist() == [0.81, 0.81]
    view = told(trials=3).views["standardizing"]
    assert view.describe() == "Mean 0.813, standard deviation 0.021: from this dataset's 3 scores."
    assert view.describe() in view._caption.text()
    means = [np.mean(history.SCORES[:2]), np.mean(history.SCORES[:3])]
    scales = [np.std(history.SCORES[:2]), np.std(history.SCORES[:3])]
    assert np.allclose(view.mean.y, np.repeat(means, 2))
    assert np.allclose(view.band.high - view.mean.y, np.repeat(scales, 2))
    assert view.mean.x.tolist() == [1.5, 2.5, 2.5, 3.5]
    assert view.dots.y.tolist() == list(history.SCORES[:3])
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
    model = board.views["trials"].model
    notes = {model.trial_at(row).number: model.note_text(model.trial_at(row)) for row in range(5)}
    assert notes[0] == "from earlier datasets"
    assert notes[1] == "promising"
    board.select_trial(3)
    board.redraw_now()
    assert view.highlight.x.tolist() == [0.845]
    assert board.views["standardizing"].highlight.y.tolist() == [0.86]
    assert len(board.views["common slice"].highlight.x) == 1


def test_any_gaussian_process_has_its_predictions_compared(feed, streams):
    trial = {"number": 0, "setting": streams.setting(0)}
    view = feed(
        [
            streams.begun("hybrid"),
            TrialStarted(**trial, reason="improve", expected=0.8, uncertainty=0.1),
            TrialFinished(**trial, score=0.75),
        ]
    ).views["predicted"]
    assert view.marks["first"].x.tolist() == [0.8]
    assert "earlier datasets" not in view._caption.text()


def test_sizes_and_best_settings_in_words(history):
    assert dataset_size_text([np.log(50), np.log(3), 0]) == "50 rows × 3 columns, numbers"
    assert dataset_size_text([np.log(50), np.log(3), 4], short=True) == "50 × 3, 4 classes"
    worse = history.earlier(0, scores=[0.5, math.nan, 0.2], values=[[1], [2], [3]], maximize=False)
    assert best_setting(worse, ["C"]) == {"C": 3}
    assert best_setting(replace(worse, scores=[]), ["C"]) == {}
    assert datasets_used(None, None) == []


def test_ranks_are_not_called_standard_deviations(told):
    view = told(strategy="scot").views["common slice"]
    assert "standard deviation" not in view._caption.text()
    assert view.plot.left.direction == "Rank: higher is better."
    view = told().views["common slice"]
    assert "one standard deviation better" in view._caption.text()
    assert view.plot.left.title == "better than the mean"
