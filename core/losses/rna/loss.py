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

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, TypeVar

import numpy as np

from core.datasets.molecules import KINDS, SHORTEST, Understood, understood
from core.errors import UnusableError
from core.losses.rna.change import change_of_uses
from core.losses.rna.fold import FIRST_C, Folded, fold, room_size
from core.losses.rna.parameters import MOTIF_OF, MOTIFS, NAMES
from core.losses.rna.structure import structure_uses
from core.losses.rna.terms import counts_of, letter_codes, terms_of
from core.losses.threads import available
from core.optimize.loss import Loss, LossAt

CHUNKS = 16  # parts that threads work on; fixed, so that sums do not depend on the threads
KEPT_BYTES = 300_000_000  # of tables kept at the last w; others are computed again for a product
T = TypeVar("T")


class RnaLoss(Loss):
    """−log p of the structures of molecules under CONTRAfold's grammar.

    Args:
        molecules: letters and structures as the grammar can make them.
        shortest_hairpin: the fewest bases in a hairpin loop; 0 is the published grammar, which
            leaves it to the weights to rule tight loops out. Known structures lose pairs that
            close fewer than three bases in any case.
        threads: how many molecules are worked on at once; the results do not depend on it.
    """

    names: ClassVar[list[str]] = NAMES
    sources: ClassVar[list[str]] = [MOTIFS[motif] for motif in MOTIF_OF]

    def __init__(
        self, molecules: Sequence[Understood], shortest_hairpin: int = 0, threads: int | None = None
    ) -> None:
        self.molecules, self.shortest_hairpin = list(molecules), shortest_hairpin
        self.threads = threads or available()
        self._codes = [letter_codes(one.letters) for one in self.molecules]
        self._known = [structure_uses(one.letters, one.structure) for one in self.molecules]
        self._truth = np.sum([uses for uses, _ in self._known], axis=0)
        self._derivations = float(sum(logarithm for _, logarithm in self._known))
        self._log_z: dict[int, tuple[np.ndarray, float, np.ndarray]] = {}
        self._rooms: list[np.ndarray] = []
        self._kept: dict[int, np.ndarray] = {}
        self._folded: dict[int, Folded] = {}
        self._w: np.ndarray | None = None
        self._state = (0.0, np.zeros(0))

    far_from_quadratic = True  # Newton steps from afar are mostly cut short

    @property
    def examples(self) -> int:
        """How many molecules there are."""
        return len(self.molecules)

    @property
    def size(self) -> int:
        """How many parameters there are: 708."""
        return len(NAMES)

    @property
    def dropped(self) -> dict[str, int]:
        """How many pairs of the structures the grammar cannot make, by kind."""
        return {kind: sum(one.dropped[kind] for one in self.molecules) for kind in KINDS}

    @property
    def seen(self) -> np.ndarray:
        """The parameters that the known structures use, boolean, shape (n,)."""
        return np.asarray(counts_of(self._truth) != 0.0)

    def start(self) -> np.ndarray:
        """Zeros: all structures are as likely."""
        return np.zeros(self.size)

    def _at(self, w: np.ndarray) -> RnaAt:
        self._evaluate(w)
        value, uses = self._state
        return RnaAt(self, w, value, counts_of(uses - self._truth), counts_of(uses))

    def change(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The derivative of the expected counts at w along v, shape (n,)."""
        if not self._kept:
            self._kept = self._rooms_to_keep()
            self._w = None
        self._evaluate(w)
        terms, along = terms_of(w), terms_of(v)

        def change(k: int, room: np.ndarray) -> np.ndarray:
            folded = self._folded.get(k)
            if folded is None:
                folded = self._fold(k, terms, np.empty(room_size(self._bases(k))))
            return change_of_uses(self._codes[k], terms, along, self.shortest_hairpin, folded, room)

        return counts_of(np.sum(self._over_molecules(change), axis=0))

    def log_losses(self, w: np.ndarray) -> np.ndarray:
        """−log p of every molecule's structure, shape (molecules,)."""
        terms = terms_of(w)
        log_z = self._over_molecules(lambda k, room: self._fold(k, terms, room).log_z)
        scores = [float(uses @ terms) + ways for uses, ways in self._known]
        return np.array(log_z) - scores

    def on(self, letters: Sequence[str], structures: Sequence[str]) -> RnaLoss:
        """The same model on other molecules."""
        return build_rna(letters, structures, self.shortest_hairpin, self.threads)

    def _evaluate(self, w: np.ndarray) -> None:
        """The loss and the uses of terms at w, kept for the next question about the same w."""
        if self._w is not None and np.array_equal(w, self._w):
            return
        terms = terms_of(w)
        self._folded.clear()

        def one(k: int, room: np.ndarray) -> tuple[float, np.ndarray]:
            folded = self._fold(k, terms, self._kept.get(k, room))
            if k in self._kept:
                self._folded[k] = folded
            return folded.log_z, folded.uses

        found = self._over_molecules(one)
        uses = np.sum([uses for _, uses in found], axis=0)
        log_z = sum(log_z for log_z, _ in found)
        value = log_z - self._derivations - float(self._truth @ terms)
        self._w, self._state = w.copy(), (value, uses)

    def _fold(self, k: int, terms: np.ndarray, room: np.ndarray) -> Folded:
        last, c = self._log_z.get(k), FIRST_C
        if last is not None:
            # A tangent of log Z as a function of the terms, at the last ones.
            then, height, slope = last
            c = (height + float(slope @ (terms - then))) / self._bases(k)
        folded = fold(self._codes[k], terms, self.shortest_hairpin, c, room)
        self._log_z[k] = terms, folded.log_z, folded.uses
        return folded

    def _bases(self, k: int) -> int:
        return self._codes[k].size - 2

    def _rooms_to_keep(self) -> dict[int, np.ndarray]:
        """Room for the tables of molecules that are kept between Hessian products."""
        rooms: dict[int, np.ndarray] = {}
        left = KEPT_BYTES
        for k in range(self.examples):
            size = room_size(self._bases(k))
            if 8 * size <= left:
                rooms[k] = np.empty(size)
                left -= 8 * size
        return rooms

    def _over_molecules(self, work: Callable[[int, np.ndarray], T]) -> list[T]:
        """What ``work`` gives for every molecule, in their order; each call has room of its own."""
        order = sorted(range(self.examples), key=lambda k: -self._bases(k))
        found: dict[int, T] = {}

        def chunk(members: list[int]) -> None:
            room = self._rooms.pop() if self._rooms else np.empty(room_size(self._bases(order[0])))
            for k in members:
                found[k] = work(k, room)
            self._rooms.append(room)

        chunks = [order[start::CHUNKS] for start in range(min(CHUNKS, len(order)))]
        if min(self.threads, len(chunks)) == 1:
            for members in chunks:
                chunk(members)
        else:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(chunk, chunks))
        return [found[k] for k in range(self.examples)]


class RnaAt(LossAt):
    """The loss at w; products use the loss's tables, filled again if they were at another w."""

    def __init__(
        self, loss: RnaLoss, w: np.ndarray, value: float, gradient: np.ndarray, counts: np.ndarray
    ) -> None:
        super().__init__(w, value)
        self._loss, self._gradient, self._counts = loss, gradient, counts

    @property
    def gradient(self) -> np.ndarray:
        """The gradient."""
        return self._gradient

    def product(self, v: np.ndarray) -> np.ndarray:
        """H v."""
        return self._loss.change(self.w, v)

    def dense(self) -> None:
        """None: products are cheaper than the whole."""

    def diagonal(self) -> np.ndarray:
        """A positive estimate of the diagonal of H: the expected counts, at least 0.01.

        It would be the diagonal if parameters were counted as often as rare independent events.
        """
        return np.maximum(self._counts, 1e-2)


def build_rna(
    letters: Sequence[str],
    structures: Sequence[str],
    shortest_hairpin: int = 0,
    threads: int | None = None,
) -> RnaLoss:
    """The loss of molecules with known structures.

    Args:
        letters: the bases of every molecule.
        structures: brackets and dots of every molecule.
        shortest_hairpin: the fewest bases in a hairpin loop; 0 is the published grammar, which
            leaves it to the weights to rule tight loops out. Known structures lose pairs that
            close fewer than three bases in any case.
        threads: how many molecules are worked on at once.

    Raises:
        UnusableError: there are no molecules, or one is not understood.
    """
    if len(letters) == 0:
        raise UnusableError("there are no molecules", cure="give at least one")
    molecules = [
        understood(one, structure, max(SHORTEST, shortest_hairpin), f"molecule {number}")
        for number, (one, structure) in enumerate(zip(letters, structures, strict=True), start=1)
    ]
    return RnaLoss(molecules, shortest_hairpin, threads)
