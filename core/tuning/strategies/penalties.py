"""The strategies that learn L2 penalties: MM, evidence, leave-one-out, direct, gradient."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from core.datasets.texts.limits import MOST_COLUMNS
from core.estimators.facts import Facts, Suggestion
from core.options import Option
from core.tuning.strategies.strategy import Effort, Implementation, Moment, Space, Strategy

if TYPE_CHECKING:
    from core.penalties.problem import PenaltyProblem
    from core.penalties.step import Step

FOO = "Foo, Do and Ng 2009"


def _learner(
    run: Callable[[PenaltyProblem, Any], Iterator[Step]], typed: type, *options: Option
) -> Implementation:
    """A learner that runs with its own options as a dataclass; the others are the training's."""
    own = {field.name for field in fields(typed)}

    def steps(problem: PenaltyProblem, given: Mapping[str, Any]) -> Iterator[Step]:
        return run(problem, typed(**{name: x for name, x in given.items() if name in own}))

    return Implementation(options, steps)


# scipy takes a second to import: each learner is imported when it is first asked for.


def _mm() -> Implementation:
    from core.penalties import mm
    from core.tuning.strategies.penalty_options import MM_STEPS, PRIOR, TARGET, TOLERANCE

    return _learner(mm.run, mm.MmOptions, *PRIOR, TARGET, MM_STEPS, TOLERANCE)


def _evidence() -> Implementation:
    from core.penalties import evidence
    from core.tuning.strategies.penalty_options import MM_STEPS, TOLERANCE

    return _learner(evidence.run, evidence.EvidenceOptions, MM_STEPS, TOLERANCE)


def _loo() -> Implementation:
    from core.penalties import leave_one_out
    from core.tuning.strategies.penalty_options import SEARCH_STEPS

    return _learner(leave_one_out.run, leave_one_out.LooOptions, SEARCH_STEPS)


def _direct() -> Implementation:
    from core.penalties import direct
    from core.tuning.strategies.penalty_options import DIRECT_STEPS, PRIOR, TARGET

    return _learner(direct.run, direct.DirectOptions, *PRIOR, TARGET, DIRECT_STEPS)


def _gradient() -> Implementation:
    from core.penalties import implicit_gradient
    from core.tuning.strategies.penalty_options import GRADIENT as OPTIONS

    return _learner(implicit_gradient.run, implicit_gradient.GradientOptions, *OPTIONS)


def _where_recommended(name: str) -> Callable[[Facts, Space], Suggestion | None]:
    """For tables, whatever `recommend_update` says."""

    def suggests(facts: Facts, space: Space) -> Suggestion | None:
        if facts.structured:
            return None
        from core.penalties.recommendation import recommend_update

        groups = max(1, len(facts.groups))
        weights, said = facts.weights, ""
        if facts.texts:  # how many words there are is not known before they are counted
            weights, said = MOST_COLUMNS * facts.outputs, "thousands of weights of words"
        chosen = recommend_update(
            weights, facts.learning, facts.classes, groups=groups, weights=said
        )
        return Suggestion(2, chosen.reason) if chosen.strategy == name else None

    return suggests


def _from_weights(looks: str) -> Callable[[Moment], str]:
    """How the fitted weights give the penalties; `looks` with the place {whose} for weights."""

    def works(moment: Moment) -> str:
        if moment.groups == 1:
            who, whose = "All weights share one penalty.", "the weights"
        else:
            structured = moment.task in ("sequence", "structure")
            of = "weights" if structured else "columns"
            who, whose = f"Each group of {of} has its own penalty.", "each group's weights"
        sets = "and sets the penalty from that. Then it fits again."
        return f"{who} The program fits the model, {looks.format(whose=whose)}, {sets}"

    return works


def _counts(moment: Moment) -> str:
    whose = "weights" if moment.groups == 1 else "of each group's weights"
    return _from_weights(f"counts how many {whose} the data really determine")(moment)


def _suggests_mm(facts: Facts, space: Space) -> Suggestion | None:
    if facts.task != "structure":
        return None
    return Suggestion(
        2,
        "Some kinds of weights matter more than others: MM learns how strongly to hold back each "
        "kind, and needs no validation data.",
    )


def _suggests_gradient(facts: Facts, space: Space) -> Suggestion | None:
    """For sequences.

    The gradient was ahead of the default and of MM on parts of an English treebank of 60 to 300
    sentences, where the weights outnumber the tokens and most belong to words that come once or
    twice: counted as in the paper, MM switches such kinds off. For molecules MM by kind was ahead
    of the default.
    """
    if facts.task != "sequence":
        return None
    weights = facts.inputs * facts.classes + facts.classes * (facts.classes + 1)
    return Suggestion(
        2,
        f"{weights:,} weights for {facts.training:,} training tokens, most of them for words that "
        "are rare: sequences held out show how strongly to hold back each kind of weights.",
    )


MM = Strategy(
    name="mm",
    title="Learn the penalty (MM)",
    kind="penalties",
    does="Learns how strongly to hold back the model's weights, one penalty for all columns or one "
    "for each group, from the training data alone.",
    costs="About as much as one fit: no trials, no validation data.",
    shows="Every group's penalty on its way, the objective that falls at each step, and which "
    "groups were switched off.",
    load=_mm,
    works=_from_weights("looks at how large {whose} come out"),
    default_trials=0,
    source=FOO,
    suggests=_suggests_mm,
    effort=Effort(tables=3.0, structured=8.0),
    costs_structured="As much as five to ten fits: no trials, and a fifth of the training data is "
    "held out only to see that the result beats the default.",
)

EVIDENCE = Strategy(
    name="evidence",
    title="Learn the penalty (evidence)",
    kind="penalties",
    does="Like MM, but counts only the weights that the data really determine. Better when there "
    "are many columns for few rows.",
    costs="A little more than one fit: no trials, no validation data.",
    shows="Every group's penalty on its way and which groups were switched off.",
    load=_evidence,
    works=_counts,
    default_trials=0,
    source=f"MacKay 1992; {FOO}",
    suggests=_where_recommended("evidence"),
    # Of sequences and molecules the traces come from probes.
    effort=Effort(tables=4.0, structured=300.0),
    costs_structured="Hundreds of fits: at each step it is estimated anew how much the data "
    "determine, which here takes many passes over all of them.",
)

LOO = Strategy(
    name="loo",
    title="Learn the penalty (leave-one-out)",
    kind="penalties",
    does="Finds the penalty with which each row is predicted best by the model of all the others, "
    "worked out for every row from one fit (approximate leave-one-out cross-validation).",
    costs="About as much as five fits: no trials, and every row validates.",
    shows="Every group's penalty on its way, and the leave-one-out log loss that falls.",
    load=_loo,
    works=lambda moment: (
        "The program moves the penalty up and down, and works out for each how well every row is "
        "predicted by a model fitted without it."
    ),
    default_trials=0,
    source="Rad and Maleki 2020",
    tasks=("binary", "multiclass"),
    suggests=_where_recommended("loo"),
    effort=Effort(tables=5.0),
)

DIRECT = Strategy(
    name="direct",
    title="Learn the penalty (direct)",
    kind="penalties",
    does="Minimizes the same objective as MM in one go with a general-purpose optimizer; the "
    "papers' point of comparison, often stuck in poorer solutions.",
    costs="About as much as one fit.",
    shows="The objective and the penalties at each step.",
    load=_direct,
    works=lambda moment: (
        "Weights and penalties are improved together by one general-purpose optimizer, until "
        "nothing moves."
    ),
    default_trials=0,
    source=FOO,
    effort=Effort(tables=5.0, structured=15.0),
    costs_structured="As much as ten fits or more, and two to see that the result beats the "
    "default.",
)

GRADIENT = Strategy(
    name="gradient",
    title="Learn the penalty (validation gradient)",
    kind="penalties",
    does="Follows the slope of the error on held-out data with respect to every group's penalty.",
    costs="A few dozen fits, however many groups there are.",
    shows="The held-out error and the path of every penalty.",
    load=_gradient,
    works=lambda moment: (
        f"Some {moment.items} are held out. The program works out how their error changes with "
        "each penalty, and changes all penalties in the direction in which it falls."
    ),
    default_trials=0,
    source="Do, Foo and Ng 2008",
    suggests=_suggests_gradient,
    holds_out=True,
    effort=Effort(tables=30.0, structured=15.0, in_turns=60.0),
    costs_structured="Some dozens of fits on a part of the training data; five times as many where "
    "so little can be held out that every part takes its turn.",
)
