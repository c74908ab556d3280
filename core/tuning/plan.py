"""The plan of a run: everything that decides what it will do, as plain data that JSON takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from core.errors import UnusableError
from core.json_reading import read_as
from core.space import Setting

DECODINGS = ("posterior", "viterbi")
EVALUATIONS = ("test", "nested")
TEST_SHARE = 0.3  # of the rows, where nobody gave another
MAX_TEST_ROWS = 10_000  # rows: a share of them is known to about ±1 point, and more rows can train
GAMMA_CHOICES = ("hand", "f1", "sensitivity")


@dataclass(frozen=True)
class DataPlan:
    """Which data, and how to understand it; empty fields are settled by looking at the file.

    Attributes:
        file: a path, or ``sample:NAME``.
        target: the target column's name; "" for the usual guess.
        task: regression, binary or multiclass; "" to tell from the target.
        roles: {column: feature, group or ignore}, where a person changed it.
        kinds: {column: number, category, yes/no or date}, where a person changed it.
        test_file: a second file to test on; "" to hold rows out.
        test_size: the share of rows held out when there is no second file; None for the usual one,
            `share_tested`.
        vocabulary: how many words of texts count, the most frequent.
        stop_words: whose stop words are left out of texts (core.datasets.texts.stop_words).
        together: whether equal rows, and molecules of one family, stay on one side of every split;
            off in plans of before, whose runs go on with the rows they began with.
        other_letters: whether letters of molecules that are no bases are read as N.
        leaks: whether columns that leak the target are used; on in plans of before, whose
            runs go on with the columns they began with.
        latest: the column by whose times the latest rows test; "" to draw them at random.
        rows, test_rows: at most so many rows of the file, and of the second file, drawn at random;
            0 for all, None for all that fit into memory.
        rows_seed: of that draw.
    """

    file: str
    target: str = ""
    task: str = ""
    roles: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    test_file: str = ""
    test_size: float | None = None
    vocabulary: int = 1000
    stop_words: str = "auto"
    together: bool = True
    latest: str = ""
    rows: int | None = None
    test_rows: int | None = None
    rows_seed: int = 0
    leaks: bool = False
    other_letters: bool = False

    def share_tested(self, units: int) -> float:
        """The share of rows (sequences, molecules, texts) held out for the test.

        Args:
            units: how many there are.

        Returns:
            The share that was given; otherwise 0.3, and of many rows so much that about 10,000
            are tested.
        """
        if self.test_size is not None:
            return self.test_size
        return min(TEST_SHARE, MAX_TEST_ROWS / max(units, 1))


@dataclass(frozen=True)
class Plan:
    """What to tune, how, and how long.

    Attributes:
        data: the data.
        model, strategy: names in the registries.
        options: the strategy's options that were given (checked and completed by `tune`).
        groups: regularization groups: single, each (output column), column (one-hot columns of a
            category together), prefix (of the column's name), or {group: [columns]}.
        trials: how many trials at most; None for the strategy's own default.
        minutes: how long at most; None for no limit.
        seed: of everything random.
        workers: processes that run trials.
        folds: of the cross-validation that scores a trial.
        metric: "" for the recommended one (accuracy, log loss where a class is rare, or r2).
        time_limit: seconds a trial may take; None for no limit.
        standardize: whether linear models see standardized columns (off for the papers' figures).
        decoding: how sequences get their labels: every token its likeliest one (posterior), or the
            likeliest labels of the whole sequence (viterbi).
        costs: {class: what it costs to call a row of it the other one} for two classes, by which
            the threshold between them is chosen; empty for none.
        evaluation: how the result is judged: by one test set (test), by nested cross-validation
            (nested); "" for what suits the data, `core.tuning.evaluation.evaluation_of`.
        ranges: {setting: [from, to]} of the settings that are searched over another range than the
            model's own (core.tuning.ranges).
        fixed: {setting: value} of those that are not searched.
        patience: how many trials in a row may improve nothing before the run ends; 0 for any
            number, None for the usual one (core.tuning.patience).
        refit: whether the exported model is fitted on all rows once it has been judged.
        gamma: how much a base pair counts beside an unpaired base when molecules are folded.
        gamma_by: how γ comes about: hand (as `gamma` says), or on training molecules held out, for
            the best F1 (f1) or so that a share of the true pairs is found (sensitivity).
        sensitivity: that share.
    """

    data: DataPlan
    model: str
    strategy: str
    options: dict[str, Any] = field(default_factory=dict)
    groups: str | dict[str, list[str]] = "single"
    trials: int | None = None
    minutes: float | None = None
    seed: int = 0
    workers: int = 1
    folds: int = 5
    metric: str = ""
    time_limit: float | None = None
    standardize: bool = True
    decoding: str = "posterior"
    gamma: float = 4.0
    gamma_by: str = "hand"
    sensitivity: float = 0.8
    costs: dict[str, float] = field(default_factory=dict)
    evaluation: str = ""
    refit: bool = True
    ranges: dict[str, list[float]] = field(default_factory=dict)
    fixed: Setting = field(default_factory=dict)
    patience: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """A plain dict that JSON takes; `plan_from_dict` reverses it."""
        return asdict(self)

    def changed(self, **changes: Any) -> Plan:
        """The same plan with other values in some fields."""
        return replace(self, **changes)


def plan_from_dict(plain: Mapping[str, Any]) -> Plan:
    """The plan that `Plan.as_dict` gave. Fields of newer versions are passed over.

    Runs of before know no patience, and go on without.

    Raises:
        ValueError: a field is missing or has another type.
    """
    data = plain.get("data")
    if not isinstance(data, Mapping):
        raise ValueError("Plan.data: missing")
    old_defaults = {"together": False, "leaks": True}  # as plans that do not say it were read
    return read_as(Plan, {"patience": 0, **plain, "data": {**old_defaults, **data}})


def check_gamma(plan: Plan) -> None:
    """See that γ, its choice and the wanted sensitivity are in range; raises UnusableError."""
    if plan.gamma_by not in GAMMA_CHOICES:
        raise UnusableError(
            f"there is no way “{plan.gamma_by}” to choose γ",
            where="option gamma",
            cure="choose one of " + ", ".join(GAMMA_CHOICES),
        )
    if not 0 < plan.gamma < math.inf:
        raise UnusableError(
            f"γ = {plan.gamma:g} is out of range",
            where="option gamma",
            cure="give a number above 0",
        )
    if not 0 < plan.sensitivity <= 1:
        raise UnusableError(
            f"a sensitivity of {plan.sensitivity:g} is out of range",
            where="option sensitivity",
            cure="give a share of the true pairs, above 0 and up to 1",
        )
