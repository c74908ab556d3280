"""Whoever speaks of a run names the same best trial: text, command line and views."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.cli.progress_line import ProgressLine
from app.session.shown_run import ShownRun
from app.text.narration import narration
from app.text.run_head import progress_text
from core.tuning.events import (
    Progress,
    RunResumed,
    RunStarted,
    TrialExcluded,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)

SCORES = (0.52, 0.81, 0.77, 0.93, 0.64, 0.88)  # of trials 0 to 5; 0 is the default setting
NUMBERS = st.integers(1, 5)
EVENTS = st.lists(
    st.one_of(
        st.builds(lambda n: TrialFinished(number=n, score=SCORES[n], setting={"C": n}), NUMBERS),
        st.builds(TrialFailed, number=NUMBERS, reason=st.just("It failed.")),
        st.builds(TrialExcluded, number=st.integers(0, 5), excluded=st.booleans()),
        st.just(RunResumed(done=3, total=9)),
    ),
    max_size=14,
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def best_of(maximize, events):
    """The best score that counts, from the whole list."""
    last = {e.number: e for e in events if isinstance(e, (TrialFinished, TrialFailed))}
    out = {e.number: e.excluded for e in events if isinstance(e, TrialExcluded)}
    scores = [e.score for n, e in last.items() if isinstance(e, TrialFinished) and not out.get(n)]
    return (max if maximize else min)(scores, default=None)


def named(pattern, said):
    number = r"([\d.]*\d)(\u00a0%)?"
    found = re.findall(pattern.replace("NUMBER", number), said)
    return round(float(found[-1][0]) / (100 if found[-1][1] else 1), 4) if found else None


@pytest.fixture
def shown(board):
    """What everybody says of a run that ends with these events."""

    def say(events, kept):
        terminal = Terminal()
        told = ProgressLine(terminal)
        told.replay_events(events[:kept])  # as after a resume
        for event in events[kept:]:
            told.consume(event)
        run = ShownRun(events, None)
        board.show_run(run.state)
        moment, now = (progress_text(s, "running") for s in (run.state_after(kept), run.state))
        last_line, story = terminal.getvalue().rsplit("\r", 1)[-1], " ".join(narration(run.state))
        return {
            "narrator": named(r"The best so far is trial \d+ with NUMBER", story),
            "head": named(r"best accuracy NUMBER", now),
            "command line": named(r"best NUMBER", last_line),
            "best so far": named(r"^Best NUMBER after", board.views["best"].describe()),
            "table": named(r"is the best with NUMBER", board.views["trials"].describe()),
            "moment": named(r"best accuracy NUMBER", moment),
        }

    return say


@given(st.booleans(), EVENTS, st.integers(0, 99))
@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_everybody_names_the_same_best(shown, maximize, more, part):
    events = [
        RunStarted(plan={"strategy": "random", "model": "svm"}, maximize=maximize, total=9),
        TrialStarted(number=0, reason="default"),
        TrialFinished(number=0, score=SCORES[0]),
        *more,
        Progress(),
    ]
    kept = 3 + part % (len(more) + 1)
    said, best = shown(events, kept), best_of(maximize, events)
    assert said.pop("moment") == best_of(maximize, events[:kept])
    narrated = said.pop("narrator")
    assert set(said.values()) == {best}
    assert narrated == (None if best == SCORES[0] else best)
