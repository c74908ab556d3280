"""Fitted models as skops files, opened only where types are allowed and indices in bounds."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from scipy import sparse

from core.datasets.files.file_bytes import check_archive
from core.errors import UnusableError

SCHEMA = "schema.json"
# What a node of the schema may ask skops to do; no methods, operators or partial functions.
LOADERS = frozenset(
    {
        *("CachedNode", "ConstructorFromReduceNode", "DTypeNode", "DictNode", "FunctionNode"),
        *("JsonNode", "ListNode", "LossNode", "NdArrayNode", "ObjectNode"),
        *("RandomGeneratorNode", "RandomStateNode", "SliceNode", "SparseMatrixNode"),
        *("TreeNode", "TupleNode", "TypeNode"),
    }
)
OLDEST = 2  # version of skops's files


class _Archive(zipfile.ZipFile):
    # skops asks for every array whether it is there, which took the square of their number.
    def namelist(self) -> list[str]:
        return cast(list[str], self.NameToInfo.keys())


def dump_model(model: Any, file: BinaryIO, compression: int = zipfile.ZIP_STORED) -> set[str]:
    """Write a model as ``skops.io.dump`` does; the names of its types, as in `load_model`.

    Raises:
        UnsupportedTypeException, TypeError, ValueError: skops cannot store something inside.
    """
    import skops
    from skops.io._utils import SaveContext, get_state

    with _Archive(file, "w", compression) as archive:
        context = SaveContext(zip_file=archive)
        state = get_state(model, context)
        context.clear_memo()
        schema = {**state, "protocol": context.protocol, "_skops_version": skops.__version__}
        archive.writestr(SCHEMA, json.dumps(schema))
    return {name for name, _ in schema_objects(schema)}


def load_model(path: Path, trusted: Collection[str]) -> Any:
    """The model in an untrusted skops file: nothing beyond `trusted` types is imported."""
    import skops.io

    try:
        with path.open("rb") as file:
            with zipfile.ZipFile(file) as archive:
                check_archive(archive, path)
                schema = json.loads(archive.read(SCHEMA))
            _check_schema(schema, trusted, path)
            # The same open file: nobody can exchange it between the check and the loading.
            file.seek(0)
            model = skops.io.load(file, trusted=sorted(trusted))
        check_indices(model)
        return model
    except UnusableError:
        raise
    except Exception as error:
        # Damaged archives and schemas raise many kinds; each means the same to a person.
        raise UnusableError(
            "this is no skops model file, or it is damaged",
            where=str(path),
            cure="export the model again",
        ) from error


def _check_schema(schema: Any, trusted: Collection[str], path: Path) -> None:
    named_objects = list(schema_objects(schema))
    strangers = {name for name, _ in named_objects if name not in trusted}
    strangers |= {f"{name} ({loader})" for name, loader in named_objects if loader not in LOADERS}
    if strangers:
        first = [name[:200] for name in sorted(strangers)[:3]]
        names = ", ".join(first) + (" …" if len(strangers) > 3 else "")
        raise UnusableError(
            f"the file holds objects that no Tunescope model has ({names})",
            where=str(path),
            cure="open only model files that Tunescope exported",
        )
    # Older schemas name things in ways that are not looked at above.
    if not int(schema["protocol"]) >= OLDEST:
        raise ValueError("written by an old skops")


def schema_objects(schema: Any) -> Iterator[tuple[str, str]]:
    """Every (module.name, loader) that a schema asks for."""
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if "__module__" in node or "__class__" in node or "__loader__" in node:
                name = f"{node.get('__module__')}.{node.get('__class__')}"
                yield name, str(node.get("__loader__"))
                if node.get("__loader__") == "RandomGeneratorNode":  # names its class as a text
                    yield _bit_generator(node), "ObjectNode"
            waiting += node.values()
        elif isinstance(node, (list, tuple)):
            waiting += node


def _bit_generator(node: dict[str, Any]) -> str:
    try:
        state = node["content"]["bit_generator"]["content"]
        return f"numpy.random.{json.loads(state['bit_generator']['content'])}"
    except (KeyError, TypeError, ValueError):
        return "numpy.random.?"


def check_indices(model: Any) -> None:
    """Check trees, neighbours, support vectors and sparse matrices.

    Raises:
        ValueError: an index leads out of its arrays.
        Exception: of many kinds, for missing or wrong attributes.
    """
    from sklearn.ensemble._forest import BaseForest
    from sklearn.ensemble._hist_gradient_boosting.gradient_boosting import BaseHistGradientBoosting
    from sklearn.neighbors import KDTree
    from sklearn.neighbors._base import NeighborsBase
    from sklearn.svm._base import BaseLibSVM
    from sklearn.tree import BaseDecisionTree

    for element in _contained_objects(model):
        if isinstance(element, BaseForest) and hasattr(element, "estimators_"):
            widths = {tree.n_features_in_ for tree in element.estimators_}
            _raise_unless(widths <= {element.n_features_in_})
        elif isinstance(element, BaseDecisionTree) and hasattr(element, "tree_"):
            _raise_unless(element.tree_.n_features == element.n_features_in_)
            nodes = element.tree_.__getstate__()["nodes"]
            leaf = nodes["left_child"] == -1
            children = nodes["left_child"], nodes["right_child"]
            _check_tree(leaf, children, nodes["feature"], element.n_features_in_)
        elif isinstance(element, BaseHistGradientBoosting) and hasattr(element, "_predictors"):
            for predictor in (tree for trees in element._predictors for tree in trees):
                nodes = predictor.nodes
                _raise_unless(not nodes["is_categorical"].any())  # categories are encoded before
                children = nodes["left"], nodes["right"]
                leaf = nodes["is_leaf"].astype(bool)
                _check_tree(leaf, children, nodes["feature_idx"], element.n_features_in_)
        elif isinstance(element, NeighborsBase) and hasattr(element, "_fit_X"):
            _check_neighbours(element)
        elif isinstance(element, KDTree):
            _check_halving(element)
        elif isinstance(element, BaseLibSVM) and hasattr(element, "support_"):
            _check_support(element)
        elif sparse.issparse(element):
            element.check_format(full_check=True)


def _check_tree(leaf: Any, children: tuple[Any, Any], feature: Any, features: int) -> None:
    inner = np.flatnonzero(~leaf)
    _raise_unless(len(leaf) > 0)
    for child in children:
        # A child comes after its parent, so that every way down ends.
        child_index = child[inner].astype(np.int64)
        _raise_unless(bool(np.all((child_index > inner) & (child_index < len(leaf)))))
    split_features = feature[inner].astype(np.int64)
    _raise_unless(bool(np.all((split_features >= 0) & (split_features < features))))


def _check_support(svm: Any) -> None:
    vectors, class_counts = svm.support_vectors_, np.asarray(svm._n_support)
    is_classifier = hasattr(svm, "classes_")
    classes = len(svm.classes_) if is_classifier else 2
    pairs, count = classes * (classes - 1) // 2, vectors.shape[0]
    # A regression does not read these; fitted on sparse rows, it has anything in their place.
    counted = class_counts if is_classifier else np.zeros(classes)
    in_range = bool(np.all((counted >= 0) & (counted <= count)))
    _raise_unless(class_counts.shape == (classes,) and in_range)
    _raise_unless(
        len(svm.support_) == count and (not is_classifier or int(class_counts.sum()) == count)
    )
    _raise_unless(svm._dual_coef_.shape == (classes - 1, count))
    _raise_unless(vectors.shape[1] == svm.n_features_in_ and len(svm._intercept_) == pairs)
    _raise_unless(all(len(sigmoid) in (0, pairs) for sigmoid in (svm._probA, svm._probB)))


def _check_neighbours(model: Any) -> None:
    rows, tree = model._fit_X, model._tree
    _raise_unless(rows.ndim == 2 and rows.shape == (model.n_samples_fit_, model.n_features_in_))
    _raise_unless(len(model._y) == len(model._y.ravel()) == rows.shape[0])
    if hasattr(model, "classes_"):
        codes = np.asarray(model._y)
        _raise_unless(codes.dtype.kind in "iu" and len(codes) > 0)
        _raise_unless(bool(codes.min() >= 0 and codes.max() < len(model.classes_)))
    _raise_unless((tree is None) == (model._fit_method == "brute"))
    _raise_unless(tree is None or tree.get_arrays()[0].shape == rows.shape)


def _check_halving(tree: Any) -> None:
    from sklearn.metrics._dist_metrics import DistanceMetric64

    rows, order, nodes, bounds = (np.asarray(array) for array in tree.get_arrays())
    _raise_unless(rows.ndim == 2 and order.shape == rows.shape[:1])
    _raise_unless(bool(np.all((order >= 0) & (order < len(rows)))))
    _raise_unless(len(nodes) > 0 and bounds.shape == (2, len(nodes), rows.shape[1]))
    first, last = nodes["idx_start"], nodes["idx_end"]
    _raise_unless(bool(np.all((first >= 0) & (first <= last) & (last <= len(rows)))))
    _raise_unless(any(isinstance(state, DistanceMetric64) for state in tree.__getstate__()))
    inner = np.flatnonzero(nodes["is_leaf"] == 0)
    _raise_unless(bool(np.all(2 * inner + 2 < len(nodes))))  # children: 2i + 1 and 2i + 2


def _raise_unless(condition: bool) -> None:
    if not condition:
        raise ValueError("an index leads out of the model")


def _contained_objects(model: Any) -> Iterator[Any]:
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        element = waiting.pop()
        if id(element) in seen or isinstance(element, (str, bytes, int, float, type(None))):
            continue
        seen.add(id(element))
        yield element
        if isinstance(element, dict):
            waiting += element.values()
        elif isinstance(element, (list, tuple)):
            waiting += element
        elif isinstance(element, np.ndarray):
            waiting += element.ravel().tolist() if element.dtype == object else []
        elif not isinstance(element, type):
            waiting += vars(element).values() if hasattr(element, "__dict__") else []
