"""Linear-chain conditional random fields, which label every token of a sequence."""

from __future__ import annotations

from core.estimators.facts import Facts, Suggestion
from core.estimators.model import Model
from core.estimators.one_penalty import penalized, penalty_space
from core.estimators.recipe import building, scripting

_COOK = penalized("core.estimators.structured.crf_tagger", "CrfTagger")


def _suggests(facts: Facts) -> Suggestion:
    neighbours = "a conditional random field knows which labels follow each other."
    return Suggestion(1, f"{facts.sentence}: {neighbours}")


CRF = Model(
    name="crf",
    title="Conditional random field",
    noun="a conditional random field",
    good_for="Labels every token of a sequence, such as the words of a sentence, and uses that "
    "neighbouring labels depend on each other. Every weight can be read.",
    cost="Fits in seconds; more labels and more different words take longer.",
    tasks=("sequence",),
    space=penalty_space,
    build=building(_COOK),
    loss={"sequence": "crf"},
    takes_sparse=False,
    scaled=False,
    script=scripting(_COOK),
    suggests=_suggests,
)
