"""A sample's table in an exported script: scikit-learn's own loader, or the table itself."""

from __future__ import annotations

import base64
import zlib

import numpy as np
import pandas as pd
import sklearn.datasets

from core.datasets.samples.registry import SAMPLES
from core.export.finished_run import FinishedRun
from core.export.script.constructor import CodeWriter


def sample_lines(run: FinishedRun, code: CodeWriter) -> list[str]:
    """Lines that give ``table`` with all columns of the sample, target included."""
    name = run.plan.data.file.removeprefix("sample:")
    table = SAMPLES[name].table()
    loader = f"load_{name.replace('-', '_')}"
    if not hasattr(sklearn.datasets, loader):
        return _packed_table(table, code)
    code.imports.setdefault("sklearn.datasets", set()).add(loader)
    lines = [f"bunch = {loader}(as_frame=True)", "table = bunch.frame"]
    names = [str(name) for name in table.columns]
    if names != list(getattr(sklearn.datasets, loader)(as_frame=True).frame.columns):
        column_order = [*run.takeaway.feature_names, run.takeaway.target]
        columns_code = "[*FEATURES, TARGET]" if names == column_order else code.expression(names)
        lines.append(f"table.columns = {columns_code}")
    if not np.array_equal(table["target"], getattr(sklearn.datasets, loader)().target):
        lines.append('table["target"] = [bunch.target_names[code] for code in bunch.target]')
    return lines


def _packed_table(table: pd.DataFrame, code: CodeWriter) -> list[str]:
    code.modules |= {"import base64", "import io", "import zlib"}
    text = table.to_csv(index=False)
    is_numeric = pd.api.types.is_numeric_dtype
    texts = [str(name) for name in table.columns if not is_numeric(table[name].dtype)]
    dtypes = CodeWriter().expression(dict.fromkeys(texts, "str"), 4)
    arguments = f"    dtype={dtypes},\n" if texts else ""
    packed = base64.b85encode(zlib.compress(text.encode(), 9)).decode()
    lines = "\n".join(packed[start : start + 96] for start in range(0, len(packed), 96))
    return [
        f'PACKED = """\n{lines}\n"""',
        'text = zlib.decompress(base64.b85decode(PACKED.replace("\\n", ""))).decode()',
        f"table = pd.read_csv(\n    io.StringIO(text),\n{arguments})",
    ]
