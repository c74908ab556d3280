"""Results of long reproductions on disk, to continue after a stop."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path


def kept_folder() -> Path:
    """The folder of finished parts; without it everything is measured anew."""
    return user_cache_path("tunescope") / "reproductions"


class Checkpoint:
    """Results by key, a JSON line each; `folder` defaults to the user's cache."""

    def __init__(self, name: str, folder: Path | None = None) -> None:
        self._path = (folder or kept_folder()) / f"{name}.jsonl"
        self._results: dict[str, Any] = {}
        written = self._path.read_text(encoding="utf-8") if self._path.is_file() else ""
        self._torn = bool(written) and not written.endswith("\n")
        for line in written.splitlines():
            self._read_line(line)

    def _read_line(self, line: str) -> None:
        try:
            key, result = json.loads(line)
        except ValueError:  # the line that was being written when it was stopped, or no line
            return
        self._results[key] = result

    def __contains__(self, key: str) -> bool:
        return key in self._results

    def __getitem__(self, key: str) -> Any:
        return self._results[key]

    def record_result(self, key: str, result: Any) -> None:
        """Record a finished part (plain data)."""
        self._results[key] = result
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            # A line that a stop cut short must not swallow the next one.
            file.write("\n" * self._torn + json.dumps([key, result]) + "\n")
        self._torn = False
