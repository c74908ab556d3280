"""Models of sequences and molecules as arrays: npz, JSON and scripts predict as the estimator."""

import gzip
import json
import re
import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from exported_files import exported
from structured_runs import Run, crf_run

from core.datasets.files import file_bytes
from core.datasets.files.dot_brackets import dot_bracket_text
from core.errors import UnusableError
from core.export.bundle import carrier, parameter_arrays
from core.export.bundle import fold_prediction as script_folds
from core.export.bundle.fold_prediction import structure_confidence
from core.export.bundle.modules import bundle_modules
from core.export.prediction import predict_file
from core.export.using.file_prediction import predict_into
from core.losses.crf.crf_loss import build_crf
from core.losses.rna.parameters import NAMES

# Everything but Python's own library, numpy and (where it is allowed) numba is out of reach.
RUN = """
import runpy
class Missing:
    names = sys.argv[1].split(",")
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            raise ModuleNotFoundError(f"{name} is not installed here", name=name)
sys.meta_path.insert(0, Missing())
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
EARLIER = Path(__file__).parents[3] / "earlier_version/files"
OTHERS = "pandas,scipy,sklearn,joblib,skops"


@pytest.fixture
def predicted(tmp_path):
    # What the file of a run says of a table, or of the text of one.

    def predict(run, rows, ending=".npz", **options):
        model, file = exported(run.folder, tmp_path / f"model{ending}"), tmp_path / "new.csv"
        file.write_text(rows if isinstance(rows, str) else rows.to_csv(index=False))
        return predict_file(model, file, **options)

    return predict


def compare(run: Run, said: pd.DataFrame) -> None:
    """The table of predictions against the estimator."""
    X, labels = run.features, run.model.predict(run.features).tolist()
    if run.target == "tag":
        assert said["sequence"].tolist() == run.table["sequence"].tolist()
        assert said["prediction"].tolist() == labels
        shares = run.model.predict_proba(X)
        probabilities = said.filter(like="probability of").to_numpy(dtype=float)
        np.testing.assert_allclose(probabilities, shares, atol=1e-12)
        return
    assert said["structure"].tolist() == labels
    pairs = zip(run.model.pair_probabilities(X), labels, strict=True)
    sure = [structure_confidence(P, structure)[0] for P, structure in pairs]
    np.testing.assert_allclose(said["expected accuracy"], sure, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("kind", ["tags", "structures"])
def test_a_script_labels_and_folds_as_the_estimator(
    tagger, folding, averages, run_outside, tmp_path, kind, members
):
    run = averages[kind] if members > 1 else {"tags": tagger, "structures": folding}[kind]
    missing = OTHERS if members == 1 else f"{OTHERS},numba"
    script = exported(run.folder, tmp_path / "predict.py")
    run.table.drop(columns=run.target).to_csv(tmp_path / "new.csv", index=False)
    ran = run_outside(RUN, tmp_path, missing, script.name, "new.csv", "out.csv", bare=True)
    assert (ran.returncode, ran.stderr) == (0, f"{len(run.table)} predictions: out.csv\n")
    # The person's own table comes first.
    compare(run, pd.read_csv(tmp_path / "out.csv"))
    if (kind, members) == ("structures", 3):
        names, letters = run.table["id"].tolist(), run.table["sequence"].tolist()
        fasta = dot_bracket_text(names, letters, ["." * len(bases) for bases in letters])
        (tmp_path / "new.fa").write_text(fasta)
        ran = run_outside(RUN, tmp_path, missing, script.name, "new.fa", bare=True)
        (tmp_path / "fasta.csv").write_text(ran.stdout)
        said = pd.read_csv(tmp_path / "fasta.csv")
        assert said["name"].tolist() == names
        compare(run, said.rename(columns={"structure": "given", "structure (2)": "structure"}))


FAILS = {
    "": "usage: python tags.py NEW.csv [OUT.csv]",
    "a b c": "usage: python tags.py NEW.csv [OUT.csv]",
    "nowhere.csv": "nowhere.csv: No such file or directory.",
    "new.csv no/out.csv": "no/out.csv: No such file or directory.",
    "odd.csv": "odd.csv: line 2, column length: “long” is no number; correct the file.",
}
RUN_EACH = (
    RUN.rpartition("sys.argv = ")[0]
    + """
for arguments in sys.argv[2:]:
    sys.argv = ["tags.py", *arguments.split()]
    try:
        runpy.run_path("tags.py", run_name="__main__")
    except SystemExit as end:
        print(end.code)
"""
)


def test_what_fails_is_one_line(tagger, run_outside, tmp_path):
    exported(tagger.folder, tmp_path / "tags.py")
    (tmp_path / "new.csv").write_text("sequence,word,length\ns,dog,1\n")
    (tmp_path / "odd.csv").write_text("sequence,word,length\ns,dog,long\n")
    ran = run_outside(RUN_EACH, tmp_path, f"{OTHERS},numba", *FAILS, bare=True)
    assert ran.stdout.split() == ["2"] * len(FAILS), ran.stderr
    assert ran.stderr.splitlines() == list(FAILS.values())


def made_modules(monkeypatch, folder, *texts):
    modules = []
    for name, text in zip(("first_made", "other_made"), texts, strict=True):
        path = folder / f"{name}.py"
        path.write_text(text)
        module = types.ModuleType(name)
        module.__file__ = str(path)
        monkeypatch.setitem(sys.modules, name, module)
        exec(compile(text, str(path), "exec"), module.__dict__)
        modules.append(module)
    return modules


def test_private_names_of_two_modules_are_kept_apart(monkeypatch, tmp_path):
    first = '"""One."""\nimport math\n\n\ndef _part(x):\n    return x + 1\n\n\nLIMIT = 3\n'
    first += "def one(x):\n    return _part(x)\n"
    other = "from math import exp\nLIMIT = 3\n\n\ndef _part(x):\n    return exp(x)\n\n\n"
    other += 'def two(x):\n    return _part(x) + LIMIT  # "_part"\n'
    made = bundle_modules(made_modules(monkeypatch, tmp_path, first, other))
    assert made.imports.text() == "import math\nfrom math import exp\n"
    text = "\n".join([made.imports.text(), *made.sources])
    assert text.count("LIMIT = 3") == 1
    names = {}
    exec(text, names)
    assert (names["one"](1), names["two"](0)) == (2, 4)
    modules = made_modules(monkeypatch, tmp_path, "LIMIT = 3\n", "LIMIT = 4\n")
    with pytest.raises(ValueError, match="LIMIT of other_made stands for something else"):
        bundle_modules(modules)


@pytest.mark.parametrize("how", ["other order", "no target, semicolons", "gzip, tabs"])
def test_rows_are_read_however_they_are_written(tagger, tmp_path, how):
    path, file = exported(tagger.folder, tmp_path / "model.npz"), tmp_path / "new.csv"
    if how == "other order":
        tagger.table[["tag", "length", "word", "sequence"]].to_csv(file, index=False)
    elif how == "no target, semicolons":
        tagger.features.to_csv(file, index=False, sep=";")
    else:
        text = tagger.table.to_csv(index=False, sep="\t", lineterminator="\r\n")
        file.write_bytes(gzip.compress(text.encode()))
    table = predict_file(path, file)
    classes = tagger.model.classes_
    assert list(table) == ["sequence", "prediction", *(f"probability of {c}" for c in classes)]
    compare(tagger, table)


def test_whole_labelings_where_the_model_takes_those(predicted, tmp_path):
    run = crf_run(tmp_path / "run", "viterbi")
    said = predicted(run, run.table)["prediction"].tolist()
    assert said == run.model.predict(run.features).tolist()
    each = np.argmax(run.model.predict_proba(run.features), axis=1)
    assert said != run.model.classes_[each].tolist()  # so the decoding mattered


def test_unknown_words_and_missing_numbers_are_no_features(tagger, predicted):
    new = pd.DataFrame(
        {"sequence": ["x", "x", "y"], "word": ["zebra", "dog", None], "length": [np.nan, 1.5, 0]}
    )
    said = predicted(tagger, new).iloc[:, 2:].to_numpy(dtype=float)
    np.testing.assert_allclose(said, tagger.model.predict_proba(new), atol=1e-12)


def test_structures_are_those_of_the_estimator(folding, predicted):
    heard = []
    rows = folding.table[["id", "sequence"]]
    table = predicted(folding, rows, report=lambda *done: heard.append(done))
    assert list(table)[:3] == ["id", "sequence", "structure"]
    assert table["id"].tolist() == folding.table["id"].tolist()
    assert table["structure"].tolist() == folding.model.predict(folding.features).tolist()
    assert heard == [(k + 1, len(rows)) for k in range(len(rows))]
    for row, P in enumerate(folding.model.pair_probabilities(folding.features)):
        P = P + P.T
        marks, opened, right = table["structure"][row], [], []
        alone = [1 - P[i].sum() for i, mark in enumerate(marks) if mark == "."]
        for j, mark in enumerate(marks):
            if mark == "(":
                opened.append(j)
            elif mark == ")":
                right.append(P[opened.pop(), j])
        expected = (2 * sum(right) + sum(alone)) / len(marks)
        assert table["expected accuracy"][row] == pytest.approx(expected)
        assert table["mean pair probability"][row] == pytest.approx(np.mean(right))


def test_letters_in_any_case_and_without_names(folding, predicted):
    letters = folding.table["sequence"].str.lower().str.replace("u", "t")
    table = predicted(folding, pd.DataFrame({"sequence": letters}))
    assert table["structure"].tolist() == folding.model.predict(folding.features).tolist()
    assert next(iter(table)) == "sequence"


def test_a_molecule_without_pairs_has_no_mean(folding, tmp_path):
    (tmp_path / "new.csv").write_text("sequence\nAAAA\nN\n")
    path = exported(folding.folder, tmp_path / "model.npz")
    predict_into(path, tmp_path / "new.csv", tmp_path / "said.csv")
    said = pd.read_csv(tmp_path / "said.csv")
    assert said["structure"].tolist() == ["....", "."]
    assert said["expected accuracy"].tolist() == [1.0, 1.0]
    assert said["mean pair probability"].isna().all()


def test_arrays_open_with_numpy_alone(tagger, folding, tmp_path):
    arrays = np.load(exported(tagger.folder, tmp_path / "crf.npz"), allow_pickle=False)
    X, y = tagger.features, tagger.table["tag"].to_numpy(dtype=object)
    loss = build_crf(X, "sequence", y, ["A", "B", "C"])
    assert arrays["names"].tolist() == list(loss.names)
    assert arrays["classes"].tolist() == ["A", "B", "C"]
    np.testing.assert_array_equal(arrays["weights"], tagger.model.w_)
    groups = arrays["groups"][arrays["group_of_weight"]]
    assert groups.tolist() == loss.sources
    assert dict(zip(arrays["groups"], arrays["penalties"], strict=True)) == tagger.model.penalties_
    arrays = np.load(exported(folding.folder, tmp_path / "rna.npz"), allow_pickle=False)
    assert arrays["names"].tolist() == NAMES
    np.testing.assert_array_equal(arrays["weights"], folding.model.w_)


def test_numbers_name_every_weight_and_predict(tagger, folding, predicted, tmp_path):
    compare(folding, predicted(folding, folding.table, ".json"))
    compare(tagger, predicted(tagger, tagger.table, ".json"))
    document = json.loads((tmp_path / "model.json").read_text())
    weights = document["fitted"]["weights"]
    assert list(weights.values()) == tagger.model.w_.tolist()
    assert {"initial → A", "A → B", "word=dog → C", "length → A"} <= set(weights)
    groups = document["penalties"]["groups"]
    assert {name: group["C"] for name, group in groups.items()} == tagger.model.penalties_
    assert groups["length"]["parameters"] == ["length → A", "length → B", "length → C"]
    assert document["scores"]["sequences"] == {"tuned": 17, "default": 13, "count": 40}
    assert document["data"]["task"] == "sequence"
    del weights["A → B"]
    document["penalties"]["groups"]["transition"]["parameters"].remove("A → B")
    (tmp_path / "model.json").write_text(json.dumps(document))
    with pytest.raises(UnusableError, match="there are 38 weights, and its encoding has 39"):
        parameter_arrays.load_document_arrays(tmp_path / "model.json")


FAULTS = [
    ("tagger", "sequence,word\ns,dog\n", "new.csv: the column “length” is missing; add"),
    ("tagger", "word\ndog\n", "columns are missing: “sequence”, “length”"),
    ("tagger", "sequence,word,length\ns,dog,1\nt,dog,1\ns,dog,2\n",
     "new.csv, line 4, column sequence: sequence “s” comes back"),
    ("tagger", "sequence,word,length\ns,dog,1\ns,dog,long\n",
     "new.csv, line 3, column length: “long” is no number"),
    ("tagger", "sequence,word,length\ns,dog,inf\n", "“inf” is no number"),
    ("tagger", "sequence,word,length\n,dog,1\n", "line 2, column sequence: no sequence is named"),
    ("tagger", "sequence,word,length\ns,dog\n", "line 2: the row has 2 cells, and the header 3"),
    ("tagger", "sequence,word,length\n", "there is no row below the header"),
    ("tagger", "", "the file is empty"),
    ("folding", "letters\nACGU\n", "the column “sequence” is missing"),
    ("folding", "sequence\nACGU\nACXU\n", "line 3, column sequence: letter 3 is “X”; use A, C, G"),
    ("folding", "id,sequence\na,\n", "line 2, column sequence: the sequence is empty"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text", "sentence"), FAULTS)
def test_what_is_wrong_with_new_rows_is_said_with_its_line(
    request, predicted, kind, text, sentence
):
    with pytest.raises(UnusableError, match=sentence):
        predicted(request.getfixturevalue(kind), text)


def test_letters_for_several_bases_fold_as_unknown_ones(folding, predicted):
    with pytest.warns(UserWarning, match="3 letters stand for several bases, in 1 of 2"):
        said = predicted(folding, "sequence\nGGRAAAYCCw\nACGU\n")
    plain = predicted(folding, "sequence\nGGNAAANCCN\nACGU\n")
    assert said["sequence"].tolist() == ["GGRAAAYCCw", "ACGU"]
    assert said.drop(columns="sequence").equals(plain.drop(columns="sequence"))


def test_a_molecule_that_no_memory_holds_is_named(folding, predicted, monkeypatch):
    def refuse(*_):
        raise MemoryError

    monkeypatch.setattr(script_folds, "pair_probabilities", refuse)
    sentence = "line 2, column sequence: there is not enough memory to fold 1,200 bases; cut the"
    with pytest.raises(UnusableError, match=sentence):
        predicted(folding, f"sequence\n{'ACGU' * 300}\n")


def changed(arrays, **changes):
    return {**arrays, **changes}


def other_settings(arrays, **changes):
    settings = json.loads(str(arrays["settings"]))
    return changed(arrays, settings=np.array(json.dumps({**settings, **changes})))


BROKEN = [
    ("tagger", lambda a: changed(a, format=np.array(3)), "exported by a newer Tunescope; update"),
    ("tagger", lambda a: {"x": np.zeros(3)}, "holds no model of sequences or molecules"),
    ("tagger", lambda a: changed(a, kind=np.array("svm")), "its kind is unknown"),
    ("tagger", lambda a: changed(a, weights=a["weights"][:-1]), "names and weights differ"),
    ("tagger", lambda a: changed(a, weights=a["weights"] * np.nan), "a weight is not finite"),
    ("tagger", lambda a: changed(a, classes=a["classes"][:2]), "its encoding has"),
    ("tagger", lambda a: changed(a, values_0=a["values_0"][:0]), "column 1 is unclear"),
    ("tagger", lambda a: changed(a, deviations=a["deviations"] * 0), "column 2 is unclear"),
    ("tagger", lambda a: changed(a, means=a["means"][:1]), "this model file is damaged"),
    ("tagger", lambda a: {n: v for n, v in a.items() if n != "values_1"}, "values_1 is missing"),
    ("tagger", lambda a: changed(a, settings=np.array("[]")), "expected object, got array"),
    ("tagger", lambda a: other_settings(a, decoding="guess"), "the decoding is unknown"),
    ("tagger", lambda a: other_settings(a, reading={}), "damaged"),
    ("folding", lambda a: changed(a, names=a["names"][::-1]), "its parameters have other names"),
    ("folding", lambda a: other_settings(a, gamma=-1.0), "gamma is out of range"),
    ("folding", lambda a: other_settings(a, shortest_hairpin=True), "expected int"),
    ("folding", lambda a: other_settings(a, shortest_hairpin=-1), "the shortest hairpin is odd"),
]


@pytest.mark.parametrize(("kind", "change", "sentence"), BROKEN)
def test_a_model_whose_parts_do_not_fit_is_refused(request, tmp_path, kind, change, sentence):
    path = exported(request.getfixturevalue(kind).folder, tmp_path / "m.npz")
    path.write_bytes(carrier.npz_bytes(change(carrier.load_arrays(path))))
    with pytest.raises(UnusableError, match=sentence):
        carrier.load_arrays(path)


def endless(arrays):
    return changed(arrays, iterations=np.full_like(arrays["iterations"], 2**40))


def beyond_doubles(arrays):
    text = re.sub(r'"mean": [-.\d]+', '"mean": 1' + "0" * 400, str(arrays["settings"]))
    return changed(arrays, settings=np.array(text))


@pytest.mark.parametrize(
    ("file", "rows", "change", "sentence"),
    [
        ("lda.zip", "texts-new.csv", endless, "the number of its steps is odd"),
        ("dlgm.zip", "pictures-new.csv", beyond_doubles, "or it is damaged"),
    ],
)
def test_what_a_folder_asks_for_is_bounded(tmp_path, file, rows, change, sentence):
    arrays = change(carrier.load_arrays(EARLIER / "models" / file))
    path = tmp_path / "model.npz"
    path.write_bytes(carrier.npz_bytes(arrays))
    with pytest.raises(UnusableError, match=sentence):
        predict_file(path, EARLIER / "data" / rows)


def test_no_code_is_hidden_in_an_npz(tmp_path):
    np.savez(tmp_path / "m.npz", format=np.array(1), kind=np.array([print], dtype=object))
    with pytest.raises(UnusableError, match=r"this is no \.npz model file, or it is damaged"):
        carrier.load_arrays(tmp_path / "m.npz")
    with pytest.raises(TypeError, match="objects"):
        carrier.npz_bytes({"kind": np.array([print], dtype=object)})


def test_torn_and_swollen_files(tagger, tmp_path, monkeypatch):
    whole = exported(tagger.folder, tmp_path / "m.npz").read_bytes()
    spoilt = bytearray(whole)
    spoilt[len(whole) // 3] ^= 255
    ends = (0, 100, len(whole) // 2, len(whole) - 1)
    for content in (*(whole[:end] for end in ends), spoilt):
        (tmp_path / "torn.npz").write_bytes(content)
        with pytest.raises(UnusableError, match="damaged"):
            carrier.load_arrays(tmp_path / "torn.npz")
    monkeypatch.setattr(file_bytes, "MAX_MODEL_BYTES", 1000)
    with pytest.raises(UnusableError, match="more than a model of its size"):
        carrier.load_arrays(tmp_path / "m.npz")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "no .json model file, or it is damaged"),
        ("[" * 100_000, "no .json model file, or it is damaged"),
        ("[1, 2]", "hold no model of sequences or molecules"),
        ('{"model": "forest"}', "hold no model of sequences or molecules"),
        ('{"fitted": {"weights": 3}, "penalties": {"groups": {}}}', "damaged"),
        ('{"fitted": {"format": 9, "kind": "crf", "settings": {}, "weights": {}, "classes": [], '
         '"columns": []}, "penalties": {"groups": {}}}', "newer Tunescope"),
    ],
)  # fmt: skip
def test_json_that_is_no_model(tmp_path, text, sentence):
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(UnusableError, match=sentence):
        parameter_arrays.load_document_arrays(tmp_path / "m.json")


@pytest.mark.parametrize("ending", [".npz", ".json"])
@pytest.mark.parametrize("kind", ["tags", "structures"])
def test_the_files_of_an_average_say_the_same(averages, predicted, kind, ending):
    compare(averages[kind], predicted(averages[kind], averages[kind].table, ending))


def test_shares_that_do_not_fit_are_refused(averages, tmp_path):
    path = exported(averages["tags"].folder, tmp_path / "model.npz")
    arrays = carrier.load_arrays(path)
    assert int(arrays["format"]) == 2
    for shares in (np.array([0.5, 0.5]), np.array([0.5, 0.6, -0.1])):
        path.write_bytes(carrier.npz_bytes({**arrays, "shares": shares}))
        with pytest.raises(UnusableError, match="the shares"):
            carrier.load_arrays(path)
