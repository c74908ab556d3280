"""The pictures of an ended run by their names, as Python shows them."""

from collections.abc import Callable
from functools import partial

from core.figures.belief_figure import belief_figure, modelled_axes
from core.figures.figure import Figure
from core.figures.penalty_figures import descent_figure, penalties_figure, penalty_path_figure
from core.figures.registry import RESULT_PICTURES
from core.figures.run_figures import average_figure, best_so_far_figure, scored_averages
from core.tuning.runs.state import RunState

Pictures = dict[str, tuple[Callable[[], Figure], str]]


def run_pictures(run: RunState) -> Pictures:
    """{name: (what makes the figure, the width of its card)}, the results' first."""
    results, axes = run.results, modelled_axes(run)[1]
    pictures: Pictures = {
        picture.name: (partial(picture.figure, results), picture.width)
        for picture in RESULT_PICTURES
        if results is not None and picture.is_suitable(results)
    }
    if run.best_rows(1).size:
        pictures["best"] = partial(best_so_far_figure, run), "full"
    for axis in axes:
        names = ("belief", f"belief {axis.name}") if axis is axes[0] else (f"belief {axis.name}",)
        pictures |= dict.fromkeys(names, (partial(belief_figure, run, axis.name), "full"))
    if len(scored_averages(run)) > 1:
        pictures["average"] = partial(average_figure, run), "wide"
    if run.last_step is not None:
        pictures["penalties"] = partial(penalties_figure, run), "full"
        pictures["path"] = partial(penalty_path_figure, run), "wide"
        pictures["objective"] = partial(descent_figure, run), "narrow"
    return pictures
