"""The samples on the first page; the registry of samples needs pandas, so a test compares them."""

from __future__ import annotations

# name: (title, sentence)
OFFERED: dict[str, tuple[str, str]] = {
    "groups": ("Useful and useless groups", "400 rows, two classes. Some groups are only noise."),
    "breast-cancer": ("Breast cancer", "569 rows, two classes, 30 measurements."),
    "iris": ("Iris flowers", "150 rows, three classes. Small and quick."),
    "wine": ("Wines", "178 rows, three classes, 13 chemical values."),
    "digits": ("Handwritten digits", "1,797 rows, ten classes, 64 points of a picture."),
    "diabetes": ("Diabetes", "442 rows. A number is predicted."),
    "clinic": ("A clinic's raw table", "600 rows with dates, categories and missing values."),
    "prices": ("Flat prices", "500 rows. A number is predicted; most columns are noise."),
    "reviews": ("Reviews", "500 texts with two other columns. Words tell who buys again."),
    "tags": ("Parts of speech", "300 sentences, a tag for every word. Two columns are noise."),
    "molecules": ("Folded molecules", "60 RNA molecules and the base pairs they form."),
    "texts": ("Short texts", "400 texts about ten subjects. Topics are found without labels."),
}
