"""Models of sequences and molecules, which have one L2 penalty on all weights as their setting."""

from core.datasets.task import Task
from core.estimators.facts import Suggestion
from core.estimators.model import Model
from core.space import Axis

# C of ½ C ‖w‖² beside the loss, over the grid of Foo 2009.
_PENALTY = (
    Axis("C", "Penalty on large weights (λ)", "float", 2.0**-10, 2.0**10, True, default=1.0),
)


CRF = Model.of_sklearn(
    "core.estimators.structured.crf_tagger.CrfTagger",
    _PENALTY,
    name="crf",
    compiled=True,
    title="Conditional random field",
    noun="a conditional random field",
    good_for="Labels every word of a sentence, knowing which labels follow each other.",
    cost="Fits in seconds; more labels and more different words take longer.",
    tasks=(Task.SEQUENCE,),
    loss={Task.SEQUENCE: "crf"},
    suggests=lambda facts: Suggestion(
        1, f"{facts.sentence}: a conditional random field knows which labels follow each other."
    ),
    carrier="core.export.bundle.crf_carrier",
)


RNA = Model.of_sklearn(
    "core.estimators.structured.rna_folder.RnaFolder",
    _PENALTY,
    name="rna",
    compiled=True,
    title="RNA folding",
    noun="RNA folding",
    good_for="Learns from known structures which bases pair, and folds new molecules.",
    cost="Seconds for short molecules, minutes for a hundred of some hundred bases.",
    tasks=(Task.STRUCTURE,),
    loss={Task.STRUCTURE: "rna"},
    suggests=lambda facts: Suggestion(
        1, f"{facts.sentence}: it learns base pairs and loops from known structures."
    ),
    carrier="core.export.bundle.rna_carrier",
)
