"""The models of sequences, molecules and texts, as scikit-learn estimators."""

from core.estimators.lda.online_lda import OnlineLda
from core.estimators.structured.crf_tagger import CrfTagger
from core.estimators.structured.rna_folder import RnaFolder

__all__ = ["CrfTagger", "OnlineLda", "RnaFolder"]
