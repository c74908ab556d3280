"""The strategies without a model that can be shown: grid, random, TPE, CMA-ES."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from core.options import Option
from core.tuning.strategies.strategy import Implementation, Space, Strategy, sampler_maker

MAX_GRID_SETTINGS = 12  # three values of each are half a million trials


POINTS = Option(
    "points",
    "Values of every setting",
    "int",
    0,
    "How many values of every number are tried. Automatic (0) chooses so that the grid has some "
    "500 settings at most where that is possible; the coarse ones come first.",
    low=0,
    high=1001,
    lowest_label="automatic",
)
POWERS_OF_TWO = Option(
    "powers_of_two",
    "Powers of two on wide ranges",
    "bool",
    False,
    "For settings with a logarithmic range: tries powers of two, such as C = 2⁻¹⁰ … 2¹⁰.",
)
TPE_START = Option(
    "start_trials", "Random trials at the start", "int", 10, "Random trials before TPE begins.", 0
)


def _check_grid(space: Space, options: Mapping[str, Any]) -> None:
    from core.samplers.grid import check_grid

    check_grid(_values_of_grid(space, options))


def _values_of_grid(space: Space, options: Mapping[str, Any]) -> dict[str, list[Any]]:
    from core.samplers.grid import grid_values

    return grid_values(space, **options)


_search_strategy = partial(Strategy, kind="trials", shows="The score of every setting tried.")

GRID = _search_strategy(
    name="grid",
    title="Grid search, coarse to fine",
    does="Tries evenly spread settings, first a coarse net over the whole range, then finer ones.",
    costs="Many trials; the number grows steeply with each further setting of the model.",
    load=lambda: Implementation(
        (POINTS, POWERS_OF_TWO), sampler_maker("grid", "GridSampler", "space")
    ),
    works=lambda moment: (
        "The program visits the points of a grid, first far apart, then those in between, so that "
        "the picture means something early."
    ),
    patience=0,  # a grid is a list that is tried to its end
    why="is the next point of the grid",
    why_short="on the grid",
    suits=lambda space: len(space) <= MAX_GRID_SETTINGS,
    check=_check_grid,
    values=_values_of_grid,
)

RANDOM = _search_strategy(
    name="random",
    title="Random search",
    does="Tries settings drawn at random over the whole range.",
    costs="One trial a draw; nothing is learned from earlier trials.",
    load=lambda: Implementation((), sampler_maker("proposing_sampler", "RandomSampler", "space")),
    works=lambda moment: (
        "Every setting is drawn at random from the whole range; nothing is learned from the "
        "earlier ones."
    ),
    why="was drawn at random",
    why_short="at random",
    source="Bergstra and Bengio 2012",
)

TPE = _search_strategy(
    name="tpe",
    title="Tree-structured Parzen estimator (Optuna)",
    does="Optuna's default: compares where good and where poor trials lie.",
    costs="More trials than a Gaussian process, each chosen at once.",
    load=lambda: Implementation(
        (TPE_START,), sampler_maker("proposing_sampler", "AnnotatedTpeSampler")
    ),
    works=lambda moment: (
        "The program compares where good and where poor trials lie, and tries next where good ones "
        "are dense."
    ),
    why="lies where good trials are dense",
    default_trials=60,
    source="Bergstra et al. 2011",
)

CMA_ES = _search_strategy(
    name="cma-es",
    title="CMA-ES (Optuna)",
    does="Moves and reshapes a cloud of settings towards better scores. For numbers only.",
    costs="Many trials; suits several hundred.",
    load=lambda: Implementation((), sampler_maker("proposing_sampler", "AnnotatedCmaEsSampler")),
    works=lambda moment: (
        "A cloud of settings moves and changes its shape towards better scores, round by round."
    ),
    why="lies in the cloud of promising settings",
    default_trials=100,
    source="Hansen and Ostermeier 2001",
    # Of a single number Optuna's CMA-ES proposes nothing.
    suits=lambda space: len(space) > 1 and all(axis.kind != "choice" for axis in space),
    numbers_only=True,
)
