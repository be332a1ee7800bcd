"""A diagnostic is added in one place: a field of the record, which file, summary and page then have."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

import juror
from juror.record import FitRecord, diagnostic
from juror.report import Report
from juror.solvers.stopping import Stop, Stopped
from juror.testing import random_model


@dataclass(frozen=True)
class DeeperRecord(FitRecord):
    """The record with one more diagnostic."""

    depth: float = diagnostic(0.0, "depth", lambda value: f"{value:g} steps")


RECORD = DeeperRecord(method="em", rank=2, n_rows=10.0, n_distinct=4, depth=3.0)


def test_a_new_diagnostic_is_written_and_read():
    plain = json.loads(json.dumps(RECORD.to_dict(), allow_nan=False))
    assert plain["depth"] == 3.0
    assert DeeperRecord.from_dict(plain) == RECORD
    # a file of before has none
    assert DeeperRecord.from_dict(FitRecord().to_dict()).depth == 0.0


def test_a_new_diagnostic_is_printed_and_shown():
    model = random_model([2, 3], 2, np.random.default_rng(0))
    model = juror.JointPMF(model.weights, model.factors, model.domain, RECORD)
    assert "\ndepth: 3 steps\n" in model.summary()
    assert Report(model).facts["fit"]["diagnostics"] == {"depth": "3 steps"}


def test_a_diagnostic_at_its_default_is_not_shown():
    assert DeeperRecord().diagnostics() == {}


def test_a_record_needs_what_the_first_version_had():
    plain = RECORD.to_dict()
    del plain["stopped"]
    with pytest.raises(KeyError, match="stopped"):
        FitRecord.from_dict(plain)


@pytest.mark.parametrize("stop", Stop)
def test_every_reason_to_stop_has_words(stop):
    text = str(Stopped(stop, 0.5, 7))
    assert text
    assert "{" not in text


def test_a_complaint_is_told_by_its_kind():
    codes = np.random.default_rng(0).integers(0, 3, size=(200, 4))
    with pytest.warns(juror.FitWarning) as caught:
        juror.fit(codes, 2, "juror-a", max_iter=1)
    kinds = {warning.message.message.kind for warning in caught if warning.category is juror.FitWarning}
    assert "max-iter" in kinds
