"""The pictures of the results, in the order of the Results page and of the report."""

from core.figures.score_figures import CALIBRATION, PAIRS, PREDICTED, SCORES, ResultPicture

RESULT_PICTURES: tuple[ResultPicture, ...] = (SCORES, PAIRS, CALIBRATION, PREDICTED)
