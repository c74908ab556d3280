"""The functions that measure tables and figures."""

from __future__ import annotations

from core.reproduction.brofos import credit_rows, sinc_rows
from core.reproduction.do_simulation import figure2_rows
from core.reproduction.foo import table1_rows, table2_rows, table3a_rows
from core.reproduction.mcinerney.mcinerney_tables import table2_rows as mcinerney_table2_rows
from core.reproduction.mcinerney.mcinerney_tables import table3_rows as mcinerney_table3_rows
from core.reproduction.mcinerney.tabular import tabular_rows
from core.reproduction.measured_table import Measure
from core.reproduction.rna_folds import figure3_rows, table3b_rows, table4_rows
from core.reproduction.yogatama.yogatama_tables import figure3_rows as yogatama_figure3_rows
from core.reproduction.yogatama.yogatama_tables import table2_rows as yogatama_table2_rows
from core.reproduction.yogatama.yogatama_tables import table3_rows as yogatama_table3_rows

MEASURES: dict[str, Measure] = {
    "foo-table1": table1_rows,
    "foo-table2": table2_rows,
    "foo-table3a": table3a_rows,
    "foo-table3b": table3b_rows,
    "foo-table4": table4_rows,
    "do-figure2": figure2_rows,
    "do-figure3": figure3_rows,
    "brofos-sinc": sinc_rows,
    "brofos-credit": credit_rows,
    "yogatama-table2": yogatama_table2_rows,
    "yogatama-table3": yogatama_table3_rows,
    "yogatama-figure3": yogatama_figure3_rows,
    "mcinerney-table2": mcinerney_table2_rows,
    "mcinerney-table3": mcinerney_table3_rows,
    "averages-on-tables": tabular_rows,
}
