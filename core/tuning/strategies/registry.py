"""The registry of strategies."""

from core.extensions import Registry
from core.tuning.strategies.gp_strategies import EB_HYP, GP, HYBRID, SCOT, TRANSFER, VARIABLE
from core.tuning.strategies.penalty_strategies import DIRECT, EVIDENCE, GRADIENT, LOO, MM
from core.tuning.strategies.race_strategy import RACE
from core.tuning.strategies.search_strategies import CMA_ES, GRID, RANDOM, TPE
from core.tuning.strategies.strategy import Strategy, check_strategy

_ALL = (
    *(MM, EVIDENCE, LOO, DIRECT, GRADIENT),
    *(GRID, RANDOM, GP, HYBRID, VARIABLE, EB_HYP),
    *(TRANSFER, SCOT, TPE, CMA_ES, RACE),
)

STRATEGIES: Registry[Strategy] = Registry("tunescope.strategies", _ALL, check_strategy)
