"""The parser: one-line errors, and help that ends with lists from the registries."""

import argparse
import difflib
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from app.help.glossary import FOLDER, read_help
from core.extras import other_program, own_command, version

UNUSABLE = 2
_CORRECTIONS = {"version": "--version"}
# Commands of earlier versions, and where they are now.
_MOVED = {
    "reproduce": "the papers' tables are measured in a checkout of the source, by .venv/bin/python "
    "-m tests.reproduction NAME; tunescope help papers says what came out"
}


class Parser(argparse.ArgumentParser):
    """A parser of one-line errors, whose help ends with examples and what `closing` gives."""

    def __init__(self, *, closing: Callable[[], str] | None = None, **keywords: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **keywords)
        self._closing = closing

    def format_help(self) -> str:
        words = self.prog.split()[1:]
        shared_texts, own_texts = (
            read_help("options.json").get(k, {}) for k in ("", " ".join(words))
        )
        for action in self._actions:
            name = (action.option_strings or [action.dest])[0]
            action.help = action.help or own_texts.get(name) or shared_texts.get(name)
        # Those that begin with the command's words, else its name alone.
        all_examples = (FOLDER / "examples.txt").read_text(encoding="utf-8").splitlines()
        examples = [line for line in all_examples if line.split()[: len(words)] == words]
        lines = [f"  tunescope {line}" for line in examples or [" ".join(words)]]
        lines.insert(0, "For example:")
        # Only now: the registries take a second to import, for which no run should wait.
        closing = [self._closing()] if self._closing is not None else []
        self.epilog = "\n\n".join(["\n".join(lines[: 4 if not words else None]), *closing])
        return super().format_help()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse; an unknown option is refused with the nearest one."""
        known_arguments, unknown_arguments = super().parse_known_args(args, namespace)
        # argparse itself names all unknown words in a row, and no nearest option.
        for word in unknown_arguments:
            if word.startswith("--"):
                name = word.partition("=")[0]
                self.error(f"there is no option {name}{did_you_mean(name, self.options())}")
        return known_arguments, unknown_arguments

    def options(self) -> list[str]:
        return [name for name in self._option_string_actions if name.startswith("--")]

    def error(self, message: str) -> NoReturn:
        stop = "" if message.endswith("?") else "."
        print(f"{self.prog}: {message}{stop} See {self.prog} --help.", file=sys.stderr)
        raise SystemExit(UNUSABLE)


class Version(argparse.Action):
    """`--version`: version, Python and folder."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help="print the version and end")

    def __call__(self, parser: argparse.ArgumentParser, *_arguments: object) -> NoReturn:
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
    if word in _MOVED:
        return f"tunescope: {_MOVED[word]}."
    suggestion = did_you_mean(word, commands) or "."
    return f"tunescope: there is no command and no file “{word}”{suggestion} See tunescope --help."


def storage_text() -> str:
    """Where runs and history are stored."""
    from core.tuning.history.store import history_path
    from core.tuning.runs.run_folder import runs_root

    return f"Runs are kept in {runs_root()}, the tuning history in {history_path()}."
