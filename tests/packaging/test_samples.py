"""The sample tables in resources are those that packaging/make_samples.py makes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pandas as pd
import pytest

from core.datasets.samples import SAMPLES

SPEC = importlib.util.spec_from_file_location(
    "make_samples", Path(__file__).parents[2] / "packaging" / "make_samples.py"
)
make_samples = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make_samples)


@pytest.mark.parametrize("name", make_samples.TABLES)
def test_a_stored_table_is_the_one_made(name):
    pd.testing.assert_frame_equal(
        SAMPLES[name].table(), make_samples.TABLES[name](), check_exact=True
    )
