"""The report's own parts for sequences, molecules and topics: words, curves and examples."""

from __future__ import annotations

from typing import Any

from core.datasets.molecules import bracket_pairs
from core.export.average import members_of
from core.export.finished_run import FinishedRun
from core.export.report import example_figures, figures
from core.export.report.html import folded, paragraphs, section, table
from core.export.report.svg import plain
from core.tuning.events import MoleculesFolded, SequencesLabelled, TopicsFound
from core.tuning.payloads import FoldedMolecule

USUAL_GAMMA = 4.0
MOST_TOPICS = 60
MOST_WORDS = 12
_UNITS = {"sequence": "tokens", "structure": "molecules", "topics": "texts"}


def unit(task: str) -> str:
    """What a row of the file is, in the plural."""
    return _UNITS.get(task, "rows")


def result_words(results: dict[str, Any]) -> list[str]:
    """What came out for whole sequences and for base pairs, a sentence each."""
    sentences = []
    if sequences := results.get("sequences"):
        sentences.append(
            f"Of {sequences['count']:,} whole sequences the tuned model labels "
            f"{sequences['tuned']:,} without a mistake, the default setting "
            f"{sequences['default']:,}."
        )
    if pairs := results.get("pairs"):
        tuned, default, gammas = pairs["tuned"], pairs["default"], gammas_of(results)
        same = gammas["tuned"] == gammas["default"]
        at_default = "" if same else f"at γ = {plain(gammas['default'])} "
        sentences.append(
            f"{pairs['molecules']:,} test molecules have "
            f"{tuned['true']:,} base pairs. At γ = {plain(gammas['tuned'])} the tuned model calls "
            f"{tuned['called']:,} and is right on {tuned['right']:,}; {at_default}the default "
            f"setting calls {default['called']:,} and is right on {default['right']:,}."
        )
    return sentences


def gammas_of(results: dict[str, Any]) -> dict[str, float]:
    """The γ that the tuned and the default model call pairs with; 4 in runs that do not say."""
    return dict(results.get("gamma") or dict.fromkeys(("tuned", "default"), USUAL_GAMMA))


def curve_section(curve: dict[str, list[list[float]]], gamma: float = USUAL_GAMMA) -> str:
    """Sensitivity over specificity for every γ; the tuned model's own is marked."""
    tuned, default = curve["tuned"], curve["default"]
    drawn = figures.pair_curves({"tuned": tuned, "default setting": default}, gamma)
    rows = [
        (point[0], *(_rounded(value) for value in (*point[1:], *other[1:])))
        for point, other in zip(tuned, default, strict=True)
    ]
    header = ("γ", "found, tuned", "right, tuned", "found, default", "right, default")
    question = "Each dot is a γ: a larger one calls more pairs. Nearer the top right is better."
    body = drawn + folded("As a table", table(header, rows))
    return section("How many base pairs are found?", question, body, "wide")


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def example_sections(run: FinishedRun) -> list[str]:
    """One sequence or molecule as the model of the last step sees it; none where none was shown."""
    if (labelled := run.of_kind(SequencesLabelled)) and labelled[-1].sequences:
        return [_sequence(labelled[-1])]
    if (folded_ := run.of_kind(MoleculesFolded)) and folded_[-1].molecules:
        # The one with most to see.
        return [_molecule(max(folded_[-1].molecules, key=lambda one: one.truth.count("(")))]
    return []


def _sequence(event: SequencesLabelled) -> str:
    one = event.sequences[0]
    place = {label: k for k, label in enumerate(event.classes)}
    sure = [row[place[label]] for row, label in zip(one.marginals, one.labels, strict=True)]
    drawn = example_figures.token_strip(one.tokens, one.labels, one.truth, sure)
    rows = zip(one.tokens, one.labels, one.truth, sure, strict=True)
    as_table = table(
        ("token", "label", "true label", "probability"),
        [(word, said, true, round(share, 3)) for word, said, true, share in rows],
    )
    question = (
        f"Sequence {one.name}, which the model was trained on. Under a token: its label and "
        "how sure the model is (the bar); in red, the true label where it differs."
    )
    return section("An example", question, drawn + folded("As a table", as_table))


def _molecule(one: FoldedMolecule) -> str:
    drawn = example_figures.arcs(one.sequence, one.predicted, one.truth)
    as_table = table(("", ""), [(n, getattr(one, n)) for n in ("sequence", "predicted", "truth")])
    question = (
        f"{one.name}, which the model was trained on. Predicted pairs above, true ones below; "
        "solid where both agree."
    )
    said = set(bracket_pairs(one.predicted))
    true = set(bracket_pairs(one.truth))
    words = paragraphs(
        [f"{len(said & true)} of {len(true)} true pairs are found; {len(said)} are predicted."]
    )
    return section("An example", question, drawn + words + folded("As text", as_table))


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
    if not run.examples:
        said.append("Their words are left out.")
    if len(rows) < last.count:
        said.append(f"The {len(rows)} largest of {last.count} topics.")
    if len(members_of(run)) > 1:
        said.append("They are those of the best member; others have topics of their own.")
    return [section("What are the texts about?", "The largest first.", body + paragraphs(said))]
