"""The first page: open a file, try a sample, or continue the last run."""

import json
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut

from app.look import appearance
from app.pages.page import Page
from app.preferences import preferences as settings
from app.session.session import Session
from app.text.rail_text import run_text
from app.widgets.buttons import ActionTile, LinkButton, PlainButton, ShorteningLink
from app.widgets.cards import Card
from app.widgets.drop_area import DropArea, local_file
from app.widgets.layouts import add_to, clear_layout, in_lines
from app.widgets.text_labels import plain_tooltip
from core.datasets.files.addresses import file_exists

HOW_IT_WORKS = (
    "Open a table with one row for each case. One column is what you want to predict.",
    (
        "Tunescope first keeps some rows as a test set. Tuning never sees them, so that the final "
        "score is honest."
    ),
    "You choose a model and how to tune it. One of each is recommended, with the reason.",
    "Everything stays on this computer.",
)
SHOWN_FILES = 4
SAMPLES = appearance.RESOURCES / "samples" / "samples.json"
TOURED = "tour/answered"  # remembered once a person took the tour or did not want it


class StartPage(Page):
    """What a person sees first."""

    topic = "start"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.set_head(
            "Tune a model while watching",
            "Open a file, pick a model, watch it being tuned, export the result.",
        )
        self.drop = DropArea()
        self.drop.file_chosen.connect(session.open_file)
        self.drop.paste_wanted.connect(self.open_clipboard)
        QShortcut(QKeySequence.StandardKey.Paste, self).activated.connect(self.open_clipboard)
        self.offer = self._make_offer()
        self._continue = Card("Continue where you were")
        self._continue.hide()
        add_to(self.body, (self.drop, 2), self.offer, self._continue, self._make_samples(), 1)
        self.set_panel("How it works", HOW_IT_WORKS)

    def _make_offer(self) -> Card:
        card = Card(
            "New here?",
            "A tour of a minute shows each step on a sample, with a short real tuning. You can "
            "leave it at any time.",
        )
        self.take = PlainButton("Take the tour", self.tour_wanted.emit)
        self.decline = LinkButton("No, thanks", self._decline_tour)
        card.body.addWidget(in_lines(self.take, self.decline))
        return card

    def _decline_tour(self) -> None:
        settings.remember(TOURED, True)
        self._show_offer()
        # The link that had the keyboard is gone.
        self.drop.button.setFocus()

    def _show_offer(self) -> None:
        # Who has tuned before is not new here.
        is_answered = settings.stored_flag(TOURED) or bool(self.session.runs.run_list.runs)
        self.offer.setVisible(not is_answered)
        self.tour_link.setVisible(is_answered)

    def _make_samples(self) -> Card:
        card = Card("Or try a sample", "Small datasets that are shipped with the program.")
        open_sample = self.session.open_sample
        offered = json.loads(SAMPLES.read_text(encoding="utf-8"))
        tiles = (
            ActionTile(words["title"], words["in_short"], partial(open_sample, name))
            for name, words in offered.items()
        )
        card.body.addWidget(in_lines(*tiles, gap=10, column_width=200))
        self.tour_link = LinkButton("Take the tour", self.tour_wanted.emit, "play")
        self.tour_link.setToolTip("A minute on a sample: from the table to the exported model.")
        card.corner.addWidget(self.tour_link, 0, Qt.AlignmentFlag.AlignTop)
        return card

    def open_clipboard(self) -> None:
        clipboard = QGuiApplication.clipboard()
        if file := local_file(clipboard.mimeData()):
            self.session.open_file(file)
        else:
            self.session.open_pasted(clipboard.text())

    def visited(self) -> None:
        self._show_offer()
        body = self._continue.body
        clear_layout(body)
        runs = self.session.runs.run_list.runs
        files = [file for file in settings.recent_files() if file_exists(file)]
        if runs:
            last_run = partial(self.run_wanted.emit, runs[0].path)
            body.addWidget(ShorteningLink(f"Last run: {run_text(runs[0])}", last_run, "history"))
        for file in files[:SHOWN_FILES]:
            open_file = partial(self.session.open_file, file)
            button = ShorteningLink(f"Open {Path(file).name}", open_file, "file")
            button.setToolTip(plain_tooltip(file))
            body.addWidget(button)
        self._continue.setVisible(bool(runs or files))
