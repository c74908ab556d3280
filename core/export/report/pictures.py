"""The report's section on pictures: what a model makes up, and how it sees some held-out ones."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from html import escape

from core.export.finished_run import FinishedRun
from core.export.report.html import section
from core.tuning.events import ImagesDrawn

MOST = 10  # pictures in a row
LEAST_PIXELS = 72  # of the longer side, on the screen


def picture_sections(run: FinishedRun) -> list[str]:
    """The pictures of the best model; none where columns are no pixels."""
    drawn = [event for event in run.of_kind(ImagesDrawn) if event.height and event.width]
    if not drawn:
        return []
    last = drawn[-1]
    size = (last.height, last.width)
    made_up = [f"made up, {at + 1}" for at in range(len(last.samples))]
    rows = [
        ("Held-out pictures", last.originals, last.labels),
        ("As the model sees them", last.reconstructions, last.labels),
        ("Made up by the model", last.samples, made_up),
    ]
    body = "".join(_row(title, pictures, names, size) for title, pictures, names in rows)
    question = "Can one tell what the model has learned to draw from what it was shown?"
    return [section("What does it see?", question, body, "wide")]


def _row(
    title: str, pictures: Sequence[Sequence[float]], names: Sequence[str], size: tuple[int, int]
) -> str:
    height, width = size
    zoom = max(1, round(LEAST_PIXELS / max(size)))
    shown = zip(pictures[:MOST], [*names, *[""] * len(pictures)], strict=False)
    images = "".join(
        f'<img src="{_png(picture, height, width)}" alt="{escape(title)}: {escape(name)}" '
        f'title="{escape(name)}" width="{zoom * width}" height="{zoom * height}" '
        'style="image-rendering:pixelated;margin:0 6px 6px 0">'
        for picture, name in shown
    )
    return f"<p>{escape(title)}</p><div>{images}</div>" if images else ""


def _png(grey: Sequence[float], height: int, width: int) -> str:
    """Grey values from 0 to 1, row by row, as a PNG image in a data address."""
    values = bytes(min(255, max(0, round(255 * value))) for value in grey)
    lines = b"".join(b"\0" + values[row * width : (row + 1) * width] for row in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    image = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)
    return "data:image/png;base64," + base64.b64encode(image).decode()


def _chunk(kind: bytes, content: bytes) -> bytes:
    length = struct.pack(">I", len(content))
    return length + kind + content + struct.pack(">I", zlib.crc32(kind + content))
