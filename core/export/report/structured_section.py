"""The report's own parts for sequences, molecules and topics: sentences, curves, examples."""

from __future__ import annotations

from core.datasets.molecules import bracket_pairs
from core.export.ensemble_members import members_of
from core.export.finished_run import FinishedRun
from core.export.report import example_figures, report_figures
from core.export.report.html import collapsible, html_table, paragraphs, section_card
from core.export.report.svg import svg_number
from core.tuning.events import MoleculesFolded, SequencesLabelled, TopicsFound
from core.tuning.payloads import FoldedMolecule
from core.tuning.run_results import USUAL_GAMMA, GammaValues, PairCurves, Results

MAX_TOPICS = 60
MAX_WORDS = 12


def result_sentences(results: Results) -> list[str]:
    """The results for whole sequences and for base pairs, a sentence each."""
    sentences = []
    if (sequences := results.sequences) is not None:
        sentences.append(
            f"Of {sequences.count:,} whole sequences the tuned model labels "
            f"{sequences.tuned:,} without a mistake, the default setting "
            f"{sequences.default:,}."
        )
    if (pairs := results.pairs) is not None:
        tuned, default, gamma = pairs.tuned, pairs.default, results.gamma or GammaValues()
        same = gamma.tuned == gamma.default
        at_default = "" if same else f"at γ = {svg_number(gamma.default)} "
        sentences.append(
            f"{pairs.molecules:,} test molecules have {tuned.true:,} base pairs. "
            f"At γ = {svg_number(gamma.tuned)} the tuned model calls {tuned.called:,} and is right "
            f"on {tuned.right:,}; {at_default}the default setting calls {default.called:,} and is "
            f"right on {default.right:,}."
        )
    return sentences


def curve_section(curve: PairCurves, gamma: float = USUAL_GAMMA) -> str:
    """Sensitivity over specificity for every γ, the tuned model's own marked."""
    tuned, default = curve.tuned, curve.default
    figure = report_figures.pair_curves({"tuned": tuned, "default setting": default}, gamma)
    rows = [
        (point[0], *(_rounded(value) for value in (*point[1:], *default_point[1:])))
        for point, default_point in zip(tuned, default, strict=True)
    ]
    header = ("γ", "found, tuned", "right, tuned", "found, default", "right, default")
    question = "Each dot is a γ: a larger one calls more pairs. Nearer the top right is better."
    body = figure + collapsible("As a table", html_table(header, rows))
    return section_card("How many base pairs are found?", question, body, "wide")


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def example_sections(run: FinishedRun) -> list[str]:
    """One sequence or molecule with its predictions in the last step; may be empty."""
    if (labelled := run.events_of_kind(SequencesLabelled)) and labelled[-1].sequences:
        return [_sequence_section(labelled[-1])]
    if (fold_events := run.events_of_kind(MoleculesFolded)) and fold_events[-1].molecules:
        molecules = fold_events[-1].molecules  # the one with most pairs is shown
        return [_molecule_section(max(molecules, key=lambda molecule: molecule.truth.count("(")))]
    return []


def _sequence_section(event: SequencesLabelled) -> str:
    sequence = event.sequences[0]
    index_of = {label: k for k, label in enumerate(event.classes)}
    pairs = zip(sequence.marginals, sequence.labels, strict=True)
    sure = [row[index_of[label]] for row, label in pairs]
    figure = example_figures.token_strip(sequence.tokens, sequence.labels, sequence.truth, sure)
    rows = zip(sequence.tokens, sequence.labels, sequence.truth, sure, strict=True)
    as_table = html_table(
        ("token", "label", "true label", "probability"),
        [(word, label, true, round(share, 3)) for word, label, true, share in rows],
    )
    question = (
        f"Sequence {sequence.name}, which the model was trained on. Under a token: its label and "
        "how sure the model is (the bar); in red, the true label where it differs."
    )
    return section_card("An example", question, figure + collapsible("As a table", as_table))


def _molecule_section(molecule: FoldedMolecule) -> str:
    figure = example_figures.pair_arcs(molecule.sequence, molecule.predicted, molecule.truth)
    names = ("sequence", "predicted", "truth")
    as_table = html_table(("", ""), [(name, getattr(molecule, name)) for name in names])
    question = (
        f"{molecule.name}, which the model was trained on. Predicted pairs above, true ones below; "
        "solid where both agree."
    )
    predicted = set(bracket_pairs(molecule.predicted))
    true = set(bracket_pairs(molecule.truth))
    sentence = f"{len(predicted & true)} of {len(true)} true pairs are found; "
    body = figure + paragraphs([f"{sentence}{len(predicted)} are predicted."])
    return section_card("An example", question, body + collapsible("As text", as_table))


def topic_sections(run: FinishedRun) -> list[str]:
    """The topics of the best model; none of other models."""
    events = run.events_of_kind(TopicsFound)
    if not events:
        return []
    last = events[-1]
    rows = [
        (f"{100 * topic.share:.1f}\N{NO-BREAK SPACE}%", ", ".join(topic.words[:MAX_WORDS]))
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
