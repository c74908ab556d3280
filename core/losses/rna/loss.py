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

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, TypeVar

import numpy as np

from core.errors import UnusableError
from core.losses.rna.fold import FIRST_C, Folded, fold, room_size
from core.losses.rna.molecule import KINDS, Understood, understood
from core.losses.rna.parameters import MOTIF_OF, MOTIFS, NAMES
from core.losses.rna.structure import structure_uses
from core.losses.rna.terms import codes_of, counts_of, terms_of

CHUNKS = 16  # parts that threads work on; fixed, so that sums do not depend on the threads
T = TypeVar("T")


class RnaLoss:
    """−log p of the structures of molecules under CONTRAfold's grammar.

    Args:
        molecules: letters and structures as the grammar can make them.
        shortest_hairpin: the fewest bases in a hairpin loop.
        threads: how many molecules are worked on at once; the results do not depend on it.
    """

    names: ClassVar[list[str]] = NAMES
    sources: ClassVar[list[str]] = [MOTIFS[motif] for motif in MOTIF_OF]

    def __init__(
        self, molecules: Sequence[Understood], shortest_hairpin: int = 3, threads: int | None = None
    ) -> None:
        self.molecules, self.shortest_hairpin = list(molecules), shortest_hairpin
        self.threads = threads or len(os.sched_getaffinity(0))
        self._codes = [codes_of(one.letters) for one in self.molecules]
        known = [structure_uses(one.letters, one.structure) for one in self.molecules]
        self._truth = np.sum([uses for uses, _ in known], axis=0)
        self._derivations = float(sum(logarithm for _, logarithm in known))
        self._c = np.full(len(self.molecules), FIRST_C)
        self._rooms: list[np.ndarray] = []
        self._at: np.ndarray | None = None
        self._state = (0.0, np.zeros(0))

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

    def start(self) -> np.ndarray:
        """Zeros: all structures are as likely."""
        return np.zeros(self.size)

    def value_and_gradient(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss and its gradient at w."""
        if self._at is None or not np.array_equal(w, self._at):
            terms = terms_of(w)
            folded = self._over_molecules(lambda k, room: self._fold(k, terms, room))
            uses = np.sum([one.uses for one in folded], axis=0)
            log_z = sum(one.log_z for one in folded)
            value = log_z - self._derivations - float(self._truth @ terms)
            self._at, self._state = w.copy(), (value, counts_of(uses - self._truth))
        value, gradient = self._state
        return value, gradient.copy()

    def hessian(self, w: np.ndarray) -> np.ndarray | None:
        """None: products are cheaper than the whole."""
        return None

    def log_losses(self, w: np.ndarray) -> np.ndarray:
        """−log p of every molecule's structure, shape (molecules,)."""
        terms = terms_of(w)
        folded = self._over_molecules(lambda k, room: self._fold(k, terms, room))
        known = [structure_uses(one.letters, one.structure) for one in self.molecules]
        scores = [float(uses @ terms) + ways for uses, ways in known]
        return np.array([one.log_z for one in folded]) - scores

    def on(self, letters: Sequence[str], structures: Sequence[str]) -> RnaLoss:
        """The same model on other molecules."""
        return build_rna(letters, structures, self.shortest_hairpin, self.threads)

    def _fold(self, k: int, terms: np.ndarray, room: np.ndarray) -> Folded:
        folded = fold(self._codes[k], terms, self.shortest_hairpin, self._c[k], room)
        self._c[k] = folded.log_z / (self._codes[k].size - 2)
        return folded

    def _over_molecules(self, work: Callable[[int, np.ndarray], T]) -> list[T]:
        """What ``work`` gives for every molecule, in their order; each call has room of its own."""
        sizes = [codes.size for codes in self._codes]
        order = sorted(range(len(sizes)), key=lambda k: -sizes[k])
        found: dict[int, T] = {}

        def chunk(members: list[int]) -> None:
            room = self._rooms.pop() if self._rooms else np.empty(room_size(max(sizes) - 2))
            for k in members:
                found[k] = work(k, room)
            self._rooms.append(room)

        with ThreadPoolExecutor(self.threads) as pool:
            list(pool.map(chunk, [order[start::CHUNKS] for start in range(CHUNKS)]))
        return [found[k] for k in range(len(sizes))]


def build_rna(
    letters: Sequence[str],
    structures: Sequence[str],
    shortest_hairpin: int = 3,
    threads: int | None = None,
) -> RnaLoss:
    """The loss of molecules with known structures.

    Args:
        letters: the bases of every molecule.
        structures: brackets and dots of every molecule.
        shortest_hairpin: the fewest bases in a hairpin loop.
        threads: how many molecules are worked on at once.

    Raises:
        UnusableError: there are no molecules, or one is not understood.
    """
    if len(letters) == 0:
        raise UnusableError("there are no molecules", cure="give at least one")
    molecules = [
        understood(one, structure, shortest_hairpin, f"molecule {number}")
        for number, (one, structure) in enumerate(zip(letters, structures, strict=True), start=1)
    ]
    return RnaLoss(molecules, shortest_hairpin, threads)
