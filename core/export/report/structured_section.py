"""The report's own parts for sequences, molecules, topics and pictures: curves and examples."""

import base64
import struct
import zlib
from collections.abc import Sequence
from html import escape

from core.export.finished_run import FinishedRun, members_of
from core.export.report.figure_svg import CHARACTER, SvgDrawing
from core.export.report.html import collapsible, html_table, paragraphs, section_card
from core.figures.example_figures import LabelPicture, PairPicture
from core.tuning.events import ImagesDrawn, MoleculesFolded, SequencesLabelled, TopicsFound
from core.wording import percent, shortened_text

WIDTH = 980
LETTERS_AT = 7.0  # pixels a base from which its letter is legible
MAX_TOPICS = 60
MAX_WORDS = 12
LONGEST_TOKEN = 24  # letters


def example_sections(run: FinishedRun) -> list[str]:
    """One sequence or molecule with its predictions in the last step; may be empty."""
    if (labelled := run.events_of_kind(SequencesLabelled)) and labelled[-1].sequences:
        last = labelled[-1]
        return [_sequence_section(LabelPicture(last.sequences[0], last.classes))]
    if (fold_events := run.events_of_kind(MoleculesFolded)) and fold_events[-1].molecules:
        molecules = fold_events[-1].molecules  # the one with most pairs is shown
        most_pairs = max(molecules, key=lambda molecule: molecule.truth.count("("))
        return [_molecule_section(PairPicture(most_pairs))]
    return []


def _sequence_section(picture: LabelPicture) -> str:
    question = (
        f"Sequence {picture.sequence.name}, which the model was trained on. Under a token: its "
        "label and how sure the model is (the bar); in red, the true label where it differs."
    )
    as_table = collapsible("As a table", html_table(*picture.label_table()))
    return section_card("An example", question, token_strip(picture) + as_table)


def _molecule_section(picture: PairPicture) -> str:
    molecule = picture.molecule
    names = ("sequence", "predicted", "truth")
    as_table = html_table(("", ""), [(name, getattr(molecule, name)) for name in names])
    question = (
        f"{molecule.name}, which the model was trained on. Predicted pairs above, true ones below; "
        "solid where both agree."
    )
    body = pair_arcs(picture) + paragraphs([picture.pair_text()])
    return section_card("An example", question, body + collapsible("As text", as_table))


def token_strip(picture: LabelPicture) -> str:
    """Tokens with predicted labels and their probabilities, and differing true labels."""
    sequence = picture.sequence
    drawing = SvgDrawing("One labelled sequence", picture.label_text())
    tokens = zip(
        sequence.tokens, sequence.labels, sequence.truth, picture.label_shares, strict=True
    )
    x, y = 0.0, 4.0
    for token, label, true, share in tokens:
        words = (shortened_text(token, LONGEST_TOKEN), label, "" if label == true else true)
        width = 16 + 1.15 * CHARACTER * max(map(len, words))
        if x + width > WIDTH:
            x, y = 0.0, y + 84
        kind = "token" if label == true else "missed"
        drawing.add_bar(x, y, width - 5, 68, kind)
        middle = x + (width - 5) / 2
        drawing.add_text(middle, y + 18, words[0], "name", "middle")
        drawing.add_text(middle, y + 36, label, "tick", "middle")
        if words[2]:
            drawing.add_text(middle, y + 53, words[2], "wrong", "middle")
        drawing.add_bar(x + 4, y + 60, (width - 13) * min(max(share, 0.0), 1.0), 4, "f-series0")
        x += width
    drawing.height = int(y + 80)
    return drawing.to_svg()


def pair_arcs(picture: PairPicture) -> str:
    """Base pairs as arcs, predicted above, true below; solid where in both."""
    letters, longest = picture.molecule.sequence, picture.longest_span
    drawing = SvgDrawing("One folded molecule", picture.pair_text(), width=WIDTH)
    step = min(16.0, (WIDTH - 40) / max(len(letters), 1))
    plot_left = (WIDTH - step * max(len(letters) - 1, 0)) / 2
    tallest = min(190.0, step * longest / 2 + 12)
    line = tallest + 24
    drawing.height = int(2 * tallest + 64)
    common_pairs = picture.predicted_pairs & picture.true_pairs
    for pairs, direction in ((picture.predicted_pairs, 1), (picture.true_pairs, -1)):
        base = line if direction > 0 else line + 16
        for i, j in sorted(pairs):
            height = direction * max(8.0, tallest * (j - i) / longest)
            kind = "arc s-series2" if (i, j) in common_pairs else "arc apart s-series1"
            ends = (plot_left + step * (i - 1), plot_left + step * (j - 1))
            drawing.add_arc(*ends, base, height, kind)
    if step >= LETTERS_AT:
        for index, letter in enumerate(letters):
            drawing.add_text(plot_left + step * index, line + 12, letter, "base", "middle")
    else:
        plot_right = plot_left + step * (len(letters) - 1)
        drawing.add_line(plot_left, line + 8, plot_right, line + 8, "axis")
    drawing.add_text(4, 16, "predicted", "name")
    drawing.add_text(4, drawing.height - 8, "true", "name")
    return drawing.to_svg()


def topic_sections(run: FinishedRun) -> list[str]:
    """The topics of the best model; none of other models."""
    events = run.events_of_kind(TopicsFound)
    if not events:
        return []
    last = events[-1]
    rows = [
        (percent(topic.share), ", ".join(topic.words[:MAX_WORDS]))
        for topic in last.topics[:MAX_TOPICS]
    ]
    body = html_table(("share of all words", "likeliest words"), rows)
    sentences = [f"Learned from {last.documents:,} texts."]
    if not run.allows_examples:
        sentences.append("Their words are left out.")
    if len(rows) < last.count:
        sentences.append(f"The {len(rows)} largest of {last.count} topics.")
    if len(members_of(run)) > 1:
        sentences.append("They are those of the best member; others have topics of their own.")
    body += paragraphs(sentences)
    return [section_card("What are the texts about?", "The largest first.", body)]


MAX_PICTURES = 10  # pictures in a row
MIN_PIXELS = 72  # of the longer side, on the screen


def picture_sections(run: FinishedRun) -> list[str]:
    """The pictures of the best model; none where columns are no pixels."""
    events = [event for event in run.events_of_kind(ImagesDrawn) if event.height and event.width]
    if not events:
        return []
    last = events[-1]
    size = (last.height, last.width)
    sample_names = [f"generated, {index + 1}" for index in range(len(last.samples))]
    rows = [
        ("Held-out pictures", last.originals, last.labels),
        ("As the model sees them", last.reconstructions, last.labels),
        ("Generated by the model", last.samples, sample_names),
    ]
    body = "".join(_picture_row(title, pictures, names, size) for title, pictures, names in rows)
    question = "Can one tell what the model has learned to draw from what it was shown?"
    return [section_card("What does it see?", question, body, "wide")]


def _picture_row(
    title: str, pictures: Sequence[Sequence[float]], names: Sequence[str], size: tuple[int, int]
) -> str:
    height, width = size
    zoom = max(1, round(MIN_PIXELS / max(size)))
    shown = zip(pictures[:MAX_PICTURES], [*names, *[""] * len(pictures)], strict=False)
    images = "".join(
        f'<img src="{_png_address(picture, height, width)}" alt="{escape(title)}: {escape(name)}" '
        f'title="{escape(name)}" width="{zoom * width}" height="{zoom * height}" '
        'style="image-rendering:pixelated;margin:0 6px 6px 0">'
        for picture, name in shown
    )
    return f"<p>{escape(title)}</p><div>{images}</div>" if images else ""


def _png_address(grey: Sequence[float], height: int, width: int) -> str:
    values = bytes(min(255, max(0, round(255 * value))) for value in grey)  # row by row
    # Every line of a PNG begins with its filter: none.
    lines = b"".join(b"\0" + values[row * width : (row + 1) * width] for row in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    image = b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(*chunk) for chunk in chunks)
    return "data:image/png;base64," + base64.b64encode(image).decode()


def _png_chunk(kind: bytes, content: bytes) -> bytes:
    length = struct.pack(">I", len(content))
    return length + kind + content + struct.pack(">I", zlib.crc32(kind + content))
