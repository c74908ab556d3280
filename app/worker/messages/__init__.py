"""The messages between window and worker.

An answer has the id of its request; it is dropped where the request is no longer wanted.
"""

from __future__ import annotations

from app.worker.messages.worker_answers import *  # noqa: F403 - both are one vocabulary
from app.worker.messages.worker_requests import *  # noqa: F403
