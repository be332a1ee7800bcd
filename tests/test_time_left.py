"""The progress bar knows how long a fit will take."""

from __future__ import annotations

import numpy as np
import pytest

import juror
from juror import progress as bar
from juror.errors import ParameterError
from juror.progress import Progress


class Clock:
    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("juror.progress.time", clock)
    return clock


def step(seconds_left, start=1):
    return Progress("fitting", 3, start, 10, 1, 1, -2.5, seconds_left=seconds_left)


class TestExpectedEnd:
    def test_time_goes_on_between_reports(self, clock):
        end = bar.ExpectedEnd()
        assert end.in_words() == ""
        end.update(step(60.0))
        clock.now += 2.9
        assert end.in_words() == ""
        clock.now += 0.1
        assert end.in_words() == "about 55 s left"
        clock.now += 27.0
        assert end.in_words() == "about 30 s left"
        clock.now += 28.0
        assert end.in_words() == "a few s left"
        clock.now += 20.0
        assert end.in_words() == "taking longer"

    def test_reports_that_follow_closely_move_the_end_little(self, clock):
        end = bar.ExpectedEnd()
        end.update(step(60.0))
        for seconds_left in (20.0, 100.0) * 20:
            clock.now += 0.01
            end.update(step(seconds_left))
        clock.now += 3.0
        assert end.in_words() in ("about 55 s left", "about 1 min left")
        # After a while a report counts nearly whole.
        clock.now += 30.0
        end.update(step(600.0))
        assert end.in_words() == "about 10 min left"

    def test_the_share_never_falls(self, clock):
        end, shares = bar.ExpectedEnd(), []
        for seconds_left in (10.0, 40.0, 30.0, 20.0, 200.0, 10.0, 0.0):
            clock.now += 10.0
            end.update(step(seconds_left))
            shares.append(end.share)
        assert shares == sorted(shares)
        assert 0.0 < shares[0] < shares[-1] <= 1.0

    def test_steps_are_counted_where_nothing_tells_the_time(self, clock):
        end = bar.ExpectedEnd()
        end.update(step(None, start=4))
        assert end.share == pytest.approx(0.4)
        assert end.in_words() == ""

    def test_reports_without_a_time_leave_it_until_another_stage_begins(self, clock):
        end = bar.ExpectedEnd()
        end.update(step(60.0))
        clock.now += 20.0
        end.update(step(None))
        assert end.in_words() == "about 40 s left"
        end.update(step(40.0))
        share = end.share
        assert share > 0.3
        end.update(Progress("fitting labels", 3, 1, 10, 1, 1))
        assert end.in_words() == ""
        assert end.share == share


def told(codes, **options):
    steps = []
    domain = juror.Domain.from_cardinalities([3] * codes.shape[1])
    juror.fit(codes, domain=domain, n_jobs=1, progress=steps.append, **options)
    return steps


CODES = np.random.default_rng(0).integers(0, 3, (300, 4))


@pytest.mark.filterwarnings("ignore:The chains have not mixed well")
@pytest.mark.parametrize("options", [{"method": "em", "ensemble": 3}, {"sweeps": 60, "draws": 10}])
def test_fits_tell_the_time_that_is_left(options):
    left = [each.seconds_left for each in told(CODES, **options)]
    assert all(each >= 0.0 for each in left)
    # Nothing is left after the last report.
    assert left[-1] == 0.0
    assert sum(each == 0.0 for each in left) == 1


# On a busy machine the budget ends before all members are fitted.
@pytest.mark.filterwarnings("ignore:max_seconds = 0.5 was enough for:juror.FitWarning")
@pytest.mark.filterwarnings("ignore:The fit spent max_seconds = 0.5:juror.FitWarning")
def test_no_more_time_is_left_than_the_budget():
    steps = told(np.random.default_rng(1).integers(0, 3, (400, 30)), method="em", ensemble=50, max_seconds=0.5)
    assert max(step.seconds_left for step in steps if step.seconds_left is not None) <= 0.5


def test_a_fit_draws_a_bar_if_asked_for(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    juror.fit(juror.datasets.titanic(), 4, "em", progress=True)
    assert "rank 4" in capsys.readouterr().err
    juror.fit(juror.datasets.titanic(), 4, "em", progress=False)
    assert capsys.readouterr().err == ""
    with pytest.raises(ParameterError, match="progress must be True, False or a function"):
        juror.fit(juror.datasets.titanic(), 2, progress="yes")
