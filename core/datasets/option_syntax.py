"""How a choice for a column is written on the command line."""

from __future__ import annotations

import json
import shlex


def column_option(option: str, name: str, word: str) -> str:
    """``--role COLUMN=feature``, quoted for a shell; JSON where the name needs it."""
    plain = name and name == name.strip() and "," not in name and not name.startswith("{")
    text = f"{name}={word}" if plain else json.dumps({name: word}, ensure_ascii=False)
    return option_with_value(option, text)


def option_with_value(option: str, value: str) -> str:
    """An option with its value, joined by = where the value begins with a dash."""
    between = "=" if not value or value.startswith("-") else " "
    return f"{option}{between}{shlex.quote(value)}"
