"""The report's section on topics: how large each is, and its likeliest words."""

from __future__ import annotations

from core.export.average import members_of
from core.export.finished_run import FinishedRun
from core.export.report.html import paragraphs, section, table
from core.tuning.events import TopicsFound

MOST_TOPICS = 60
MOST_WORDS = 12


def topic_sections(run: FinishedRun) -> list[str]:
    """The topics of the best model; none where there are no topics."""
    found = run.of_kind(TopicsFound)
    if not found:
        return []
    last = found[-1]
    rows = [
        (f"{100 * topic.share:.1f}\N{NO-BREAK SPACE}%", ", ".join(topic.words[:MOST_WORDS]))
        for topic in last.topics[:MOST_TOPICS]
    ]
    body = table(("share of all words", "likeliest words"), rows)
    said = [f"Learned from {last.documents:,} texts."]
    if len(rows) < last.count:
        said.append(f"The {len(rows)} largest of {last.count} topics.")
    if len(members_of(run)) > 1:
        said.append("They are those of the best member; others have topics of their own.")
    return [section("What are the texts about?", "The largest first.", body + paragraphs(said))]
