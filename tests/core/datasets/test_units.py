"""What counts as independent: rows, groups of a person, copies, moments, and those of a file."""

import numpy as np
import pandas as pd
import pytest

from core.datasets.units import Units, dataset_units, file_units
from core.tuning.plan import DataPlan
from core.tuning.problem_setup import read_data

ROWS = 60


def table_of(seed=0):
    generator = np.random.default_rng(seed)
    table = pd.DataFrame(generator.normal(size=(ROWS, 3)).round(6), columns=["a", "b", "c"])
    return table.assign(y=generator.permutation(["no", "yes"] * (ROWS // 2)))


def read(folder, table, test=None, **more):
    table.to_csv(folder / "rows.csv", index=False)
    files = {"file": str(folder / "rows.csv"), "target": "y"}
    if test is not None:
        test.to_csv(folder / "test.csv", index=False)
        files["test_file"] = str(folder / "test.csv")
    return read_data(DataPlan(**files, **more))


@pytest.mark.parametrize("column", ["patient_id", "batch"])
def test_rows_of_one_group_are_one_unit_of_its_name(tmp_path, column):
    table = table_of()
    table[column] = [f"p{row // 5}" for row in range(ROWS)]
    units = dataset_units(read(tmp_path, table, roles={column: "group"}))
    assert (units.has_groups, units.count) == (True, ROWS // 5)
    assert units.index.tolist() != list(range(ROWS))
    assert units.count_text == ("12 patients" if column == "patient_id" else "12 groups")
    assert units.take_rows(np.arange(7)).count == 2


def test_copies_of_a_row_are_one_unit_in_both_files(tmp_path):
    table = pd.concat([table_of()] * 3, ignore_index=True)
    dataset = read(tmp_path, table, pd.concat([table_of(1)] * 2, ignore_index=True))
    for units in (dataset_units(dataset), file_units(dataset.test)):
        assert (units.count, units.noun) == (ROWS, "different row")
        assert (units.index[:ROWS] == units.index[ROWS : 2 * ROWS]).all()


def test_moments_are_in_the_order_of_time_and_single_rows_alone(tmp_path):
    table = table_of()
    order = np.random.default_rng(1).permutation(ROWS)
    table["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(order, unit="D")
    units = dataset_units(read(tmp_path, table, latest="day"))
    assert (units.is_time, units.has_groups) == (True, False)
    assert units.index.tolist() == order.tolist()
    twice = pd.concat([table, table], ignore_index=True)
    # Copies do not hide that a series is one.
    units = dataset_units(read(tmp_path, twice, latest="day"))
    assert (units.is_time, units.count) == (True, ROWS)
    single = dataset_units(read(tmp_path, table_of()))
    assert (single.count, single.count_text, single.is_time) == (ROWS, "60 rows", False)


def test_sums_are_those_of_each_unit():
    units = Units(np.array([4, 9, 4, 7]))
    assert units.unit_sums(np.array([1.0, 2.0, 4.0, 8.0])).tolist() == [5.0, 8.0, 2.0]
