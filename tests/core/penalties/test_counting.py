"""What n_j counts: pairs of a value and a label that come in training, parameters that are used."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from penalty_problems import steps_of

from core.losses.crf.crf_loss import CrfLoss, build_crf
from core.losses.rna.rna_loss import build_rna
from core.optimize.descent import solve_penalized
from core.penalties.group_penalty import grouping

TAGS = list("ABCDEFGH")
HAIRPIN = ("GGGGAAAACCCC", "((((....))))")


def sentences(count: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Tokens of a language of 8 tags: each tag has 40 words of its own, most of them rare."""
    generator = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, 41)
    share /= share.sum()
    rows, tags = [], []
    for number in range(count):
        tag = generator.integers(8)
        for _ in range(generator.integers(4, 10)):
            tag = (tag + generator.choice([1, 3, generator.integers(8)])) % 8
            word = f"{TAGS[tag]}{generator.choice(40, p=share)}"
            rows.append((f"s{number}", word, word[::-1][:1], generator.choice(list("xy"))))
            tags.append(TAGS[tag])
    return pd.DataFrame(rows, columns=["sequence", "word", "end", "noise"]), np.array(tags)


def seen_by_hand(table: pd.DataFrame, tags: np.ndarray) -> set[str]:
    """The names of the pairs and steps that come in the tokens."""
    names = {
        f"{c}={v} → {t}" for c in table.columns[1:] for v, t in zip(table[c], tags, strict=True)
    }
    sequence = table["sequence"].to_numpy()
    for row in range(len(tags)):
        first = row == 0 or sequence[row] != sequence[row - 1]
        names.add(f"initial → {tags[row]}" if first else f"{tags[row - 1]} → {tags[row]}")
    return names


def by_kind(loss: CrfLoss) -> np.ndarray:
    return pd.factorize(np.array(loss.sources))[0]


def test_the_seen_weights_of_a_tagger_are_the_pairs_and_steps_of_its_tokens() -> None:
    table, tags = sentences(20, 0)
    loss = build_crf(table, "sequence", tags, TAGS)
    seen = {name for name, one in zip(loss.names, loss.seen_parameters, strict=True) if one}
    assert seen == seen_by_hand(table, tags)
    assert len(seen) < loss.size / 3


def test_the_seen_parameters_of_molecules_are_those_that_their_structures_use() -> None:
    loss = build_rna(*([one] for one in HAIRPIN))
    seen = {name for name, one in zip(loss.names, loss.seen_parameters, strict=True) if one}
    assert {"base_pair_CG", "hairpin_length_at_least_4"} <= seen
    assert not seen & {"base_pair_AU", "hairpin_length_at_least_5", "multi_base", "multi_paired"}


@pytest.mark.parametrize("counts", ["seen", "all"])
@pytest.mark.parametrize("learner", ["mm", "direct"])
def test_a_penalty_is_learned_from_the_pairs_that_count(learner, counts) -> None:
    table, tags = sentences(40, 0)
    loss = build_crf(table, "sequence", tags, TAGS)
    groups, names = by_kind(loss), np.array(loss.names)
    seen = seen_by_hand(table, tags)
    own = [sum(name in seen for name in names[groups == j]) for j in range(groups.max() + 1)]
    n = np.array(own) if counts == "seen" else np.bincount(groups)
    options = {"beta": 0.7, "counts": counts}
    *_, last = steps_of(learner, loss, groups, options, counted=loss.seen_parameters)
    squares = np.bincount(groups, weights=last.w**2)
    np.testing.assert_allclose(last.C, n / 2 / (squares / 2 + 0.7), rtol=2e-2)


@pytest.mark.parametrize(
    ("count", "of_kinds", "automatic"), [(60, True, False), (120, False, False), (60, False, True)]
)
def test_a_tagger_is_better_than_the_default_where_counting_every_weight_ruins_it(
    count: int, of_kinds: bool, automatic: bool
) -> None:
    table, tags = sentences(count, 2)
    loss = build_crf(table, "sequence", tags, TAGS)
    held = loss.for_data(*sentences(60, 3))
    groups = by_kind(loss) if of_kinds else np.zeros(loss.size, dtype=int)
    known = {"counted": loss.seen_parameters}
    if automatic:
        known |= {"occurrences": loss.occurrences}
        *_, every = steps_of("mm", loss, groups, {"preset": "paper"}, **known)
    else:
        *_, every = steps_of("mm", loss, groups, {})
    options = {"preset": "automatic"} if automatic else {}
    *_, seen = steps_of("mm", loss, groups, options, **known)
    default = solve_penalized(loss, np.ones(loss.size), loss.initial_weights()).point.w
    losses = [held.value_and_gradient(w)[0] for w in (every.w, default, seen.w)]
    assert losses[0] > 2 * losses[1]
    assert losses[2] < 0.9 * losses[1]


def medians_by_hand(table: pd.DataFrame, tags: np.ndarray, column: str) -> float:
    """Of a column's pairs of value and tag: how often each comes, the one in the middle."""
    return float(table.groupby([column, tags]).size().median())


def test_penalties_of_words_that_hardly_occur_stay_below_one_and_noise_is_switched_off() -> None:
    table, tags = sentences(200, 2)
    loss = build_crf(table, "sequence", tags, TAGS)
    groups, kinds = by_kind(loss), list(dict.fromkeys(loss.sources))
    rare = [k for k in ("word", "end", "noise") if medians_by_hand(table, tags, k) <= 5]
    assert rare == ["word"]
    known = {"counted": loss.seen_parameters, "occurrences": loss.occurrences}
    *_, last = steps_of("mm", loss, groups, {"preset": "automatic"}, **known)
    *_, paper = steps_of("mm", loss, groups, {"preset": "paper"}, **known)
    word, noise = kinds.index("word"), kinds.index("noise")
    own = loss.seen_parameters & (groups == word)
    # Solved for its own C, 1/(1 + mean w²); of the weights that never come, none is left of zero.
    squares = np.sum(last.w[groups == word] ** 2) / own.sum()
    assert last.C[word] == pytest.approx(1 / (1 + squares), rel=2e-2)
    assert last.C[noise] == pytest.approx(paper.C[noise], rel=0.1)
    assert last.switched_off[noise]
    assert not last.switched_off[word]
    assert "1 of 5 groups" in " ".join(last.remarks)
    assert "preset automatic" not in " ".join(paper.remarks)


def test_a_group_of_parameters_that_never_come_counts_as_one() -> None:
    found = grouping(np.array([0, 0, 1, 1, -1]), 3, np.array([True, False, False, False, True]))
    assert found.sizes.tolist() == [1, 1, 0]
    assert found.is_empty.tolist() == [False, False, True]
