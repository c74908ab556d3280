"""A finished run for exporters: as it ended, without examples of its data, or another model."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, TypeVar

from core.datasets.column_format import NOTHING
from core.datasets.dataset import Dataset, DataSource
from core.datasets.preparation import output_names
from core.errors import UnusableError
from core.estimators.baseline import baseline_pipeline
from core.estimators.facts import uncapitalized
from core.estimators.fitting import fit_with_remarks
from core.estimators.model import Model
from core.estimators.model_settings import labels_of, model_and_values, title_of
from core.estimators.multi_model import SEVERAL
from core.estimators.registry import model_named
from core.export.exportable_models import BASELINE, TUNED, ExportableModel, exportable_model
from core.records import Record
from core.space import Setting
from core.tuning import events as run_events
from core.tuning.plan import Plan
from core.tuning.problem import take_rows
from core.tuning.problem_setup import build_problem, check_same_data, read_data
from core.tuning.results.model_metadata import ModelMetadata, read_metadata
from core.tuning.results.training_rows import training_rows_of
from core.tuning.run_results import EnsembleResults, OmittedTrial, Results
from core.tuning.runs.best import best_of, has_best
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import RunState, state_from_events
from core.tuning.scores.metrics import METRICS
from core.tuning.strategies.registry import STRATEGIES

E = TypeVar("E", bound=run_events.Event)


@dataclass(frozen=True)
class FinishedRun:
    """Everything that a run leaves, read once for all exporters."""

    name: str
    plan: Plan
    events: list[run_events.Event]
    started: run_events.RunStarted
    results: Results  # of its last RunFinished or RunStopped
    takeaway: ModelMetadata
    folder: RunFolder = field(repr=False)
    selected_name: str = TUNED  # of the exported model; results and takeaway are that model's
    selected_pipeline: Any = field(default=None, repr=False)  # of a model other than the tuned one
    allows_examples: bool = True  # whether exports may hold rows and examples of the data

    @cached_property
    def pipeline(self) -> Any:
        return best_of(self.folder) if self.selected_pipeline is None else self.selected_pipeline

    @cached_property
    def state(self) -> RunState:
        return state_from_events(self.events)

    @property
    def model(self) -> Model:
        """The kind of model, in the form that the run fitted."""
        strategy, metric = STRATEGIES[self.plan.strategy], METRICS[self.results.metric]
        # Averages and costs need probabilities, whatever the metric does.
        averages = strategy.averages or self.plan.costs
        probabilities = bool(averages or metric.needs == "probabilities")
        return model_named(self.plan.model, probabilities=probabilities)

    @property
    def tunes_several_models(self) -> bool:
        return self.plan.model == SEVERAL

    def model_title_of(self, setting: Mapping[str, Any]) -> str:
        return title_of(model_and_values(self.plan.model, setting)[0])

    @property
    def model_title(self) -> str:
        """The title of the exported model; of an average that of its best member."""
        return self.model_title_of(self.results.setting)

    def labels_of(self, model: str) -> dict[str, str]:
        """{hyperparameter: label} of one of the run's models, with the axes of this run's data."""
        if self.tunes_several_models:
            return labels_of(model, self.takeaway.task)
        axes = {axis.name: axis.label for axis in self.model.space(self.takeaway.task)}
        return axes | {axis.name: axis.label for axis in self.started.space}

    @property
    def tried_model_count(self) -> int:
        trials = self.state.scored_trials()
        return len({model_and_values(self.plan.model, trial.setting)[0] for trial in trials})

    @property
    def is_nested(self) -> bool:
        facts = self.results.evaluation
        return facts is not None and facts.kind == "nested"

    def events_of_kind(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def has_learned_penalties(self) -> bool:
        return bool(self.takeaway.penalties)


def score_text(score: float | None, form: str = ".6f") -> str:
    """A score as text; some are undefined, such as an area of rows of one class."""
    return "undefined" if score is None else format(score, form)


def file_name_of(source: DataSource) -> str:
    """The name of a data file without its folder, which is private; "" of samples."""
    return source.path.replace("\\", "/").rsplit("/", 1)[-1]


def finished_run(
    folder: RunFolder, examples: bool = True, events: list[run_events.Event] | None = None
) -> FinishedRun:
    """The run in a folder, or UnusableError; `examples` allows exports to hold rows of the data."""
    # The process that tuned has the events already.
    events = folder.all_events() if events is None else events
    # A run that was resumed has several ends, of which the last counts.
    ends = [
        event
        for event in events
        if isinstance(event, (run_events.RunFinished, run_events.RunStopped))
    ]
    starts = [event for event in events if isinstance(event, run_events.RunStarted)]
    results = ends[-1].results if ends else None
    if not starts or results is None or not has_best(folder):
        raise _nothing_yet(folder)
    try:
        takeaway = read_metadata(folder.path)
    except FileNotFoundError:
        raise _nothing_yet(folder) from None
    run = FinishedRun(
        name=starts[0].run or folder.path.name,
        plan=folder.plan,
        events=events,
        started=starts[0],
        results=results,
        takeaway=takeaway,
        folder=folder,
    )
    return run if examples else without_examples(run)


def _nothing_yet(folder: RunFolder) -> UnusableError:
    cure = "let it finish, or stop it and keep the best"
    return UnusableError("this run has no fitted model yet", where=str(folder.path), cure=cure)


_SHOW_ROWS = (run_events.SequencesLabelled, run_events.MoleculesFolded, run_events.ImagesDrawn)
# Sentences have cells in these marks, but also names of columns and classes.
_QUOTED = re.compile("“([^”]*)”")
_OF_TEXT = re.compile("(?s): (word|words|part) “.*”$")  # as core.datasets.texts.tfidf has it
_ERROR = re.compile(r"(\w+): .*", re.DOTALL)  # as core.tuning.scores.scoring.one_line_error has it


def _public_names(takeaway: ModelMetadata) -> set[str]:
    columns = [column.name for column in takeaway.columns]
    classes = [str(label) for label in takeaway.classes]
    named = [takeaway.dataset, takeaway.target, *takeaway.group_names, *takeaway.feature_names]
    return {*columns, *classes, *named}


def without_examples(run: FinishedRun) -> FinishedRun:
    """The run for exports that may not hold rows and examples."""
    public_names = _public_names(run.takeaway)
    return replace(
        run,
        events=[
            _redact_event(event, public_names)
            for event in run.events
            if not isinstance(event, _SHOW_ROWS)
        ],
        results=_redact_results(run.results, public_names),
        takeaway=_redact_metadata(run.takeaway),
        allows_examples=False,
    )


def _without_quotes(sentence: str, public_names: Collection[str]) -> str:
    return _QUOTED.sub(lambda match: match[0] if match[1] in public_names else "“…”", sentence)


def _redact_metadata(takeaway: ModelMetadata) -> ModelMetadata:
    public_names = _public_names(takeaway)
    # Without a target the outputs are the words of the texts themselves.
    outputs = takeaway.output_names if takeaway.task.has_target else []
    return replace(
        takeaway,
        source=_redact_source(takeaway.source),
        test_source=takeaway.test_source and _redact_source(takeaway.test_source),
        columns=[replace(column, categories=()) for column in takeaway.columns],
        output_names=_numbered(outputs, takeaway.feature_names),
        findings=[_without_quotes(finding, public_names) for finding in takeaway.findings],
        readings=[],  # each is told by a cell
        encodings=[],  # with medians, which are cells too
    )


def _redact_results(value: Any, public_names: Collection[str]) -> Any:
    match value:
        case Record() | OmittedTrial():
            by_name = {entry.name: getattr(value, entry.name) for entry in fields(value)}
            return replace(value, **_redact_results(by_name, public_names))
        case dict():
            return {name: _redact_results(inner, public_names) for name, inner in value.items()}
        case list():
            return [_redact_results(inner, public_names) for inner in value]
        case str():
            return _without_quotes(value, public_names)
    return value


def _redact_event(event: run_events.Event, public_names: Collection[str]) -> run_events.Event:
    match event:
        case run_events.TrialFailed(reason=reason):
            # Libraries put cells into their messages: the kind of error is enough.
            return replace(event, reason=_without_quotes(_ERROR.sub(r"\1.", reason), public_names))
        case run_events.TopicsFound(topics=topics):
            return replace(event, topics=[replace(topic, words=[]) for topic in topics])
        case run_events.RunFinished(results=results) | run_events.RunStopped(results=results):
            return replace(event, results=_redact_results(results, public_names))
    return event


def _redact_source(source: DataSource) -> DataSource:
    formats = source.formats or {}
    # What is no date is missing without being named, too.
    dates = {
        name: replace(form, missing=tuple(word for word in form.missing if word in NOTHING))
        for name, form in formats.items()
        if form.kind == "date"
    }
    source = replace(source, formats={**formats, **dates} or source.formats)
    missing = source.read_csv.get("na_values")
    if not isinstance(missing, dict):
        return source
    strays = [name for name, words in missing.items() if set(words) - NOTHING]
    if not strays:
        return source
    # A column's own words for missing values are cells; “NA” and the like are nobody's.
    words = {"na_values": {name: [w for w in ws if w in NOTHING] for name, ws in missing.items()}}
    return replace(
        source,
        read_csv={**source.read_csv, **words},
        reading={**source.reading, **words} if "na_values" in source.reading else source.reading,
        strays=strays,
    )


def _numbered(outputs: list[str], features: list[str]) -> list[str]:
    seen: defaultdict[str, int] = defaultdict(int)
    # The longest name first: of “a” and “a=b”, the output “a=b=c” belongs to the second.
    by_length = sorted(features, key=len, reverse=True)
    names = []
    for output in outputs:
        source = "" if output in features else _source_of(output, by_length)
        if source and (kind := _OF_TEXT.match(output[len(source) :])):
            seen[source] += 1
            names.append(f"{source}: {kind[1]} {seen[source]}")
        elif source and output[len(source)] != ":":
            seen[source] += 1
            names.append(f"{source}=category {seen[source]}")
        else:
            names.append(output)
    return names


def _source_of(output: str, features: list[str]) -> str:
    return next((name for name in features if output.startswith((f"{name}=", f"{name}: "))), "")


@dataclass(frozen=True)
class EnsembleMember:
    """One model of the average."""

    number: int  # of its trial
    weight: float  # in the model that is kept; all sum to 1
    tested_weight: float  # in the model that was tested
    score: float  # in validation
    setting: Setting


def members_of(run: FinishedRun) -> list[EnsembleMember]:
    """The members with a weight, best first; empty where the run gave one model."""
    ensemble = run.results.ensemble or EnsembleResults()
    weights, tested_weights = ensemble.weights, ensemble.tested_weights or ensemble.weights
    columns = (ensemble.members, weights, tested_weights, ensemble.scores, ensemble.settings)
    members = (EnsembleMember(*row) for row in zip(*columns, strict=True))
    return [member for member in members if member.weight > 0]


def model_noun(run: FinishedRun) -> str:
    """The exported model in words, such as "Average of 4 models of 3 kinds"."""
    members = members_of(run) if run.selected_name == TUNED else []
    kinds = Counter(run.model_title_of(member.setting) for member in members)
    if kinds.total() > 1:
        single_kind = f", {uncapitalized(next(iter(kinds)))}"
        kinds_text = single_kind if len(kinds) == 1 else f" of {len(kinds)} kinds"
        return f"Average of {kinds.total()} models{kinds_text}"
    if run.tunes_several_models and run.selected_name == TUNED and run.tried_model_count > 1:
        return f"{run.model_title}, the best of {run.tried_model_count} models"
    return run.model_title


def with_selected_model(
    run: FinishedRun, which: str, dataset: Dataset | None = None
) -> FinishedRun:
    """The run with another of `exportable_models` in place of the tuned one, on the same rows."""
    choice = exportable_model(run.state, which)
    if choice.name == TUNED:
        return run
    dataset = dataset or read_data(run.plan.data)
    fault = "the data has changed since this run"
    cure = "put the old file back, or export the tuned model"
    check_same_data(dataset, run.takeaway.source.fingerprint, fault, cure)
    problem = build_problem(run.plan, dataset)
    pipeline = (
        problem.pipeline(choice.setting)
        if choice.name != BASELINE
        else baseline_pipeline(dataset.task, problem.preparation())
    )
    # The rows that the tuned model learned from, so that the two can be compared.
    rows = problem.fitted_rows
    remarks = fit_with_remarks(pipeline, take_rows(dataset.features, rows), dataset.target[rows])
    training, is_structured = training_rows_of(dataset, rows), dataset.task.is_structured
    # What was learned, decided or judged for the tuned model says nothing of another one.
    selected_run = replace(
        run,
        selected_name=choice.name,
        selected_pipeline=pipeline,
        results=_model_results(run.results, choice, remarks),
        takeaway=replace(
            run.takeaway,
            refitted=len(rows) > len(problem.train_rows),
            judged=None,
            fitted_rows=[],
            penalties={},
            group_names=[],
            group_of_output=[],
            noise_variance=None,
            threshold=None,
            output_names=[] if is_structured else output_names(pipeline.named_steps["prepare"]),
            training=training,
        ),
    )
    return selected_run if run.allows_examples else without_examples(selected_run)


_KEPT_RESULTS = (
    *("default_setting", "metric", "maximize", "default_test", "baseline_test", "evaluation"),
    *("fits", "trials", "failed", "seconds", "stopped_because", "seed"),
)


def _model_results(results: Results, choice: ExportableModel, remarks: tuple[str, ...]) -> Results:
    return Results(
        **{name: getattr(results, name) for name in _KEPT_RESULTS},
        setting=choice.setting,
        validation={} if choice.validation is None else {choice.judged_by: choice.validation},
        test=choice.test,
        remarks=[choice.sentence, *remarks],
    )
