"""Old names of modules, which model files and run folders of earlier versions hold.

An import of one gives its successor, by a finder or by a package that now has the old name.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

NOW = {
    "core.datasets.documents": "core.datasets.texts.documents",
    "core.datasets.vocabulary": "core.datasets.texts.vocabulary",
    "core.datasets.word_counts": "core.datasets.texts.word_counts",
    "core.estimators.averaged_structured": "core.estimators.averages.structured",
    "core.estimators.averaged_topics": "core.estimators.averages.topics",
    "core.estimators.averages.tables": "core.estimators.averages.table_average",
    "core.estimators.class_weights": "core.estimators.recipe",  # which extensions import
    "core.estimators.crf_tagger": "core.estimators.structured.crf_tagger",
    "core.estimators.dlgm.estimator": "core.estimators.dlgm.dlgm_classifier",
    "core.estimators.l1l2_classifier": "core.estimators.tables.l1l2_classifier",
    "core.estimators.lda.estimator": "core.estimators.lda.online_lda",
    "core.estimators.rna_folder": "core.estimators.structured.rna_folder",
    "core.estimators.vote7_classifier": "core.estimators.vote7.classifier",
    "core.estimators.vote7_members": "core.estimators.vote7.members",
    "core.penalties.step": "core.penalties.penalty_problem",  # which extensions import
}


class _OldNames(MetaPathFinder, Loader):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name in NOW else None

    def exec_module(self, module: ModuleType) -> None:
        # An import gives what stands here afterwards: the successor, so that both names are one
        # module and a class has one identity.
        sys.modules[module.__name__] = importlib.import_module(NOW[module.__name__])


def understand_old_names() -> None:
    """Make imports of old names work; a second call changes nothing."""
    if not any(isinstance(finder, _OldNames) for finder in sys.meta_path):
        sys.meta_path.append(_OldNames())
