"""The content of a skops file as plain values: numbers, texts, arrays, and the states of objects.

Nothing is imported, made or called for a file here, and no array takes more than the file holds.
"""

import io
import json
import math
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from core.datasets.files.file_bytes import check_archive

Node = dict[str, Any]  # what a file says of one object, as skops writes it
_SCALARS = (str, int, float, bool, type(None))
_KEYS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("str", "str_"), str),
    **dict.fromkeys(("int", "int32", "int64"), int),
    **dict.fromkeys(("float", "float64"), float),
}
_PLAIN_KINDS = "biufU"  # no objects, whose bytes would be followed as addresses


@dataclass(frozen=True)
class StoredName:
    """A function or type that a file names."""

    name: str  # module.name


@dataclass(frozen=True, eq=False)
class StoredObject:
    """An object that a file holds."""

    name: str  # of its class, module.name
    state: Any  # mostly {attribute: value}
    arguments: Any = None  # what its class is called with


@dataclass(frozen=True, eq=False)
class StoredRows:
    """A sparse matrix in compressed rows."""

    data: np.ndarray
    indices: np.ndarray
    row_ends: np.ndarray  # after a leading 0
    shape: tuple[int, int]


class SkopsReader:
    """Reads the nodes of one archive; a node that is named again is the same value."""

    def __init__(self, archive: zipfile.ZipFile, path: Path) -> None:
        self._archive, self._path = archive, path
        self._values: dict[Any, Any] = {}
        self._arrays: dict[str, np.ndarray] = {}

    def read(self, node: Node) -> Any:
        """The value of a node; exceptions of many kinds for nodes that skops does not write."""
        key, loader = node.get("__id__"), node["__loader__"]
        if loader == "CachedNode" or key in self._values:
            return self._values[key]
        value = _READERS[loader](self, node)
        if key is not None:
            self._values[key] = value
        return value

    def _read_scalar(self, node: Node) -> Any:
        value = json.loads(node["content"])
        raise_unless(isinstance(value, _SCALARS))
        return value

    def _read_items(self, node: Node) -> list[Any]:
        return [self.read(item) for item in node["content"]]

    def _mapping(self, node: Node) -> dict[Any, Any]:
        kinds = [item["__class__"] for item in node["key_types"]["content"]]
        pairs = zip(kinds, node["content"].items(), strict=True)
        return {_KEYS[kind](key): self.read(value) for kind, (key, value) in pairs}

    def _read_slice(self, node: Node) -> slice:
        ends = [node["content"][name] for name in ("start", "stop", "step")]
        raise_unless(all(end is None or type(end) is int for end in ends))
        return slice(*ends)

    def _read_array(self, node: Node) -> Any:
        if node["type"] == "json":
            return self._objects(self._read_items(node), self.read(node["shape"]))
        name = node["file"]
        if name not in self._arrays:
            self._arrays[name] = read_array(self._archive.read(name))
        array = self._arrays[name]
        is_scalar = node["__class__"] != "ndarray"
        raise_unless(not is_scalar or array.shape == ())
        return array[()] if is_scalar else array

    def _objects(self, items: list[Any], shape: Any) -> np.ndarray:
        raise_unless(isinstance(shape, tuple) and len(shape) in (1, 2))
        array = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            array[i] = item
        return array if len(shape) == 1 else np.array(items, dtype=object).reshape(shape)

    def _sparse_rows(self, node: Node) -> StoredRows:
        content = self._archive.read(node["file"])
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            check_archive(archive, self._path, len(content))
            arrays = {name: read_array(archive.read(name)) for name in archive.namelist()}
        raise_unless(arrays["format.npy"].item() in (b"csr", "csr"))
        rows, columns = (int(size) for size in arrays["shape.npy"])
        data, indices = arrays["data.npy"], arrays["indices.npy"]
        return StoredRows(data, indices, arrays["indptr.npy"], (rows, columns))

    def _read_name(self, node: Node) -> StoredName:
        return StoredName(name_of(node))

    def _read_object(self, node: Node) -> StoredObject:
        arguments = node.get("__reduce__", {}).get("args")
        state = self.read(node["content"]) if "content" in node else None
        return StoredObject(name_of(node), state, arguments and self.read(arguments))


_READERS: dict[str, Callable[[SkopsReader, Node], Any]] = {
    "ConstructorFromReduceNode": SkopsReader._read_object,
    "DTypeNode": lambda reader, node: np.dtype(reader.read(node["content"]).dtype),
    "DictNode": SkopsReader._mapping,
    "FunctionNode": SkopsReader._read_name,
    "JsonNode": SkopsReader._read_scalar,
    "ListNode": SkopsReader._read_items,
    "LossNode": SkopsReader._read_object,
    "NdArrayNode": SkopsReader._read_array,
    "ObjectNode": SkopsReader._read_object,
    "RandomGeneratorNode": lambda reader, node: None,  # random numbers go on in no fitted model
    "RandomStateNode": lambda reader, node: None,
    "SliceNode": SkopsReader._read_slice,
    "SparseMatrixNode": SkopsReader._sparse_rows,
    "TreeNode": SkopsReader._read_object,
    "TupleNode": lambda reader, node: tuple(reader._read_items(node)),
    "TypeNode": SkopsReader._read_name,
}
LOADERS = frozenset({*_READERS, "CachedNode"})


def name_of(node: Node) -> str:
    """The module.name that a node names."""
    return f"{node.get('__module__')}.{node.get('__class__')}"


def read_array(content: bytes) -> np.ndarray:
    """The array of a .npy file; ValueError for another size, or what is no number and no text."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    read_head = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }[version]
    shape, is_fortran, dtype = read_head(stream)
    kinds = [kind for kind, *_ in dtype.fields.values()] if dtype.fields else [dtype]
    # numpy allocates what the head says before it looks whether that is there.
    size = math.prod(shape) * dtype.itemsize
    raise_unless(min(shape, default=0) >= 0 and size == len(content) - stream.tell())
    raise_unless(all(kind.kind in _PLAIN_KINDS + "S" and kind.subdtype is None for kind in kinds))
    order: Literal["F", "C"] = "F" if is_fortran else "C"
    if size == 0:
        return np.zeros(shape, dtype, order=order)
    array = np.frombuffer(content, dtype, offset=stream.tell())
    return array.reshape(shape, order=order).copy(order="K")  # compiled code asks for writable ones


def raise_unless(condition: bool) -> None:
    """Raise ValueError for what is no fitted model."""
    if not condition:
        raise ValueError("no fitted model")
