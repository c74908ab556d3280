"""Events: every kind survives a line of JSON, and numbers that JSON lacks do no harm."""

import json
import math
import random
import re
from dataclasses import fields

import numpy as np
import pytest

from core.datasets.task import Task
from core.space import Axis
from core.tuning.event_lines import from_json, to_json
from core.tuning.events import (
    ClusterWorker,
    DatasetFacts,
    DisputedRow,
    Event,
    FoldedMolecule,
    HistoryDataset,
    HistoryRead,
    LabelledSequence,
    LeaderboardEntry,
    Progress,
    SurrogateFitted,
    Topic,
    TopicsFound,
    TrialFinished,
    TrialStarted,
)
from core.tuning.run_results import Gain, OmittedTrial, Results

DATASET = HistoryDataset("d", [1.0, 2.0, 0.0], [[0.1, "a"], [3, None]], [0.5], True, False, 0.25)
SEQUENCE = LabelledSequence("s", ["x", "y"], ["A", "B"], ["A", "A"], [[0.9, 0.1], [0.5, 0.5]])
DISPUTED = DisputedRow(3, "age 4", "", 0.5, [[0.1, 0.9], [0.5, 0.5]])
SAMPLES = {
    "Interval | None": [0.25, 0.75],
    "str": "ä “quoted”\n",
    "int": 7,
    "int | None": 3,
    "float": 0.1 + 0.2,
    "float | None": 1e-300,
    "bool": False,
    "list[int]": [1, 2],
    "list[str]": ["a", "b"],
    "list[str] | None": ["a"],
    "list[float]": [0.1, 1 / 3],
    "list[list[float]]": [[0.1, 0.2], [1.0, 0.0]],
    "list[dict[str, Any]]": [{"name": "w", "trials": [1, None]}],
    "list[Axis]": [Axis("C", "C", "choice", choices=("a", None), default="a")],
    "DatasetFacts": DatasetFacts("iris", 150, 4, Task.MULTICLASS, classes=["a", "b"]),
    "Results | None": Results({"C": 1.0}, gain=Gain("accuracy", 0.25, real=True), seconds=1.5),
    "list[HistoryDataset]": [DATASET],
    "list[LabelledSequence]": [SEQUENCE, SEQUENCE],
    "list[FoldedMolecule]": [FoldedMolecule("m", "GC", "..", "()", [[0, 1, 0.25]])],
    "list[OmittedTrial]": [OmittedTrial(4, "it failed")],
    "list[DisputedRow]": [DISPUTED],
    "list[LeaderboardEntry]": [
        LeaderboardEntry("svm", 3, 0.9, 0.01, None, 2.5, 0.1, 0.25, "tuned"),
        LeaderboardEntry("mlp", 0, None, None, 0.5, 0.0, 0.0, 9.0, "failed", "It broke."),
    ],
    "list[ClusterWorker]": [ClusterWorker("w0")],
    "list[Topic]": [Topic(0.5, ["a", "b"], [0.2, 0.1])],
    "dict[str, Any]": {"C": 1.5, "kernel": None},
    "Setting": {"C": 1.5, "kernel": None},
    "dict[str, int]": {"blood": 3},
    "dict[str, float]": {"blood": 0.25},
    "dict[str, list[float]] | None": {"blood": [0.2, 0.3]},
}


TRIALS = {
    TrialStarted: TrialStarted(0.1 + 0.2, 7, {"C": 1.5, "kernel": None}, "ä “x”\n", 1e-300, 2.5),
    TrialFinished: TrialFinished(0.5, 7, {"C": 1.5}, 0.1 + 0.2, [0.1, 1 / 3], 1e-300, 5, True),
}


def sample_of(kind):
    return TRIALS.get(kind) or kind(**{f.name: SAMPLES[f.type] for f in fields(kind)})


@pytest.mark.parametrize("kind", Event.class_by_tag.values(), ids=Event.class_by_tag)
def test_every_event_survives_its_line(kind):
    event = sample_of(kind)
    line = to_json(event)
    assert "\n" not in line
    assert from_json(line) == event


def test_not_a_number_becomes_null_and_comes_back():
    line = to_json(TrialFinished(number=1, score=math.nan, fold_scores=[np.float64(0.5), math.nan]))
    assert json.loads(line)["score"] is None
    assert math.isnan(from_json(line).score)
    assert from_json(line).fold_scores == [0.5, pytest.approx(math.nan, nan_ok=True)]
    assert from_json(to_json(Progress(best=None))).best is None


def test_a_payload_is_a_plain_object_and_fields_of_the_next_version_are_passed_over():
    line = to_json(TopicsFound(topics=[Topic(0.5, ["ship"], [0.25])]))
    assert json.loads(line)["topics"] == [{"share": 0.5, "words": ["ship"], "weights": [0.25]}]
    for place in ('"share"', '"topics"'):
        assert from_json(line.replace(place, f'"colour": "red", {place}')) == from_json(line)


def test_an_event_of_an_earlier_version_is_read_by_its_former_name():
    line = to_json(HistoryRead(statistics=[1.0, 2.0, 0.0], axes=["C"], datasets=[DATASET]))
    former = line.replace('"HistoryRead"', '"PastRecalled"')
    assert "HistoryRead" not in former
    assert from_json(former) == from_json(line)


HUGE = "1" + 400 * "0"  # a whole number that no float holds
DAMAGED = {
    '{"event": "TrialFinished", "number": "3"}': "TrialFinished.number: expected int, got str",
    '{"event": "TrialFinished", "number": true}': "TrialFinished.number: expected int, got bool",
    '{"event": "TrialFinished", "number": null}': "TrialFinished.number: expected int, got null",
    '{"event": "TrialFinished", "number": 1.0}': "TrialFinished.number: expected int, got float",
    '{"event": "TrialFinished", "score": []}': "TrialFinished.score: expected int | float",
    '{"event": "TrialFinished", "fold_scores": [0.5, "x"]}': "TrialFinished.fold_scores[1]: exp",
    '{"event": "TrialFinished", "setting": [1]}': "TrialFinished.setting: expected object",
    '{"event": "PenaltyStep", "penalties": {"a": "b"}}': "PenaltyStep.penalties[...]: expected",
    '{"event": "TopicsFound", "topics": ["a"]}': "TopicsFound.topics[0]: expected object, got str",
    '{"event": "TopicsFound", "topics": [{"share": 1, "words": ["a"]}]}': (
        "TopicsFound.topics[0]: object missing required field weights"
    ),
    json.dumps(
        {"event": "SequencesLabelled", "classes": list("abc"), "sequences": [vars(SEQUENCE)]}
    ): ("probabilities of other classes"),
    json.dumps({"event": "MembersDisagree", "classes": list("abc"), "rows": [vars(DISPUTED)]}): (
        "probabilities of other classes"
    ),
    '{"event": ["TopicsFound"]}': "not an event",
    "": "not JSON",
    '{"event": "Prog': "not JSON",
    "[1]": "not an event",
    '{"event": "Unheard"}': "not an event",
    "null": "not an event",
    '{"event": "TrialFinished", "number": 99999999999999999999}': "TrialFinished.number",
    f'{{"event": "TrialFinished", "score": {HUGE}}}': "TrialFinished.score: expected int <=",
    f'{{"event": "TrialStarted", "expected": -{HUGE}}}': "TrialStarted.expected: expected int >=",
    f'{{"event": "PenaltyStep", "norms": {{"a": {HUGE}}}}}': "PenaltyStep.norms[...]: expected int",
}


@pytest.mark.parametrize(("line", "why"), DAMAGED.items(), ids=DAMAGED.values())
def test_a_damaged_event_is_refused_and_its_field_named(line, why):
    with pytest.raises(ValueError, match=re.escape(why)):
        from_json(line)


def test_a_surrogate_is_as_large_as_its_points():
    points = np.random.default_rng(0).random((50, 4)).tolist()
    line = to_json(SurrogateFitted(points=points, responses=[0.5] * 50))
    assert len(line) < 8000


def test_whole_numbers_are_written_again_as_they_were():
    line = to_json(TrialFinished(seconds=1, score=2, fold_scores=[1, 0.5]))
    assert to_json(from_json(line)) == line
    assert from_json(to_json(TrialFinished(number=2**63 - 1))).number == 2**63 - 1


VALUES = ["null", "true", "3", "-0.5", '"x"', "[]", "[null]", "[1, 2.5]", '["x"]', "{}", "1e999"]
VALUES += ["9223372036854775808", HUGE, f"[{HUGE}]", '{"a": null}', '{"a": "b"}', "[[0.5]]"]


@pytest.mark.parametrize("kind", Event.class_by_tag.values(), ids=Event.class_by_tag)
def test_a_line_is_read_quickly_as_it_is_read_slowly(kind):
    draw = random.Random(kind.__name__)
    whole = to_json(sample_of(kind)).encode()
    for _ in range(60):
        plain = json.loads(whole)
        name = draw.choice([*plain, "mood"])
        plain[name] = "☂"
        if draw.random() < 0.2:
            del plain[draw.choice(list(plain))]
        line = json.dumps(plain).replace(json.dumps("☂"), draw.choice(VALUES)).encode()
        assert outcome(line) == outcome(line.replace(b"{", b"{ ", 1))


def outcome(line):
    try:
        event = from_json(line)
    except ValueError as error:
        return str(error)
    return type(event), repr(event)
