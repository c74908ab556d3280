"""Hostile model files: nothing off the list is made, named functions stay uncalled, sizes have
bounds; and what this computer signed opens here alone."""

from __future__ import annotations

import io
import json
import os
import pickle
import stat
import subprocess
import sys
import time
import zipfile
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
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, RadiusNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC, SVR

from core.datasets.files import file_bytes
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
    schema = {
        **{"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "__id__": 1},
        **{"content": [node], "protocol": 2, "_skops_version": skops.__version__},
    }
    buffer = io.BytesIO()
    np.save(buffer, np.arange(4))
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("schema.json", json.dumps(schema))
        file.writestr("1.npy", buffer.getvalue())
    return path


def array_as(module: str, name: str) -> dict[str, Any]:
    """An array that skops hands to whatever stands there as its class."""
    return {
        **{"__class__": name, "__module__": module, "__loader__": "NdArrayNode", "__id__": 2},
        **{"type": "numpy", "file": "1.npy"},
    }


@pytest.mark.parametrize("file", ["numpy.memmap", "numpy.fromfile", "pandas.read_pickle"])
def test_what_touches_files_is_refused_by_its_name(tmp_path: Path, file: str) -> None:
    path = with_node(tmp_path / "evil.skops", array_as(*file.rsplit(".", 1)))
    with pytest.raises(UnusableError, match=file):
        archive.load_model(path, KEPT)


def test_a_memory_map_overwrites_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious" * 100)
    node = {
        **{"__class__": "memmap", "__module__": "numpy", "__loader__": "ConstructorFromReduceNode"},
        "content": {
            **{"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode"},
            "content": [
                {
                    **{"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode"},
                    **{"content": json.dumps(word), "is_json": True},
                }
                for word in (str(victim), "uint8", "w+", 0, [800])
            ],
        },
    }
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
)  # fmt: skip
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


def test_an_old_form_of_the_file_is_no_way_around(tmp_path: Path) -> None:
    path = written(tmp_path / "model.skops", [1])

    def older(members: dict[str, bytes]) -> None:
        schema = json.loads(members["schema.json"])
        members["schema.json"] = json.dumps({**schema, "protocol": 0}).encode()

    with pytest.raises(UnusableError, match="damaged"):
        archive.load_model(changed(path, older), KEPT)


def test_the_name_of_a_random_generator_is_looked_at(tmp_path: Path) -> None:
    path = written(tmp_path / "model.skops", [np.random.default_rng(0)])
    assert archive.load_model(path, KEPT)[0].random() == np.random.default_rng(0).random()

    def other(members: dict[str, bytes]) -> None:
        members["schema.json"] = members["schema.json"].replace(b"PCG64", b"seed")

    with pytest.raises(UnusableError, match=r"numpy\.random\.seed"):
        archive.load_model(changed(path, other), KEPT)


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
def test_a_tree_that_leads_out_of_itself_is_refused(
    tmp_path: Path, model: Any, field: str, value: int
) -> None:
    path = written(tmp_path / "model.skops", model.fit(X, Y))
    again = archive.load_model(path, EXPORTED)
    assert again.predict_proba(X).tolist() == model.predict_proba(X).tolist()
    with pytest.raises(UnusableError, match="damaged"):
        archive.load_model(changed(path, with_nodes(field, value)), EXPORTED)


def neighbour_tree(place: int, change: Any) -> Any:
    """Changes one of the arrays that a tree of neighbours consists of."""

    def apply(model: Any) -> None:
        state = list(model._tree.__getstate__())
        state[place] = change(state[place])
        model._tree.__setstate__(tuple(state))

    return apply


def attribute(name: str, change: Any) -> Any:
    return lambda model: setattr(model, name, change(getattr(model, name)))


COUNTS, DUAL = np.array([10**6, 5], dtype=np.int32), "_dual_coef_"
BRUTE, HALVING = {"algorithm": "brute"}, {"algorithm": "kd_tree", "leaf_size": 10}
SPOILED = {
    "counts of support vectors": (SVC(), attribute("_n_support", lambda counts: COUNTS)),
    "weights of support vectors": (SVR(), attribute(DUAL, lambda weights: weights[:, :3])),
    "neighbours' classes": (KNeighborsClassifier(p=1), attribute("_y", lambda y: y[:5])),
    "neighbours' numbers": (KNeighborsRegressor(p=1), attribute("_y", lambda y: y[:5])),
    "a class below": (KNeighborsClassifier(**BRUTE), attribute("_y", lambda y: y - 1)),
    "a class beyond": (KNeighborsClassifier(**BRUTE), attribute("_y", lambda y: y + 1)),
}
HALVED = {  # of a tree of neighbours, by place: what it is, spoiled
    0: lambda rows: rows[:, :2].copy(),
    1: lambda order: order + 1,
    2: lambda nodes: nodes[:-1],  # idx_start, idx_end and is_leaf of every node
    3: lambda bounds: bounds[:, :1].copy(),
    11: lambda metric: None,
}


@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("case", SPOILED)
def test_what_leads_out_of_a_model_is_refused(tmp_path: Path, wrap: Any, case: str) -> None:
    model, spoil = clone(SPOILED[case][0]).fit(wrap(X), Y), SPOILED[case][1]
    path = written(tmp_path / "model.skops", model)
    again = archive.load_model(path, EXPORTED)
    assert again.predict(wrap(X)).tolist() == model.predict(wrap(X)).tolist()
    spoil(model)
    with pytest.raises(UnusableError, match="damaged"):
        archive.load_model(written(path, model), EXPORTED)


@pytest.mark.parametrize("place", HALVED)
def test_a_tree_of_neighbours_that_leads_out_is_refused(tmp_path: Path, place: int) -> None:
    model = KNeighborsClassifier(**HALVING).fit(X, Y)
    neighbour_tree(place, HALVED[place])(model)
    with pytest.raises(UnusableError, match="damaged"):
        archive.load_model(written(tmp_path / "model.skops", model), EXPORTED)


def test_a_sparse_matrix_must_fit(tmp_path: Path) -> None:
    model = LogisticRegression().fit(X, Y).sparsify()
    archive.load_model(written(tmp_path / "model.skops", model), EXPORTED)
    model.coef_.indices[0] = 10**6
    with pytest.raises(UnusableError, match="damaged"):
        archive.load_model(written(tmp_path / "model.skops", model), EXPORTED)


@pytest.mark.parametrize(
    "content", [b"PK\x03\x04 and nothing more", b"", b"\x80\x05", b"PK\x05\x06" + bytes(18)]
)
def test_a_damaged_file_gives_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "model.skops").write_bytes(content)
    with pytest.raises(UnusableError, match="damaged"):
        archive.load_model(tmp_path / "model.skops", KEPT)


@pytest.mark.parametrize("name", ["schema.json", "1.npy"])
def test_zeros_are_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(file_bytes, "MAX_MODEL_BYTES", 30 * 2**20)
    path = tmp_path / "model.skops"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        if name != "schema.json":
            file.writestr("schema.json", "{}")
        with file.open(name, "w") as member:
            for _ in range(35):
                member.write(bytes(2**20))
    assert path.stat().st_size < 40_000
    began = time.monotonic()
    with pytest.raises(UnusableError, match="unpacked, this file takes 37 MB"):
        archive.load_model(path, KEPT)
    assert time.monotonic() - began < 2


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


def test_what_this_computer_signed_opens_here_alone(tmp_path: Path, key: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(signed.sign_content(b"content"))
    assert signed.verified_content(path) == b"content"
    assert len(key.read_bytes()) == 32
    if os.name != "nt":
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert list(key.parent.iterdir()) == [key]
    for wrong in (path.read_bytes()[:-1], path.read_bytes() + b"!", b"content", b""):
        (tmp_path / "wrong").write_bytes(wrong)
        with pytest.raises(UnusableError, match="does not come from this computer"):
            signed.verified_content(tmp_path / "wrong")
    key.write_bytes(b"k" * 32)  # another computer's
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


def test_programs_that_need_the_key_at_once_make_one(tmp_path: Path, key: Path) -> None:
    code = "import sys; from core.estimators.stored.signed import sign_content; "
    code += "sys.stdout.write(sign_content(b'x').hex())"
    command = [sys.executable, "-c", code]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    signatures = {process.communicate(timeout=60)[0] for process in both}
    assert len(signatures) == 1
    assert signatures != {""}


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
