"""Model files with something changed at random, opened and asked in processes of their own.

    python tests/benchmarks/fuzz_models.py [--count 10000] [--first 0] [--replay skops:1234]

`--count 100000` is the long form. Exit status 1 where there are findings.
"""

from __future__ import annotations

import copy
import io
import json
import sys
import zipfile
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests/benchmarks")]

from fuzzing import Ask, Draw, Format, run_command

from core.export.prediction import predict_file

FILES = ROOT / "tests/earlier_version/files"
DATA = {"houses": "houses", "elastic-net": "houses", "mlp": "houses", "visits": "visits"}
SCALARS = [
    *(None, True, False, 0, 1, -1, 2, 7, 255, 65_536, 2**31 - 1, 2**31, 2**63 - 1, -(2**63)),
    *(10**30, 0.5, 1e308, float("nan"), float("inf"), "", "precomputed", "brute", "filename"),
]
NAMES = ["_in_fit", "_impl", "_preprocessor", "kernel", "metric", "_sparse", "n_features_in_"]
LOADERS = [
    *("ObjectNode", "ListNode", "JsonNode", "DictNode", "TupleNode", "TypeNode", "CachedNode"),
    *("NdArrayNode", "TreeNode", "DTypeNode", "SparseMatrixNode", "LossNode"),
]
DTYPES = ["u1", "i1", "i4", "i8", "f4", "f8", ">f8", "c16", "?", "U3", "S4"]


def nodes_of(schema: Any) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
    """Every node of a schema, what holds it, and its key there."""
    waiting: list[tuple[Any, Any, Any]] = [(None, None, schema)]
    while waiting:
        holder, key, value = waiting.pop()
        if isinstance(value, dict):
            if "__loader__" in value:
                yield holder, key, value
            waiting += [(value, name, item) for name, item in value.items()]
        elif isinstance(value, list):
            waiting += [(value, place, item) for place, item in enumerate(value)]


def mutate_array(content: bytes, draw: Draw) -> bytes:
    """A .npy file with another number, shape, type or order."""
    try:
        array = np.load(io.BytesIO(content))
    except ValueError:  # it was changed before
        return content[: draw.randrange(len(content) + 1)]
    extremes = [0, 1, -1, array.size, 2**31 - 1, 10**6]
    choice = draw.randrange(6)
    with np.errstate(all="ignore"):
        if choice == 0 and array.dtype.names and array.size:
            array[draw.choice(array.dtype.names)].flat[draw.randrange(array.size)] = draw.choice(
                [0, 1, array.size, array.size - 1]
            )
        elif choice == 1 and array.dtype.kind in "if" and array.dtype.itemsize > 1 and array.size:
            array.flat[draw.randrange(array.size)] = draw.choice(extremes)
        elif choice == 2 and array.ndim:
            array = np.concatenate([array, array]) if draw.random() < 0.5 else array[:-1]
        elif choice == 3 and array.dtype.kind in "iuf":
            array = array.astype(draw.choice(DTYPES))
        elif choice == 4:
            array = array.T.copy() if array.ndim > 1 else array.reshape(1, -1)
        else:
            array = np.zeros((0,) * max(array.ndim, 1), array.dtype)
    stream = io.BytesIO()
    np.save(stream, array)
    content = stream.getvalue()
    return content.replace(b"'shape': (", b"'shape': (9", 1) if draw.random() < 0.05 else content


def mutate_node(schema: Any, draw: Draw) -> None:
    """Change one node: its value, its place, its name, its kind, or a name that it holds."""
    nodes = list(nodes_of(schema))
    holder, key, node = draw.choice(nodes)
    choice = draw.randrange(7)
    if choice < 2:
        scalars = [item for _, _, item in nodes if item["__loader__"] == "JsonNode"]
        if scalars:
            draw.choice(scalars)["content"] = json.dumps(draw.choice(SCALARS))
    elif choice == 2 and holder is not None:
        holder[key] = copy.deepcopy(draw.choice(nodes)[2])
    elif choice == 3:
        mappings = [item for _, _, item in nodes if item["__loader__"] == "DictNode"]
        mappings = [item for item in mappings if isinstance(item.get("content"), dict)]
        mapping = draw.choice([item for item in mappings if item["content"]] or [{"content": {}}])
        if not mapping["content"]:
            return
        name = draw.choice(list(mapping["content"]))
        new_name = draw.choice([*NAMES, f"{name}_"])
        mapping["content"][new_name] = copy.deepcopy(draw.choice(nodes)[2])
        if draw.random() < 0.5:
            del mapping["content"][name]
        kinds = mapping["key_types"].get("content")
        if kinds:
            mapping["key_types"]["content"] = [kinds[0]] * len(mapping["content"])
    elif choice == 4:
        twin = draw.choice(nodes)[2]
        node["__class__"], node["__module__"] = twin.get("__class__"), twin.get("__module__")
    elif choice == 5:
        node["__loader__"] = draw.choice(LOADERS)
    else:
        node["__id__"] = draw.choice(nodes)[2].get("__id__")


@cache
def members_of(source: Path) -> dict[str, bytes]:
    """The members of an archive."""
    with zipfile.ZipFile(source) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_skops(draw: Draw, path: Path) -> Ask:
    """Write a changed model; what asks it."""
    source = draw.choice(MODELS)
    members = dict(members_of(source))
    schema = json.loads(members["schema.json"])
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        arrays = [name for name in members if name.endswith(".npy")]
        if arrays and draw.random() < 0.25:
            name = draw.choice(arrays)
            members[name] = mutate_array(members[name], draw)
        else:
            mutate_node(schema, draw)
    members["schema.json"] = json.dumps(schema).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    data = next((name for word, name in DATA.items() if word in source.name), "patients")
    return partial(predict_file, path, FILES / "data" / f"{data}-new.csv")


MODELS = sorted((FILES / "models").glob("*.skops"))
FORMATS = (Format("skops", ".skops", write_skops, is_strict=False),)


if __name__ == "__main__":
    sys.exit(run_command(FORMATS, __doc__))
