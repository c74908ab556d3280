"""Keyboard shortcuts of the window."""

OPEN, SAVE, EXPORT, QUIT = "Ctrl+O", "Ctrl+S", "Ctrl+E", "Ctrl+Q"
START, PAUSE, STOP = "Ctrl+Return", "Ctrl+P", "Ctrl+."
NEXT, BEFORE = "Ctrl+PgDown", "Ctrl+PgUp"
HELP, LIST = "F1", "Ctrl+/"
TOLD = (OPEN, SAVE, EXPORT, QUIT, START, PAUSE, STOP, NEXT, BEFORE, HELP, LIST)
