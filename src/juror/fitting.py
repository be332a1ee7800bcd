"""juror.fit: from data to a model, through domain, statistic and solver."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from juror.answers.posterior import CPD, BareCPD
from juror.answers.rows import log_prob
from juror.domain import Domain
from juror.errors import DataError, FitWarning, ParameterError, shortlist
from juror.info import FitInfo, RankScore
from juror.model import JointPMF, generator
from juror.progress import ProgressCallback
from juror.solvers.diagnosis import diagnose, empty_classes
from juror.solvers.parameters import Parameters, n_parameters
from juror.solvers.rank_path import choose_rank
from juror.solvers.search import Options, solve, without_empty_classes
from juror.sources.columns import MISSING
from juror.sources.runners import LocalRunner
from juror.stacking import Stacking
from juror.statistics.reading import read_rows
from juror.statistics.rows import WeightedRows
from juror.variable import Label, Unknown

_METHODS = ("auto", "em")
_HELD_OUT = 0.2
_MOST_RANK = 512
# To compare ranks, a start of each kind and steps that gain this much a row are enough; more would blur what decides.
_ROUGH_TOL = 1e-5
_ROUGH_STARTS = 2


def fit(
    data: Any,
    rank: int | str = "auto",
    method: str = "auto",
    *,
    seed: int = 0,
    domain: Domain | None = None,
    missing: Collection[Label] = (),
    unknown: Unknown = "error",
    sample_weight: Any = None,
    target: str | None = None,
    n_init: int = 3,
    smoothing: float = 0.1,
    accelerate: bool = True,
    max_iter: int = 1000,
    tol: float = 1e-6,
    init: JointPMF | None = None,
    progress: ProgressCallback | None = None,
    n_jobs: int | None = None,
) -> JointPMF:
    """Learn the joint distribution of a table with holes in it.

    Parameters
    ----------
    data : frame, mapping, array or path
        A pandas, polars or pyarrow frame, a dict of columns, the path of a ``.csv`` or ``.parquet`` file, or a 2-D
        array of integer codes with −1 (or NaN) for missing. A 2-D array of numbers with fractions is read as
        columns of numbers.
    rank : int or "auto"
        The number of classes F. ``"auto"`` grows it while held-out rows become more probable.
    method : {"auto", "em"}
        The solver; ``"auto"`` is ``"em"`` for now.
    seed : int
        The same seed gives the same model, for any number of threads.
    domain : Domain, optional
        The variables; found in the data by default, see :meth:`Domain.infer` for choices about bins and order.
    missing : collection
        Markers that stand for a missing value besides null and NaN, such as ``["?"]``.
    unknown : {"error", "warn", "missing"}
        What to do with values that are not among the labels of the given domain.
    sample_weight : array-like (n_rows,) or str, optional
        How often each row counts, or the name of the column that says so.
    target : str, optional
        A variable to predict: ``predict`` takes it by default, and ``rank="auto"`` then scores the log-probability of
        held-out labels of the target given the rest of their row, not of whole rows.
    n_init : int
        How many random starts, of two kinds in turn; the best is returned and all are recorded.
    smoothing : float
        A pseudo-count for every cell of weights and factors, spread over the labels of a variable as they are spread in
        the data; 0 for maximum likelihood.
    accelerate : bool
        Whether to try long steps (SQUAREM), which never lower the objective.
    max_iter : int
        The most passes over the rows from one start.
    tol : float
        Stop when a step gains at most this, in nats a row.
    init : JointPMF, optional
        Start here, in place of random starts; its rank counts.
    progress : callable, optional
        Called with a :class:`juror.Progress` after every step.
    n_jobs : int, optional
        How many threads; all cores by default.

    Returns
    -------
    JointPMF
        With the record of the fit in ``model.info``.

    Examples
    --------
    >>> import juror
    >>> model = juror.fit(juror.datasets.titanic(), rank=4)
    >>> round(model.ask("Survived | Sex = Female, Class = 1st")["Yes"], 2)
    0.97
    """
    options = Options(n_init, smoothing, accelerate, max_iter, tol, seed, progress)
    if method not in _METHODS:
        raise ParameterError(f"method must be one of {shortlist(_METHODS)}. Got {method!r} instead.")
    domain, rows, n_rows = read_rows(data, domain, missing, unknown, sample_weight)
    target_position = None if target is None else domain.position(target)
    rank = _check_rank(rank, init, domain)
    stacking = Stacking(domain.cardinalities)
    start = None if init is None else Parameters.of(init.weights, init.factors, stacking)
    with LocalRunner(n_jobs) as runner:
        path: tuple[RankScore, ...] = ()
        if isinstance(rank, str):
            rank, path = _choose(rows, domain, target_position, options, runner)
        runs = solve(rows, stacking, rank, options, runner, init=start)
        best = max(runs, key=lambda run: run.point.objective)
        if path:
            best = without_empty_classes(best, rows, stacking, options, runner)
    # counts as weights stand for more rows than the table has, weights that sum to one for fewer
    complaints = diagnose(best, max(rows.total, n_rows), domain)
    for complaint in complaints:
        warnings.warn(complaint, FitWarning, stacklevel=2)
    info = FitInfo(
        method="em",
        rank=best.point.parameters.rank,
        n_rows=rows.total,
        n_distinct=len(rows.codes),
        log_likelihood=best.point.log_likelihood,
        n_parameters=n_parameters(best.point.parameters.rank, domain.cardinalities),
        smoothing=float(smoothing),
        seed=int(seed),
        starts=tuple(run.point.objective for run in runs),
        trace=best.trace,
        stopped=best.reason,
        n_iter=best.n_passes,
        rank_path=path,
        target=target,
        warnings=complaints,
    )
    solution = _as_cpd(best.point.parameters, domain)
    return JointPMF(solution.weights, solution.factors, domain, info)


def _check_rank(rank: int | str, init: JointPMF | None, domain: Domain) -> int | str:
    if init is not None:
        if init.domain.cardinalities != domain.cardinalities:
            raise ParameterError(
                f"init has variables of {shortlist(init.domain.cardinalities)} labels, the data of "
                f"{shortlist(domain.cardinalities)}. They must agree."
            )
        if [(v.name, v.labels) for v in init.domain] != [(v.name, v.labels) for v in domain]:
            raise ParameterError("init has variables of other names or labels than the data. They must agree.")
        if rank not in ("auto", init.rank):
            raise ParameterError(f"rank is {rank!r}, but init has rank {init.rank}. Leave rank out.")
        return init.rank
    if rank == "auto":
        return rank
    if isinstance(rank, bool) or not isinstance(rank, (int, np.integer)) or rank < 1:
        raise ParameterError(f"rank must be 'auto' or an int in the range [1, inf). Got {rank!r} instead.")
    return int(rank)


def _choose(
    rows: WeightedRows, domain: Domain, target: int | None, options: Options, runner: LocalRunner
) -> tuple[int, tuple[RankScore, ...]]:
    """Choose the rank whose fit to most of the rows makes the others most probable."""
    kept, held = rows.split(_HELD_OUT, generator(options.seed))
    if kept.total == 0 or held.total == 0:
        warnings.warn(
            f"{rows.total:g} rows are too few to hold some out and choose a rank; rank=1 is used. Pass rank=…",
            FitWarning,
            stacklevel=3,
        )
        return 1, ()

    rough = replace(options, n_init=min(options.n_init, _ROUGH_STARTS), tol=max(options.tol, _ROUGH_TOL))

    def score(rank: int) -> RankScore:
        runs = solve(kept, Stacking(domain.cardinalities), rank, rough, runner, stage="choosing rank")
        parameters = max(runs, key=lambda run: run.point.objective).point.parameters
        held_out = _held_out_score(_as_cpd(parameters, domain), held, target)
        return RankScore(rank, held_out, int(np.sum(~empty_classes(parameters, kept.total))))

    rank, path = choose_rank(score, min(_MOST_RANK, len(kept.codes)))
    if all(step.score == -np.inf for step in path):
        raise ParameterError(
            f"Some held-out row has probability zero at every rank tried, {shortlist(step.rank for step in path)}, so "
            "none can be chosen. Pass smoothing above zero, or rank=…"
        )
    return rank, path


def _held_out_score(cpd: CPD, held: WeightedRows, target: int | None) -> float:
    """Return the mean log-probability of held-out rows, or of their targets given the rest; −inf for the impossible."""
    if target is None:
        return float(held.weights @ log_prob(cpd, held.codes)) / held.total
    labelled = held.codes[:, target] >= 0
    codes, weights = held.codes[labelled], held.weights[labelled]
    if not len(codes):
        raise DataError(
            f"No held-out row has a label of the target {cpd.domain[target].name!r}, so no rank can be chosen by it. "
            "Pass rank=…"
        )
    blind = codes.copy()
    blind[:, target] = MISSING
    whole = log_prob(cpd, codes)
    given_rest = np.where(np.isneginf(whole), whole, whole - np.where(np.isneginf(whole), 0.0, log_prob(cpd, blind)))
    return float(weights @ given_rest) / float(weights.sum())


def _as_cpd(parameters: Parameters, domain: Domain) -> BareCPD:
    return BareCPD(parameters.lam, Stacking(domain.cardinalities).unstack(parameters.stack), domain)
