"""Example runs of each strategy, for packaging/make_help_pictures.py."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """One run of a strategy and its picture."""

    run: str  # arguments of `tunescope tune`
    seen: str
    cure: str = ""  # "" where all is well


@dataclass(frozen=True)
class ExamplePair:
    """Two runs of a strategy, and when to use it."""

    take: str
    well: Example
    badly: Example


_NOISE = "sample:prices --target noise_1"  # pure noise, independent of the other columns

PAIRS: dict[str, ExamplePair] = {
    "mm": ExamplePair(
        "Take it for linear and logistic models whose columns fall into groups, some of which may "
        "be useless, and which have clearly fewer columns than rows.",
        Example(
            "sample:groups --model logistic --strategy mm --groups prefix",
            "The penalties of the groups part within a few steps and then stay: useful groups go "
            "down, useless ones go up until they are switched off. The objective falls at every "
            "step and flattens out.",
        ),
        Example(
            f"{_NOISE} --model linear --strategy mm --groups prefix",
            "The target is a column of pure noise, and yet no group is switched off: the penalties "
            "stay near where they started, and the objective hardly falls. MM counts every weight "
            "as free, so that it takes luck for a weak effect.",
            "Believe the result on the test set, which shows that nothing was learned. Take "
            "evidence or leave-one-out, which count luck as luck, and check the target.",
        ),
    ),
    "evidence": ExamplePair(
        "Take it for linear models, and where columns are many and rows are few.",
        Example(
            "sample:prices --model linear --strategy evidence --groups prefix",
            "The groups part quickly: the noise columns get a large penalty, the others a small "
            "one. After a few steps nothing moves any more.",
        ),
        Example(
            f"{_NOISE} --model linear --strategy evidence --groups each",
            "One penalty for every column, and a target of pure noise: most columns are switched "
            "off, but some keep a small penalty by luck, because so many were tried.",
            "Use fewer groups. A column that stays on alone among many useless ones is to be "
            "trusted only if the result on the test set is likely real.",
        ),
    ),
    "loo": ExamplePair(
        "Take it for classes: it is the one recommended there, because it kept up with a grid "
        "search on tables of every shape.",
        Example(
            "sample:breast-cancer --model logistic --strategy loo",
            "The penalty moves and comes to rest, and the objective, here the leave-one-out log "
            "loss, falls and then stays.",
        ),
        Example(
            "sample:groups --model logistic --strategy loo --groups each --test-size 0.85",
            "Few training rows and one penalty for every column: the lines run apart, most of "
            "them to the end of their range, and the log loss falls to a third. So many penalties "
            "fit so few rows that they follow chance.",
            "Use one penalty for all columns, or a few groups; or bring more rows.",
        ),
    ),
    "direct": ExamplePair(
        "Take it to compare with MM. For real work MM reaches better solutions.",
        Example(
            "sample:groups --model logistic --strategy direct --groups prefix",
            "Objective and penalties move together and come to rest; the useless groups end "
            "with large penalties, as with MM.",
        ),
        Example(
            "sample:prices --model linear --strategy direct --groups prefix "
            "--option beta=0.0001 --option max_steps=2",
            "The objective is still falling when the steps that were allowed are used up: the last "
            "point is no solution. With more steps the useless group is switched off.",
            "Allow more steps under Advanced, or take MM, which needs far fewer.",
        ),
    ),
    "gradient": ExamplePair(
        "Take it for sequences, and where rows are many enough to hold some out.",
        Example(
            "sample:tags --model crf --strategy gradient",
            "The paths of the groups part and come to rest: up for the useless ones, here two "
            "columns of noise (weekday, shelf), down for the others. The sequence below is "
            "labelled rightly.",
        ),
        Example(
            "sample:groups --model logistic --strategy gradient --groups each --test-size 0.85 "
            "--option validation=holdout --option prior=none",
            "The held-out loss falls to nothing while the penalties of single columns run apart: "
            "a handful of held-out rows is learned by heart.",
            "Hold every row out in turns (folds), draw penalties towards 1 a little (weak), or "
            "use fewer groups.",
        ),
    ),
    "grid": ExamplePair(
        "Take it for one or two settings, when you want to see the whole range evenly.",
        Example(
            "sample:iris --model svm --strategy grid --trials 60",
            "The lines cover both ranges evenly. The best score was found early, and many other "
            "settings come close to it: it is no lucky exception.",
        ),
        Example(
            "sample:iris --model svm --strategy grid --option points=3 --trials 9",
            "Three values of each setting: none of them beats the default setting, the dashed "
            "line, and between them everything is unknown.",
            "Allow more values, or take a Gaussian process, which puts trials where they matter.",
        ),
    ),
    "random": ExamplePair(
        "Take it as a plain comparison, or where a trial costs next to nothing.",
        Example(
            "sample:wine --model svm --strategy random --trials 60",
            "The best score rises early and then stays; many dots lie close below it, so that the "
            "best one is no lucky exception.",
        ),
        Example(
            "sample:wine --model svm --strategy random --trials 5",
            "Five draws leave most of the range untried. The best one may be far from what is "
            "possible, and nothing in the picture could tell.",
            "Add more trials: the run continues where it ended.",
        ),
    ),
    "gp": ExamplePair(
        "Take it for most models: a few settings to tune, and trials that take a second or more.",
        Example(
            "sample:groups --model svm --strategy gp --trials 30",
            "The surface has a clear good region inside the ranges, the trials gather there, and "
            "the band of what it expects is narrow around them. The best score stops rising well "
            "before the end.",
        ),
        Example(
            f"{_NOISE} --model svm --strategy gp --trials 25",
            "The target is pure noise: R² stays below 0, so that no setting is better than the "
            "mean, and the trials crowd at the edge of the range, where the model learns least.",
            "Check the target, or look for columns that have to do with it. A best setting at the "
            "edge of its range is a warning in any run: the model may want less, or more, than the "
            "range allows.",
        ),
    ),
    "hybrid": ExamplePair(
        "Take it where a good region may be narrow or far from the first trials.",
        Example(
            "sample:groups --model svm --strategy hybrid --trials 30",
            "Most trials gather in the good region; one in five lies far away, where the band was "
            "widest, and found nothing better there. The region can be trusted.",
        ),
        Example(
            "sample:groups --model svm --strategy hybrid --trials 6",
            "Too few trials: all of them belong to the even start. There is no guess yet, and "
            "nothing that was learned has been used.",
            "Give it 30 trials or more; 20 more trials can be added to a run that ended.",
        ),
    ),
    "variable": ExamplePair(
        "Take it as hybrid, where you would rather not fix how often it explores.",
        Example(
            "sample:groups --model svm --strategy variable --trials 30",
            "It explores while much is unknown, then gathers where the score is best.",
        ),
        Example(
            "sample:groups --model svm --strategy variable --option rule=printed --trials 20",
            "With the rule as the paper's listing has it, most trials go where least is known and "
            "little is promised: they stay spread, most scores are poor, and the best hardly "
            "rises.",
            "Leave the rule at “As the paper's text says (corrected)”.",
        ),
    ),
    "eb-hyp": ExamplePair(
        "Take it on little data, where the one best setting is partly luck.",
        Example(
            "sample:wine --model svm --strategy eb-hyp --trials 40",
            "Four members share the average, and since the second one joined, at trial 20, it was "
            "better than the single best or as good, on rows that chose neither.",
        ),
        Example(
            "sample:wine --model svm --strategy eb-hyp --option temperature=20 --trials 12",
            "The samples are spread so widely that good and poor settings are drawn alike, and "
            "with fewer than 20 trials the average has one member: it is the single best.",
            "Leave the spread at 1, and give it 40 trials, so that four models are averaged.",
        ),
    ),
    "transfer": ExamplePair(
        "Take it when a trial is expensive and datasets of a similar size have been tuned before.",
        Example(
            "sample:breast-cancer --model svm --strategy transfer --trials 11",
            "The trials lie where earlier datasets were best (triangles), and all but one of this "
            "dataset's own scores (circles) are good at once.",
        ),
        Example(
            f"{_NOISE} --model svm --strategy transfer --trials 11",
            "What earlier datasets promise does not come: the trials lie where others were best, "
            "but R² stays below 0 there as well. The target is pure noise.",
            "Take a Gaussian process, which looks at this dataset alone; if it finds nothing "
            "either, check the target.",
        ),
    ),
    "scot": ExamplePair(
        "Take it to compare with learning from earlier datasets.",
        Example(
            "sample:breast-cancer --model svm --strategy scot --trials 11",
            "The ranking learned from earlier datasets leads straight to good settings, and the "
            "similar datasets are named beside it.",
        ),
        Example(
            "sample:breast-cancer --model svm --strategy scot --option features=linear --trials 11",
            "Each value counts only for or against a setting: the trials crowd in a corner of the "
            "ranges, although the best lies in the middle.",
            "Leave the ranking at “Any shape (rbf)”.",
        ),
    ),
    "tpe": ExamplePair(
        "Take it to compare with other programs, or for many settings with choices among them.",
        Example(
            "sample:breast-cancer --model svm --strategy tpe --trials 50",
            "After ten random trials the dots gather where good ones are dense, and the best "
            "score rises in steps.",
        ),
        Example(
            "sample:breast-cancer --model svm --strategy tpe --trials 9",
            "Fewer trials than its random start of ten: nothing was learned, this was random "
            "search.",
            "Give it 50 trials or more, or take a Gaussian process, which learns from the first "
            "few.",
        ),
    ),
    "cma-es": ExamplePair(
        "Take it for several numbers to tune and trials that cost little.",
        Example(
            "sample:breast-cancer --model svm --strategy cma-es --trials 80",
            "The cloud of trials moves to a good region and shrinks there: late trials lie close "
            "together and score well.",
        ),
        Example(
            "sample:breast-cancer --model svm --strategy cma-es --trials 10",
            "Ten trials are a round or two: the cloud has hardly moved from the middle of the "
            "ranges.",
            "Give it 100 trials or more; with fewer, take a Gaussian process.",
        ),
    ),
    "race": ExamplePair(
        "Take it when you do not know which model suits your table: that is nearly always.",
        Example(
            "sample:breast-cancer --strategy race --model auto --minutes 0.7",
            "One model leads clearly, those behind were given up early, and the time went to the "
            "few that may still win. All are far above the baseline.",
        ),
        Example(
            f"{_NOISE} --strategy race --model auto --minutes 0.4",
            "No model is above the baseline, and their scores lie within each other's standard "
            "errors: who leads is chance, because the target is pure noise.",
            "More minutes do not help here. Check the target, or look for columns that have to do "
            "with it.",
        ),
    ),
}
