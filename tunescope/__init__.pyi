"""The names of the package for type checkers; `__init__.py` loads them when they are used."""

from core.errors import UnusableError as UnusableError
from tunescope.estimators import AutoClassifier as AutoClassifier
from tunescope.estimators import AutoRegressor as AutoRegressor
from tunescope.models import *
from tunescope.penalties import LogisticDirect as LogisticDirect
from tunescope.penalties import LogisticEvidence as LogisticEvidence
from tunescope.penalties import LogisticGradient as LogisticGradient
from tunescope.penalties import LogisticLOO as LogisticLOO
from tunescope.penalties import LogisticMM as LogisticMM
from tunescope.penalties import RidgeDirect as RidgeDirect
from tunescope.penalties import RidgeEvidence as RidgeEvidence
from tunescope.penalties import RidgeGradient as RidgeGradient
from tunescope.penalties import RidgeMM as RidgeMM
from tunescope.penalties import learn_penalties as learn_penalties
from tunescope.penalties import recommended_learner as recommended_learner
from tunescope.running import TunedRun as TunedRun
from tunescope.running import export_study as export_study
from tunescope.running import open_run as open_run
from tunescope.running import read as read
from tunescope.running import tune as tune
from tunescope.samplers import *
