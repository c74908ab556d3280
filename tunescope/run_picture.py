"""A picture of a run that shows itself in a notebook, and is written to a file as it is shown."""

from collections.abc import Callable
from pathlib import Path

from core.errors import UnusableError, write_error
from core.export.report.html import svg_file
from core.figures.figure import Figure
from core.writing import write_whole


class Picture:
    """A figure of the report: its `title`, its `description` in a sentence, and its `svg`."""

    def __init__(self, make_figure: Callable[[], Figure], kind: str = "") -> None:
        figure = make_figure()
        self.title, self.description = figure.title, figure.description
        self.svg = svg_file(figure, kind)

    def __repr__(self) -> str:
        return f"<Picture “{self.title}”: {self.description}>"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write the SVG; UnusableError: the name ends otherwise, or it cannot be written."""
        if not str(path).lower().endswith(".svg"):
            cure = f"name it {Path(path).with_suffix('.svg').name}"
            raise UnusableError("a picture is SVG", where=str(path), cure=cure)
        try:
            write_whole(Path(path), self.svg)
        except OSError as error:
            raise write_error("the picture", path, error) from error
