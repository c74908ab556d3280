"""One BLAS thread while a learner computes a step, the caller's own number in between.

With two threads beside other work the same small solve was seen 75 times slower.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
T = TypeVar("T")


@cache
def _controller() -> ThreadpoolController:
    # Looking for the loaded libraries takes milliseconds, setting their threads microseconds.
    return ThreadpoolController()


def one_blas_thread(generator: Callable[P, Iterator[T]]) -> Callable[P, Iterator[T]]:
    """The same generator function, each of its steps computed on one BLAS thread."""

    @wraps(generator)
    def limited_steps(*args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        steps = generator(*args, **kwargs)
        try:
            while True:
                with _controller().limit(limits=1, user_api="blas"):
                    try:
                        step = next(steps)
                    except StopIteration:
                        return
                yield step
        finally:
            steps.close()  # type: ignore[attr-defined]

    return limited_steps
