"""Where trials run, as stored."""

from __future__ import annotations

from app.preferences import preferences as settings

HERE, LOCAL, SCHEDULER = "here", "local", "scheduler"
CHOICES = (HERE, LOCAL, SCHEDULER)
FIELDS = ("address", "ca", "certificate", "key")


def execution_mode() -> str:
    """here, local (a cluster here) or scheduler."""
    chosen = settings.stored_text("cluster/where", HERE)
    return chosen if chosen in CHOICES else HERE


def stored_field(name: str) -> str:
    """The scheduler's address, or the path of a certificate."""
    return settings.stored_text(f"cluster/{name}", "")


def remember_mode(chosen: str, fields: dict[str, str]) -> None:
    """Store the mode and its fields."""
    settings.remember("cluster/where", chosen if chosen in CHOICES else HERE)
    for name in FIELDS:
        settings.remember(f"cluster/{name}", fields.get(name, "").strip())
