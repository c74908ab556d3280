"""The fitted pipeline in scikit-learn's own classes, so that it opens where Tunescope is not."""

from __future__ import annotations

import copy
from typing import Any


def plain_pipeline(pipeline: Any) -> Any:
    """A copy of a pipeline whose last step, where it is a class of ours, is scikit-learn's.

    Our classes for tables say by ``as_plain()`` what they are in scikit-learn's terms; it predicts
    the very same. Other steps are shared with the pipeline given.
    """
    plain = copy.copy(pipeline)
    name, model = pipeline.steps[-1]
    if hasattr(model, "as_plain"):
        plain.steps = [*pipeline.steps[:-1], (name, model.as_plain())]
    return plain
