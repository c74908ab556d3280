"""The names of a CRF's parameters: as many, and the same, whether told one by one or all."""

from __future__ import annotations

import pandas as pd
import pytest

from core.losses.crf.crf_loss import build_crf
from core.losses.crf.parameter_names import ParameterNames

TABLE = pd.DataFrame(
    {"sequence": ["1", "1", "2"], "word": ["a", "b", "a"], "length": [1.0, 2.0, 4.0]}
)
WRITTEN = [
    *("initial → x", "initial → y"),
    *("x → x", "x → y", "y → x", "y → y"),
    *("word=a → x", "word=a → y", "word=b → x", "word=b → y"),
    *("length → x", "length → y"),
]


def test_names_are_those_of_the_parameters_in_their_order():
    loss = build_crf(TABLE, "sequence", ["x", "y", "x"], ["x", "y"])
    assert list(loss.names) == WRITTEN
    assert len(loss.names) == loss.size
    assert [loss.names[k] for k in range(loss.size)] == WRITTEN
    assert loss.names[-1] == WRITTEN[-1]
    assert loss.names[3:8:2] == WRITTEN[3:8:2]
    assert loss.sources == ["initial"] * 2 + ["transition"] * 4 + ["word"] * 4 + ["length"] * 2
    with pytest.raises(IndexError):
        loss.names[loss.size]


def test_none_is_made_before_it_is_asked_for(monkeypatch):
    loss = build_crf(TABLE, "sequence", ["x", "y", "x"], ["x", "y"])
    made = []
    monkeypatch.setattr(ParameterNames, "_origins", property(lambda self: made.append(1)))
    assert len(loss.names) == 12
    assert made == []
