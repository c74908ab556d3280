"""The samples as the first page offers them; a test holds this list to the registry.

The registry itself needs pandas, which the window does without until after its first paint.
"""

from __future__ import annotations

from PySide6.QtCore import QT_TRANSLATE_NOOP

# name: (title, sentence)
OFFERED: dict[str, tuple[str, str]] = {
    "groups": (
        QT_TRANSLATE_NOOP("Samples", "Useful and useless groups"),
        QT_TRANSLATE_NOOP("Samples", "400 rows, two classes. Some groups are only noise."),
    ),
    "breast-cancer": (
        QT_TRANSLATE_NOOP("Samples", "Breast cancer"),
        QT_TRANSLATE_NOOP("Samples", "569 rows, two classes, 30 measurements."),
    ),
    "iris": (
        QT_TRANSLATE_NOOP("Samples", "Iris flowers"),
        QT_TRANSLATE_NOOP("Samples", "150 rows, three classes. Small and quick."),
    ),
    "wine": (
        QT_TRANSLATE_NOOP("Samples", "Wines"),
        QT_TRANSLATE_NOOP("Samples", "178 rows, three classes, 13 chemical values."),
    ),
    "digits": (
        QT_TRANSLATE_NOOP("Samples", "Handwritten digits"),
        QT_TRANSLATE_NOOP("Samples", "1,797 rows, ten classes, 64 points of a picture."),
    ),
    "diabetes": (
        QT_TRANSLATE_NOOP("Samples", "Diabetes"),
        QT_TRANSLATE_NOOP("Samples", "442 rows. A number is predicted."),
    ),
    "clinic": (
        QT_TRANSLATE_NOOP("Samples", "A clinic's raw table"),
        QT_TRANSLATE_NOOP("Samples", "600 rows with dates, categories and missing values."),
    ),
    "prices": (
        QT_TRANSLATE_NOOP("Samples", "Flat prices"),
        QT_TRANSLATE_NOOP("Samples", "500 rows. A number is predicted; most columns are noise."),
    ),
    "tags": (
        QT_TRANSLATE_NOOP("Samples", "Parts of speech"),
        QT_TRANSLATE_NOOP("Samples", "300 sentences, a tag for every word. Two columns are noise."),
    ),
    "molecules": (
        QT_TRANSLATE_NOOP("Samples", "Folded molecules"),
        QT_TRANSLATE_NOOP("Samples", "60 RNA molecules and the base pairs they form."),
    ),
    "texts": (
        QT_TRANSLATE_NOOP("Samples", "Short texts"),
        QT_TRANSLATE_NOOP("Samples", "400 texts about ten subjects. Topics are found, unasked."),
    ),
}
