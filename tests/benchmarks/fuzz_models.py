"""Model files with something changed at random, opened and asked in processes of their own.

    python tests/benchmarks/fuzz_models.py [--count 10000] [--first 0] [--replay skops:1234]

`--count 100000` is the long form; ONNX needs its extra. Exit status 1 where there are findings.
"""

from __future__ import annotations

import atexit
import contextlib
import copy
import io
import json
import os
import shutil
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests/benchmarks")]

from fuzz_readers import changed, changed_json
from fuzzing import Ask, Draw, Format, run_command

from core.estimators.stored import signed
from core.export.files.model_file import load_skops
from core.export.prediction import predict_file
from core.tuning.runs.best import SIGNED, best_of
from core.tuning.runs.run_folder import RunFolder

FILES = ROOT / "tests/earlier_version/files"
# {a word in a model's name: the new rows for it}
DATA = {
    **dict.fromkeys(("houses", "elastic-net", "mlp"), "houses-new.csv"),
    **{"visits": "visits-new.csv", "crf": "tags-new.csv", "rna": "molecules-new.csv"},
    **{"lda-counts": "counts-new.libsvm", "lda": "texts-new.csv", "dlgm": "pictures-new.csv"},
}
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


def npy(array: np.ndarray) -> bytes:
    """An array as a .npy file."""
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


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
    content = npy(array)
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
def members_of(content: bytes) -> dict[str, bytes]:
    """The members of an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(members: dict[str, bytes], draw: Draw) -> bytes:
    """An archive of members; sometimes with a name of another, twice or not at all."""
    names = list(members)
    if draw.random() < 0.1:
        names[draw.randrange(len(names))] = draw.choice(
            [*members, "x.npy", "../x.npy", "é" * 200, "a/b"]
        )
    if draw.random() < 0.05:
        del names[draw.randrange(len(names))]
    stream = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "w") as archive:
        warnings.simplefilter("ignore")  # of a name that stands twice
        for name, content in zip(names, members.values(), strict=False):
            archive.writestr(name, content)
    return stream.getvalue()


def mutate_skops(content: bytes, draw: Draw) -> bytes:
    """An archive of a schema and arrays, with states, shapes, types and names changed."""
    members = dict(members_of(content))
    schema = json.loads(members["schema.json"])
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        arrays = [name for name in members if name.endswith(".npy")]
        if arrays and draw.random() < 0.25:
            name = draw.choice(arrays)
            members[name] = mutate_array(members[name], draw)
        else:
            mutate_node(schema, draw)
    return archive_of({**members, "schema.json": json.dumps(schema).encode()}, draw)


def mutate_npz(content: bytes, draw: Draw) -> bytes:
    """Arrays, one of them with another value, shape or type, or with settings changed."""
    members = dict(members_of(content))
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        name = draw.choice([*members, "settings.npy"])
        try:
            array = np.load(io.BytesIO(members[name]))
        except ValueError:  # it was changed before
            continue
        if name == "settings.npy" and array.shape == ():
            text = changed_json(str(array).encode(), draw).decode()
            members[name] = npy(np.array(text))
        elif array.dtype.kind == "U" and array.size and draw.random() < 0.5:
            array = array.astype(f"U{max(array.dtype.itemsize // 4, 9)}")
            array.flat[draw.randrange(array.size)] = draw.choice(
                [str(array.flat[draw.randrange(array.size)]), "", "\0", "é", "lda", "9" * 9]
            )
            members[name] = npy(array)
        else:
            members[name] = mutate_array(members[name], draw)
    return archive_of(members, draw)


def mutate_folder(content: bytes, draw: Draw) -> bytes:
    """A folder in an archive, with the arrays in it changed."""
    members = dict(members_of(content))
    name = next(name for name in members if name.endswith(".npz"))
    members[name] = mutate_npz(members[name], draw)
    return archive_of(members, draw)


def mutate_onnx(content: bytes, draw: Draw) -> bytes:
    """A graph with nodes, constants, sizes or names changed."""
    import onnx

    model = onnx.load_from_string(content)
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        change = draw.choice([mutate_graph_node, mutate_attribute, mutate_constant, mutate_frame])
        with contextlib.suppress(Exception):  # it was changed before
            change(model, draw)
    return bytes(model.SerializeToString())


def mutate_graph_node(model: Any, draw: Draw) -> None:
    """Another operator, input or library of a node, or a graph inside of it."""
    from onnx import helper

    graph = model.graph
    node, twin = draw.choice(graph.node), draw.choice(graph.node)
    choice = draw.randrange(4)
    if choice == 0:
        node.op_type = draw.choice([twin.op_type, *OPERATORS])
    elif choice == 1 and node.input:
        constant = draw.choice(graph.initializer)
        names = [*twin.input, *twin.output, constant.name, "", "tunescope:99999"]
        node.input[draw.randrange(len(node.input))] = draw.choice(names)
    elif choice == 2:
        node.domain = draw.choice(["", "ai.onnx.ml", "com.microsoft", "x"])
    else:
        body = helper.make_graph([copy.deepcopy(node)], "b", [], [graph.output[0]])
        node.attribute.append(helper.make_attribute("body", body))


def mutate_attribute(model: Any, draw: Draw) -> None:
    """Another value of an attribute, or another of its numbers."""
    from onnx import helper

    attributes = [item for node in model.graph.node for item in node.attribute]
    attribute = draw.choice(attributes)
    if attribute.ints and draw.random() < 0.7:
        place = draw.randrange(len(attribute.ints))
        attribute.ints[place] = draw.choice([0, 1, -1, 10**6, 2**40, len(attribute.ints)])
    else:
        numbers = [0, -1, 2**31, 2**62, 0.5, [1] * 3, [2**40], [-1], [0.5] * 9]
        new = draw.choice([*numbers, "Z", ["a"]])
        attribute.CopyFrom(helper.make_attribute(attribute.name, new))


def mutate_constant(model: Any, draw: Draw) -> None:
    """Another number, size or type of a constant, or bytes of another file."""
    from onnx import numpy_helper

    constant = draw.choice(model.graph.initializer)
    choice = draw.randrange(4)
    if choice == 0:
        constant.dims[:] = [draw.choice([0, 1, 2, 10**6, 2**40, -1]) for _ in constant.dims]
    elif choice == 1:
        constant.data_type = draw.randrange(24)
    elif choice == 2:
        constant.data_location = 1
        constant.external_data.add(key="location", value=draw.choice(["x", "/etc/passwd"]))
    else:
        array = numpy_helper.to_array(constant).copy()
        with np.errstate(all="ignore"):
            if array.dtype != object and array.size:
                array.flat[draw.randrange(array.size)] = draw.choice([0, -1, 10**9, 2**40])
        new = np.array([2**20, 2**20]) if draw.random() < 0.2 else array
        constant.CopyFrom(numpy_helper.from_array(new, constant.name))


def mutate_frame(model: Any, draw: Draw) -> None:
    """Another version of the operators, another size of an input, or other metadata."""
    choice = draw.randrange(3)
    if choice == 0:
        draw.choice(model.opset_import).version = draw.choice([0, 1, 7, 30, 2**40])
    elif choice == 1:
        value = draw.choice([*model.graph.input, *model.graph.output])
        draw.choice(value.type.tensor_type.shape.dim).dim_value = draw.choice([0, 3, 2**40, -1])
    else:
        card = model.metadata_props[0]
        card.value = changed_json(card.value.encode(), draw).decode()


OPERATORS = ["Loop", "If", "Scan", "Expand", "Tile", "ConstantOfShape", "Range", "Pad", "NonZero"]


@cache
def onnx_models() -> tuple[tuple[str, bytes], ...]:
    """The earlier version's models as ONNX, as far as that has a counterpart."""
    from core.errors import UnusableError
    from core.export.onnx.onnx_file import onnx_model

    models = []
    for path in sorted((FILES / "models").glob("*.skops")):
        try:
            models.append((path.stem, onnx_model(load_skops(path)).SerializeToString()))
        except UnusableError:
            continue
    return tuple(models)


@cache
def models_of(ending: str) -> tuple[tuple[str, bytes], ...]:
    """The name and content of every good model of a format."""
    if ending == ".onnx":
        return onnx_models()
    paths = sorted((FILES / "models").glob(f"*{ending}"))
    return tuple((path.stem, path.read_bytes()) for path in paths)


def new_rows_of(name: str) -> Path:
    """The file of new rows for a model."""
    files = (file for word, file in DATA.items() if word in name)
    return FILES / "data" / next(files, "patients-new.csv")


def model_format(name: str, mutate: Any = None, byte_share: float = 0.2) -> Format:
    """A format whose inputs are good models changed, by their structure or by their bytes."""

    def write(draw: Draw, path: Path) -> Ask:
        models = models_of(path.suffix)
        stem, content = draw.choice(models)
        if mutate is None or draw.random() < byte_share:
            content = changed(content, (draw.choice(models)[1],), draw)
        else:
            content = mutate(content, draw)
        path.write_bytes(content)
        return partial(predict_file, path, new_rows_of(stem))

    def warm() -> None:
        for stem, content in models_of(f".{name}"):
            with tempfile.NamedTemporaryFile(suffix=f".{name}") as file:
                file.write(content)
                file.flush()
                predict_file(file.name, new_rows_of(stem))

    return Format(name, f".{name}", write, is_strict=False, warm=warm)


def signing_key() -> Path:
    """A key of these attacks alone."""
    if "TUNESCOPE_KEY" not in os.environ:
        folder = tempfile.mkdtemp(prefix="tunescope-key-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["TUNESCOPE_KEY"] = str(Path(folder) / "key")
        signed.sign_content(b"")
    return signed.key_path()


def write_signed(draw: Draw, path: Path) -> Ask:
    """A run folder with a signed model, changed before it was signed, or behind it."""
    _, content = draw.choice(models_of(".joblib"))
    if draw.random() < 0.5:
        content = signed.sign_content(changed(content, (content,), draw))
    else:
        content = changed(signed.sign_content(content), (content,), draw)
    path.write_bytes(content)
    folder = path.parent / "run"
    folder.mkdir(exist_ok=True)
    shutil.copyfile(path, folder / SIGNED)
    return partial(best_of, RunFolder(folder))


FORMATS = (
    model_format("skops", mutate_skops, byte_share=0.1),
    model_format("npz", mutate_npz),
    model_format("zip", mutate_folder),
    model_format("json"),
    Format("signed", ".joblib", write_signed, is_strict=False, warm=signing_key),
    *([model_format("onnx", mutate_onnx)] if find_spec("onnxruntime") else []),
)


if __name__ == "__main__":
    sys.exit(run_command(FORMATS, __doc__))
