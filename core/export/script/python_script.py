"""The script export: a short program that trains the tuned model from the raw file again.

It needs scikit-learn, numpy and pandas only, and the model's own library where that is another. It
makes the same split, prints the same test score, and then fits the model on all rows, as the
program does. Where every row was tested by models of outer folds, it fits the model and prints the
score that the program measured.
A model that is no class of scikit-learn's stands in the program itself.
Learned penalties are reproduced exactly: dividing column i by √C_i turns ½ Σ C_i w_i² into
½ ‖u‖² with u_i = √C_i w_i, which is scikit-learn's ``LogisticRegression(C=1)``; for a linear model
the ridge penalty of column i is σ² C_i, which is ``Ridge(alpha=σ²)`` on the divided columns
(stationary point of Foo 2009, section 4).
An average of models is scikit-learn's voting, soft for classes, of the members behind one
preparation.
"""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path
from typing import Any

import numpy as np

from core.datasets.preparation import plain_preparation
from core.export.average import Member, members_of
from core.export.choices import BASELINE, TUNED
from core.export.finished_run import FinishedRun, score_said
from core.export.script.constructor import Code, list_code, wrapped_list
from core.export.script.data import data_block, split_block
from core.export.script.docstring import chosen_name, docstring
from core.export.script.models import carried_source, is_ours
from core.export.script.scores import score_functions, scorer
from core.space import Setting

SETTLED = 1e-10  # the solver's tolerance where a penalty learner's solution is met again


def write(run: FinishedRun, path: Path) -> None:
    """Write the program."""
    path.write_text(source(run), encoding="utf-8")


def source(run: FinishedRun) -> str:
    """The program's text."""
    code = Code()
    carried = carried_source(_import_lines(run), code)
    data = data_block(run, code)
    split = split_block(run, code)
    model = _model_block(run, code)
    scores = _score_block(run, code)
    future = ["from __future__ import annotations"] if carried else []
    head = [docstring(run, _settings(run), carries=bool(carried)), *future, _imports(run, code)]
    own = [] if run.nested else score_functions(run)
    parts = [*head, *carried, data, split, model, *own, scores, _last_fit(run)]
    text = "\n\n".join(part.strip("\n") for part in parts if part) + "\n"
    ast.parse(text)  # a program that Python cannot read must never leave the house
    return text


def _settings(run: FinishedRun) -> list[Setting]:
    """Of every model that the script builds by a setting."""
    if run.which == BASELINE:
        return []
    if run.which != TUNED:
        return [run.results["setting"]]
    default = run.results["default_setting"]
    if run.learned_penalties:
        return [default]
    return [*([m.setting for m in members_of(run)] or [run.results["setting"]]), default]


def _import_lines(run: FinishedRun) -> list[str]:
    """Those of every model that the script builds, each once."""
    task, seed = run.takeaway.task, run.plan.seed
    lines = (run.model.script(task, setting, seed)[0].splitlines() for setting in _settings(run))
    return list(dict.fromkeys(line for few in lines for line in few))


def _imports(run: FinishedRun, code: Code) -> str:
    standard = sorted(code.modules, key=lambda line: (line.startswith("from"), line))
    tables = [] if run.takeaway.source["format"] == "libsvm" else ["import pandas as pd"]
    ours = ["import numpy as np", *tables, *code.import_lines()]
    return "\n".join([*standard, "", *ours])


def _model_block(run: FinishedRun, code: Code) -> str:
    code.imports.setdefault("sklearn.pipeline", set()).add("Pipeline")
    prepare = plain_preparation(run.pipeline.named_steps["prepare"], fitted=False)
    named = _column_lists(prepare, code)
    lines = [f"{name} = {wrapped_list(columns)}" for name, columns in named.items()]
    lines += ["", "", "def prepare():"] if lines else ["def prepare():"]
    lines += ['    """How raw columns become numbers; fitted together with the model."""']
    lines += [f"    return {code.expression(prepare, 4)}", "", ""]
    if run.which != TUNED:
        baseline = run.which == BASELINE
        chosen = (
            code.expression(run.pipeline[-1])
            if baseline
            else _expression(run, run.results["setting"], code)
        )
        return "\n".join([*lines, _pipeline("model", chosen)])
    default = _expression(run, run.results["default_setting"], code)
    if run.learned_penalties:
        lines += _learned(run, code)
    elif members := members_of(run):
        lines += _average(run, members, code)
    else:
        tuned = _expression(run, run.results["setting"], code)
        lines += ["# The tuned setting.", _pipeline("tuned", tuned)]
    lines += _threshold(run, code)
    without = "The setting without tuning"
    if run.several:
        without += f" ({run.kind_of(run.results['default_setting'])})"
    lines += [f"# {without}, to compare with.", _pipeline("default", default)]
    return "\n".join(lines)


def _pipeline(name: str, expression: str) -> str:
    flat = f'{name} = Pipeline([("prepare", prepare()), ("model", {expression})])'
    if len(flat) <= 96:
        return flat
    return (
        f'{name} = Pipeline(\n    [\n        ("prepare", prepare()),\n'
        f'        ("model", {expression}),\n    ]\n)'
    )


def _expression(run: FinishedRun, setting: dict[str, Any], code: Code) -> str:
    imports, expression = run.model.script(run.takeaway.task, setting, run.plan.seed)
    for line in imports.splitlines():
        module, _, names = line.removeprefix("from ").partition(" import ")
        if not is_ours(module):
            code.imports.setdefault(module, set()).update(names.split(", "))
    return expression


def _average(run: FinishedRun, members: list[Member], code: Code) -> list[str]:
    """The pipeline of an average; the members' weights are shares of 1."""
    regression = run.takeaway.task == "regression"
    kind, how = ("VotingRegressor", "") if regression else ("VotingClassifier", 'voting="soft", ')
    code.imports.setdefault("sklearn.ensemble", set()).add(kind)
    said = "predictions" if regression else "probabilities of classes"
    kinds = dict.fromkeys(run.kind_of(member.setting) for member in members)
    told = [f"# The models: {', '.join(kinds)}."] if len(kinds) > 1 else []
    lines = [
        f"# The best settings of all that were tried. Their {said} are averaged.",
        *(line for words in told for line in textwrap.wrap(words, 96, subsequent_indent="# ")),
        "members = [",
        *(f'    ("trial {m.number}", {_expression(run, m.setting, code)}),' for m in members),
        "]",
        f"weights = {wrapped_list([m.weight for m in members])}",
    ]
    return [*lines, _pipeline("tuned", f"{kind}(members, {how}weights=weights)")]


def _threshold(run: FinishedRun, code: Code) -> list[str]:
    """The threshold between two classes, where mistakes had costs."""
    value, told = run.takeaway.threshold, run.results.get("costs", {})
    if value is None:
        return []
    code.imports.setdefault("sklearn.model_selection", set()).add("FixedThresholdClassifier")
    second = Code().expression(run.takeaway.classes[1])
    costs = ", ".join(f"{label!r}: {cost:g}" for label, cost in told.get("costs", {}).items())
    return [
        "# A row is of the second class from this probability on. It was chosen on out-of-fold",
        "# predictions of the training rows, by what calling a row of a class the other costs:",
        f"# {costs}.",
        "tuned = FixedThresholdClassifier(",
        f'    tuned, threshold={value!r}, pos_label={second}, response_method="predict_proba"',
        ")",
    ]


def _column_lists(prepare: Any, code: Code) -> dict[str, list[Any]]:
    """The column lists of its ColumnTransformer as variables, {variable: columns}."""
    named: dict[str, list[Any]] = {}
    encode = getattr(prepare, "named_steps", {}).get("columns", prepare)
    for name, _, columns in getattr(encode, "transformers", []):
        if isinstance(columns, list) and columns and list_code(columns) not in code.names:
            variable = re.sub(r"\W+", "_", name).upper()
            if variable.isidentifier() and variable not in named:
                named[variable] = columns
                code.names[list_code(columns)] = variable
    return named


def _learned(run: FinishedRun, code: Code) -> list[str]:
    """The tuned pipeline of a penalty learner."""
    code.imports.setdefault("scipy.sparse", set()).add("diags_array")
    code.imports.setdefault("sklearn.preprocessing", set()).add("FunctionTransformer")
    lines = [
        "# The learned penalties C: a large one means that the columns say little. They act on",
        "# the prepared columns. scikit-learn has one penalty for all columns, so each column is",
        "# divided by the root of its own: the model then is the same.",
        *_penalty_lines(_tested(run)),
        "",
        "",
        "def weigh(X):",
        "    return X @ diags_array(1 / np.sqrt(penalties))",
        "",
        "",
    ]
    solver = _exact_solver(run, code)
    steps = ('("prepare", prepare())', '("weigh", FunctionTransformer(weigh, accept_sparse=True))')
    body = "".join(f"        {step},\n" for step in (*steps, f'("model", {solver})'))
    return [*lines, f"tuned = Pipeline(\n    [\n{body}    ]\n)"]


def _tested(run: FinishedRun) -> dict[str, Any]:
    """Penalties, groups of columns and noise of the model that was tested."""
    return run.takeaway.judged or _kept(run)


def _kept(run: FinishedRun) -> dict[str, Any]:
    takeaway = run.takeaway
    names = ("penalties", "group_of_output", "noise_variance")
    return {name: getattr(takeaway, name) for name in names}


def _penalty_lines(facts: dict[str, Any]) -> list[str]:
    groups, of_output = list(facts["penalties"].items()), facts["group_of_output"]
    if len(groups) == 1:
        return [f"penalties = np.full({len(of_output)}, {groups[0][1]!r})  # one for all columns"]
    entries = [f"    {Code().expression(name)}: {C!r},\n" for name, C in groups]
    lines = [f"C = {{\n{''.join(entries)}}}"]
    if of_output == list(range(len(groups))):
        return [*lines, "penalties = np.array(list(C.values()))  # one for every prepared column"]
    return [
        *lines,
        f"group_of_column = {_numbers_code(of_output)}",
        "penalties = np.array(list(C.values()))[group_of_column]",
    ]


def _numbers_code(numbers: list[int]) -> str:
    """A list of numbers, or, where the same stand together in long runs, these runs."""
    ends = [at for at, one in enumerate(numbers) if numbers[at + 1 : at + 2] != [one]]
    if 10 * len(ends) > len(numbers):
        return wrapped_list(numbers)
    lengths = np.diff([-1, *ends]).tolist()
    return f"np.repeat({wrapped_list([numbers[at] for at in ends])}, {wrapped_list(lengths)})"


def _exact_solver(run: FinishedRun, code: Code) -> str:
    takeaway = run.takeaway
    texts = any((one["role"], one["kind"]) == ("feature", "text") for one in takeaway.columns)
    sparse = takeaway.source["format"] == "libsvm" or texts
    if takeaway.task == "regression":
        code.imports.setdefault("sklearn.linear_model", set()).add("Ridge")
        solver = 'solver="sparse_cg", tol=1e-12' if sparse else 'solver="svd"'
        return f"Ridge(alpha={_tested(run)['noise_variance']!r}, {solver})"
    code.imports.setdefault("sklearn.linear_model", set()).add("LogisticRegression")
    vectors = len(takeaway.classes) if takeaway.task == "multiclass" else 1
    small = vectors * len(_tested(run)["group_of_output"]) <= 2000
    solver = "newton-cholesky" if small else "newton-cg"
    return f'LogisticRegression(C=1.0, solver="{solver}", tol={SETTLED!r}, max_iter=10000)'


def _score_block(run: FinishedRun, code: Code) -> str:
    test_file, fitted = bool(run.takeaway.test_source), run.takeaway.fitted_rows
    metric = run.results["metric"]
    if run.which != TUNED:
        return _one_score(run, code)
    if run.nested:
        return _measured(run)
    lines = ['for name, model in (("tuned", tuned), ("default setting", default)):']
    fit = "X, y" if test_file else "X_train, y_train"
    if fitted:
        rows = ".iloc" if run.takeaway.source["format"] != "libsvm" else ""
        every = "np.arange(len(y))" if test_file else "train"
        fit = f"X{rows}[rows], y[rows]"
        lines = [
            "# The members learned from these rows; the other training rows chose them.",
            f"fitted = np.array({wrapped_list(fitted)})",
            f'models = (("tuned", tuned, fitted), ("default setting", default, {every}))',
            "for name, model, rows in models:",
        ]
    lines += [
        f"    model.fit({fit})",
        f"    score = {scorer(run, code)}",
        f'    print(f"{metric} on test rows, {{name}}: {{score:.6f}}")',
    ]
    return "\n".join(lines)


def _one_score(run: FinishedRun, code: Code) -> str:
    """The score of a chosen model; none where every row was tested by models of outer folds."""
    if run.nested:
        return "model.fit(X, y)"
    metric = run.results["metric"]
    lines = [
        f"model.fit({'X, y' if run.takeaway.test_source else 'X_train, y_train'})",
        f"score = {scorer(run, code)}",
        f'print(f"{metric} on test rows, {chosen_name(run)}: {{score:.6f}}")',
    ]
    return "\n".join(lines)


def _measured(run: FinishedRun) -> str:
    """The last fit, and the scores of a nested cross-validation, which are not measured again."""
    metric, results = run.results["metric"], run.results
    lines = [
        "# Scores of models that were tuned and fitted without the rows that tested them, as",
        "# Tunescope measured them; this program repeats the last fit, not the tuning.",
        "tuned.fit(X, y)",
        "default.fit(X, y)",
    ]
    for name, scores in (("tuned", "test"), ("default setting", "default_test")):
        said = f"{metric} on test rows, {name}: {score_said(results[scores][metric])} (as measured)"
        lines.append(f'print("{said}")')
    return "\n".join(lines)


def _last_fit(run: FinishedRun) -> str:
    """Lines that fit the tuned model on all rows, where the program did so after the test."""
    if not run.takeaway.refitted:
        return ""
    if run.which != TUNED:
        return "model.fit(X, y)  # the model to be used learns from all rows"
    lines = ["# The scores are those of models that never saw the test rows. The model to be used"]
    lines += ["# learns from all rows, at the same setting."]
    if run.takeaway.judged:
        tested, kept = _tested(run), _kept(run)
        if any(tested[name] != kept[name] for name in ("penalties", "group_of_output")):
            lines += ["# More rows make other columns of rare categories.", *_penalty_lines(kept)]
        if (noise := kept["noise_variance"]) is not None:
            lines.append(f"tuned.set_params(model__alpha={noise!r})")
    lines += ["tuned.fit(X, y)", 'print(f"The tuned model is now fitted on all {len(y):,} rows.")']
    return "\n".join(lines)
