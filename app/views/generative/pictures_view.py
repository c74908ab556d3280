"""What a model of pictures makes up, and how it sees pictures that there are."""

from __future__ import annotations

from app.views.generative.picture_rows import PictureRow, PictureRows, grey_picture
from app.views.plot.data_table import Table
from app.views.plot.painted_page import PaintedView
from core.tuning.events import ImagesDrawn, RunStarted


class PicturesView(PaintedView):
    """Pictures of the data over the same as the model sees them; below, those that it makes up."""

    name = "pictures"
    title = "What the model draws"
    question = "Has the model understood what the pictures are made of?"
    waiting = "Pictures that the best setting so far draws appear here after a trial."
    listens = (ImagesDrawn,)
    late = True

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Models that draw, of columns that are the pixels of pictures."""
        return bool(started.dataset.get("pictures"))

    def make_drawing(self) -> PictureRows:
        """Rows of pictures."""
        self.pictures = PictureRows()
        return self.pictures

    @property
    def drawn(self) -> ImagesDrawn | None:
        """The latest pictures."""
        return self.run.images

    def has_content(self) -> bool:
        """From the first trial that draws."""
        return self.drawn is not None and bool(self.drawn.originals or self.drawn.samples)

    def captions(self) -> tuple[str, str, str]:
        """What the three rows are."""
        first = "Pictures that the model was not trained on, with their labels"
        if self.run.started.judged == "training":
            first = "Pictures that the model was trained on, with their labels"
        return (
            first,
            "The same, as the model sees them",
            "Made up by the model",
        )

    def draw(self) -> None:
        """The rows that there are."""
        drawn, captions = self.drawn, self.captions()
        kinds = (drawn.originals, drawn.reconstructions, drawn.samples)
        rows = []
        for caption, kind in zip(captions, kinds, strict=True):
            made = tuple(grey_picture(values, drawn.height, drawn.width) for values in kind)
            words = tuple(drawn.labels) if kind is drawn.originals else ()
            if made:
                rows.append(PictureRow(caption, made, words))
        self.pictures.set_data(rows)
        self.page.fit()

    def describe(self) -> str:
        """How many pictures of which kind there are."""
        drawn = self.drawn
        return (
            f"Trial {drawn.number}, the best so far: {len(drawn.originals)} pictures of the data, "
            f"each as the model sees it below, and {len(drawn.samples)} pictures that it makes up; "
            f"{drawn.height} by {drawn.width} points."
        )

    def rows(self) -> Table:
        """The grey of every point, 0 for black, in every picture; a row a point."""
        drawn = self.drawn
        kinds = (
            ("data", drawn.originals, drawn.labels),
            ("as seen", drawn.reconstructions, drawn.labels),
            ("made up", drawn.samples, [""] * len(drawn.samples)),
        )
        headers = ["row", "column"]
        for said, pictures, labels in kinds:
            numbered = enumerate(zip(pictures, labels, strict=True), start=1)
            headers += [f"{said} {number} {label}".strip() for number, (_, label) in numbered]
        whole = [values for _, pictures, _ in kinds for values in pictures]
        rows = [
            [at // drawn.width + 1, at % drawn.width + 1, *(values[at] for values in whole)]
            for at in range(drawn.height * drawn.width)
        ]
        return headers, rows
