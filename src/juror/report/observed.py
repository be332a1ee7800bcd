"""What a table shows beside what a model says of it: the facts behind the page when data are given."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np

from juror.answers.calibration import calibration
from juror.answers.posterior import CPD
from juror.answers.rows import log_prob
from juror.answers.tables import marginal
from juror.errors import DataError, check_count
from juror.logs import log_of
from juror.report.gaps import marginal_gaps, pair_gaps
from juror.report.passing import RowSample, Seen, pass_over
from juror.report.unusual import unusual_rows
from juror.sources.columns import MISSING
from juror.sources.runners import LocalRunner
from juror.threads import one_blas_thread
from juror.variable import Unknown

# Predicting a cell looks up the row's cells in every class, and weighs every label by it, which takes about twice as
# long each; so much of both is done in some seconds
_CALIBRATION_WORK = 3e10
_LEAST_CALIBRATED = 200


def observed_facts(
    model: CPD,
    data: Any,
    *,
    unknown: Unknown = "error",
    weight: Any = None,
    seed: int = 0,
    n_jobs: int | None = None,
    client: Any = None,
    max_rows: int = 5_000,
    max_cells: int = 60_000,
    n_unusual: int = 20,
) -> dict[str, Any]:
    """Compare a table with a model, in plain values that JSON can hold.

    One pass over the table counts every variable and every pair of them, and draws rows, by which all is judged that
    depends on whole rows. Variables come in the order of the model's. What is not a number, or not a finite one, is
    None.

    Parameters
    ----------
    model : CPD
        A :class:`juror.JointPMF`, or what else has weights, factors and a domain.
    data : frame, mapping, array, path or stream
        Rows, as in :func:`juror.fit`. Variables whose column is absent are missing in every row.
    unknown : {"error", "warn", "missing"}
        What to do with labels that the model does not know.
    weight : array-like (n_rows,) or str, optional
        How often each row counts, or the name of the column that says so.
    seed : int
        The same seed draws the same rows.
    n_jobs, client : optional
        Who reads the rows, as in :func:`juror.fit`; the facts do not depend on it.
    max_rows : int
        How many rows to draw, where there are more.
    max_cells : int
        How many cells of pair tables to give, those of the worst pairs first.
    n_unusual : int
        How many unusual rows to give.

    Returns
    -------
    dict
        ``n_rows``, the weight of all rows; ``missing``, for every variable the share of it in which the cell is
        missing; ``marginals``, ``pairs``, ``n_pairs_without_table`` and ``n_pairs_never_seen_together``, as
        :mod:`juror.report.gaps` makes them. By the rows that were drawn: ``n_rows_judged``, their weight;
        ``n_impossible``, the weight of those that are impossible under the model; ``mean_log_prob`` in nats, and of the
        product of the model's marginals, ``mean_log_prob_independent``, and of the uniform table,
        ``mean_log_prob_uniform``, each None where it is infinite; ``unusual``, as :mod:`juror.report.unusual` makes
        them; ``calibration``, for every variable the fields of a :class:`juror.answers.calibration.Calibration`, None
        where no row can be judged, by rows of the weight ``n_rows_calibrated``: fewer, where the model is large.

    Examples
    --------
    >>> import juror
    >>> titanic = juror.datasets.titanic()
    >>> facts = observed_facts(juror.fit(titanic, rank=4), titanic)
    >>> facts["n_rows"], facts["n_rows_judged"], facts["calibration"][3]["target"]
    (2201.0, 2201.0, 'Survived')
    >>> facts["mean_log_prob"] > facts["mean_log_prob_independent"] > facts["mean_log_prob_uniform"]
    True
    """
    check_count("max_rows", max_rows)
    check_count("max_cells", max_cells, least=0)
    check_count("n_unusual", n_unusual, least=0)
    reading: dict[str, Any] = {"unknown": unknown, "weight": weight, "n_jobs": n_jobs, "client": client}
    with one_blas_thread():
        seen = pass_over(data, model.domain, n_sampled=max_rows, seed=seed, **reading)
        return {**_counted(model, seen, max_cells), **_judged(model, seen.sample, n_unusual, seed, n_jobs)}


def _counted(model: CPD, seen: Seen, max_cells: int) -> dict[str, Any]:
    """Return what is known of all rows."""
    N = len(model.domain)
    singles, pairs = seen.tables[:N], seen.tables[N:]
    return {
        "n_rows": seen.total,
        "missing": [max(0.0, 1.0 - float(counts.sum()) / seen.total) for counts in singles],
        "marginals": marginal_gaps(model, singles),
        **pair_gaps(model, pairs, max_cells),
    }


def _judged(model: CPD, drawn: RowSample, n_unusual: int, seed: int, n_jobs: int | None) -> dict[str, Any]:
    """Return what is known of rows that were drawn."""
    rows = drawn.distinct()
    logs = log_prob(model, rows.codes)
    rng = np.random.default_rng([int(seed), 13])
    return {
        "n_rows_judged": float(rows.weights.sum()),
        "n_impossible": float(rows.weights[logs == -np.inf].sum()),
        "mean_log_prob": _mean(logs, rows.weights),
        "mean_log_prob_independent": _mean(independent_log_prob(model, rows.codes), rows.weights),
        "mean_log_prob_uniform": _mean(uniform_log_prob(model, rows.codes), rows.weights),
        "unusual": unusual_rows(model, rows, logs, n_unusual, rng) if n_unusual else [],
        **_calibrated(model, drawn, n_jobs),
    }


def _mean(logs: np.ndarray, weights: np.ndarray) -> float | None:
    return _finite(float(weights @ logs / weights.sum()))


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


def independent_log_prob(model: CPD, codes: np.ndarray) -> np.ndarray:
    """Return the log-probability of every row of codes (rows, N) under the product of the model's marginals, (rows,).

    Missing cells are summed out, here and under the uniform table.
    """
    # a label more for missing, whose logarithm is 0
    logs = (np.append(log_of(marginal(model, [n])), 0.0)[codes[:, n]] for n in range(len(model.domain)))
    return np.asarray(sum(logs))


def uniform_log_prob(model: CPD, codes: np.ndarray) -> np.ndarray:
    """Return the log-probability of every row of codes (rows, N) under the uniform table, (rows,)."""
    return np.asarray((codes != MISSING) @ -np.log(model.domain.cardinalities))


def rows_to_calibrate(rank: int, cardinalities: tuple[int, ...], n_rows: int) -> int:
    """Return by how many of the rows predictions are judged: all, or as many as there is time for.

    >>> rows_to_calibrate(30, (10,) * 30, 5_000), rows_to_calibrate(12_288, (10,) * 30, 5_000)
    (5000, 1627)
    """
    work = rank * sum(len(cardinalities) + 2 * size for size in cardinalities)
    return min(n_rows, max(_LEAST_CALIBRATED, int(_CALIBRATION_WORK / work)))


def _calibrated(model: CPD, drawn: RowSample, n_jobs: int | None) -> dict[str, Any]:
    """Return the calibration of every variable."""
    some = drawn.first(rows_to_calibrate(len(model.weights), model.domain.cardinalities, len(drawn)))
    rows = some.distinct()

    def of_variable(target: int) -> dict[str, Any] | None:
        try:
            found = calibration(model, rows.codes, rows.weights, target)
        except DataError:
            # no row shows it, or none that does is possible: there is nothing to tell, and the page says so
            return None
        return {name: _plain(value) for name, value in asdict(found).items()}

    with LocalRunner(n_jobs) as runner:
        judged = list(runner.map(of_variable, range(len(model.domain))))
    return {"n_rows_calibrated": float(rows.weights.sum()), "calibration": judged}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return _finite(value) if isinstance(value, float) else value
