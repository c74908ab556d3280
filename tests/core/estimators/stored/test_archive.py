"""Hostile model files: nothing off the list is made, named functions stay uncalled, sizes have
bounds; and what this computer signed opens here alone."""

from __future__ import annotations

import io
import json
import os
import pickle
import re
import stat
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import skops.io
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    AdaBoostClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, RadiusNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC, SVR

from core.errors import UnusableError
from core.estimators.stored import archive, signed
from core.estimators.stored.allowed_types import EXPORTED, KEPT
from core.export.files import model_file

X, Y = make_classification(120, 6, random_state=0)


def written(path: Path, model: Any) -> Path:
    with path.open("wb") as file:
        archive.dump_model(model, file)
    return path


def changed(path: Path, change: Any) -> Path:
    """The file with another schema, or with other members: change({name: bytes})."""
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def with_node(path: Path, node: dict[str, Any]) -> Path:
    """A skops file of a list with that one node."""
    schema = node_of("builtins.list", "ListNode", __id__=1, content=[node], protocol=2)
    schema["_skops_version"] = skops.__version__
    buffer = io.BytesIO()
    np.save(buffer, np.arange(4))
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("schema.json", json.dumps(schema))
        file.writestr("1.npy", buffer.getvalue())
    return path


def node_of(name: str, loader: str, **content: Any) -> dict[str, Any]:
    """What a schema says of one object, which is made by a loader of skops."""
    module, _, name = name.rpartition(".")
    return {"__class__": name, "__module__": module, "__loader__": loader, **content}


@pytest.mark.parametrize("name", ["numpy.memmap", "numpy.fromfile", "pandas.read_pickle"])
def test_what_touches_files_is_refused_by_its_name(tmp_path, name):
    # An array, which skops hands to whatever stands there as its class.
    node = node_of(name, "NdArrayNode", __id__=2, type="numpy", file="1.npy")
    with pytest.raises(UnusableError, match=name):
        archive.load_model(with_node(tmp_path / "evil.skops", node), KEPT)


def test_a_memory_map_overwrites_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious" * 100)
    words = [
        node_of("builtins.str", "JsonNode", content=json.dumps(word), is_json=True)
        for word in (str(victim), "uint8", "w+", 0, [800])
    ]
    arguments = node_of("builtins.tuple", "TupleNode", content=words)
    node = node_of("numpy.memmap", "ConstructorFromReduceNode", content=arguments)
    path = with_node(tmp_path / "evil.skops", node)
    # What the file asks for is real: whoever trusts all of numpy loses the other file.
    skops.io.load(path, trusted=["numpy.memmap"])
    assert victim.read_bytes() != b"precious" * 100
    victim.write_bytes(b"precious" * 100)
    with pytest.raises(UnusableError, match=r"numpy\.memmap"):
        archive.load_model(path, KEPT)
    assert victim.read_bytes() == b"precious" * 100


@pytest.mark.parametrize(
    ("step", "name"),
    [
        (FunctionTransformer(eval), "eval"),
        (FunctionTransformer(pickle.loads), "loads"),
        (FunctionTransformer(pandas.read_pickle), "read_pickle"),
        (FunctionTransformer(partial(os.system, "true")), "system"),
        (FunctionTransformer(LogisticRegression().fit), "MethodNode"),
        (FunctionTransformer(os.makedirs), "os.makedirs"),
        (CountVectorizer(input="filename"), "CountVectorizer"),  # which skops trusts by itself
    ],
)
def test_strange_functions_are_refused_by_their_names(tmp_path: Path, step: Any, name: str) -> None:
    skops.io.dump(Pipeline([("run", step)]), tmp_path / "evil.skops")
    with pytest.raises(UnusableError, match=name):
        archive.load_model(tmp_path / "evil.skops", KEPT)


def test_classes_of_ours_are_in_run_folders_alone(tmp_path: Path) -> None:
    from core.estimators.tables.l1l2_classifier import L1L2Classifier

    path = written(tmp_path / "model.skops", L1L2Classifier())
    assert isinstance(archive.load_model(path, KEPT), L1L2Classifier)
    with pytest.raises(UnusableError, match="L1L2Classifier"):
        archive.load_model(path, EXPORTED)


@pytest.mark.parametrize(
    ("model", "old", "new", "words"),
    [
        ([1], rb'"protocol": \d+', b'"protocol": 0', "damaged"),
        ([np.dtype("f8")], rb"NdArrayNode", b"ObjectNode", "damaged"),
    ],
    ids=["an old form", "a type of numbers with a state"],
)
def test_another_schema_is_no_way_around(tmp_path, model, old, new, words):
    path = written(tmp_path / "model.skops", model)
    assert archive.load_model(path, KEPT) == model

    def other(members: dict[str, bytes]) -> None:
        members["schema.json"] = re.sub(old, new, members["schema.json"])

    with pytest.raises(UnusableError, match=words):
        archive.load_model(changed(path, other), KEPT)


def test_no_name_of_a_generator_is_followed(tmp_path, monkeypatch):
    """A fitted model draws no more random numbers."""
    path = written(tmp_path / "model.skops", [np.random.default_rng(0)])

    def other(members: dict[str, bytes]) -> None:
        members["schema.json"] = re.sub(rb"PCG64", b"seed", members["schema.json"])

    monkeypatch.setattr(np.random, "seed", lambda *_: pytest.fail("it was called"))
    for file in (path, changed(path, other)):
        assert archive.load_model(file, KEPT) == [None]


def with_nodes(field: str, value: int) -> Any:
    """Changes the root of the first tree in the file."""

    def apply(members: dict[str, bytes]) -> None:
        for name, content in members.items():
            if name.endswith(".npy"):
                array = np.load(io.BytesIO(content), allow_pickle=False)
                if array.dtype.names and field in array.dtype.names:
                    array[field][0] = value
                    buffer = io.BytesIO()
                    np.save(buffer, array)
                    members[name] = buffer.getvalue()
                    return
        raise AssertionError("no tree inside")

    return apply


@pytest.mark.parametrize(
    ("model", "field", "value"),
    [
        (RandomForestClassifier(3, random_state=0), "left_child", 10**6),
        (RandomForestClassifier(3, random_state=0), "feature", 10**6),
        (RandomForestClassifier(3, random_state=0), "right_child", 0),
        (HistGradientBoostingClassifier(max_iter=3), "left", 10**6),
    ],
)
def test_a_tree_that_leads_out_of_itself_is_refused(tmp_path, model, field, value):
    path = written(tmp_path / "model.skops", model.fit(X, Y))
    again = archive.load_model(path, EXPORTED)
    assert again.predict_proba(X).tolist() == model.predict_proba(X).tolist()
    with pytest.raises(UnusableError, match="damaged"):
        archive.load_model(changed(path, with_nodes(field, value)), EXPORTED)


def attribute(name: str, change: Any) -> Any:
    return lambda model: setattr(model, name, change(getattr(model, name)))


def short_rows(model: Any) -> None:
    """Weights of support vectors, sparse, of which the last are not stored."""
    weights = model._dual_coef_
    if sparse.issparse(weights):
        weights.data, weights.indices = weights.data[:-2], weights.indices[:-2]
        weights.indptr[-1] -= 2
    else:
        model._dual_coef_ = weights[:, :-2]


def first_index(model: Any) -> None:
    model.coef_.indices[0] = 10**6


COUNTS, SPARSE = np.array([10**6, 5], dtype=np.int32), LogisticRegression()
SPOILED = {
    "counts of support vectors": (SVC(), attribute("_n_support", lambda counts: COUNTS)),
    "weights of support vectors": (SVR(), attribute("_dual_coef_", lambda dual: dual[:, :3])),
    "fewer weights than support vectors": (SVC(), short_rows),
    "a kernel that was computed": (SVC(), attribute("kernel", lambda kernel: "precomputed")),
    "neighbours' classes": (KNeighborsClassifier(p=1), attribute("_y", lambda y: y[:5])),
    "neighbours' numbers": (KNeighborsRegressor(p=1), attribute("_y", lambda y: y[:5])),
    "a class below": (KNeighborsClassifier(), attribute("_y", lambda y: y - 1)),
    "a class beyond": (KNeighborsClassifier(), attribute("_y", lambda y: y + 1)),
    "a sparse matrix": (SPARSE, first_index),
}


@pytest.mark.parametrize("case", SPOILED)
def test_what_leads_out_of_a_model_is_refused(tmp_path, case):
    unfitted, spoil = SPOILED[case]
    for wrap in (np.asarray, sparse.csr_matrix):
        model = clone(unfitted).fit(wrap(X), Y)
        model = model.sparsify() if unfitted is SPARSE else model
        path = written(tmp_path / "model.skops", model)
        again = archive.load_model(path, EXPORTED)
        assert again.predict(wrap(X)).tolist() == model.predict(wrap(X)).tolist()
        spoil(model)
        with pytest.raises(UnusableError, match="damaged"):
            archive.load_model(written(path, model), EXPORTED)


UNREAD = {
    "a state of fitting": (HistGradientBoostingClassifier(max_iter=3), "_in_fit", np.uint8(1)),
    "a preparation": (HistGradientBoostingClassifier(max_iter=3), "_preprocessor", [1]),
    "a kind of support vectors": (SVC(), "_impl", "one_class"),
    "a tree of neighbours": (KNeighborsClassifier(algorithm="kd_tree"), "_tree", [1]),
    "a random state": (RandomForestClassifier(3), "_sample_weight", X),
}


@pytest.mark.parametrize("case", UNREAD)
def test_what_a_model_does_not_need_is_not_taken_from_a_file(tmp_path, case):
    unfitted, name, value = UNREAD[case]
    model = clone(unfitted).fit(X, Y)
    answers = model.predict(X).tolist()
    setattr(model, name, value)
    again = archive.load_model(written(tmp_path / "model.skops", model), EXPORTED)
    assert again.predict(X).tolist() == answers


def test_an_array_is_no_larger_than_its_file(tmp_path: Path) -> None:
    path = written(tmp_path / "model.skops", LogisticRegression().fit(X, Y))

    def enlarge(members: dict[str, bytes]) -> None:
        name = next(name for name, content in members.items() if b"(1, 6)" in content)
        large = members[name].replace(b"(1, 6)", b"(9999999999999, 6)")
        members[name] = large[:8] + bytes([large[8] + 12]) + large[9:]

    with pytest.raises(UnusableError, match="damaged"):
        archive.load_model(changed(path, enlarge), EXPORTED)


@pytest.mark.parametrize(
    "content", [b"PK\x03\x04 and nothing more", b"", b"\x80\x05", b"PK\x05\x06" + bytes(18)]
)
def test_a_damaged_file_gives_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.skops").write_bytes(content)
    with pytest.raises(UnusableError, match="damaged"):
        archive.load_model(tmp_path / "model.skops", KEPT)


def test_what_is_written_opens_with_skops_alone_and_quickly(tmp_path: Path) -> None:
    model = RandomForestClassifier(150, random_state=0).fit(X, Y)
    began = time.process_time()
    path = written(tmp_path / "model.skops", model)
    assert time.process_time() - began < 4
    again = skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))
    assert again.predict_proba(X).tolist() == model.predict_proba(X).tolist()


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TUNESCOPE_KEY", str(tmp_path / "state" / "key"))
    return tmp_path / "state" / "key"


def test_every_node_is_that_of_skops() -> None:
    """Arrays of objects, types, functions, trees and votes; a set is one that skops writes."""
    steps = [("ask", FunctionTransformer(np.clip, kw_args={"a_min": -1.0, "a_max": np.int64(1)}))]
    forest = RandomForestClassifier(2, max_depth=2, random_state=0)
    vote = VotingClassifier([("trees", forest), ("line", LogisticRegression())])
    pipeline = Pipeline([*steps, ("model", vote)]).fit(X, np.array(["no", "yes"], object)[Y])
    pipeline.extra = {
        1: slice(2),
        "rows": sparse.csr_matrix(np.eye(3)),
        np.float64(0.5): (np.float32, np.dtype("<i4")),
        None: {3},
    }
    files = io.BytesIO(), io.BytesIO()
    archive.dump_model(pipeline, files[0])
    skops.io.dump(pipeline, files[1])

    def content(file: io.BytesIO) -> Any:
        with zipfile.ZipFile(file) as opened:
            arrays = {name: opened.read(name) for name in opened.namelist()}

        def plain(node: Any) -> Any:
            if isinstance(node, dict):
                keys = sorted(node.keys() - {"__id__", "file"})
                return [(key, plain(node[key])) for key in keys], arrays.get(str(node.get("file")))
            return [plain(item) for item in node] if isinstance(node, list) else node

        return plain(json.loads(arrays["schema.json"]))

    assert content(files[0]) == content(files[1])


def test_what_this_computer_signed_opens_here_alone(tmp_path: Path, key: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(signed.sign_content(b"content"))
    assert signed.verified_content(path) == b"content"
    assert len(key.read_bytes()) == 32
    if os.name != "nt":
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert list(key.parent.iterdir()) == [key]
    own, content = key.read_bytes(), path.read_bytes()
    for other_key, wrong in (
        *((own, wrong) for wrong in (content[:-1], content + b"!", b"content", b"")),
        (b"k" * 32, content),  # of another computer
        (b"", content),
    ):
        key.write_bytes(other_key)
        path.write_bytes(wrong)
        with pytest.raises(UnusableError, match="does not come from this computer"):
            signed.verified_content(path)
    key.unlink()
    with pytest.raises(UnusableError, match="does not come from this computer"):
        signed.verified_content(path)
    assert not key.exists()  # looking makes none


@pytest.mark.skipif(os.name == "nt", reason="no file modes there")
def test_a_key_that_others_could_write_does_not_count(tmp_path: Path, key: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(signed.sign_content(b"content"))
    before = key.read_bytes()
    key.chmod(0o666)
    with pytest.raises(UnusableError, match="does not come from this computer"):
        signed.verified_content(path)
    path.write_bytes(signed.sign_content(b"content"))  # by a new key
    assert key.read_bytes() != before
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert signed.verified_content(path) == b"content"


def test_programs_that_need_the_key_at_once_make_one(key: Path) -> None:
    start = threading.Barrier(8)

    def sign(_: int) -> bytes:
        start.wait()
        return signed.sign_content(b"content")

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(sign, range(8)))) == 1
    assert list(key.parent.iterdir()) == [key]


@pytest.mark.parametrize("inside", ["declared", "another"])
def test_what_an_extension_tells_of_is_opened_and_nothing_else(
    installed: Any, example: Path, tmp_path: Path, inside: str
) -> None:
    X = np.arange(40.0)[:, None]
    declared = AdaBoostClassifier(n_estimators=3)
    another = RadiusNeighborsClassifier(algorithm="brute")
    model: Any = declared if inside == "declared" else another
    path = written(tmp_path / "model.skops", model.fit(X, X[:, 0] > 9))
    with pytest.raises(UnusableError, match=type(model).__name__):
        model_file.load_skops(path)
    installed(example)
    if inside == "declared":
        assert model_file.load_skops(path).predict(X).tolist() == model.predict(X).tolist()
    else:
        with pytest.raises(UnusableError, match="RadiusNeighborsClassifier"):
            model_file.load_skops(path)
