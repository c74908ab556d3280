"""The results of a run: the tuned model against the default one and the baseline on test rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from core.records import Record, optional
from core.space import Setting
from core.tuning.payloads import OmittedTrial

USUAL_GAMMA = 4.0  # core.tuning.plan.Plan.gamma
Scores = dict[str, float | None]  # {metric: score}; None where it is undefined
Interval = list[float | None]  # low and high of a 95 % confidence interval


@dataclass(frozen=True)
class Gain(Record):
    """How much better the tuned model is on the test rows than another.

    Attributes:
        difference: above 0 where tuning helped, also where less is better; low and high are the
            ends of its 95 % confidence interval.
        method: of the interval.
        p: of its test, where there is one.
        real: whether a gain is above 0 with its whole interval, over the baseline too, or a loss
            below 0.
    """

    metric: str = ""
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    method: str = ""
    p: float | None = None
    real: bool = False

    @property
    def is_positive(self) -> bool:
        """Whether the tuned model is better, by however little."""
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
    """How many of the sequences each model has right as a whole."""

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
    """Base pairs that a model called rightly, that it called, and that are true."""

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
    """How much a base pair counts beside an unpaired base; runs of earlier versions do not say."""

    tuned: float = USUAL_GAMMA
    default: float = USUAL_GAMMA


@dataclass(frozen=True)
class DocumentCounts(Record):
    """How many documents were tested, words of them predicted, and how many had none of those."""

    count: int = 0
    words: int = 0
    empty: int = 0


@dataclass(frozen=True)
class DecisionThreshold(Record):
    """A chosen threshold, and what each way of deciding costs a row out of fold.

    Attributes:
        value: a row is called the second class from this probability on.
        theoretical: the threshold that would be best were the probabilities true.
        cost, theoretical_cost, half_cost: a row's mean cost at `value`, there, and at one half.
        rows: how many rows they rest on.
    """

    value: float
    theoretical: float
    cost: float
    theoretical_cost: float
    half_cost: float
    rows: int


@dataclass(frozen=True)
class MistakeCounts(Record):
    """The mistakes of one way of deciding on the test rows.

    Attributes:
        mistakes: {class: rows of it that are called the other}.
        cost: of a row.
        says: the class that a model says of every row, where it does.
    """

    mistakes: dict[str, int]
    cost: float
    says: str | None = optional()


@dataclass(frozen=True)
class CostResults(Record):
    """What mistakes cost, and what the threshold made of them.

    Attributes:
        costs: {class: what it costs to call a row of it the other}.
        of: the second class.
        out_of_fold: the costs that chose the threshold.
        rows: of the test.
        tuned, half: the tuned model at the threshold, and at one half.
        baseline: always the class that costs less on the training rows.
    """

    costs: dict[str, float]
    of: str
    threshold: float
    theoretical: float
    out_of_fold: DecisionThreshold
    rows: int
    tuned: MistakeCounts
    half: MistakeCounts
    baseline: MistakeCounts


@dataclass(frozen=True)
class EnsembleResults(Record):
    """The average of models that was taken.

    Attributes:
        members: trial numbers, the best first; weights, scores and settings are theirs.
        effective: how many members it has in effect, 1/Σw².
        kind: of the weights.
        finished: trials with a score.
        held_out, single_held_out: the cross-fitted metric of the average and of the single best.
    """

    members: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    settings: list[Setting] = field(default_factory=list)
    effective: float = 1.0
    kind: str = ""
    finished: int = 0
    held_out: dict[str, float] = field(default_factory=dict)
    single_held_out: dict[str, float] = field(default_factory=dict)
    left_out: list[OmittedTrial] = field(default_factory=list)


@dataclass(frozen=True)
class EvaluationFacts(Record):
    """How the scores came about.

    Attributes:
        kind: test or nested.
        folds: of nested cross-validation.
        repeated: whether the whole tuning was repeated in each fold.
        second_file: whether the test rows are those of a second file.
        fitted: the rows that the model which is kept was fitted on, all or train.
        rows: of the dataset, counted in units.
        drawn: whether they were drawn from a larger file.
    """

    kind: str = "test"
    folds: int = 0
    repeated: bool = True
    second_file: bool = False
    fitted: str = "train"
    rows: int = 0
    units: str = "rows"
    drawn: bool = False


@dataclass(frozen=True)
class CandidateResults(Record):
    """One of several models' candidates, and how it did on the test rows where it was tested.

    Attributes:
        kind: best, simplest, average, default or trial.
        trial: its number; None for an average, and for a default that was not tried.
        taken: whether it is the model that is kept.
        failure: why it could not be fitted and tested.
    """

    kind: str = ""
    trial: int | None = None
    setting: Setting = field(default_factory=dict)
    validation: float | None = None
    taken: bool = False
    test: Scores | None = optional()
    test_interval: Interval | None = optional()
    gain: Gain | None = optional()
    gain_over_baseline: Gain | None = optional()
    failure: str | None = optional()


@dataclass(frozen=True)
class Results(Record):
    """What the end of a run found.

    Attributes:
        metric: what was tuned for.
        validation: of the tuned setting during tuning; empty where no rows were held out for it.
        baseline: what the model that knows nothing of the features says, a noun.
        gain: over the default setting.
        rows: of the test.
        folds: of nested cross-validation; 0 for one test set.
        second_file: whether the test rows are those of a second file.
        optimism: how much better the validation score is than the test score; None without one.
        optimism_error: its standard error.
        predictions: of numbers.
        right, confusion: of classes; calibration: of two that have probabilities.
        pairs, curve, gamma: of molecules.
        documents: of topics.
        remarks: sentences that must be read with the results.
        taken, candidates: of several models.
        metric_reason: why the metric is not the task's usual one.
        costs: of mistakes, where they have any.
        ensemble: of an average.
        groups: {group: C} of a penalty learner.
        switched_off: its groups at their cap.
        fits: models that were fitted.
        stopped_because: why the run ended, a clause.
    """

    setting: Setting = field(default_factory=dict)
    default_setting: Setting = field(default_factory=dict)
    metric: str = ""
    maximize: bool = True
    validation: Scores = field(default_factory=dict)
    test: Scores = field(default_factory=dict)
    default_test: Scores = field(default_factory=dict)
    baseline: str = ""
    baseline_test: Scores = field(default_factory=dict)
    test_interval: Interval | None = None
    default_interval: Interval | None = None
    baseline_interval: Interval | None = None
    gain: Gain = Gain()
    gain_over_baseline: Gain = Gain()
    rows: int = 0
    folds: int = 0
    second_file: bool = False
    optimism: float | None = None
    optimism_error: float | None = None
    predictions: PredictionPairs | None = optional()
    right: RightCounts | None = optional()
    confusion: ConfusionCounts | None = optional()
    calibration: Calibration | None = None
    sequences: SequenceCounts | None = optional()
    pairs: MoleculePairs | None = optional()
    curve: PairCurves | None = optional()
    documents: DocumentCounts | None = optional()
    remarks: list[str] = field(default_factory=list)
    taken: str | None = optional()
    candidates: list[CandidateResults] | None = optional()
    evaluation: EvaluationFacts | None = optional()
    metric_reason: str | None = optional()
    gamma: GammaValues | None = optional()
    costs: CostResults | None = optional()
    ensemble: EnsembleResults | None = optional()
    groups: dict[str, float] = field(default_factory=dict)
    switched_off: list[str] = field(default_factory=list)
    fits: int = 0
    trials: int = 0
    failed: int = 0
    seconds: float = 0.0
    stopped_because: str = ""
    seed: int = 0
    flattery: float | None = optional()  # `optimism` in earlier versions
    flattery_error: float | None = optional()

    def __iter__(self) -> Iterator[str]:
        """The keys of its JSON, which of classes alone says that there is no calibration."""
        return (
            key for key in super().__iter__() if key != "calibration" or self.confusion is not None
        )
