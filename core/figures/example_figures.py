"""What pictures of an example show: a sequence's labels, a molecule's pairs, words and tables."""

from dataclasses import dataclass
from functools import cached_property

from core.datasets.molecules import bracket_pairs
from core.figures.figure import Table
from core.tuning.events import FoldedMolecule, LabelledSequence
from core.wording import format_decimals

NAMED = 4  # wrong tokens that the description names
Pair = tuple[int, int]


@dataclass(frozen=True)
class LabelPicture:
    """One sequence of T tokens, its predicted labels and those that are true."""

    sequence: LabelledSequence
    classes: list[str]  # K, in the order of the probabilities

    @property
    def is_right(self) -> list[bool]:
        """Whether each token has its true label."""
        pairs = zip(self.sequence.truth, self.sequence.labels, strict=True)
        return [true == label for true, label in pairs]

    @property
    def label_shares(self) -> list[float]:
        """The probability of every predicted label."""
        pairs = zip(self.sequence.marginals, self.sequence.labels, strict=True)
        return [row[self.classes.index(label)] for row, label in pairs]

    def label_text(self) -> str:
        """How many labels are right, and the first wrong ones."""
        sequence = self.sequence
        triples = list(zip(sequence.tokens, sequence.truth, sequence.labels, strict=True))
        wrong = [triple for triple in triples if triple[1] != triple[2]]
        right_count = len(triples) - len(wrong)
        sentence = f"sequence {sequence.name}: {right_count} of {len(triples)} tokens right."
        if not wrong:
            return sentence
        named = "; ".join("“{}” is {}, predicted {}".format(*triple) for triple in wrong[:NAMED])
        return f"{sentence} Wrong: {named}{' …' if len(wrong) > NAMED else '.'}"

    def label_table(self) -> Table:
        """A row a token, with the probability of every label."""
        sequence = self.sequence
        headers = ["token", "true label", "predicted label", "right", *self.classes]
        columns = (sequence.tokens, sequence.truth, sequence.labels, self.is_right)
        return headers, [
            [token, true, label, "yes" if is_right else "no", *shares]
            for token, true, label, is_right, shares in zip(
                *columns, sequence.marginals, strict=True
            )
        ]


@dataclass(frozen=True)
class PairPicture:
    """One molecule, its predicted base pairs and the true ones; bases count from 1."""

    molecule: FoldedMolecule

    @cached_property
    def predicted_pairs(self) -> set[Pair]:
        """The pairs that the model calls."""
        return {(i + 1, j + 1) for i, j in bracket_pairs(self.molecule.predicted)}

    @cached_property
    def true_pairs(self) -> set[Pair]:
        """The pairs of the known structure."""
        return {(i + 1, j + 1) for i, j in bracket_pairs(self.molecule.truth)}

    @cached_property
    def pair_shares(self) -> dict[Pair, float]:
        """The probability of every likely pair."""
        return {(int(i) + 1, int(j) + 1): float(share) for i, j, share in self.molecule.pairs}

    @property
    def longest_span(self) -> int:
        """The bases that the widest pair spans."""
        return max((j - i for i, j in self.predicted_pairs | self.true_pairs), default=1)

    def pair_text(self) -> str:
        """How many pairs are found, and how many called ones are right."""
        right, name = len(self.predicted_pairs & self.true_pairs), self.molecule.name
        return (
            f"{name}: finds {right} of {len(self.true_pairs)} true base pairs; "
            f"{right} of {len(self.predicted_pairs)} called pairs are right."
        )

    def pair_table(self) -> Table:
        """A row a pair that is called or true."""
        rows = []
        for pair in sorted(self.predicted_pairs | self.true_pairs):
            answers = [
                "yes" if pair in pairs else "no"
                for pairs in (self.predicted_pairs, self.true_pairs)
            ]
            rows.append([*pair, self._letters(pair), *answers])
        return ["from base", "to base", "letters", "model pairs them", "truly paired"], rows

    def share_text(self) -> str:
        """How likely true pairs are, and the likeliest of the others."""
        shares, true = self.pair_shares, self.true_pairs
        mean = sum(shares.get(pair, 0.0) for pair in true) / max(1, len(true))
        false_shares = {pair: share for pair, share in shares.items() if pair not in true}
        sentence = f"{self.molecule.name}: the {len(true)} true base pairs have a probability "
        sentence += f"of {format_decimals(100 * mean, 0)} % on average."
        if false_shares:
            pair = max(false_shares, key=false_shares.__getitem__)
            likeliest = format_decimals(100 * false_shares[pair], 0)
            sentence += f" Of the others, {pair[0]} and {pair[1]} is likeliest with {likeliest} %."
        return sentence

    def share_table(self) -> Table:
        """A row a pair that is likely or true, with its probability."""
        rows = [
            [
                *pair,
                self._letters(pair),
                self.pair_shares.get(pair),
                "yes" if pair in self.true_pairs else "no",
            ]
            for pair in sorted(self.pair_shares.keys() | self.true_pairs)
        ]
        return ["from base", "to base", "letters", "probability", "truly paired"], rows

    def _letters(self, pair: Pair) -> str:
        letters = self.molecule.sequence
        return f"{letters[pair[0] - 1]}–{letters[pair[1] - 1]}"
