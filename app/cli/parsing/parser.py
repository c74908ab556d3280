"""The parser: one-line errors, and help with an epilog."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

UNUSABLE = 2
_CORRECTIONS = {"version": "--version"}


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line; `closing` gives its epilog, only for the help."""

    def __init__(self, *, closing: Callable[[], str] | None = None, **keywords: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **keywords)
        self._closing = closing

    def format_help(self) -> str:
        """The help with its epilog."""
        if self._closing is not None:
            self.epilog = self._closing()
        return super().format_help()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse; an unknown option is refused with the nearest one."""
        known_arguments, unknown_arguments = super().parse_known_args(args, namespace)
        for word in unknown_arguments:
            if word.startswith("--"):
                name = word.partition("=")[0]
                self.error(f"there is no option {name}{did_you_mean(name, self.options())}")
        return known_arguments, unknown_arguments

    def options(self) -> list[str]:
        """The long options."""
        return [name for name in self._option_string_actions if name.startswith("--")]

    def error(self, message: str) -> NoReturn:
        """Print one line and exit with status 2."""
        stop = "" if message.endswith("?") else "."
        print(f"{self.prog}: {message}{stop} See {self.prog} --help.", file=sys.stderr)
        raise SystemExit(UNUSABLE)


class Version(argparse.Action):
    """`--version`: version, Python and folder."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version and end")

    def __call__(self, parser: argparse.ArgumentParser, *_arguments: object) -> NoReturn:
        """Print it and exit."""
        from app.diagnostics.versions import version
        from core.extras import other_program, own_command

        print(version())
        if other_command := other_program():
            remark = f"the command tunescope on the path is another one, {other_command}"
            print(f"tunescope: {remark}; this one is {own_command()}.", file=sys.stderr)
        raise SystemExit(0)


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Such as "; did you mean tune?"; "" without a near name."""
    near = difflib.get_close_matches(word, list(names), n=1)
    suggestion = _CORRECTIONS.get(word) or (near[0] if near else "")
    return f"; did you mean {suggestion}?" if suggestion else ""


def no_such_file(word: str, commands: Sequence[str]) -> str:
    """The error for an unknown first argument."""
    suggestion = did_you_mean(word, commands) or "."
    return f"tunescope: there is no command and no file “{word}”{suggestion} See tunescope --help."
