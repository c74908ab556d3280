"""The command line: the same core without a window."""

from app.cli.commands import main as main
