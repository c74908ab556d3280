"""The plan of a run: everything that decides what it will do, as plain data for JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from core.datasets.sampling.memory_limit import size_in_bytes
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

    def share_tested(self, units: int) -> float:
        """The share of rows (sequences, molecules, texts) held out, of `units` in all.

        As planned; by default 0.3, or less so that about 10,000 are tested.
        """
        if self.test_size is not None:
            return self.test_size
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
    evaluation: str = ""  # test or nested; "" as core.tuning.evaluation.evaluation_of
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

    def with_more_minutes(self, minutes: float, spent: float) -> Plan:
        """The same with so many minutes beyond those planned, and beyond those `spent` in seconds.

        Raises:
            UnusableError: no minutes bound the run.
        """
        if self.minutes is None:
            cure = "go on with so many trials more (--trials N)"
            raise UnusableError("no minutes bound this run", where="minutes", cure=cure)
        return self.changed(minutes=round(max(self.minutes, spent / 60) + minutes, 2))

    def as_dict(self) -> dict[str, Any]:
        """A plain dict for JSON; `plan_from_dict` reverses it."""
        return asdict(self)

    def changed(self, **changes: Any) -> Plan:
        """The same plan with other values in some fields."""
        return replace(self, **changes)


def plan_from_dict(plain: Mapping[str, Any]) -> Plan:
    """The plan that `Plan.as_dict` gave. Fields of newer versions are ignored.

    Raises:
        ValueError: a field is missing or has another type.
    """
    data = plain.get("data")
    if not isinstance(data, Mapping):
        raise ValueError("Plan.data: missing")
    # Plans of earlier versions lack these fields; their runs go on as they began.
    old_defaults = {"together": False, "leaks": True}
    return read_as(Plan, {"patience": 0, **plain, "data": {**old_defaults, **data}})


def check_gamma(plan: Plan) -> None:
    """Raise UnusableError unless γ, its choice and the wanted sensitivity are in range."""
    if plan.gamma_by not in GAMMA_CHOICES:
        raise UnusableError(
            f"there is no way “{plan.gamma_by}” to choose γ",
            where="option gamma",
            cure="choose one of " + ", ".join(GAMMA_CHOICES),
        )
    if not 0 < plan.gamma < math.inf:
        problem, cure = f"γ = {plan.gamma:g} is out of range", "give a number above 0"
        raise UnusableError(problem, where="option gamma", cure=cure)
    if not 0 < plan.sensitivity <= 1:
        raise UnusableError(
            f"a sensitivity of {plan.sensitivity:g} is out of range",
            where="option sensitivity",
            cure="give a share of the true pairs, above 0 and up to 1",
        )
