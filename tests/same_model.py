"""One contract for every source: the same table gives the same counts, bit for bit, and the same fits, to 1e-9.

A source is a function of what a test gives it (a folder to write to) that returns the arguments of ``juror.fit``.
"""

import numpy as np
import pyarrow as pa
import pytest

import juror

SIZES = (3, 2, 4, 2, 3)
NAMES = tuple(f"x{n}" for n in range(len(SIZES)))
N_ROWS = 400


def _codes():
    """Codes of a table with holes in it that shows every label of every column."""
    rng = np.random.default_rng(8)
    classes = rng.integers(2, size=N_ROWS)
    noise = [(rng.random(N_ROWS) < 0.3) * rng.integers(size, size=N_ROWS) for size in SIZES]
    codes = np.stack([(classes * (size - 1) + n) % size for size, n in zip(SIZES, noise, strict=True)], axis=1)
    codes[rng.random(codes.shape) < 0.15] = -1
    return codes


CODES = _codes()
TABLE = pa.table({name: pa.array(CODES[:, n], mask=CODES[:, n] < 0) for n, name in enumerate(NAMES)})
# the same with names for labels
TEXT = pa.table(
    {name: pa.array([None if code < 0 else f"label {code}" for code in CODES[:, n]]) for n, name in enumerate(NAMES)}
)
TABLES = {"numbers": TABLE, "text": TEXT}


def fitted(source, method, **options):
    return juror.fit(*source[0], rank=2, method=method, **source[1], **options)


@pytest.mark.filterwarnings("ignore::juror.DataWarning", "ignore::juror.FitWarning")
class SameModel:
    """Tests that a source inherits; it gives ``source``, a fixture of (positional, keyword) arguments of a table."""

    @pytest.fixture(params=["numbers", "text"])
    def labels(self, request):
        return request.param

    def test_counts_are_the_same_bits(self, source, labels):
        expected = juror.PairCounts.of(TABLES[labels])
        found = juror.PairCounts.of(*source[0], **source[1])
        assert found.domain == expected.domain
        for a, b in zip(found.tables, expected.tables, strict=True):
            assert np.array_equal(a, b)

    def test_fits_to_counts_are_the_same_bits(self, source, labels):
        expected, found = juror.fit(TABLES[labels], rank=2, method="spa"), fitted(source, "spa")
        assert found.domain == expected.domain
        assert np.array_equal(found.weights, expected.weights)
        assert all(np.array_equal(a, b) for a, b in zip(found.factors, expected.factors, strict=True))

    def test_em_is_the_same(self, source, labels):
        # All starts, but few steps of each: a pass that differs shows in the first. To the end they take 400 passes.
        expected = juror.fit(TABLES[labels], rank=2, method="em", max_iter=20)
        found = fitted(source, "em", max_iter=20)
        assert found.domain == expected.domain
        np.testing.assert_allclose(found.weights, expected.weights, rtol=0, atol=1e-9)
        for a, b in zip(found.factors, expected.factors, strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-9)
        assert found.info.log_likelihood == pytest.approx(expected.info.log_likelihood, abs=1e-7)
