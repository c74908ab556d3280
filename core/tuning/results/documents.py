"""What the results say of topics beyond any table.

| key | meaning |
| --- | --- |
| documents | {count: held out, words: that were predicted in them, empty: without such words} |
"""

from __future__ import annotations

from typing import Any

from core.tuning.scores.metric import Said


def of_documents(tuned: Said) -> dict[str, Any]:
    """How much the held-out documents had to be predicted; both models the same."""
    assert tuned.documents is not None
    words = tuned.documents[:, 1]
    return {
        "documents": {
            "count": len(words),
            "words": int(words.sum()),
            "empty": int((words == 0).sum()),
        }
    }
