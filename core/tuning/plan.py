"""The plan of a run: everything that decides what it will do, as plain data for JSON.

Its result is evaluated on one test set, or by nested cross-validation: the whole tuning is repeated
without each outer fold, so that every row is tested once by a model fitted without it (Varma and
Simon 2006). A small test set can show large gains only.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from core.datasets.memory_limit import size_in_bytes
from core.datasets.task import Task
from core.errors import UnusableError
from core.json_reading import read_as
from core.space import Setting

DECODINGS = ("posterior", "viterbi")
EVALUATIONS = ("test", "nested")
TEST_SHARE = 0.3  # of the rows, by default
MAX_TEST_ROWS = 10_000  # a share of so many is known to about ±1 point
GAMMA_CHOICES = ("hand", "f1", "sensitivity")


@dataclass(frozen=True)
class DataPlan:
    """Which data, and how to read it; empty fields are decided by the file."""

    file: str  # a path, or sample:NAME
    target: str = ""  # the target column's name; "" for the usual guess
    task: str = ""  # regression, binary or multiclass; "" to infer it from the target
    # {column: feature, group or ignore}, where changed
    roles: dict[str, str] = field(default_factory=dict)
    # {column: number, category, yes/no or date}, where changed
    kinds: dict[str, str] = field(default_factory=dict)
    # {column: one of core.datasets.raw_table.READINGS}, where changed
    readings: dict[str, str] = field(default_factory=dict)
    test_file: str = ""  # a second file to test on; "" to hold rows out
    test_size: float | None = None  # share of rows held out; None for the usual, `share_tested`
    vocabulary: int = 1000  # how many words of texts count, the most frequent
    stop_words: str = "auto"  # which are ignored (core.datasets.texts.stop_words)
    together: bool = True  # equal rows and molecules of one family stay on one side of every split
    latest: str = ""  # column by whose times the latest rows test; "" to draw them at random
    # drawn at random from the file, at most; 0 for all, None for what fits in memory
    rows: int | None = None
    test_rows: int | None = None  # the same of the second file
    rows_seed: int = 0  # of that draw
    leaks: bool = False  # whether columns that leak the target are used
    other_letters: bool = False  # whether letters of molecules that are no bases are read as N

    @property
    def guesses_target(self) -> bool:
        is_chosen = self.target or "target" in self.roles.values()
        return not (is_chosen or self.file.startswith("sample:"))

    def share_tested(self, units: int) -> float:
        """The share of rows (sequences, molecules, texts) held out, of `units` in all."""
        if self.test_size is not None:
            return self.test_size
        # About 10,000 rows are enough: more would narrow the interval by little.
        return min(TEST_SHARE, MAX_TEST_ROWS / max(units, 1))


@dataclass(frozen=True)
class Plan:
    """What to tune, how, and how long."""

    data: DataPlan
    model: str  # name in its registry, as `strategy`
    strategy: str
    options: dict[str, Any] = field(default_factory=dict)  # the strategy's that were given
    # of penalties: single, each (output column), column (one-hot columns of a category together),
    # prefix (of the column's name), or {group: [columns]}
    groups: str | dict[str, list[str]] = "single"
    trials: int | None = None  # at most; None for the strategy's default
    minutes: float | None = None  # at most; None for no limit
    seed: int = 0
    workers: int = 0  # processes that run trials; 0 as `Problem.workers`
    folds: int = 5  # of the cross-validation that scores a trial
    metric: str = ""  # "" for the recommended one (accuracy, log loss or r2)
    time_limit: float | None = None  # seconds a trial may take; None for no limit
    standardize: bool = True  # the columns of linear models
    decoding: str = "posterior"  # of sequences: posterior (each token's likeliest label) or viterbi
    gamma: float = 4.0  # weight of a base pair beside an unpaired base
    gamma_by: str = "hand"  # hand (`gamma`), or on held-out molecules: f1 or sensitivity
    sensitivity: float = 0.8  # the share of true pairs to find
    # {class: cost of calling its row the other}, for a threshold
    costs: dict[str, float] = field(default_factory=dict)
    evaluation: str = ""  # test or nested; "" as core.tuning.plan.evaluation_of
    refit: bool = True  # the exported model is fitted on all rows at the end
    # {setting: [from, to]} in place of the model's own
    ranges: dict[str, list[float]] = field(default_factory=dict)
    fixed: Setting = field(default_factory=dict)  # {setting: value} of those that are not searched
    patience: int | None = None  # trials without improvement; 0 for any number, None for the usual
    memory: str = ""  # that a process may take, such as 2GB; "" for a share of what is free

    @property
    def max_bytes(self) -> int | None:
        """`memory` in bytes; None where none is planned. Raises UnusableError."""
        return size_in_bytes(self.memory) if self.memory else None

    def with_more_minutes(self, minutes: float, spent: float) -> Self:
        """The same with so many more minutes than planned, and than `spent`, in seconds."""
        if self.minutes is None:
            cure = "go on with so many trials more (--trials N)"
            raise UnusableError("no minutes bound this run", where="minutes", cure=cure)
        # A run that took longer than planned has its further minutes from now on.
        return self.changed(minutes=round(max(self.minutes, spent / 60) + minutes, 2))

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def changed(self, **changes: Any) -> Self:
        return replace(self, **changes)


def plan_from_dict(plain: Mapping[str, Any]) -> Plan:
    """The plan that `Plan.as_dict` gave; a ValueError where a field is missing or of another type.

    Fields of newer versions are ignored.
    """
    data = plain.get("data")
    if not isinstance(data, Mapping):
        raise ValueError("Plan.data: missing")
    # Plans of earlier versions lack these fields; their runs go on as they began.
    old_defaults = {"together": False, "leaks": True}
    return read_as(Plan, {"patience": 0, **plain, "data": {**old_defaults, **data}})


FEW_ROWS = 1000  # below so many every row tests, where a repeated tuning costs a moment
OUTER_FOLDS = 5


def evaluation_of(plan: Plan, task: str, rows: int, kind: str) -> str:
    """How a plan's result is evaluated, "test" or "nested".

    As planned; by default nested for penalty learners on tables of few rows, unless the plan
    chooses the test rows. `kind` is the strategy's, `rows` those with a known target.
    """
    evaluation, data = plan.evaluation, plan.data
    if evaluation and evaluation not in EVALUATIONS:
        problem = f"there is no evaluation “{evaluation}”"
        cure = "choose auto, " + " or ".join(EVALUATIONS)
        raise UnusableError(problem, where="option evaluation", cure=cure)
    if evaluation == "nested":
        _check_nested(plan, task)
    if evaluation:
        return evaluation
    has_test_choice = bool(data.test_file) or bool(data.latest) or data.test_size is not None
    # Penalty learners need a few fits: to repeat the tuning in five folds takes a moment.
    has_few_rows = Task(task).is_table and rows < FEW_ROWS
    return "nested" if has_few_rows and kind == "penalties" and not has_test_choice else "test"


def _check_nested(plan: Plan, task: str) -> None:
    if not Task(task).is_table:
        problem = "nested cross-validation is for tables of numbers or classes"
        raise UnusableError(problem, where="option evaluation", cure="choose evaluation test")
    if plan.data.test_file:
        problem = "nested cross-validation tests every row of the first file, none of the second"
        cure = "leave out the second file, or choose evaluation test"
        raise UnusableError(problem, where="option evaluation", cure=cure)
    if plan.data.latest:
        problem = "nested cross-validation tests every row, not the latest ones"
        cure = "draw the rows at random, or choose evaluation test"
        raise UnusableError(problem, where="option evaluation", cure=cure)
