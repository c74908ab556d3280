"""Forests and boosted trees as one ONNX operator.

A row goes left where x_feature <= threshold, in double precision. The operator returns its sum in
single precision: so what all rows have in common, a mean or a start, is added after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.export.onnx.graph import OnnxGraph


@dataclass(frozen=True)
class _Tree:
    """One tree, its nodes numbered from the root, 0."""

    leaf: np.ndarray  # which nodes are leaves, (nodes,)
    feature: np.ndarray  # of each node, like the next three; unused at a leaf
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    values: np.ndarray  # of a leaf for each of the outputs, (nodes, outputs)


def forest_mean(graph: OnnxGraph, X: str, model: Any) -> str:
    """The mean of a random forest's trees: numbers (N, 1), or shares of classes (N, K)."""
    from onnx import TensorProto

    trees = []
    mean = np.mean([tree.tree_.value[:1, 0, :] for tree in model.estimators_], axis=0)
    for tree in model.estimators_:
        nodes = tree.tree_
        values = (nodes.value[:, 0, :] - mean) / len(model.estimators_)
        splits = (nodes.feature, nodes.threshold, nodes.children_left, nodes.children_right)
        trees.append(_Tree(nodes.children_left < 0, *splits, values))
    # scikit-learn's forests compare in single precision.
    single = graph.add_node("Cast", X, to=TensorProto.FLOAT)
    double = graph.add_node("Cast", single, to=TensorProto.DOUBLE)
    return graph.add_node("Add", _sum_of_trees(graph, double, trees), graph.add_constant(mean))


def boosted_sum(graph: OnnxGraph, X: str, model: Any) -> str:
    """The sum of histogram-boosted trees before any link, (N, trees an iteration)."""
    width = model.n_trees_per_iteration_
    trees = []
    for iteration in model._predictors:
        for output, predictor in enumerate(iteration):
            nodes = predictor.nodes
            values = np.zeros((len(nodes), width))
            values[:, output] = nodes["value"]
            features, thresholds = nodes["feature_idx"], nodes["num_threshold"]
            leaf = nodes["is_leaf"].astype(bool)
            trees.append(_Tree(leaf, features, thresholds, nodes["left"], nodes["right"], values))
    start = np.asarray(model._baseline_prediction, dtype=np.float64).reshape(1, -1)
    return graph.add_node("Add", _sum_of_trees(graph, X, trees), graph.add_constant(start))


def _sum_of_trees(graph: OnnxGraph, X: str, trees: list[_Tree]) -> str:
    from onnx import TensorProto, numpy_helper

    sizes = [len(tree.leaf) for tree in trees]
    width = trees[0].values.shape[1]
    leaf = np.concatenate([tree.leaf for tree in trees])
    feature, threshold, left, right = (
        np.where(leaf, 0, np.concatenate([getattr(tree, name) for tree in trees]))
        for name in ("feature", "threshold", "left", "right")
    )
    tree_of = np.repeat(np.arange(len(trees)), sizes)
    node_of = np.concatenate([np.arange(size) for size in sizes])
    values = np.concatenate([tree.values for tree in trees])
    leaf_nodes, output = np.nonzero(leaf[:, None] & np.ones(width, dtype=bool))
    leaf_values = values[leaf_nodes, output]
    single = graph.add_node(
        "TreeEnsembleRegressor",
        X,
        domain="ai.onnx.ml",
        n_targets=width,
        nodes_treeids=tree_of.tolist(),
        nodes_nodeids=node_of.tolist(),
        nodes_modes=np.where(leaf, "LEAF", "BRANCH_LEQ").tolist(),
        nodes_featureids=feature.astype(int).tolist(),
        nodes_values_as_tensor=numpy_helper.from_array(threshold.astype(np.float64)),
        nodes_truenodeids=left.astype(int).tolist(),
        nodes_falsenodeids=right.astype(int).tolist(),
        target_treeids=tree_of[leaf_nodes].tolist(),
        target_nodeids=node_of[leaf_nodes].tolist(),
        target_ids=output.tolist(),
        target_weights_as_tensor=numpy_helper.from_array(leaf_values.astype(np.float64)),
    )
    return graph.add_node("Cast", single, to=TensorProto.DOUBLE)
