"""A category's levels as columns, as means of the target, or as a tree's own: where each pays.

Generated tables: a level has an effect of deviation 1, beside it three numbers of which one acts,
and noise of deviation 0.5; of two classes the sum's sign is told with a logistic draw. Scores are
R², or AUC, of five folds. The threshold is core.datasets.categories.FEW_LEVELS.

One-hot levels / cross-fitted means, 20 rows a level, a number to predict (boosting: / native):

| levels | linear      | forest      | boosting           | neighbours  | SVM         |
| ------ | ----------- | ----------- | ------------------ | ----------- | ----------- |
| 5      | .833 / .823 | .772 / .769 | (100 rows)         | .509 / .695 | .725 / .753 |
| 10     | .795 / .786 | .728 / .718 | (200 rows)         | .459 / .676 | .672 / .700 |
| 20     | .839 / .832 | .759 / .799 | .267 / .783 / .799 | .453 / .754 | .730 / .784 |
| 50     | .812 / .805 | .684 / .765 | .071 / .747 / .760 | .446 / .737 | .703 / .765 |
| 200    | .816 / .807 | .560 / .779 | .253 / .785 / .744 | .416 / .770 | .717 / .788 |

Levels pay in linear models always, in forests up to 10; with 5 rows a level, means pay from 3.

Native categories of boosting do not pay: on titanic, wage, oj, chile, movies, arrests, flights,
credit and abalone (ten folds) they change the score by -.004 to +.002, and on generated tables by
-.04 to +.016; with few rows a level they learn nothing, as levels.

Missing numbers as they are (NaN) do not pay either, against the median with an indicator. Change:
titanic, chile, movies: boosting +.002, -.002, -.003; forest -.003, -.002, -.001; extra trees +.002,
-.007, +.005. Where a fifth of abalone, wage and oj was removed, at random or by the target:
boosting -.002 to +.003, forest -.002 to +.006, extra trees +.001 to +.024. The indicator itself
pays where emptiness tells: wage .790 to .806 (boosting), oj .924 to .940 (forest).

Means whose folds keep groups whole, against random folds (forest / neighbours, groups on one side
of every split; rows of a person, the person's name and town as categories). Name and town together:
400 persons of 4 rows .425 to .538 / .461 to .540, 1,000 of 3 .473 to .536 / .498 to .540, but 300
of 10 .156 to .111. Town alone, of 5 persons .499 to .456: so whole groups are for categories whose
levels are mostly of one group.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler, TargetEncoder
from sklearn.svm import SVC, SVR

MODELS = {
    "linear": (Ridge(), LogisticRegression(max_iter=500)),
    "forest": (RandomForestRegressor(60), RandomForestClassifier(60)),
    "extra-trees": (ExtraTreesRegressor(60), ExtraTreesClassifier(60)),
    "boosting": (HistGradientBoostingRegressor(), HistGradientBoostingClassifier()),
    "knn": (KNeighborsRegressor(10), KNeighborsClassifier(10)),
    "svm": (SVR(C=3.0), SVC(C=3.0)),
    "mlp": (
        MLPRegressor(max_iter=60, early_stopping=True),
        MLPClassifier(max_iter=60, early_stopping=True),
    ),
    "naive-bayes": (None, GaussianNB()),
}
HOLES = {
    "median": SimpleImputer(strategy="median"),
    "indicator": SimpleImputer(strategy="median", add_indicator=True),
    "nan": "passthrough",
}
SCALED = ("linear", "knn", "svm", "mlp", "naive-bayes")


def generated(levels: int, rows_a_level: int, kind: str, seed: int) -> tuple[pd.DataFrame, object]:
    """A table and its target, a number or one of two classes."""
    rng = np.random.default_rng(seed)
    rows = max(60, levels * rows_a_level)
    code = rng.integers(0, levels, rows)
    numbers = rng.normal(size=(rows, 3))
    signal = rng.normal(size=levels)[code] + 0.5 * numbers[:, 0]
    table = pd.DataFrame(numbers, columns=["a", "b", "c"]).assign(word=[f"w{i}" for i in code])
    if kind == "number":
        return table, signal + 0.5 * rng.normal(size=rows)
    return table, np.where(rng.random(rows) < 1 / (1 + np.exp(-2 * signal)), "yes", "no")


def encoder(encoding: str, kind: str) -> object:
    if encoding == "levels":
        return OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    if encoding == "means":
        target_type = "continuous" if kind == "number" else "auto"
        return TargetEncoder(target_type=target_type, random_state=0)
    return OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)


def score(name: str, encoding: str, table: pd.DataFrame, y: object, kind: str, holes: str) -> float:
    """The mean score of five folds; NaN where the encoding does not apply."""
    model = MODELS[name][0 if kind == "number" else 1]
    words = [c for c in table if not pd.api.types.is_numeric_dtype(table[c].dtype)]
    numbers = [c for c in table if c not in words]
    if model is None or (encoding == "native" and name != "boosting"):
        return np.nan
    if encoding == "native":
        if max((table[word].nunique() for word in words), default=255) > 254:
            return np.nan
        model = model.__class__(categorical_features=range(len(words)))
    scale = StandardScaler() if name in SCALED else "passthrough"
    step = encoder(encoding, kind)
    if encoding == "means" and name in SCALED:
        step = make_pipeline(step, StandardScaler())
    numbers_step = make_pipeline(HOLES[holes], scale)
    prepare = ColumnTransformer([("words", step, words), ("numbers", numbers_step, numbers)])
    many = kind == "classes" and len(np.unique(y)) > 2
    metric = "r2" if kind == "number" else "roc_auc_ovr" if many else "roc_auc"
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(
            np.mean(cross_val_score(make_pipeline(prepare, model), table, y, scoring=metric))
        )


def own_table(given: str, most: int) -> tuple[pd.DataFrame, object, str]:
    """A table of a file and its target, dates and texts left out."""
    from core.datasets.raw_table import DataOptions
    from core.datasets.reading import read_dataset

    file, _, target = given.partition("=")
    dataset = read_dataset(file, DataOptions(target=target))
    used = [
        c.name
        for c in dataset.columns
        if c.role == "feature" and c.kind in ("number", "category", "yes/no")
    ]
    rows = np.random.default_rng(0).permutation(dataset.rows)[:most]
    table = dataset.table[used].iloc[rows].reset_index(drop=True)
    return table, dataset.target[rows], "number" if dataset.task.has_numbers else "classes"


def line(
    title: str, table: pd.DataFrame, y: object, kind: str, models: Sequence[str], holes: str
) -> None:
    cells = []
    for name in models:
        kinds = ("levels", "means", "native") if name == "boosting" else ("levels", "means")
        numbers = [score(name, encoding, table, y, kind, holes) for encoding in kinds]
        cells.append(" ".join("  –  " if np.isnan(v) else f"{v:5.3f}" for v in numbers))
    print(f"{title:<24}" + " | ".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--levels", type=int, nargs="+", default=[5, 10, 20, 50, 200, 1000])
    parser.add_argument("--rows", type=int, nargs="+", default=[2, 5, 20, 100])
    parser.add_argument("--most", type=int, default=6000, help="rows of a table")
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--holes", choices=HOLES, default="median", help="of missing numbers")
    parser.add_argument("files", nargs="*", help="FILE or FILE=TARGET")
    chosen = parser.parse_args()
    print(
        f"{'levels × rows of each':<24}"
        + " | ".join(f"{name} (levels means)" for name in chosen.models)
    )
    began = time.perf_counter()
    for kind in ("number", "classes"):
        for levels in chosen.levels:
            for rows in chosen.rows:
                if not chosen.files and levels * rows <= chosen.most:
                    table, y = generated(levels, rows, kind, seed=levels + rows)
                    title = f"{kind}: {levels} × {rows}"
                    line(title, table, y, kind, chosen.models, chosen.holes)
    for file in chosen.files:
        title, table = Path(file.partition("=")[0]).stem, own_table(file, chosen.most)
        line(title, *table, chosen.models, chosen.holes)
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
