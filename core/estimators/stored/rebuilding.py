"""Fitted models made anew from the plain values of a file: its numbers are taken, not its objects.

Compiled code follows indices without looking where they lead, so that every one that it will follow
is looked at here, or computed again.
"""

import importlib
import inspect
from collections.abc import Callable, Collection
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

from core.estimators.stored.allowed_types import FUNCTIONS, KEPT, NUMBERS
from core.estimators.stored.model_fields import FIELDS, check_fields, model_fields
from core.estimators.stored.skops_nodes import StoredName, StoredObject, StoredRows, raise_unless

State = dict[str, Any]


class Rebuilder:
    """Makes what a file holds; an object that the file names twice is made once.

    `trusted` are the module.names that may be made; an extension's get their state as it is.
    """

    def __init__(self, trusted: Collection[str]) -> None:
        self._trusted = trusted
        self._objects: dict[int, tuple[Any, Any]] = {}  # of stored ones, which must live on

    def build(self, value: Any) -> Any:
        """The value with its objects made; exceptions of many kinds for what is no fitted model."""
        if isinstance(value, (StoredObject, StoredRows)):
            if id(value) not in self._objects:
                built = _rows(value) if isinstance(value, StoredRows) else self._build_object(value)
                self._objects[id(value)] = (value, built)
            return self._objects[id(value)][1]
        if isinstance(value, StoredName):
            # A class in the place of a function would be called with a table.
            raise_unless(value.name in FUNCTIONS or value.name in NUMBERS or value.name not in KEPT)
            return self._import_named(value.name)
        if isinstance(value, (list, tuple)):
            return type(value)(self.build(item) for item in value)
        if isinstance(value, dict):
            return {key: self.build(item) for key, item in value.items()}
        if isinstance(value, np.ndarray) and value.dtype == object:
            array = np.empty(value.shape, dtype=object)
            for index, item in np.ndenumerate(value):
                array[index] = self.build(item)
            return array
        return value

    def _import_named(self, name: str) -> Any:
        raise_unless(name in self._trusted)
        module, _, attribute = name.rpartition(".")
        return getattr(importlib.import_module(module), attribute)

    def _build_object(self, stored: StoredObject) -> Any:
        made_class = self._import_named(stored.name)
        class_name = made_class.__name__
        if class_name in _COMPILED:
            arguments = self.build(stored.arguments), self.build(stored.state)
            return _COMPILED[class_name](made_class, *arguments)
        if class_name not in FIELDS:
            return self._extension_object(made_class, stored)
        raise_unless(isinstance(stored.state, dict))
        names = [field.name for field in model_fields(class_name)]
        parameters = _parameters(made_class)
        state = {n: self.build(stored.state[n]) for n in {*names, *parameters} & {*stored.state}}
        model = self._constructed(made_class, {n: state[n] for n in parameters if n in state})
        if names and not {*names} & {*state}:
            return model  # not fitted: one that the fitted one was made by
        check_fields(state, class_name)
        for name in names:
            if name in state:
                setattr(model, name, state[name])
        if class_name in _CHECKS:
            _CHECKS[class_name](model, stored.state)
        return model

    def _constructed(self, made_class: type, arguments: State) -> Any:
        for name in ("n_jobs", "n_threads"):  # a file starts no processes
            arguments.pop(name, None)
        model = made_class(**arguments)
        if hasattr(model, "_parameter_constraints"):
            model._validate_params()
        return model

    def _extension_object(self, made_class: Any, stored: StoredObject) -> Any:
        state = self.build(stored.state)
        if isinstance(state, tuple):  # what its class is called with
            return made_class(*state)
        instance = made_class.__new__(made_class)
        if hasattr(instance, "__setstate__"):
            instance.__setstate__(state)
        else:
            vars(instance).update(state or {})
        return instance


@cache
def _parameters(made_class: type) -> tuple[str, ...]:
    return tuple(inspect.signature(made_class).parameters)


def _rows(rows: StoredRows) -> Any:
    matrix = sparse.csr_matrix((rows.data, rows.indices, rows.row_ends), rows.shape)
    matrix.check_format(full_check=True)
    return matrix


def _tree(made_class: Any, arguments: Any, state: State) -> Any:
    from sklearn.tree._tree import NODE_DTYPE

    features, classes, outputs = arguments
    nodes, values, count = state["nodes"], state["values"], state["node_count"]
    raise_unless(outputs == 1 and classes.shape == (1,) and 1 <= classes[0] < _MOST_CLASSES)
    raise_unless(nodes.shape == (count,) and values.shape == (count, 1, classes[0]))
    nodes = nodes.astype(NODE_DTYPE, casting="same_kind")
    children = nodes["left_child"], nodes["right_child"]
    _check_nodes(nodes["left_child"] == -1, children, nodes["feature"], features)
    tree = made_class(features, classes.astype(np.intp), 1)
    tree.__setstate__(
        {
            "max_depth": int(state["max_depth"]),
            "node_count": count,
            "nodes": nodes,
            "values": np.ascontiguousarray(values, dtype=np.float64),
        }
    )
    return tree


def _predictor(made_class: Any, arguments: Any, state: State) -> Any:
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE

    nodes = state["nodes"].astype(PREDICTOR_RECORD_DTYPE, casting="same_kind")
    raise_unless(nodes.ndim == 1 and not nodes["is_categorical"].any())  # they are encoded before
    children = nodes["left"], nodes["right"]
    _check_nodes(nodes["is_leaf"].astype(bool), children, nodes["feature_idx"], _MOST_FEATURES)
    no_categories = np.zeros((0, 8), dtype=np.uint32)
    return made_class(nodes, no_categories, no_categories)


def _check_nodes(leaf: Any, children: tuple[Any, Any], feature: Any, features: int) -> None:
    inner = np.flatnonzero(~leaf)
    raise_unless(len(leaf) > 0)
    for child in children:
        # A child comes after its parent, so that every way down ends.
        child_index = child[inner].astype(np.int64)
        raise_unless(bool(np.all((child_index > inner) & (child_index < len(leaf)))))
    split_features = feature[inner].astype(np.int64)
    raise_unless(bool(np.all((split_features >= 0) & (split_features < features))))


def _fit_neighbours(model: Any, state: State) -> None:
    rows, target = model._fit_X, model._y
    raise_unless(model.metric == "minkowski" and model.metric_params is None)
    if hasattr(model, "classes_"):
        raise_unless(bool(np.all(target >= 0)))
        target = model.classes_[target]
    # The tree of the rows is made again: one of a file could lead anywhere.
    model.fit(rows, target)


def _check_decision_tree(model: Any, state: State) -> None:
    classes = getattr(model, "n_classes_", 1)
    raise_unless(model.tree_.n_features == model.n_features_in_)
    raise_unless(model.tree_.n_classes.tolist() == [classes])


def _check_forest(model: Any, state: State) -> None:
    classes = getattr(model, "n_classes_", 1)
    for tree in model.estimators_:
        raise_unless(tree.n_features_in_ == model.n_features_in_)
        raise_unless(getattr(tree, "n_classes_", 1) == classes)


def _check_boosting(model: Any, state: State) -> None:
    classes = len(getattr(model, "classes_", "12"))
    raise_unless(model.n_trees_per_iteration_ == (1 if classes == 2 else classes))
    raise_unless(not model._bin_mapper.is_categorical_.any())
    for trees in model._predictors:
        raise_unless(len(trees) == model.n_trees_per_iteration_)
        for tree in trees:
            inner = tree.nodes[tree.nodes["is_leaf"] == 0]
            raise_unless(bool(np.all(inner["feature_idx"] < model.n_features_in_)))
    model._preprocessor = model.is_categorical_ = model._is_categorical_remapped = None
    model._scorer, model._use_validation_data = None, False
    model._loss = model._get_loss(sample_weight=None)


def _check_support(model: Any, state: State) -> None:
    is_classifier = hasattr(model, "classes_")
    classes, count = (len(model.classes_) if is_classifier else 2), len(model.support_)
    pairs, vectors = classes * (classes - 1) // 2, model.support_vectors_
    raise_unless(model.kernel in ("linear", "poly", "rbf", "sigmoid"))
    counts = model._n_support
    raise_unless(counts.shape == (classes,) and len(model._intercept_) == pairs)
    # A regression does not read the counts; fitted on sparse rows, it has anything in their place.
    if is_classifier:
        raise_unless(bool(np.all((counts >= 0) & (counts <= count))) and counts.sum() == count)
    else:
        model._n_support = np.array([count, 0], dtype=np.int32)
    for sigmoid in (model._probA, model._probB):
        raise_unless(sigmoid.shape in ((0,), (pairs,)) and len(sigmoid) == len(model._probA))
    for name in ("_dual_coef_", "dual_coef_"):
        weights = getattr(model, name)
        raise_unless(weights.shape == (classes - 1, count))
        raise_unless(sparse.issparse(weights) == sparse.issparse(vectors))
        # Compiled code takes what a sparse matrix stores for all of it.
        raise_unless(not sparse.issparse(weights) or len(weights.data) == (classes - 1) * count)
    model._sparse = sparse.issparse(vectors)
    model._effective_probability = len(model._probA) > 0
    model._num_iter = np.atleast_1d(model.n_iter_)


def _check_network(model: Any, state: State) -> None:
    width = model.n_features_in_
    raise_unless(len(model.coefs_) == len(model.intercepts_) == model.n_layers_ - 1)
    for weights, offsets in zip(model.coefs_, model.intercepts_, strict=True):
        raise_unless(weights.shape == (width, len(offsets)))
        width = len(offsets)
    raise_unless(width == model.n_outputs_)


def _check_one_hot(model: Any, state: State) -> None:
    sizes = [len(values) for values in model.categories_]
    if model._infrequent_enabled:  # rare values share a column
        mappings, rare = model._default_to_infrequent_mappings, model._infrequent_indices
        for i, mapping in enumerate(mappings):
            if mapping is not None:
                raise_unless(len(mapping) == sizes[i])
                sizes[i] += 1 - len(rare[i])
                raise_unless(mapping.dtype.kind in "iu" and mapping.min() >= 0)
                raise_unless(mapping.max() < sizes[i])
    for name in ("drop_idx_", "_drop_idx_after_grouping"):
        setattr(model, name, getattr(model, name, None))
    if model._drop_idx_after_grouping is not None:
        pairs = list(zip(model._drop_idx_after_grouping.tolist(), sizes, strict=True))
        raise_unless(all(drop is None or 0 <= drop < size for drop, size in pairs))
        sizes = [size - (drop is not None) for drop, size in pairs]
    model._n_features_outs = sizes


def _check_vectorizer(model: Any, state: State) -> None:
    raise_unless(model.input == "content" and model.token_pattern == _WORD_PATTERN)
    functions = (model.preprocessor, model.tokenizer, model.stop_words)
    raise_unless(isinstance(model.analyzer, str) and functions == (None, None, None))
    words = getattr(model, "vocabulary_", None)
    if words is not None:  # a word's column leads into sparse rows
        raise_unless(sorted(words.values()) == list(range(len(words))))


def _check_vote(model: Any, state: State) -> None:
    from sklearn.utils import Bunch

    names = [name for name, member in model.estimators if member != "drop"]
    model.named_estimators_ = Bunch(**dict(zip(names, model.estimators_, strict=True)))
    raise_unless(model.weights is None or len(model.weights) == len(model.estimators))


def _check_bins(model: Any, state: State) -> None:
    raise_unless(model.encode == "ordinal" and model.bin_edges_.shape == model.n_bins_.shape)


def _check_tagger(model: Any, state: State) -> None:
    from core.losses.crf.encoding import ParameterNames

    model.w_ = np.ascontiguousarray(model.w_, dtype=np.float64)
    raise_unless(len(model.w_) == len(ParameterNames(model.encoding_, model.classes_.tolist())))


def _check_folder(model: Any, state: State) -> None:
    from core.losses.rna.parameters import NAMES

    model.w_ = np.ascontiguousarray(model.w_, dtype=np.float64)
    raise_unless(len(model.w_) == len(NAMES))


def _check_column(model: Any, state: State) -> None:
    values = model.values
    raise_unless(values is None or all(isinstance(value, str) for value in values))


_MOST_CLASSES, _MOST_FEATURES = 10**6, 2**31
_WORD_PATTERN = r"(?u)\b\w\w+\b"
_COMPILED: dict[str, Callable[[Any, Any, Any], Any]] = {"Tree": _tree, "TreePredictor": _predictor}
_CHECKS: dict[str, Callable[[Any, State], None]] = {
    **dict.fromkeys(["DecisionTreeClassifier", "DecisionTreeRegressor"], _check_decision_tree),
    **dict.fromkeys(["ExtraTreeClassifier", "ExtraTreeRegressor"], _check_decision_tree),
    **dict.fromkeys(["ExtraTreesClassifier", "ExtraTreesRegressor"], _check_forest),
    **dict.fromkeys(["RandomForestClassifier", "RandomForestRegressor"], _check_forest),
    "HistGradientBoostingClassifier": _check_boosting,
    "HistGradientBoostingRegressor": _check_boosting,
    **dict.fromkeys(["KNeighborsClassifier", "KNeighborsRegressor"], _fit_neighbours),
    **dict.fromkeys(["SVC", "SVR"], _check_support),
    **dict.fromkeys(["MLPClassifier", "MLPRegressor"], _check_network),
    "OneHotEncoder": _check_one_hot,
    "TfidfVectorizer": _check_vectorizer,
    **dict.fromkeys(["VotingClassifier", "VotingRegressor"], _check_vote),
    "KBinsDiscretizer": _check_bins,
    "CrfTagger": _check_tagger,
    "RnaFolder": _check_folder,
    "EncodedColumn": _check_column,
}
