"""What of every kind of fitted model is read from a file: its fields, their kinds and shapes.

A field is ``name:kind[shape]``. Kinds: f numbers, i whole numbers, v values of a column (numbers or
texts), int, float, bool, text, and any (plain values, or further models). Letters in a shape stand
for sizes, the same letter for the same size within a model; _ is any size, and ``int[p]`` a number
that is itself a size. ``*p`` is a list of p such values. A field after ? may be missing or None.
Constructor arguments need no line: scikit-learn checks them. Whatever else a file holds is left.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

_ROWS = "n_features_in_:int[p] ?feature_names_in_:v[p]"
_CLASSES = "classes_:v[c]"
_TREE = f"{_ROWS} tree_:any n_outputs_:int[1] ?max_features_:int"
_FOREST = f"{_ROWS} estimators_:any n_outputs_:int[1]"
_BOOSTING = (
    f"{_ROWS} _n_features:int[p] n_trees_per_iteration_:int[k] _baseline_prediction:f[1,k]"
    " _bin_mapper:any _predictors:any do_early_stopping_:bool train_score_:f[_]"
    " validation_score_:f[_]"
)
_LINEAR = f"{_ROWS} {_CLASSES} coef_:f[k,p] intercept_:f[k] ?n_iter_:any"
_NETWORK = (
    f"{_ROWS} coefs_:f[_,_]*_ intercepts_:f[_]*_ n_layers_:int n_outputs_:int out_activation_:text"
    " ?n_iter_:int ?t_:int ?loss_:float"
)
_SUPPORT = (
    f"{_ROWS} support_:i[m] support_vectors_:f[m,p] dual_coef_:f[k,m] _dual_coef_:f[k,m]"
    " intercept_:f[q] _intercept_:f[q]"
    " _probA:f[_] _probB:f[_] _n_support:i[_] _gamma:float fit_status_:int"
    " shape_fit_:any n_iter_:any"
)
_ENCODER = f"{_ROWS} categories_:v[_]*p _infrequent_enabled:bool"
_PENALIZED = "w_:f[n] penalties_:any groups_:i[n]"

FIELDS = {
    "CalibratedClassifierCV": f"{_CLASSES} calibrated_classifiers_:any ?n_features_in_:int",
    "_CalibratedClassifier": "",
    "_SigmoidCalibration": "a_:float b_:float",
    "ColumnTransformer": f"{_ROWS} _columns:any _remainder:any _transformer_to_input_indices:any"
    " output_indices_:any sparse_output_:bool transformers_:any",
    "TransformedTargetRegressor": "_training_dim:int regressor_:any transformer_:any"
    " ?n_features_in_:int",
    "TruncatedSVD": f"{_ROWS} components_:f[k,p]",
    "DummyClassifier": f"{_CLASSES} class_prior_:f[c] n_classes_:int[c] n_outputs_:int[1]"
    " _strategy:text sparse_output_:bool ?n_features_in_:int",
    "DummyRegressor": "constant_:f[1,k] n_outputs_:int[k] ?n_features_in_:int",
    **dict.fromkeys(["ExtraTreeRegressor", "DecisionTreeRegressor"], _TREE),
    **dict.fromkeys(
        ["ExtraTreeClassifier", "DecisionTreeClassifier"], f"{_TREE} {_CLASSES} n_classes_:int[c]"
    ),
    **dict.fromkeys(["ExtraTreesRegressor", "RandomForestRegressor"], _FOREST),
    **dict.fromkeys(
        ["ExtraTreesClassifier", "RandomForestClassifier"],
        f"{_FOREST} {_CLASSES} n_classes_:int[c]",
    ),
    "_BinMapper": "bin_thresholds_:f[_]*p is_categorical_:i[p] missing_values_bin_idx_:int"
    " n_bins_non_missing_:i[p]",
    "HistGradientBoostingClassifier": f"{_BOOSTING} {_CLASSES}",
    "HistGradientBoostingRegressor": _BOOSTING,
    "VotingClassifier": f"{_CLASSES} estimators_:any le_:any",
    "VotingRegressor": "estimators_:any",
    "TfidfTransformer": "?idf_:f[p] ?n_features_in_:int[p]",
    "TfidfVectorizer": "_tfidf:any ?vocabulary_:any fixed_vocabulary_:bool",
    "MissingIndicator": f"{_ROWS} _n_features:int[p] features_:i[_] _precomputed:bool",
    "SimpleImputer": f"{_ROWS} statistics_:v[p] ?_fit_dtype:any ?_fill_dtype:any ?indicator_:any",
    "Nystroem": f"{_ROWS} component_indices_:i[_] components_:f[k,p] normalization_:f[_,k]",
    "ElasticNet": f"{_ROWS} coef_:f[p] intercept_:float n_iter_:any dual_gap_:float",
    "LogisticRegression": _LINEAR,
    "SGDClassifier": _LINEAR,
    "Ridge": f"{_ROWS} coef_:f[p] intercept_:float ?n_iter_:any ?solver_:text",
    "FixedThresholdClassifier": "estimator_:any ?n_features_in_:int ?feature_names_in_:v[_]",
    **dict.fromkeys(["KFold", "StratifiedKFold", "FixedFolds"], ""),
    "GaussianNB": f"{_ROWS} {_CLASSES} class_count_:f[c] class_prior_:f[c] epsilon_:float"
    " theta_:f[c,p] var_:f[c,p]",
    "MLPClassifier": f"{_NETWORK} {_CLASSES} _label_binarizer:any",
    "MLPRegressor": _NETWORK,
    **dict.fromkeys(["FeatureUnion", "Pipeline"], ""),
    "MinMaxScaler": f"{_ROWS} min_:f[p] scale_:f[p] data_min_:f[p] data_max_:f[p] data_range_:f[p]"
    " n_samples_seen_:any",
    "StandardScaler": f"{_ROWS} ?mean_:f[p] ?var_:f[p] ?scale_:f[p] n_samples_seen_:any",
    "KBinsDiscretizer": f"{_ROWS} bin_edges_:any n_bins_:i[p]",
    "OneHotEncoder": f"{_ENCODER} ?drop_idx_:v[p] ?_drop_idx_after_grouping:v[p]"
    " ?_infrequent_indices:any ?_default_to_infrequent_mappings:any",
    "OrdinalEncoder": f"{_ENCODER} _missing_indices:any",
    "TargetEncoder": f"{_ENCODER} encodings_:f[_]*_ target_mean_:any target_type_:text"
    " ?classes_:v[_]",
    "FunctionTransformer": "?n_features_in_:int ?feature_names_in_:v[_]"
    " ?_sklearn_output_config:any",
    "LabelBinarizer": f"{_CLASSES} y_type_:text sparse_input_:bool",
    "LabelEncoder": _CLASSES,
    "KNeighborsClassifier": f"_fit_X:f[n,p] _y:i[n] {_CLASSES}",
    "KNeighborsRegressor": "_fit_X:f[n,p] _y:f[n]",
    "SVC": f"{_SUPPORT} {_CLASSES} class_weight_:f[c]",
    "SVR": _SUPPORT,
    "TextTfidf": f"{_ROWS} components_:f[_,_] fewest_:int words_:v[w] parts_:v[u] ?words_idf_:f[w]"
    " ?parts_idf_:f[u]",
    "TextCounts": f"{_ROWS} vocabulary_:any",
    "CommonCounts": "n_features_in_:int vocabulary_:any kept_:i[_]",
    "L1L2Classifier": f"{_LINEAR} ?objective_:float",
    "Vote7Classifier": f"{_ROWS} {_CLASSES} members_:any shares_:any",
    "DlgmClassifier": f"{_ROWS} {_CLASSES} mean_:f[p] scale_:f[p] weights_:any ?bounds_:any"
    " noise_:f[_,_]",
    "OnlineLda": "n_features_in_:int[p] components_:f[k,p] alpha_:float eta_:float ?steps_:int"
    " ?documents_seen_:int",
    "CrfTagger": f"{_PENALIZED} {_CLASSES} encoding_:any",
    "RnaFolder": f"{_PENALIZED} names_:any",
    "AveragedTagger": f"{_CLASSES} members_:any sequence_:text",
    "AveragedFolder": "members_:any gamma_:float",
    "AveragedTopics": "",
    **dict.fromkeys(["EncodedColumn", "FeatureEncoding"], ""),
}

_FIELD = re.compile(r"(\??)(\w+):([a-z]+)(?:\[([^]]*)\])?(?:\*(\w+))?")
_SCALARS: dict[str, tuple[type, ...]] = {
    "int": (int, np.integer),
    "float": (int, float, np.integer, np.floating),
    "bool": (bool, np.bool_),
    "text": (str,),
}
_ARRAYS = {"f": "fiu", "i": "iu", "v": "fiubU"}


@dataclass(frozen=True)
class ModelField:
    """One field of a fitted model."""

    name: str
    kind: str
    shape: tuple[str, ...]
    count: str | None  # of a list of such values
    is_optional: bool


CARD = ModelField("tunescope_", "any", (), None, True)  # what an exported pipeline tells of itself


@cache
def model_fields(class_name: str) -> tuple[ModelField, ...]:
    """The fields of a class by its name; a KeyError where it is none of ours."""
    fields = [CARD] if class_name == "Pipeline" else []
    for optional, name, kind, shape, count in _FIELD.findall(FIELDS[class_name]):
        sizes = tuple(shape.split(",")) if shape else ()
        fields.append(ModelField(name, kind, sizes, count or None, bool(optional)))
    return tuple(fields)


def check_fields(values: dict[str, Any], class_name: str) -> None:
    """A ValueError unless a model's fields are there, of their kinds, with shapes that agree."""
    sizes: dict[str, int] = {}
    for field in model_fields(class_name):
        value: Any = values.get(field.name)
        if value is None and field.is_optional:
            continue
        if field.count is None:
            fits = _fits_field(value, field, sizes)
        else:
            fits = isinstance(value, list) and all(
                _fits_field(item, field, sizes) for item in value
            )
            fits = fits and _is_size(field.count, len(value), sizes)
        if not fits:
            raise ValueError(f"{class_name}.{field.name} is none")


def _fits_field(value: Any, field: ModelField, sizes: dict[str, int]) -> bool:
    if field.kind == "any":
        return value is not None
    if kinds := _SCALARS.get(field.kind):
        is_bool = isinstance(value, (bool, np.bool_))
        is_kind = isinstance(value, kinds) and is_bool == (field.kind == "bool")
        return is_kind and all(_is_size(name, value, sizes) for name in field.shape)
    if not isinstance(value, np.ndarray) and not (sparse.issparse(value) and field.kind == "f"):
        return False
    dtype, names = value.dtype, field.shape
    if dtype.kind == "O" and field.kind == "v":
        is_plain = all(item is None or isinstance(item, (str, int, float)) for item in value.flat)
    else:
        is_plain = dtype.names is None and dtype.kind in _ARRAYS[field.kind] and dtype.isnative
    fits = is_plain and len(value.shape) == len(names)
    return fits and all(_is_size(*pair, sizes) for pair in zip(names, value.shape, strict=True))


def _is_size(name: str, size: int, sizes: dict[str, int]) -> bool:
    if name == "_":
        return True
    return int(name) == size if name.isdigit() else sizes.setdefault(name, size) == size
