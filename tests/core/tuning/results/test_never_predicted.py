"""Classes that are never predicted, counted by hand."""

import pytest

from core.tuning.results.never_predicted import never_predicted
from core.tuning.run_results import ConfusionCounts, Results


@pytest.mark.parametrize(
    ("counts", "never"),
    [
        ([[40, 5], [5, 31]], ()),
        ([[45, 0], [36, 0]], ("yes",)),
        ([[0, 45], [0, 36]], ("no",)),
        ([[45, 0], [0, 0]], ()),  # no test row has it: nobody can say
        ([[45, 0], [35, 1]], ()),
    ],
)
def test_a_class_of_which_there_are_rows_and_no_answers(counts, never):
    assert never_predicted(Results(confusion=ConfusionCounts(["no", "yes"], counts))) == never


def test_several_classes():
    counts = [[9, 0, 0], [3, 0, 0], [2, 0, 0]]
    assert never_predicted(Results(confusion=ConfusionCounts(["a", "b", "c"], counts))) == (
        "b",
        "c",
    )


@pytest.mark.parametrize("confusion", [None, ConfusionCounts(), ConfusionCounts(["a"])])
def test_without_a_confusion_matrix_there_is_nothing_to_say(confusion):
    assert never_predicted(Results(confusion=confusion)) == ()
