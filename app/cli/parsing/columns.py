"""What the command line says of single columns: --role and --kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.errors import UnusableError

_EXAMPLES = {"--role": "--role patient=group", "--kind": "--kind code=category"}


def of_columns(given: Sequence[str], option: str) -> dict[str, str]:
    """{column: word} of every COLUMN=WORD; a column's name may hold an equals sign.

    Raises:
        UnusableError: one is written otherwise, or a column is there twice.
    """
    found: dict[str, str] = {}
    for text in given:
        column, equals, word = (part.strip() for part in text.rpartition("="))
        if not (column and equals and word):
            raise UnusableError(
                f"“{text}” is not COLUMN={option.strip('-').upper()}",
                where=option,
                cure=f"write for example {_EXAMPLES[option]}",
            )
        if found.get(column, word) != word:
            raise UnusableError(
                f"“{column}” is there as {found[column]} and as {word}",
                where=option,
                cure="give each column once",
            )
        found[column] = word
    return found


def refuse_role_of_target(roles: Mapping[str, str], target: str) -> None:
    """See that the column to predict is not given another use.

    Raises:
        UnusableError: it is.
    """
    if roles.get(target, "target") != "target":
        raise UnusableError(
            f"“{target}” is what is predicted, so it cannot be given the role {roles[target]}",
            where="--role",
            cure="choose another column with --target, or leave this one alone",
        )
