"""The script export: a short program that trains the tuned model from the raw file again.

It makes the same split, prints the same test score, and fits on all rows. Learned penalties are
exact: with column i over √C_i, ½ Σ C_i w_i² is ½ ‖u‖², u_i = √C_i w_i: ``LogisticRegression(C=1)``;
for a linear model ``Ridge(alpha=σ²)`` (stationary point of Foo 2009, section 4).
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from core.datasets.preparation import (
    encoder_of,
    frequent_levels,
    own_columns,
    plain_preparation,
    stays_sparse,
)
from core.estimators.facts import uncapitalized
from core.estimators.model_settings import model_and_values
from core.estimators.optional_parts import OPTIONAL_DEPENDENCIES
from core.estimators.registry import MODELS
from core.export.exportable_models import BASELINE, DEFAULT, TUNED
from core.export.finished_run import EnsembleMember, FinishedRun, members_of, model_noun, score_text
from core.export.script.constructor import (
    CodeWriter,
    carried_source,
    is_ours,
    list_code,
    wrapped_list,
)
from core.export.script.data_code import data_block, packages_of, split_block
from core.space import Setting
from core.tuning.candidate_models import columns_of_setting
from core.tuning.results.model_metadata import LearnedPenalties

_OWN_COLUMNS = (
    "def own(model, columns):",
    '    """A model of its own columns: of levels, or of means of the target in them."""',
    '    own_columns = ColumnTransformer([("own", "passthrough", columns)], sparse_threshold=1.0)',
    '    return Pipeline([("columns", own_columns), ("model", model)])',
)
_FOLDS_IMPORT = "from core.datasets.fixed_folds import FixedFolds"
EXACT_TOLERANCE = 1e-10  # the solver's tolerance where a penalty learner's solution is met again


def write(run: FinishedRun, path: Path) -> None:
    """Write the program."""
    path.write_text(script_source(run), encoding="utf-8")


def script_source(run: FinishedRun) -> str:
    """The program's text."""
    code = CodeWriter()
    data, split = data_block(run, code), split_block(run, code)
    model, scores = _model_block(run, code), _score_block(run, code)
    folds = [_FOLDS_IMPORT] if "FixedFolds(" in model else []
    model_sources = carried_source([*_import_lines(run), *folds], code)
    code.imports.modules |= {"numpy as np"}
    if run.takeaway.source.format != "libsvm":
        code.imports.modules.add("pandas as pd")
    future = ["from __future__ import annotations"] if model_sources else []
    head = [
        docstring(run, _settings(run), carries=bool(model_sources)),
        *future,
        code.imports.text(),
    ]
    # Nested scores are printed as they were measured.
    functions = [] if run.is_nested else score_functions(run)
    blocks = [*head, *model_sources, data, split, model, *functions, scores, _last_fit(run)]
    text = "\n\n".join(block.strip("\n") for block in blocks if block) + "\n"
    ast.parse(text)  # a program that Python cannot read must never leave the house
    return text


def _settings(run: FinishedRun) -> list[Setting]:
    if run.selected_name == BASELINE:
        return []
    if run.selected_name != TUNED:
        return [run.results.setting]
    default = run.results.default_setting
    # A penalty learner's model is written out by itself, below.
    if run.has_learned_penalties:
        return [default]
    return [*([m.setting for m in members_of(run)] or [run.results.setting]), default]


def _import_lines(run: FinishedRun) -> list[str]:
    task, seed = run.takeaway.task, run.plan.seed
    blocks = (run.model.script(task, setting, seed)[0].splitlines() for setting in _settings(run))
    return list(dict.fromkeys(line for block in blocks for line in block))


def _model_block(run: FinishedRun, code: CodeWriter) -> str:
    code.imports.add("sklearn.pipeline", "Pipeline")
    prepare = plain_preparation(run.pipeline.named_steps["prepare"], fitted=False)
    column_lists = _column_lists(prepare, code)
    lines = [f"{name} = {wrapped_list(columns)}" for name, columns in column_lists.items()]
    if not run.allows_examples:
        _leave_levels_to_data(getattr(prepare, "named_steps", {}).get("columns"), code)
    preparation = code.expression(prepare, 4)
    if "frequent_levels(" in preparation:
        lines += ["", "", *inspect.getsource(frequent_levels).splitlines()]
    lines += ["", "", "def prepare():"] if lines else ["def prepare():"]
    lines += ['    """How raw columns become numbers; fitted together with the model."""']
    lines += [f"    return {preparation}", "", ""]
    if own_columns(run.pipeline.named_steps["prepare"]) is not None:
        code.imports.add("sklearn.compose", "ColumnTransformer")
        lines += [*_OWN_COLUMNS, "", ""]
    if run.selected_name != TUNED:
        if run.selected_name == BASELINE:
            model = code.expression(run.pipeline[-1])
        else:
            model = _expression(run, run.results.setting, code)
        return "\n".join([*lines, _pipeline("model", model)])
    default = _expression(run, run.results.default_setting, code)
    if run.has_learned_penalties:
        lines += _learned_pipeline(run, code)
    elif members := members_of(run):
        lines += _average_lines(run, members, code)
    else:
        tuned = _expression(run, run.results.setting, code)
        lines += ["# The tuned setting.", _pipeline("tuned", tuned)]
    lines += _threshold_lines(run, code)
    default_text = "The setting without tuning"
    if run.tunes_several_models:
        default_text += f" ({run.model_title_of(run.results.default_setting)})"
    lines += [f"# {default_text}, to compare with.", _pipeline("default", default)]
    return "\n".join(lines)


def _pipeline(name: str, expression: str) -> str:
    flat = f'{name} = Pipeline([("prepare", prepare()), ("model", {expression})])'
    if len(flat) <= 96:
        return flat
    return (
        f'{name} = Pipeline(\n    [\n        ("prepare", prepare()),\n'
        f'        ("model", {expression}),\n    ]\n)'
    )


def _expression(run: FinishedRun, setting: Setting, code: CodeWriter) -> str:
    imports, expression = run.model.script(run.takeaway.task, setting, run.plan.seed)
    for line in imports.splitlines():
        module, _, names = line.removeprefix("from ").partition(" import ")
        if not is_ours(module):
            code.imports.add(module, *names.split(", "))
    if (columns := own_columns(run.pipeline.named_steps["prepare"])) is not None:
        return f"own({expression}, {columns_of_setting(columns, setting)!r})"
    return expression


def _average_lines(run: FinishedRun, members: list[EnsembleMember], code: CodeWriter) -> list[str]:
    regression = run.takeaway.task.has_numbers
    kind, voting = "VotingClassifier", 'voting="soft", '
    if regression:
        kind, voting = "VotingRegressor", ""
    code.imports.add("sklearn.ensemble", kind)
    averaged_text = "predictions" if regression else "probabilities of classes"
    kinds = dict.fromkeys(run.model_title_of(member.setting) for member in members)
    comments = [f"# The models: {', '.join(kinds)}."] if len(kinds) > 1 else []
    lines = [
        f"# The best settings of all that were tried. Their {averaged_text} are averaged.",
        *(line for words in comments for line in textwrap.wrap(words, 96, subsequent_indent="# ")),
        "members = [",
        *(f'    ("trial {m.number}", {_expression(run, m.setting, code)}),' for m in members),
        "]",
        f"weights = {wrapped_list([m.tested_weight for m in members])}",
    ]
    return [*lines, _pipeline("tuned", f"{kind}(members, {voting}weights=weights)")]


def _threshold_lines(run: FinishedRun, code: CodeWriter) -> list[str]:
    value, results = run.takeaway.threshold, run.results
    if value is None:
        return []
    code.imports.add("sklearn.model_selection", "FixedThresholdClassifier")
    second = CodeWriter().expression(run.takeaway.classes[1])
    origin = ["# A row is of the second class from this probability on. A person chose it."]
    if results.costs is not None and results.threshold is None:
        pairs = results.costs.costs.items()
        origin = [
            "# A row is of the second class from this probability on. It was chosen on out-of-fold",
            "# predictions of the training rows, by what calling a row of a class the other costs:",
            f"# {', '.join(f'{label!r}: {cost:g}' for label, cost in pairs)}.",
        ]
    return [
        *origin,
        "tuned = FixedThresholdClassifier(",
        f'    tuned, threshold={value!r}, pos_label={second}, response_method="predict_proba"',
        ")",
    ]


def _column_lists(prepare: Any, code: CodeWriter) -> dict[str, list[Any]]:
    column_lists: dict[str, list[Any]] = {}
    encode = getattr(prepare, "named_steps", {}).get("columns", prepare)
    for name, _, columns in getattr(encode, "transformers", []):
        if isinstance(columns, list) and columns and list_code(columns) not in code.names:
            # The lists of columns occur again and again: a variable each keeps the script readable.
            variable = re.sub(r"\W+", "_", name).upper()
            if variable.isidentifier() and variable not in column_lists:
                column_lists[variable] = columns
                code.names[list_code(columns)] = variable
    return column_lists


def _leave_levels_to_data(encode: Any, code: CodeWriter) -> None:
    """Let the script find the levels that it would name in the rows again."""
    for _, step, columns in getattr(encode, "transformers", []):
        levels, pairs = encoder_of(step, OneHotEncoder), encoder_of(step, OrdinalEncoder)
        if levels is not None and levels.categories != "auto":
            frequent = f"[frequent_levels(X[name]) for name in {code.expression(columns)}]"
            code.names[list_code(levels.categories)] = frequent
        if pairs is not None:
            # The two words of a column in the order of the alphabet, or in the other one.
            steps = [1 if list(pair) == sorted(pair) else -1 for pair in pairs.categories]
            order = f"zip({code.expression(columns)}, {steps})"
            words = f"[sorted(set(X[name].dropna()))[::step] for name, step in {order}]"
            code.names[list_code(pairs.categories)] = words


def _learned_pipeline(run: FinishedRun, code: CodeWriter) -> list[str]:
    code.imports.add("scipy.sparse", "diags_array")
    code.imports.add("sklearn.preprocessing", "FunctionTransformer")
    lines = [
        "# The learned penalties C: a large one means that the columns say little. They act on",
        "# the prepared columns. scikit-learn has one penalty for all columns, so each column is",
        "# divided by the root of its own: the model then is the same.",
        *_penalty_lines(_tested_penalties(run)),
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


def _tested_penalties(run: FinishedRun) -> LearnedPenalties:
    return run.takeaway.judged or run.takeaway.learned_penalties


def _penalty_lines(penalties: LearnedPenalties) -> list[str]:
    groups, of_output = list(penalties.penalties.items()), penalties.group_of_output
    if len(groups) == 1:
        return [f"penalties = np.full({len(of_output)}, {groups[0][1]!r})  # one for all columns"]
    entries = [f"    {CodeWriter().expression(name)}: {C!r},\n" for name, C in groups]
    lines = [f"C = {{\n{''.join(entries)}}}"]
    if of_output == list(range(len(groups))):
        return [*lines, "penalties = np.array(list(C.values()))  # one for every prepared column"]
    return [
        *lines,
        f"group_of_column = {_numbers_code(of_output)}",
        "penalties = np.array(list(C.values()))[group_of_column]",
    ]


def _numbers_code(numbers: list[int]) -> str:
    # Columns of one group mostly follow each other: lengths are shorter than a number each.
    ends = [i for i, number in enumerate(numbers) if numbers[i + 1 : i + 2] != [number]]
    if 10 * len(ends) > len(numbers):  # no long runs of equal numbers
        return wrapped_list(numbers)
    lengths = np.diff([-1, *ends]).tolist()
    return f"np.repeat({wrapped_list([numbers[i] for i in ends])}, {wrapped_list(lengths)})"


def _exact_solver(run: FinishedRun, code: CodeWriter) -> str:
    takeaway = run.takeaway
    prepare = run.pipeline.named_steps["prepare"]
    is_sparse = takeaway.source.format == "libsvm" or stays_sparse(prepare)
    if takeaway.task.has_numbers:
        code.imports.add("sklearn.linear_model", "Ridge")
        solver = 'solver="sparse_cg", tol=1e-12' if is_sparse else 'solver="svd"'
        return f"Ridge(alpha={_tested_penalties(run).noise_variance!r}, {solver})"
    code.imports.add("sklearn.linear_model", "LogisticRegression")
    vectors = 1 if takeaway.task.has_two_classes else len(takeaway.classes)
    # A dense Hessian of more weights takes too long, and too much memory.
    is_small = vectors * len(_tested_penalties(run).group_of_output) <= 2000
    solver = "newton-cholesky" if is_small else "newton-cg"
    return f'LogisticRegression(C=1.0, solver="{solver}", tol={EXACT_TOLERANCE!r}, max_iter=10000)'


def _score_block(run: FinishedRun, code: CodeWriter) -> str:
    test_file, fitted = bool(run.takeaway.test_source), run.takeaway.fitted_rows
    metric = run.results.metric
    if run.selected_name != TUNED:
        return _one_score(run, code)
    if run.is_nested:
        return _measured_scores(run)
    lines = ['for name, model in (("tuned", tuned), ("default setting", default)):']
    fit = "X, y" if test_file else "X_train, y_train"
    if fitted:
        rows = ".iloc" if run.takeaway.source.format != "libsvm" else ""
        all_rows = "np.arange(len(y))" if test_file else "train"
        fit = f"X{rows}[rows], y[rows]"
        lines = [
            "# The members learned from these rows; the other training rows chose them.",
            f"fitted = np.array({wrapped_list(fitted)})",
            f'models = (("tuned", tuned, fitted), ("default setting", default, {all_rows}))',
            "for name, model, rows in models:",
        ]
    lines += [
        f"    model.fit({fit})",
        f"    score = {score_expression(run, code)}",
        f'    print(f"{metric} on test rows, {{name}}: {{score:.6f}}")',
    ]
    return "\n".join(lines)


def _one_score(run: FinishedRun, code: CodeWriter) -> str:
    if run.is_nested:
        return "model.fit(X, y)"
    metric = run.results.metric
    lines = [
        f"model.fit({'X, y' if run.takeaway.test_source else 'X_train, y_train'})",
        f"score = {score_expression(run, code)}",
        f'print(f"{metric} on test rows, {selection_text(run)}: {{score:.6f}}")',
    ]
    return "\n".join(lines)


def _measured_scores(run: FinishedRun) -> str:
    metric, results = run.results.metric, run.results
    lines = [
        "# Scores of models that were tuned and fitted without the rows that tested them, as",
        "# Tunescope measured them; this program repeats the last fit, not the tuning.",
        "tuned.fit(X, y)",
        "default.fit(X, y)",
    ]
    for name, scores in (("tuned", results.test), ("default setting", results.default_test)):
        score_line = f"{metric} on test rows, {name}: {score_text(scores[metric])} (as measured)"
        lines.append(f'print("{score_line}")')
    return "\n".join(lines)


def _last_fit(run: FinishedRun) -> str:
    if not run.takeaway.refitted:
        return ""
    if run.selected_name != TUNED:
        return "model.fit(X, y)  # the model to be used learns from all rows"
    lines = ["# The scores are those of models that never saw the test rows. The model to be used"]
    lines += ["# learns from all rows, at the same setting."]
    if (tested := run.takeaway.judged) is not None:
        final = run.takeaway.learned_penalties
        if (tested.penalties, tested.group_of_output) != (final.penalties, final.group_of_output):
            lines += ["# More rows make other columns of rare categories.", *_penalty_lines(final)]
        if (noise := final.noise_variance) is not None:
            lines.append(f"tuned.set_params(model__alpha={noise!r})")
    weights = [member.weight for member in members_of(run)]
    if weights != [member.tested_weight for member in members_of(run)]:
        step = "model" if run.takeaway.threshold is None else "estimator__model"
        lines += ["# Once they have tested it, the test rows choose the weights of its models too."]
        lines += [
            f"weights = {wrapped_list(weights)}",
            f"tuned.set_params({step}__weights=weights)",
        ]
    lines += ["tuned.fit(X, y)", 'print(f"The tuned model is now fitted on all {len(y):,} rows.")']
    return "\n".join(lines)


def docstring(run: FinishedRun, settings: Sequence[Setting], *, carries: bool) -> str:
    """The docstring of a script with models of these settings; `carries`: with their source."""
    kinds = (MODELS[model_and_values(run.plan.model, setting)[0]] for setting in settings)
    extras = dict.fromkeys(kind.extra for kind in kinds if kind.extra)
    extra_modules = [module for extra in extras for module in OPTIONAL_DEPENDENCIES[extra].modules]
    sources = [source for source in (run.takeaway.source, run.takeaway.test_source) if source]
    libraries = [*extra_modules, "scikit-learn", "numpy", "pandas", *packages_of(sources)]
    needed_text = f"{', '.join(libraries[:-1])} and {libraries[-1]}"
    usage = f"It needs {needed_text}. Run it with the data file as its argument."
    if carries:
        model = "The model" if len(members_of(run)) < 2 else "Not every model"
        no = "no" if len(members_of(run)) < 2 else "a"
        usage += f" {model} is {no} class of scikit-learn's own: its source is below."
    versions = ", ".join(f"{name} {version}" for name, version in run.takeaway.versions.items())
    versions_text = f"Made with {versions}."
    first, *body = [
        *(_tuned_model_text(run) if run.selected_name == TUNED else _selected_model_text(run)),
        usage,
    ]
    paragraphs = (first, *(textwrap.fill(words, 96) for words in (*body, versions_text)))
    return '"""' + "\n\n".join(paragraphs).replace("\\", "\\\\").replace('"""', "'''") + '\n"""'


def _tuned_model_text(run: FinishedRun) -> list[str]:
    metric, test = run.results.metric, run.results.test
    default = run.results.default_test
    model = model_noun(run)
    first = (
        f"{model}{',' if ',' in model else ''} for {run.takeaway.dataset}, as Tunescope tuned it."
    )
    body = _task_text(run) + f"{score_text(test[metric])} tuned"
    if metric in default:
        body += f", {score_text(default[metric])} with the default setting"
    body += "."
    if run.takeaway.refitted:
        body += " Then it fits the tuned model on all rows."
    body += _sampled_rows_text(run)
    return [first, body]


def _selected_model_text(run: FinishedRun) -> list[str]:
    metric, model_text = run.results.metric, selection_text(run)
    kind = "" if run.selected_name == BASELINE else f", {uncapitalized(run.model_title)}"
    title = f"{model_text[0].upper()}{model_text[1:]}"
    first = f"{title} of a Tunescope run on {run.takeaway.dataset}{kind}."
    body = _task_text(run).replace("the tuned model", "this model").removesuffix(": ")
    if run.is_nested and metric not in run.results.test:
        body = "It reads the file and fits this model on all rows"
    if metric in run.results.test:
        body += f": {score_text(run.results.test[metric])}"
    last = " Then it fits the model on all rows." if run.takeaway.refitted else ""
    last += _sampled_rows_text(run)
    return [first, f"{body}.{last} {run.results.remarks[0]}"]


def _sampled_rows_text(run: FinishedRun) -> str:
    sample = run.takeaway.sampled
    if not sample:
        return ""
    counts = f"{sample.rows:,} of the file's {sample.of:,}"
    sentences = f" The rows are {counts}, drawn at random with the seed {sample.seed}, as"
    sentences += " Tunescope drew them."
    if run.takeaway.taught:
        sentences += (
            f" Tunescope's own model then learned from {run.takeaway.taught:,} others of the file"
            " in parts; this program leaves that out."
        )
    return sentences


def selection_text(run: FinishedRun) -> str:
    """The selected model, other than the tuned one."""
    name = run.selected_name
    return {DEFAULT: "default setting", BASELINE: "baseline"}.get(name, f"trial {name}")


def _task_text(run: FinishedRun) -> str:
    metric = run.results.metric.replace("_", " ")
    if run.is_nested:
        return (
            f"It reads the file and fits the tuned model on all rows. The {metric} that Tunescope "
            "measured, with every row tested once by a model that was tuned and fitted without it "
            "(nested cross-validation): "
        )
    return (
        f"It reads the file, holds the same {len(run.takeaway.test_rows):,} rows out for the test, "
        f"trains on the others and prints the {metric} on the test rows: "
    )


# {metric: (function of sklearn.metrics, method of the model, further arguments)}
_METRICS = {
    "accuracy": ("accuracy_score", "predict", ""),
    "balanced_accuracy": ("balanced_accuracy_score", "predict", ""),
    "f1": ("f1_score", "predict", ', average="macro"'),
    "auc": ("roc_auc_score", "scores", ""),
    "log_loss": ("log_loss", "predict_proba", ", labels=model.classes_"),
    "r2": ("r2_score", "predict", ""),
    "mse": ("mean_squared_error", "predict", ""),
    "mae": ("mean_absolute_error", "predict", ""),
}

# Used instead where a second file, which may hold classes that training never saw, is the test:
# {metric: (function of the script, method of the model)}.
_CODED_METRICS = {"balanced_accuracy", "f1"}
_UNSEEN_CLASS_METRICS = {"auc": ("area", "scores"), "log_loss": ("log_loss_of", "predict_proba")}

_CODES_FUNCTION = '''
def places(labels, classes):
    """The place of every label among the classes; -1 for a class that training never saw."""
    place = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    return np.where(classes[place] == labels, place, -1)
'''
_AREA_FUNCTION = '''
def area(y, said, classes):
    """One class against the rest, averaged; a class that training never saw has the area 0."""
    place = places(y, classes)
    said = np.stack([-said, said], axis=1) if said.ndim == 1 else said
    found = [k for k in range(len(classes)) if 0 < np.sum(place == k) < len(y)]
    areas = [roc_auc_score(place == k, said[:, k]) for k in found]
    areas += [0.0] * bool(np.any(place < 0))
    return np.mean(areas) if areas else np.nan
'''
_LOG_LOSS_FUNCTION = '''
def log_loss_of(y, shares, classes):
    """Mean of -log p of the true class; one that training never saw has the probability 0."""
    place = places(y, classes)
    own = np.where(place < 0, 0.0, shares[np.arange(len(y)), place])
    tiny = np.finfo(float).eps
    return -np.mean(np.log(np.clip(own, tiny, 1 - tiny)))
'''


def score_expression(run: FinishedRun, code: CodeWriter) -> str:
    """The expression of the run's metric on ``X_test`` and ``y_test`` for ``model``."""
    metric = run.results.metric
    function, output, extra_arguments = _METRICS[metric]
    has_unseen_classes = _may_have_unseen_classes(run)
    if not (has_unseen_classes and metric == "log_loss"):
        code.imports.add("sklearn.metrics", function)
    if has_unseen_classes and metric in _UNSEEN_CLASS_METRICS:
        function, output = _UNSEEN_CLASS_METRICS[metric]
        method = _score_method(run) if output == "scores" else output
        return f"{function}(y_test, model.{method}(X_test), model.classes_)"
    if output == "scores":
        scores = f"model.{_score_method(run)}(X_test)"
        if run.takeaway.task.has_two_classes:
            second = "[:, 1]" if "proba" in scores else ""
            return f"{function}(y_test, {scores}{second})"
        # Each class against the rest, averaged over those that occur.
        pairs = f"zip(model.classes_, {scores}.T)"
        return f"np.nanmean([{function}(y_test == label, own) for label, own in {pairs}])"
    if has_unseen_classes and metric in _CODED_METRICS:
        codes = (f"places({y}, model.classes_)" for y in ("y_test", "model.predict(X_test)"))
        return f"{function}({', '.join(codes)}{extra_arguments})"
    return f"{function}(y_test, model.{output}(X_test){extra_arguments})"


def score_functions(run: FinishedRun) -> list[str]:
    """The functions that `score_expression` needs in the script; usually none."""
    metric = run.results.metric
    if not _may_have_unseen_classes(run) or metric not in {*_CODED_METRICS, *_UNSEEN_CLASS_METRICS}:
        return []
    functions = {"auc": [_AREA_FUNCTION], "log_loss": [_LOG_LOSS_FUNCTION]}
    return [_CODES_FUNCTION, *functions.get(metric, [])]


def _may_have_unseen_classes(run: FinishedRun) -> bool:
    return bool(run.takeaway.test_source and run.takeaway.classes)  # in a second file


def _score_method(run: FinishedRun) -> str:
    return "predict_proba" if hasattr(run.pipeline, "predict_proba") else "decision_function"
