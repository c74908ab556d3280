"""The results of a run: the tuned model against the default one and the baseline on test rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from core.datasets.task import Task
from core.records import Record, optional
from core.space import Setting

USUAL_GAMMA = 4.0  # core.tuning.plan.Plan.gamma
Scores = dict[str, float | None]  # {metric: score}; None where it is undefined
Interval = list[float | None]  # low and high of a 95 % confidence interval


@dataclass(frozen=True)
class Gain(Record):
    """How much better the tuned model is on the test rows than another."""

    metric: str = ""
    difference: float | None = None  # above 0 where tuning helped, also where less is better
    low: float | None = None  # of the 95 % confidence interval, as `high`
    high: float | None = None
    method: str = ""  # of the interval
    p: float | None = None  # of its test, if any
    real: bool = False  # the whole interval is above 0, over the baseline too, or below 0
    few_units: int | None = optional()  # independent units, where too few for a verdict test

    @property
    def is_positive(self) -> bool:
        return self.difference is not None and self.difference > 0

    @property
    def is_missing(self) -> bool:
        """Whether the tuned model is known to be no better."""
        return self.difference is not None and self.difference <= 0


@dataclass(frozen=True)
class RightCounts(Record):
    """How many of the rows each model has right."""

    tuned: int = 0
    default: int = 0
    baseline: int | None = optional()
    rows: int = 0


@dataclass(frozen=True)
class SequenceCounts(Record):
    """How many of the sequences each model has entirely right."""

    tuned: int = 0
    default: int = 0
    baseline: int | None = optional()
    count: int = 0


@dataclass(frozen=True)
class ConfusionCounts(Record):
    """Test rows by class, [actual][predicted], of each model."""

    labels: list[str] = field(default_factory=list)
    tuned: list[list[int]] = field(default_factory=list)
    default: list[list[int]] = field(default_factory=list)
    baseline: list[list[int]] | None = optional()


@dataclass(frozen=True)
class Calibration(Record):
    """The mean predicted and the observed share of the second class, a bin each."""

    predicted: list[float] = field(default_factory=list)
    observed: list[float] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class PredictionPairs(Record):
    """Actual and predicted numbers of at most 500 test rows."""

    actual: list[float] = field(default_factory=list)
    tuned: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class PairCounts(Record):
    """Base pairs: rightly called, called, and true."""

    right: int = 0
    called: int = 0
    true: int = 0


@dataclass(frozen=True)
class MoleculePairs(Record):
    """Base pairs of all test molecules, each model at its own γ."""

    tuned: PairCounts = PairCounts()
    molecules: int = 0
    default: PairCounts = PairCounts()


@dataclass(frozen=True)
class PairCurves(Record):
    """[γ, sensitivity, specificity] of base pairs for every γ; None where it is undefined."""

    tuned: list[list[float | None]] = field(default_factory=list)
    default: list[list[float | None]] = field(default_factory=list)


@dataclass(frozen=True)
class GammaValues(Record):
    """The weight γ of a base pair; runs of earlier versions lack it."""

    tuned: float = USUAL_GAMMA
    default: float = USUAL_GAMMA


@dataclass(frozen=True)
class DocumentCounts(Record):
    """Documents tested, words of them predicted, and documents without any of those."""

    count: int = 0
    words: int = 0
    empty: int = 0


@dataclass(frozen=True)
class DecisionThreshold(Record):
    """A chosen threshold, and the out-of-fold cost of each way of deciding."""

    value: float  # probability from which a row is called the second class
    theoretical: float  # the best threshold if the probabilities were exact
    cost: float  # of a row at `value`; the others at `theoretical` and one half
    theoretical_cost: float
    half_cost: float
    rows: int  # that they are measured on


@dataclass(frozen=True)
class MistakeCounts(Record):
    """The mistakes of one way of deciding on the test rows."""

    mistakes: dict[str, int]  # {class: rows of it called the other}
    cost: float  # of a row
    says: str | None = optional()  # the class predicted for every row, if constant


@dataclass(frozen=True)
class CostResults(Record):
    """The costs of mistakes, and the effect of the threshold."""

    costs: dict[str, float]  # {class: cost of calling its row the other}
    of: str  # the second class
    threshold: float
    theoretical: float
    out_of_fold: DecisionThreshold  # the costs that chose the threshold
    rows: int  # of the test
    tuned: MistakeCounts  # the tuned model at the threshold; `half`: at one half
    half: MistakeCounts
    baseline: MistakeCounts  # always the class that costs less on the training rows


@dataclass(frozen=True)
class OmittedTrial:
    """A trial that has a score but is omitted from the average, and why (a sentence)."""

    number: int
    reason: str


@dataclass(frozen=True)
class EnsembleResults(Record):
    """The average of models that was taken."""

    members: list[int] = field(default_factory=list)  # trial numbers, the best first
    weights: list[float] = field(default_factory=list)  # of the model that is kept
    scores: list[float] = field(default_factory=list)
    settings: list[Setting] = field(default_factory=list)
    effective: float = 1.0  # 1/Σw²
    kind: str = ""  # of the weights
    finished: int = 0  # trials with a score
    # cross-fitted metric of the average, and of the single best
    held_out: dict[str, float] = field(default_factory=dict)
    single_held_out: dict[str, float] = field(default_factory=dict)
    left_out: list[OmittedTrial] = field(default_factory=list)
    # where the test rows had a share in the weights: those of the model that they tested
    tested_weights: list[float] | None = optional()


@dataclass(frozen=True)
class EvaluationFacts(Record):
    """How the scores were measured."""

    kind: str = "test"  # test or nested
    folds: int = 0  # of nested cross-validation
    repeated: bool = True  # whether the whole tuning was repeated in each fold
    second_file: bool = False  # whether it has the test rows
    fitted: str = "train"  # rows of the exported model, all or train
    rows: int = 0  # of the dataset, in `units`
    units: str = "rows"
    drawn: bool = False  # from a larger file


@dataclass(frozen=True)
class CandidateResults(Record):
    """A candidate, with its test scores where it was tested."""

    kind: str = ""  # best, simplest, average, default or trial
    trial: int | None = None  # None for an average, and for a default that was not tried
    setting: Setting = field(default_factory=dict)
    validation: float | None = None
    validation_interval: Interval | None = optional()  # as in `Results`
    taken: bool = False  # whether it is exported
    members: int | None = optional()  # models of an average
    test: Scores | None = optional()
    test_interval: Interval | None = optional()
    gain: Gain | None = optional()
    gain_over_baseline: Gain | None = optional()
    failure: str | None = optional()  # why it could not be fitted and tested
    row_seconds: float | None = optional()  # to predict a row, among all test rows


@dataclass(frozen=True)
class Results(Record):
    """The results of a run."""

    setting: Setting = field(default_factory=dict)
    default_setting: Setting = field(default_factory=dict)
    metric: str = ""  # of tuning
    maximize: bool = True
    # of the tuned setting; empty without held-out rows
    validation: Scores = field(default_factory=dict)
    validation_interval: Interval | None = optional()  # where it is corrected for the choice
    test: Scores = field(default_factory=dict)
    default_test: Scores = field(default_factory=dict)
    baseline: str = ""  # its prediction, a noun
    baseline_test: Scores = field(default_factory=dict)
    test_interval: Interval | None = None
    default_interval: Interval | None = None
    baseline_interval: Interval | None = None
    gain: Gain = Gain()  # over the default setting
    gain_over_baseline: Gain = Gain()
    rows: int = 0  # of the test
    tested_units: str | None = optional()  # such as "3 patients", where rows are not independent
    folds: int = 0  # of nested cross-validation; 0 for one test set
    second_file: bool = False  # whether it has the test rows
    optimism: float | None = None  # validation score minus test score, above 0 if better
    optimism_error: float | None = None  # standard error
    predictions: PredictionPairs | None = optional()  # of regression
    right: RightCounts | None = optional()  # of classes
    confusion: ConfusionCounts | None = optional()
    calibration: Calibration | None = None  # of two classes
    sequences: SequenceCounts | None = optional()
    pairs: MoleculePairs | None = optional()  # of molecules
    curve: PairCurves | None = optional()
    documents: DocumentCounts | None = optional()  # of topics
    remarks: list[str] = field(default_factory=list)  # to be read with the results
    taken: str | None = optional()  # the kind of candidate
    # {model: seconds of a trial} of those that the time did not suffice for
    untried: dict[str, float] | None = optional()
    candidates: list[CandidateResults] | None = optional()
    evaluation: EvaluationFacts | None = optional()
    metric_reason: str | None = optional()  # why it is not the task's usual one
    gamma: GammaValues | None = optional()
    target_unit: str | None = optional()  # such as €, where the table has one
    costs: CostResults | None = optional()
    threshold: float | None = optional()  # that a person chose
    ensemble: EnsembleResults | None = optional()
    groups: dict[str, float] = field(default_factory=dict)  # {group: C} of a penalty learner
    switched_off: list[str] = field(default_factory=list)  # groups at their cap
    group_ranges: dict[str, list[float]] | None = optional()  # {group: lowest, highest C of folds}
    fits: int = 0  # models fitted
    trials: int = 0
    failed: int = 0
    seconds: float = 0.0
    stopped_because: str = ""  # a clause
    seed: int = 0
    flattery: float | None = optional()  # `optimism` in earlier versions
    flattery_error: float | None = optional()

    @property
    def task(self) -> Task:
        """The task; unknown for tables."""
        if self.documents is not None:
            return Task.TOPICS
        if self.sequences is not None:
            return Task.SEQUENCE
        return Task.UNKNOWN if self.pairs is None else Task.STRUCTURE

    @property
    def baseline_scores(self) -> Scores:
        """Those of the baseline; R² of knowing nothing is 0 by what it means."""
        # The mean of other rows, those that train, is a little below that of the test's own.
        r2 = self.baseline_test.get("r2")
        return self.baseline_test if r2 is None or r2 > 0 else {**self.baseline_test, "r2": 0.0}

    @property
    def is_optimistic(self) -> bool:
        """Whether the rows that test the model helped to choose its setting."""
        facts = self.evaluation
        # The default setting was not chosen by its score.
        return facts is not None and not facts.repeated and self.taken != "default"

    @property
    def tested_text(self) -> str:
        """What is independent among the test rows: "3 patients", "60 rows"."""
        return self.tested_units or self.task.count_text(self.rows)

    @property
    def few_units_text(self) -> str:
        """Such as "only 3 patients test", where these are too few for a verdict; else ""."""
        count = self.gain.few_units
        return "" if count is None else f"only {self.tested_text} test{'s' if count == 1 else ''}"

    def __iter__(self) -> Iterator[str]:
        """The keys of its JSON; calibration is always written for classes."""
        has_classes = self.confusion is not None
        return (key for key in super().__iter__() if key != "calibration" or has_classes)


def completed_candidates(
    results: Results, earlier: Sequence[Results] = ()
) -> list[CandidateResults]:
    """The candidates with all test scores that are known, also those of `earlier` results."""
    candidates = list(results.candidates or [])
    if candidates and not any(candidate.taken for candidate in candidates):
        candidates.append(CandidateResults("trial", setting=results.setting, taken=True))
    return [_completed_candidate(candidate, results, earlier) for candidate in candidates]


def _completed_candidate(
    candidate: CandidateResults, results: Results, earlier: Sequence[Results]
) -> CandidateResults:
    tested: tuple[Scores | None, Interval | None, Gain | None]
    if candidate.taken:
        tested = results.test, results.test_interval, results.gain
    elif candidate.kind == "default":
        tested = results.default_test, results.default_interval, None
    elif candidate.test or not earlier:
        return candidate
    else:
        # A model that was selected before is tested already: the test rows are the same.
        *before, last = earlier
        same = next((c for c in last.candidates or [] if c.kind == candidate.kind), None)
        if same is None or not (same.taken or same.test):
            return _completed_candidate(candidate, results, before)
        candidate = replace(candidate, row_seconds=same.row_seconds)
        tested = same.test, same.test_interval, same.gain
        if same.taken:
            tested = last.test, last.test_interval, last.gain
    test, interval, gain = tested
    return replace(candidate, test=test, test_interval=interval, gain=gain)


def evaluation_text(results: Results) -> str:
    """How the scores of a result were measured, and on which rows its model was fitted."""
    facts = results.evaluation
    if facts is None:
        return ""
    is_reweighted = results.ensemble is not None and results.ensemble.tested_weights is not None
    fitted_text = _fitted_rows_text(facts, is_reweighted=is_reweighted)
    if facts.kind != "nested":
        return fitted_text
    if facts.repeated:
        score_text = "by a model tuned and fitted without it (nested cross-validation, {} folds)."
    else:
        score_text = "in {} folds, by a model fitted without it"
        too_good = (
            "; but the setting was chosen with all rows in sight, so these scores are too good."
        )
        score_text += too_good if results.is_optimistic else "."
    return f"Each row was tested once, {score_text.format(facts.folds)} {fitted_text}".strip()


def _fitted_rows_text(facts: EvaluationFacts, *, is_reweighted: bool) -> str:
    if facts.fitted != "all":
        return "" if facts.kind == "nested" else "The model is the one that was tested."
    drawn = "drawn " if facts.drawn else ""
    weights = ", which also chose its weights" if is_reweighted else ""
    rows = f"the model that is kept is fitted on all {facts.rows:,} {drawn}{facts.units}{weights}."
    if facts.kind == "nested":
        return rows[0].upper() + rows[1:]
    return f"The score was measured on a model fitted without the test {facts.units}; {rows}"
