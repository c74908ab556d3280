"""What a fitted model shows while the run goes on: topics or pictures."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from core.datasets.pictures import picture_shape, pixel_sources
from core.estimators.dlgm.network import reconstructions, samples
from core.estimators.model import Model
from core.tuning.events import Event, ImagesDrawn, Topic, TopicsFound

TOPICS, WORDS = 12, 10  # how many are shown, the largest and likeliest
PICTURES = 8  # of each kind
LONGEST_SIDE = 64  # pixels; larger pictures are thinned out, so that an event stays small
ROWS_LOOKED_AT = 100  # for the size of pictures and their range of greys

Shows = Callable[[Any, Any, np.ndarray, int, Sequence[str]], Event | None]


def display_event(
    model: Model, fitted: Any, X: Any, y: np.ndarray, number: int, names: Sequence[str]
) -> Event | None:
    """What a model shows after a fit, for under 1 % of its time; None where it has nothing.

    `X` are prepared rows that it has not seen, (n, D), `names` those of the D columns.
    """
    show = SHOWS.get(model.shows)
    return None if show is None else show(fitted, X, np.asarray(y), number, names)


def has_display(model: Model, names: Sequence[str]) -> bool:
    """Whether a model of columns with these names shows anything."""
    return model.shows in SHOWS and (model.shows != "pictures" or picture_shape(names) is not None)


def topics_found(
    fitted: Any, X: Any, y: np.ndarray, number: int, names: Sequence[str]
) -> TopicsFound:
    """The largest topics of a fitted OnlineLda, `names` its vocabulary."""
    # Only runs of topics wait for numba: its import takes longer than all else of a start.
    from core.estimators.lda.fitted_topics import topic_sizes, topic_words, word_probabilities

    sizes = topic_sizes(fitted)
    words = topic_words(fitted, names, WORDS)
    weights = np.sort(word_probabilities(fitted), axis=1)[:, ::-1][:, :WORDS]
    largest = np.argsort(-sizes, kind="stable")[:TOPICS].tolist()
    return TopicsFound(
        number=number,
        count=len(sizes),
        # Every pass counts its documents again.
        documents=int(fitted.documents_seen_ // fitted.passes),
        topics=[
            Topic(
                share=round(float(sizes[k]), 5),
                words=list(words[k]),
                weights=weights[k].round(6).tolist(),
            )
            for k in largest
        ],
    )


def images_drawn(
    fitted: Any, X: Any, y: np.ndarray, number: int, names: Sequence[str]
) -> ImagesDrawn | None:
    """Pictures that a fitted DlgmClassifier draws, and its reconstructions of some rows."""
    rows = np.asarray(X[:ROWS_LOOKED_AT], dtype=np.float64)
    shape = picture_shape(names, rows)
    if shape is None or not len(rows):
        return None
    sources, (height, width) = _thin_pixels(pixel_sources(names, shape).reshape(shape))
    low, high = float(rows.min()), float(rows.max())

    # Grey values are scaled to the range of the rows, and clipped to it.
    def grey_values(pictures: np.ndarray) -> list[list[float]]:
        scaled = (pictures[:, sources] - low) / (high - low or 1.0)
        return np.clip(scaled, 0.0, 1.0).round(3).tolist()

    chosen = _of_every_class(y[: len(rows)])
    return ImagesDrawn(
        number=number,
        height=height,
        width=width,
        samples=grey_values(samples(fitted, PICTURES, seed=0)),
        originals=grey_values(rows[chosen]),
        reconstructions=grey_values(reconstructions(fitted, rows[chosen])),
        labels=[str(label) for label in y[chosen].tolist()],
    )


def _thin_pixels(sources: np.ndarray) -> tuple[np.ndarray, tuple[int, int]]:
    # Rounded up, so that the longer side fits.
    step = -(-max(sources.shape) // LONGEST_SIDE)
    sparse_sources = sources[::step, ::step]
    return sparse_sources.ravel(), (sparse_sources.shape[0], sparse_sources.shape[1])


def _of_every_class(y: np.ndarray) -> np.ndarray:
    """Up to `PICTURES` rows: the first of every class, then the second."""
    _, codes = np.unique(y, return_inverse=True)
    rank = np.array([(codes[:row] == code).sum() for row, code in enumerate(codes)], dtype=int)
    return np.lexsort((codes, rank))[:PICTURES]


SHOWS: dict[str, Shows] = {"topics": topics_found, "pictures": images_drawn}
