"""A file that is refused but could be read otherwise: one button does it."""

from __future__ import annotations

from app.window.window import Window
from app.worker.messages import InputRefused, Message
from core.datasets.finding import SuggestedChange


def test_a_refusal_offers_what_would_make_the_file_usable(still, qtbot):
    window = Window(still)
    qtbot.addWidget(window)
    still.open_file("/data/molecules.csv")
    offer = SuggestedChange("Read other letters as N", "", fields={"other_letters": True})
    still.worker.arrived.emit(
        [Message(still._requests.last, InputRefused("No base.", offer=offer))]
    )
    assert window.notice.sentence == "No base."
    assert window.notice._button.text() == "Read other letters as N"
    window.notice._button.click()
    asked = still.worker.asked[-1].data
    assert (asked.file, asked.other_letters) == ("/data/molecules.csv", True)
    assert window.notice.isHidden()
    still.worker.arrived.emit([Message(still._requests.last, InputRefused("Something else."))])
    assert window.notice._button.isHidden()
