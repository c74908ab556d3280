"""The registry of reproductions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from core.errors import UnusableError, nearest_names_cure
from core.reproduction.measured_table import Cells, Measure, Reproduction

FOO_CLOSING = (
    "Ours: mean over seeds of other random splits than the paper's (except where a file has its "
    "own test set);\nfits count penalized problems solved, Newton steps for mm and evidence."
)

RNA_CLOSING = (
    "Two folds: learned on one, tested on the other; log losses summed, pairs counted together. "
    "The paper does not say\nhow the ends of the ROC curve are treated: ours is the area under "
    "sensitivity over specificity as core.losses.rna.pair_scores has it."
)

YOGATAMA_CLOSING = (
    "Ranks of six on every dataset by the setting with the best development accuracy, equals "
    "sharing their mean; sd and\nse: deviation and standard error over random orders. The paper "
    "has 42 datasets of LIBSVM's page that it does not name;\nranges that its text lost and the "
    "splits are ours. Columns are standardized, which the paper does not mention."
)
MCINERNEY_CLOSING = (
    "Means over seeds, in nats; % better than BayesOpt with validation, seed by seed. EB-Hyp draws "
    "by the paper's eq. 5 at T = 1\n(in standard deviations of f); the arg max of its Algorithm 1 "
    "came out alike in a pilot. “average”: of the best tenth of\nthe trials, row by row. The last "
    "six rows are not the paper's, which has one row for random search and says nothing of\nits "
    "validation."
)
WORDS = {"model": 13, "method": 12, "dataset": 14, "in words": 100}

MCINERNEY_WIDTHS = {"method": 9, "validation": 10, "predicts by": 11, "in words": 100}


def _measuring(name: str) -> Measure:
    def measure(folder: Path | None, quick: bool) -> Iterator[Cells | str]:
        from core.reproduction.measures import MEASURES  # imports models and samplers

        return MEASURES[name](folder, quick)

    return measure


_ALL = (
    Reproduction(
        "foo-table1",
        "Foo 2009, table 1: linear regression, test MSE and the penalty found",
        True,
        _measuring("foo-table1"),
        FOO_CLOSING,
        factors=("grid C", "mm C"),
        beside=("evidence",),
    ),
    Reproduction(
        "foo-table2",
        "Foo 2009, table 2: logistic regression, test accuracy in %",
        True,
        _measuring("foo-table2"),
        FOO_CLOSING,
        {"dataset": 14},
        beside=("evidence", "loo"),
        keeps_runs=True,
    ),
    Reproduction(
        "foo-table3a",
        "Foo 2009, table 3a: multinomial logistic regression, test accuracy in %",
        True,
        _measuring("foo-table3a"),
        FOO_CLOSING,
        {"dataset": 14},
        beside=("evidence", "loo"),
        keeps_runs=True,
    ),
    Reproduction(
        "foo-table3b",
        "Foo 2009, table 3b: RNA folding, the penalty of every motif type, learned by MM",
        True,
        _measuring("foo-table3b"),
        f"{RNA_CLOSING}\n(limit): at the largest penalty that MM can give, (n/2 + α)/β.",
        {"": 37, "fold A": 15, "fold B": 15},
        keeps_runs=True,
        factors=("fold A", "fold B"),
    ),
    Reproduction(
        "foo-table4",
        "Foo 2009, table 4: RNA folding, ROC area and test log loss",
        True,
        _measuring("foo-table4"),
        RNA_CLOSING,
        {"": 8},
        keeps_runs=True,
        beside=("gradient log loss", "direct log loss", "mm log loss"),
    ),
    Reproduction(
        "do-figure2",
        "Do 2008, figure 2: label error in % on simulated sequences",
        False,
        _measuring("do-figure2"),
        "Grouped: transitions, relevant and noise features. Lead: by how much grouped is below the "
        "next best, in points;\n±: standard error of grouped. Refit: the same penalties, fitted "
        "on training and holdout sequences, which mm\nlearns from as well. The paper names no M "
        "and R for its lead.",
        keeps_runs=True,
        takes_data=False,
    ),
    Reproduction(
        "do-figure3",
        "Do 2008, figure 3: RNA folding by the implicit gradient",
        True,
        _measuring("do-figure3"),
        f"{RNA_CLOSING}\n(limit): at the end of the allowed range, exp(−10) or exp(12).",
        {"": 37, "fold A": 15, "fold B": 15},
        keeps_runs=True,
        factors=("fold A", "fold B"),
    ),
    Reproduction(
        "brofos-sinc",
        "Brofos 2013, figure 1: sin(x)/(πx) on [−20, 20] from three points on one side lobe",
        False,
        _measuring("brofos-sinc"),
        "Found: a value within 5 % of the global maximum, in 20 evaluations after the three.",
        {"anticipation": 20, "method": 20, "found % (paper)": 26},
        takes_data=False,
    ),
    Reproduction(
        "brofos-credit",
        "Brofos 2013, table 2: a random forest on Australian credit, 1 to 150 trees",
        True,
        _measuring("brofos-credit"),
        "The paper's 16 columns with missing values are UCI's Credit Approval file; here it is "
        "the Statlog file of 14.\nConvergence: evaluations until the choice of trees stays "
        "the same to the end of 20.",
        {"statistic": 27},
    ),
    Reproduction(
        "yogatama-table2",
        "Yogatama & Mann 2014, table 2: average ranks, logistic regression on perturbed copies, "
        "1 + 5 trials",
        False,
        _measuring("yogatama-table2"),
        YOGATAMA_CLOSING,
        WORDS,
        keeps_runs=True,
        beside=("dev se", "test se"),
    ),
    Reproduction(
        "yogatama-table3",
        "Yogatama & Mann 2014, table 3: average ranks on the datasets themselves, 1 + 10 trials",
        False,
        _measuring("yogatama-table3"),
        YOGATAMA_CLOSING,
        WORDS,
        keeps_runs=True,
        beside=("dev se", "test se"),
    ),
    Reproduction(
        "yogatama-figure3",
        "Yogatama & Mann 2014, figure 3: CPU seconds of proposing, by the number of datasets seen",
        False,
        _measuring("yogatama-figure3"),
        "The first order of the runs behind tables 2 and 3. The paper's seconds, read from its "
        "text, are those of its own program.",
        {
            "CPU seconds": 24,
            "growth": 24,
            "ms a trial, last five": 24,
            "text of the paper": 38,
            "scot-sqe": 12,
            "scot-mkl": 12,
            "transfer-sqe": 12,
            "transfer-mkl": 12,
            "in words": 100,
        },
        keeps_runs=True,
    ),
    Reproduction(
        "mcinerney-table2",
        "McInerney 2017, table 2: topics of 20 Newsgroups, log predictive likelihood of test "
        "documents",
        False,
        _measuring("mcinerney-table2"),
        f"{MCINERNEY_CLOSING} Predicted, and judged by, is the second half of every document "
        "from its first;\nthe paper does not say what it predicts, and its totals are those of "
        "longer documents. Judged by the variational\nbound instead, EB-Hyp without validation was "
        "worse than BayesOpt with it (three seeds, −1002 ± 678 nats).",
        MCINERNEY_WIDTHS,
        keeps_runs=True,
    ),
    Reproduction(
        "mcinerney-table3",
        "McInerney 2017, table 3: deep latent Gaussian models of faces, log predictive likelihood "
        "of test pictures",
        False,
        _measuring("mcinerney-table3"),
        f"{MCINERNEY_CLOSING} Predicted is log p(x, y), every point in units of its deviation; "
        "the paper's\ntotals have a scale that it does not give: compare the order of the methods "
        "and the signs. Persons alone, log p(y | x),\nare predicted by the same searches.",
        MCINERNEY_WIDTHS,
        keeps_runs=True,
    ),
    Reproduction(
        "averages-on-tables",
        "Averages of settings against the single best, test log loss on small tables (a comparison "
        "of ours, not of a paper)",
        False,
        _measuring("averages-on-tables"),
        "Differences paired by table, model and seed: below 0, the average on the left is better. "
        "± pairs: standard error of all\npairs; ± tables: over the tables' own means, as if tables "
        "had been drawn. greedy: Caruana et al. 2004, of the best tenth or\nof all trials.",
        {"model": 9, "of": 14, "less that of": 20, "difference": 10, "in words": 100},
        keeps_runs=True,
    ),
)

REPRODUCTIONS: dict[str, Reproduction] = {entry.name: entry for entry in _ALL}


def reproduction(name: str) -> Reproduction:
    """One reproduction by its name.

    Raises:
        UnusableError: there is none.
    """
    if name not in REPRODUCTIONS:
        cure = nearest_names_cure(REPRODUCTIONS, name)
        raise UnusableError(f"there is no reproduction “{name}”", cure=cure)
    return REPRODUCTIONS[name]
