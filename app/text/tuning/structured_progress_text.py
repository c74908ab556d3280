"""Text about shown sequences and molecules."""

from __future__ import annotations

from app.text.number_format import format_decimals
from core.datasets.molecules import bracket_pairs
from core.tuning.events import MoleculesFolded, SequencesLabelled
from core.tuning.run_results import MoleculePairs, PairCounts, SequenceCounts


def sequence_examples_text(event: SequencesLabelled) -> str:
    """Right tokens of the shown sequences, and the mean probability."""
    tokens = right = 0
    sure = 0.0
    for sequence in event.sequences:
        tokens += len(sequence.tokens)
        right += sum(a == b for a, b in zip(sequence.truth, sequence.labels, strict=True))
        sure += sum(max(shares, default=0.0) for shares in sequence.marginals)
    if not tokens:
        return ""
    return (
        f"In the {len(event.sequences)} training sequences shown, the model labels {right} of "
        f"{tokens} tokens rightly; it is {format_decimals(100 * sure / tokens, 0)}\u00a0% sure on "
        "average."
    )


def molecule_examples_text(event: MoleculesFolded) -> str:
    """Base pairs found and called in the shown molecules."""
    right = called = true = 0
    for molecule in event.molecules:
        predicted = set(bracket_pairs(molecule.predicted))
        true_pairs = set(bracket_pairs(molecule.truth))
        right += len(predicted & true_pairs)
        called += len(predicted)
        true += len(true_pairs)
    if not event.molecules:
        return ""
    return (
        f"In the {len(event.molecules)} training molecules shown, the model finds {right} of "
        f"{true} true base pairs; {right} of the {called} pairs it calls are right."
    )


def sequences_text(sequences: SequenceCounts) -> str:
    """Sequences without any error."""
    return (
        f"It labels {sequences.tuned} of {sequences.count} sequences without any error, the "
        f"default setting {sequences.default}."
    )


def pairs_text(pairs: MoleculePairs) -> tuple[str, ...]:
    """Base pairs found and called by each setting."""
    tuned, default = pairs.tuned, pairs.default
    return (
        f"On {pairs.molecules} test molecules the tuned model finds {tuned.right} of {tuned.true} "
        f"true base pairs; {tuned.right} of the {tuned.called} pairs that it calls are right.",
        f"The default setting finds {default.right}; {default.right} of the {default.called} it "
        "calls are right.",
    )


def pairs_summary(counts: PairCounts) -> str:
    """Such as "Finds 62 of 100 true base pairs; …"."""
    found = _of_hundred(counts.right, counts.true)
    right = _of_hundred(counts.right, counts.called)
    return f"Finds {found} of 100 true base pairs; {right} of 100 called pairs are right"


def _of_hundred(count: int, total: int) -> str:
    return f"{100 * count / total:.0f}" if total else "–"
