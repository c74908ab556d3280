"""What the window asks of the worker, and what the worker answers, as small frozen records.

The window gives every request an id, and every answer carries the id of its request. An answer to
a request that is no longer wanted is dropped.
"""

from __future__ import annotations

from app.worker.messages.worker_answers import *  # noqa: F403 - both are one vocabulary
from app.worker.messages.worker_requests import *  # noqa: F403
