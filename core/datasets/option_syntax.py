"""How a choice about a column is asked for on the command line."""

from __future__ import annotations

import json
import shlex


def column_option(option: str, name: str, word: str) -> str:
    """``--role COLUMN=feature``, as a shell takes it; JSON where the name needs it.

    Args:
        option: such as --role.
        name: of the column.
        word: what it is given.
    """
    plain = name and name == name.strip() and "," not in name and not name.startswith("{")
    text = f"{name}={word}" if plain else json.dumps({name: word}, ensure_ascii=False)
    return option_with_value(option, text)


def option_with_value(option: str, value: str) -> str:
    """An option with its value; one that begins with a dash would be taken for an option."""
    between = "=" if not value or value.startswith("-") else " "
    return f"{option}{between}{shlex.quote(value)}"
