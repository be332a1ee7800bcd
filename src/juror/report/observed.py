"""A table compared with a model: the facts behind the page when data are given."""

from __future__ import annotations

import math
from dataclasses import asdict
from itertools import combinations
from typing import Any

import numpy as np

from juror.answers.block import Mixture
from juror.answers.calibration import calibration
from juror.answers.checking import check
from juror.answers.marginals import marginal
from juror.answers.scores import log_prob
from juror.counts.counts import PairCounts
from juror.domain import Domain
from juror.errors import DataError
from juror.kernels.logarithms import log_of
from juror.kernels.random_streams import Stream
from juror.readers.columns import MISSING
from juror.record import finite
from juror.report.counted import together_facts
from juror.report.gaps import marginal_gaps, pair_gaps
from juror.report.seen import Seen
from juror.report.unusual import unusual_rows
from juror.runners.blas import one_blas_thread
from juror.runners.local import LocalRunner

# To predict a cell, the other cells of its row are looked up in every class, and every label is weighted by every
# class, which takes about twice as long. This many such steps take some seconds.
_CALIBRATION_WORK = 3e10
_LEAST_CALIBRATED = 200
# The worst pairs are among the worst questions, of which a pair has at most some hundreds.
_WORST_PAIRS, _MOST_QUESTIONS = 20, 20_000
_UNUSUAL = 20
# The facts that need single rows
_OF_ROWS = (
    "is_sampled",
    "n_rows_judged",
    "n_impossible",
    "mean_log_prob",
    "mean_log_prob_independent",
    "mean_log_prob_uniform",
    "unusual",
    "n_rows_calibrated",
    "calibration",
)


def observed_facts(
    model: Mixture, seen: Seen, *, by: Mixture | None = None, seed: int = 0, n_jobs: int | None = None
) -> dict[str, Any]:
    """Compare a table with a model, in plain values that JSON can hold.

    Variables have the order of the model. A value that is infinite or not a number is None.

    Parameters
    ----------
    model : Mixture
        A :class:`juror.JointPMF`, or anything else with blocks and a domain.
    seen : Seen
        Counts of the table's variables and pairs, and a sample of its rows; see :func:`juror.report.seen.pass_over`.
    by : Mixture, optional
        A smaller model near it, to judge single rows by.
    seed : int
        Seed of the rows that are drawn for comparison.
    n_jobs : int, optional
        Number of threads. The result does not depend on it.

    Returns
    -------
    dict
        ``source``, ``"data"``. From the counts: see :func:`counted_facts`.

        From the sample: ``is_sampled``, whether it is smaller than the table; ``n_rows_judged``, its weight;
        ``n_impossible``, the weight of rows that are impossible under the model; the mean log-probability in nats under
        the model, ``mean_log_prob``, under the product of its marginals, ``mean_log_prob_independent``, and under the
        uniform table, ``mean_log_prob_uniform``; ``unusual``, see :mod:`juror.report.unusual`; ``calibration``, for
        every variable the fields of a :class:`juror.answers.calibration.Calibration`, or None if no row can be judged;
        ``n_rows_calibrated``, the weight of the rows behind the calibration, fewer than the sample for large models.

    Examples
    --------
    >>> import juror
    >>> from juror.report.seen import pass_over
    >>> titanic = juror.datasets.titanic()
    >>> model = juror.fit(titanic, rank=4, method="em")
    >>> facts = observed_facts(model, pass_over(titanic, model.domain))
    >>> facts["n_rows"], facts["n_rows_judged"], facts["calibration"][3]["target"]
    (2201.0, 2201.0, 'Survived')
    >>> facts["mean_log_prob"] > facts["mean_log_prob_independent"] > facts["mean_log_prob_uniform"]
    True
    """
    with one_blas_thread():
        judged = _judged(model if by is None else by, seen, seed, n_jobs)
        counted = counted_facts(model, counts_of(seen, model.domain), seen.weights.worth)
        return {"source": "data", **counted, "is_sampled": seen.is_sampled, **judged}


def counts_of(seen: Seen, domain: Domain) -> PairCounts:
    """Return what was counted in the rows of a report."""
    N = len(domain)
    return PairCounts(domain, tuple(combinations(range(N), 2)), seen.tables[N:], seen.weights.total, seen.tables[:N])


def counted_facts(model: Mixture, counts: PairCounts, worth: float) -> dict[str, Any]:
    """Compare counts with a model; a weight of one is worth as many independent rows.

    Returns
    -------
    dict
        ``n_rows``, the weight of all rows; ``missing``, for every variable the share of rows in which it is missing,
        and ``marginals``, both None if only pairs were counted; ``together``, see
        :func:`juror.report.counted.together_facts`; ``pairs``, see :mod:`juror.report.gaps`; ``check``: ``n_cells``,
        ``n_well`` and ``n_off`` of a :class:`juror.answers.checking.CheckTable`, ``n_pairs_off``, the number of
        pairs of variables with a question that is far off, and ``questions``, the worst line of each of the worst
        pairs, if it is beyond chance.
    """
    alone: dict[str, Any] = {"missing": None, "marginals": None}
    if counts.singles is not None and counts.n_rows is not None:
        missing = [_share_missing(float(single.sum()), counts.n_rows) for single in counts.singles]
        alone = {"missing": missing, "marginals": marginal_gaps(model, counts.singles)}
    return {
        "n_rows": counts.n_rows,
        **alone,
        "together": together_facts(counts),
        "pairs": pair_gaps(model, counts),
        "check": _check_facts(model, counts, worth),
    }


def _check_facts(model: Mixture, counts: PairCounts, worth: float) -> dict[str, Any]:
    """Return how many cells are reproduced and questions off, and the worst one of each of the worst pairs."""
    table = check(model, counts, _MOST_QUESTIONS, worth)
    of_pairs = table.worst_of_pairs(len(counts.tables))
    worst = of_pairs.head(_WORST_PAIRS).to_dict()
    lines = [dict(zip(worst, values, strict=True)) for values in zip(*worst.values(), strict=True)]
    return {
        "n_cells": table.n_cells,
        "n_well": table.n_well,
        "n_off": table.n_off,
        "n_pairs_off": len(table.off().worst_of_pairs(len(counts.tables))),
        "questions": [line for line in lines if line["beyond_chance"] > 0],
    }


def facts_of_counts(model: Mixture, counts: PairCounts, worth: float = 1.0) -> dict[str, Any]:
    """Compare the counts of the rows that a model was fitted to with it, in the form of :func:`observed_facts`.

    What needs single rows is None.
    """
    with one_blas_thread():
        return {"source": "fit", **counted_facts(model, counts, worth), **dict.fromkeys(_OF_ROWS)}


def _share_missing(seen: float, total: float) -> float:
    """Return the share of the weight that is not seen. Sums of weights in another order differ by rounding."""
    return 0.0 if math.isclose(seen, total, rel_tol=1e-12) else 1.0 - seen / total


def _judged(model: Mixture, seen: Seen, seed: int, n_jobs: int | None) -> dict[str, Any]:
    """Return the facts about the sampled rows."""
    rows, calibrated = seen.draw(seen.n_sampled).distinct(), _calibrated(model, seen, n_jobs)
    logs = log_prob(model, rows.codes)
    rng = Stream.REPORT.generator(seed)
    return {
        "n_rows_judged": float(rows.weights.sum()),
        "n_impossible": float(rows.weights[logs == -np.inf].sum()),
        "mean_log_prob": _mean(logs, rows.weights),
        "mean_log_prob_independent": _mean(independent_log_prob(model, rows.codes), rows.weights),
        "mean_log_prob_uniform": _mean(uniform_log_prob(model, rows.codes), rows.weights),
        "unusual": unusual_rows(model, rows, logs, _UNUSUAL, rng),
        **calibrated,
    }


def _mean(logs: np.ndarray, weights: np.ndarray) -> float | None:
    mean: float | None = finite(float(weights @ logs / weights.sum()))
    return mean


def independent_log_prob(model: Mixture, codes: np.ndarray) -> np.ndarray:
    """Return the log-probability of every row of codes (rows, N) under the product of the model's marginals, (rows,).

    Missing cells are summed out, here and under the uniform table.
    """
    # The last entry is for missing cells: their logarithm is 0.
    logs = (np.append(log_of(marginal(model, [n])), 0.0)[codes[:, n]] for n in range(len(model.domain)))
    return np.asarray(sum(logs))


def uniform_log_prob(model: Mixture, codes: np.ndarray) -> np.ndarray:
    """Return the log-probability of every row of codes (rows, N) under the uniform table, (rows,)."""
    return np.asarray((codes != MISSING) @ -np.log(model.domain.cardinalities))


def rows_to_calibrate(rank: int, cardinalities: tuple[int, ...], n_rows: int) -> int:
    """Return how many rows to judge predictions by: all, or as many as there is time for.

    >>> rows_to_calibrate(30, (10,) * 30, 5_000), rows_to_calibrate(12_288, (10,) * 30, 5_000)
    (5000, 1627)
    """
    work = rank * sum(len(cardinalities) + 2 * size for size in cardinalities)
    return min(n_rows, max(_LEAST_CALIBRATED, int(_CALIBRATION_WORK / work)))


def _calibrated(model: Mixture, seen: Seen, n_jobs: int | None) -> dict[str, Any]:
    """Return the calibration of every variable."""
    # A subset is drawn anew: a heavy row that is drawn once must not count by its weight.
    n = rows_to_calibrate(sum(block.rank for block in model.blocks), model.domain.cardinalities, len(seen.held))
    rows = seen.draw(n).distinct()

    def of_variable(target: int) -> dict[str, Any] | None:
        try:
            found = calibration(model, rows.codes, rows.weights, target)
        except DataError:
            # No row shows the variable, or all that do are impossible. The page says so.
            return None
        facts: dict[str, Any] = finite(asdict(found))
        return facts

    with LocalRunner(n_jobs) as runner:
        judged = list(runner.map(of_variable, range(len(model.domain))))
    return {"n_rows_calibrated": float(rows.weights.sum()), "calibration": judged}
