"""Labels of every type become their places among the classes, as looking each up does."""

import numpy as np
import pandas as pd
import pytest

from core.losses.class_labels import label_codes

DRAW = np.random.default_rng(0).integers(0, 4, 500)
TEXTS = np.array(["no", "perhaps", "yes", "never seen"])[DRAW]
LABELS = {
    "texts": TEXTS,
    "objects": np.where(DRAW == 3, None, TEXTS.astype(object)),
    "texts of pandas": pd.Series(TEXTS, dtype="str"),
    "whole numbers": DRAW * 5,
    "numbers": DRAW / 4,
    "numbers as objects": (DRAW * 5).astype(object),
    "flags": DRAW > 1,
    "none": TEXTS[:0],
}


@pytest.mark.parametrize("kind", LABELS)
def test_a_label_is_its_place_among_the_classes(kind):
    labels = LABELS[kind]
    classes = sorted({label for label, code in zip(labels, DRAW, strict=False) if code < 3})
    expected = [classes.index(label) if label in classes else -1 for label in labels]
    assert label_codes(labels, classes).tolist() == expected
    assert label_codes(labels, np.array(classes)).dtype == np.int64
