"""The content of a fitted model as a skops file has it, for the types that models of ours hold.

Skops imports all of scikit-learn for the names that it trusts, which takes as long as a small run.
What it has nodes for beyond these types, it is asked to write.
"""

import io
import json
import zipfile
from collections.abc import Callable
from functools import partial
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np
from scipy import sparse

from core.estimators.stored.allowed_types import KEPT
from core.estimators.stored.skops_nodes import Node, name_of

PROTOCOL = 2  # version of skops's files
_ARRAY_FUNCTION = type(np.clip)
_USUAL_REDUCE: Any = object.__reduce__  # of objects that their attributes restore


class SkopsWriter:
    """Makes nodes of values; arrays go into the archive."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._values: dict[int, Any] = {}  # they live on, so that no id comes twice

    def node(self, value: Any) -> Node:
        """The node of a value; TypeError or ValueError where skops has none."""
        self._values[id(value)] = value
        return {**self._content(value), "__id__": id(value)}

    def _content(self, value: Any) -> Node:
        if type(value) in (str, int, float, bool, type(None)):
            text = {"content": json.dumps(value), "is_json": True}
            return {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", **text}
        if isinstance(value, (type, BuiltinFunctionType)):
            return _named(value, "TypeNode")
        if isinstance(value, (FunctionType, _ARRAY_FUNCTION)):
            return _named(value, "FunctionNode")
        if isinstance(value, np.dtype):
            content = self.node(np.ndarray(0, dtype=value))
            return {**_named(np.dtype, "DTypeNode"), "__class__": "dtype", "content": content}
        kind = type(value)
        if name_of(_named(kind, "")) not in KEPT:
            return self._node_of_skops(value)
        if isinstance(value, slice):
            ends = {"start": value.start, "stop": value.stop, "step": value.step}
            return {**_named(kind, "SliceNode"), "content": ends}
        if isinstance(value, dict):
            types = self.node([type(key) for key in value])
            keys = (key.item() if isinstance(key, np.generic) else key for key in value)
            content = {key: self.node(item) for key, item in zip(keys, value.values(), strict=True)}
            return {**_named(kind, "DictNode"), "content": content, "key_types": types}
        if isinstance(value, (list, tuple)):
            loader = "ListNode" if isinstance(value, list) else "TupleNode"
            return {**_named(kind, loader), "content": [self.node(item) for item in value]}
        if isinstance(value, (np.ndarray, np.generic)):
            return {**_named(kind, "NdArrayNode"), **self._array(value)}
        if isinstance(value, sparse.csr_matrix):
            file = self._file(value, "npz", sparse.save_npz)
            return {**_named(kind, "SparseMatrixNode"), "type": "scipy", "file": file}
        if kind.__name__ == "Tree":
            _, arguments, state = value.__reduce__()
            reduced = {"__reduce__": {"args": self.node(arguments)}, "content": self.node(state)}
            return {**_named(kind, "TreeNode"), **reduced}
        if kind.__reduce__ is _USUAL_REDUCE:
            return {**_named(kind, "ObjectNode"), "content": self.node(value.__getstate__())}
        return self._node_of_skops(value)

    def _array(self, value: Any) -> Node:
        if value.dtype == object:
            items = [self.node(item) for item in value.tolist()]
            return {"content": items, "type": "json", "shape": self.node(value.shape)}
        save = partial(np.save, allow_pickle=False)
        return {"type": "numpy", "file": self._file(value, "npy", save)}

    def _file(self, value: Any, ending: str, save: Callable[[io.BytesIO, Any], None]) -> str:
        name, stream = f"{id(value)}.{ending}", io.BytesIO()
        if name not in self._archive.NameToInfo:
            save(stream, value)
            self._archive.writestr(name, stream.getbuffer())
        return name

    def _node_of_skops(self, value: Any) -> Node:
        from skops.io._utils import SaveContext, get_state

        return dict(get_state(value, SaveContext(self._archive, memo=self._values)))


def _named(value: Any, loader: str) -> Node:
    return {"__class__": value.__name__, "__module__": value.__module__, "__loader__": loader}
