"""RNA secondary structure: −log p of known structures, its gradient and exact Hessian products.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| w | ``w`` | (708,) | parameters |
| S | | (TERMS, 708) | the terms that the grammar looks up are t = S w |
| u | ``uses`` | (TERMS,) | expected uses of every term, under the model at w |
| ū | ``truth`` | (TERMS,) | uses of every term in the known structures |
| Z | | | the sum over all structures of a molecule of exp(score) |

loss = Σ log Z − ūᵀ S w − log of the derivations of the structures, gradient = Sᵀ (u − ū),
Hessian · v = Sᵀ (change of u along S v) (Do 2008, section 5; Foo 2009, section 4.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, TypeVar

import numpy as np

from core.awake_timer import check_time
from core.datasets.molecules import (
    KINDS,
    SHORTEST,
    Pair,
    ParsedMolecule,
    bracket_pairs,
    neighbours,
    parse_molecule,
)
from core.errors import UnusableError
from core.losses.rna.fold import FIRST_C, FoldResult, fold_molecule, room_size
from core.losses.rna.logspace import loop_terms
from core.losses.rna.parameters import (
    BRANCH,
    CLOSE,
    HAIRPIN,
    LONGEST,
    MOTIF_OF,
    MOTIFS,
    NAMES,
    PAIR,
    RATES,
    STACK,
    TERMS,
    counts_of,
    letter_codes,
    terms_of,
)
from core.losses.rna.tangent import change_of_uses
from core.optimize.loss import Loss, LossPoint
from core.processes import processor_count

CHUNKS = 16  # parts that threads work on; fixed, so that sums do not depend on the threads
KEPT_BYTES = 300_000_000  # of tables kept at the last w; others are computed again for a product
T = TypeVar("T")


class RnaLoss(Loss):
    """−log p of the structures of molecules under CONTRAfold's grammar.

    A shortest hairpin of 0 is the published grammar.
    """

    # It leaves it to the weights to rule tight loops out; known structures lose pairs that close
    # fewer than three bases in any case.

    names: ClassVar[list[str]] = NAMES
    sources: ClassVar[list[str]] = [MOTIFS[motif] for motif in MOTIF_OF]

    def __init__(
        self,
        molecules: Sequence[ParsedMolecule],
        shortest_hairpin: int = 0,
        threads: int | None = None,
    ) -> None:
        self.molecules, self.shortest_hairpin = list(molecules), shortest_hairpin
        self.threads = threads or processor_count()
        self.examples, self.size = len(molecules), len(NAMES)
        self._codes = [letter_codes(molecule.letters) for molecule in self.molecules]
        self._structure_uses = [
            structure_uses(molecule.letters, molecule.structure) for molecule in self.molecules
        ]
        self._truth = np.sum([uses for uses, _ in self._structure_uses], axis=0)
        self._derivations = float(sum(logarithm for _, logarithm in self._structure_uses))
        self._log_z: dict[int, tuple[np.ndarray, float, np.ndarray]] = {}
        self._rooms: list[np.ndarray] = []
        self._kept_rooms: dict[int, np.ndarray] = {}
        self._folded: dict[int, FoldResult] = {}
        self._w: np.ndarray | None = None
        self._state = (0.0, np.zeros(0))

    # Newton steps from afar are mostly cut short.
    far_from_quadratic = True

    @property
    def dropped(self) -> dict[str, int]:
        """How many pairs of the structures the grammar cannot make, by kind."""
        return {kind: sum(molecule.dropped[kind] for molecule in self.molecules) for kind in KINDS}

    @property
    def seen_parameters(self) -> np.ndarray:
        """The parameters that the known structures use, boolean, shape (n,)."""
        return np.asarray(counts_of(self._truth) != 0.0)

    def _point_at(self, w: np.ndarray) -> RnaAt:
        self._evaluate(w)
        value, uses = self._state
        return RnaAt(self, w, value, counts_of(uses - self._truth), counts_of(uses))

    def counts_change(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The derivative of the expected counts at w along v, shape (n,)."""
        # Only a learner that asks for products needs the tables to stay.
        if not self._kept_rooms:
            self._kept_rooms = self._rooms_to_keep()
            # What was folded at the last w lies in room that is used for others.
            self._w = None
        self._evaluate(w)
        terms, along = terms_of(w), terms_of(v)

        def molecule_change(k: int, room: np.ndarray) -> np.ndarray:
            folded = self._folded.get(k)
            # Its tables did not fit into what may be kept.
            if folded is None:
                folded = self._fold_molecule(k, terms, np.empty(room_size(self._base_count(k))))
            return change_of_uses(self._codes[k], terms, along, self.shortest_hairpin, folded, room)

        return counts_of(np.sum(self._over_molecules(molecule_change), axis=0))

    def log_losses(self, w: np.ndarray) -> np.ndarray:
        """−log p of every molecule's structure, shape (molecules,)."""
        terms = terms_of(w)
        log_z = self._over_molecules(lambda k, room: self._fold_molecule(k, terms, room).log_z)
        scores = [float(uses @ terms) + ways for uses, ways in self._structure_uses]
        return np.array(log_z) - scores

    def for_data(self, letters: Sequence[str], structures: Sequence[str]) -> RnaLoss:
        return build_rna(letters, structures, self.shortest_hairpin, self.threads)

    def _evaluate(self, w: np.ndarray) -> None:
        # A point and its products ask at the same w.
        if self._w is not None and np.array_equal(w, self._w):
            return
        terms = terms_of(w)
        self._folded.clear()

        def evaluate_molecule(k: int, room: np.ndarray) -> tuple[float, np.ndarray]:
            folded = self._fold_molecule(k, terms, self._kept_rooms.get(k, room))
            if k in self._kept_rooms:
                self._folded[k] = folded
            return folded.log_z, folded.uses

        evaluations = self._over_molecules(evaluate_molecule)
        uses = np.sum([uses for _, uses in evaluations], axis=0)
        log_z = sum(log_z for log_z, _ in evaluations)
        value = log_z - self._derivations - float(self._truth @ terms)
        self._w, self._state = w.copy(), (value, uses)

    def _fold_molecule(self, k: int, terms: np.ndarray, room: np.ndarray) -> FoldResult:
        last, c = self._log_z.get(k), FIRST_C
        if last is not None:
            # A tangent of log Z as a function of the terms, at the last ones.
            last_terms, height, slope = last
            c = (height + float(slope @ (terms - last_terms))) / self._base_count(k)
        folded = fold_molecule(self._codes[k], terms, self.shortest_hairpin, c, room)
        # The uses are the slope of log Z by the terms.
        self._log_z[k] = terms, folded.log_z, folded.uses
        return folded

    def _base_count(self, k: int) -> int:
        return self._codes[k].size - 2

    def _rooms_to_keep(self) -> dict[int, np.ndarray]:
        # The first that fit: the others are folded again for every product.
        rooms: dict[int, np.ndarray] = {}
        bytes_left = KEPT_BYTES
        for k in range(len(self.molecules)):
            size = room_size(self._base_count(k))
            if 8 * size <= bytes_left:
                rooms[k] = np.empty(size)
                bytes_left -= 8 * size
        return rooms

    def _over_molecules(self, work: Callable[[int, np.ndarray], T]) -> list[T]:
        # Dealt out longest first, the chunks cost about the same: n³ flops a molecule.
        order = sorted(range(len(self.molecules)), key=lambda k: -self._base_count(k))
        results: dict[int, T] = {}

        def run_chunk(members: list[int]) -> None:
            size = room_size(self._base_count(order[0]))  # of the longest molecule
            room = self._rooms.pop() if self._rooms else np.empty(size)
            for k in members:
                check_time()  # a molecule of 3,000 bases takes seconds
                results[k] = work(k, room)
            self._rooms.append(room)

        chunks = [order[start::CHUNKS] for start in range(min(CHUNKS, len(order)))]
        # No pool for a single thread: it would only cost time.
        if min(self.threads, len(chunks)) == 1:
            for members in chunks:
                run_chunk(members)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(run_chunk, chunks))
        return [results[k] for k in range(len(self.molecules))]


class RnaAt(LossPoint):
    """The loss at w; products use the loss's tables, refilled if they were at another w."""

    def __init__(
        self, loss: RnaLoss, w: np.ndarray, value: float, gradient: np.ndarray, counts: np.ndarray
    ) -> None:
        super().__init__(w, value, gradient)
        self._loss, self._counts = loss, counts

    def product(self, v: np.ndarray) -> np.ndarray:
        return self._loss.counts_change(self.w, v)

    def dense_hessian(self) -> None:
        """None: products are cheaper than the dense Hessian."""

    def diagonal(self) -> np.ndarray:
        # The expected counts, as of rare independent events.
        return np.maximum(self._counts, 1e-2)


def build_rna(
    letters: Sequence[str],
    structures: Sequence[str],
    shortest_hairpin: int = 0,
    threads: int | None = None,
) -> RnaLoss:
    """The loss of molecules; UnusableError where there is none, or one is not understood."""
    if len(letters) == 0:
        raise UnusableError("there are no molecules", cure="give at least one")
    molecules = [
        parse_molecule(bases, structure, max(SHORTEST, shortest_hairpin), f"molecule {number}")
        for number, (bases, structure) in enumerate(zip(letters, structures, strict=True), start=1)
    ]
    return RnaLoss(molecules, shortest_hairpin, threads)


def structure_uses(letters: str, structure: str) -> tuple[np.ndarray, float]:
    """Uses of every term, shape (TERMS,), and the logarithm of the number of derivations."""
    codes, uses, derivations = letter_codes(letters), np.zeros(TERMS), 0.0
    pairs = [(i + 1, j + 1) for i, j in bracket_pairs(structure)]
    inside = neighbours(pairs)
    within = {pair for inner in inside.values() for pair in inner}
    outer = [pair for pair in pairs if pair not in within]
    for pair in outer:
        uses[BRANCH + _seen_from_outside(codes, pair)] += 1
    uses[RATES + 4] += len(outer)
    uses[RATES + 3] += len(letters) - sum(j - i + 1 for i, j in outer)
    for (i, j), inner in inside.items():
        uses[PAIR + 5 * codes[i] + codes[j]] += 1
        letters_inside = _letters_index(codes[i], codes[j], codes[i + 1], codes[j - 1])
        if not inner:
            uses[CLOSE + letters_inside] += 1
            uses[HAIRPIN + min(j - i - 1, LONGEST)] += 1
        elif len(inner) == 1:
            _count_loop(uses, codes, (i, j), inner[0])
        else:
            uses[BRANCH + letters_inside] += 1
            uses[RATES] += 1
            for pair in inner:
                uses[BRANCH + _seen_from_outside(codes, pair)] += 1
            uses[RATES + 1] += j - i - 1 - sum(last - first + 1 for first, last in inner)
            uses[RATES + 2] += len(inner)
            after = j - 1 - max(last for _, last in inner)
            # The grammar makes one structure in several ways, whose probabilities add up.
            derivations += math.log(math.comb(after + len(inner) - 2, len(inner) - 2))
    return uses, derivations


def _count_loop(uses: np.ndarray, codes: np.ndarray, outer: Pair, inner: Pair) -> None:
    (i, j), (p, q) = outer, inner
    left, right = p - i - 1, j - q - 1
    letters_inside = _letters_index(codes[i], codes[j], codes[i + 1], codes[j - 1])
    if left == right == 0:
        uses[STACK + letters_inside] += 1
        return
    uses[CLOSE + letters_inside] += 1
    uses[CLOSE + _seen_from_outside(codes, inner)] += 1
    for term in loop_terms(codes, i, j, p, q):
        uses[term] += 1


def _seen_from_outside(codes: np.ndarray, pair: Pair) -> int:
    i, j = pair
    return _letters_index(codes[j], codes[i], codes[j + 1], codes[i - 1])


def _letters_index(a: int, b: int, c: int, d: int) -> int:
    return int(125 * a + 25 * b + 5 * c + d)
