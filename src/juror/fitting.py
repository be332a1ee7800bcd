"""juror.fit: from data to a model, through domain, statistic and solver."""

from __future__ import annotations

import time
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

import numpy as np

from juror.choosing import SCORED_BY, Trial, as_cpd, choose_rank_for, choose_rho, choose_smoothing
from juror.domain import Domain
from juror.ensembles import MEMBERS_SCORED_BY, choose_settings, fit_ensemble
from juror.errors import DataWarning, FitWarning, ParameterError, check_count, shortlist
from juror.info import FitInfo, RankScore
from juror.model import JointPMF
from juror.packing import PackedCells
from juror.progress import ProgressCallback
from juror.solvers.deciding import decide_for_rows, decide_for_statistic
from juror.solvers.methods import METHODS, Method, Statistic
from juror.solvers.parameters import n_parameters
from juror.solvers.search import EMOptions, solve_em, without_empty_classes
from juror.solvers.solution import Context, Solution
from juror.sources.runners import LocalRunner
from juror.stacking import Stacking
from juror.statistics.designs import about_order
from juror.statistics.expected import log_prob_of_cells
from juror.statistics.projections import Projections
from juror.statistics.reading import read_rows
from juror.statistics.rows import WeightedRows
from juror.threads import one_blas_thread
from juror.variable import Label, Unknown

_CHOSEN_RANKS = ("auto", "cv")


class Options(TypedDict, total=False):
    """What may be set about one method or another; :func:`fit` tells which."""

    n_init: int
    smoothing: float
    accelerate: bool
    max_iter: int
    tol: float
    init: JointPMF | None
    split: Sequence[str] | None
    triples: str | int | Sequence[Sequence[str]] | None
    n_directions: int | None
    bins: int | None
    operator: str | None
    scores: Mapping[str, Sequence[float]] | None
    inversion: str
    filter: str | None
    rho: float | str | None
    prior: str | None
    prior_strength: float | None
    route: str
    chains: int
    sweeps: int
    burnt: int
    draws: int
    sparse: bool | None
    ensemble: int | str
    max_seconds: float | None


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
    progress: ProgressCallback | None = None,
    n_jobs: int | None = None,
    **options: Unpack[Options],
) -> JointPMF:
    """Learn the joint distribution of a table with holes in it.

    Parameters
    ----------
    data : frame, mapping, array, path or statistic
        A pandas, polars or pyarrow frame, a dict of columns, the path of a ``.csv`` or ``.parquet`` file, or a 2-D
        array of integer codes with −1 (or NaN) for missing. A 2-D array of numbers with fractions is read as
        columns of numbers. In place of rows also :class:`juror.PairCounts`, :class:`juror.TripleCounts` or
        :class:`juror.Projections`, with nothing else.
    rank : int, "auto" or "cv"
        The number of classes F, of every draw (``"bayes"``) or member (``ensemble``). ``"auto"`` changes it while a
        fifth of the rows, held out, become more probable, or the labels of a target are predicted better; ``"cv"``
        looks at five fifths in turn. For ``"bayes"`` no grid is needed: ``"auto"`` has more classes than are likely,
        and the weights learn to leave some empty.
    method : {"auto", "em", "bayes", "spa", "spa-em", "ctf", "juror-a", "juror-b", "juror-c"}
        The solver. ``"auto"`` decides, and ``model.info.why`` says how: for rows ``"bayes"`` up to 100,000 cells, an
        ensemble of ``"em"`` for more and for a target, ``"juror-b"`` where the distinct rows are too many for both, or
        the method whose options are given; ``"ctf"`` for triples, ``"juror-b"`` for pairs and projections.
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
        A variable to predict: ``predict`` takes it by default, and rank and smoothing are then chosen for its labels,
        not for whole rows.
    progress : callable, optional
        Called with a :class:`juror.Progress` after every step.
    n_jobs : int, optional
        How many threads; all cores by default, and for −1.

    Other Parameters
    ----------------
    smoothing : float, default 0.1 (all but bayes, which learns its own; ensembles choose it unless it is given)
        A pseudo-count for every cell of weights and factors, spread over the labels of a variable as they are spread in
        the data; 0 for none, which leaves rows with probability zero in methods other than EM.
    max_iter : int (all but spa)
        The most passes over the rows from one start (em, spa-em: 1000, after a search of some 500, which is left out
        for fewer), sweeps (ctf: 500), or rounds of G2 and steps of
        G3 (juror: 1000).
    tol : float (all but spa)
        Stop when a step gains at most this, in nats a row (em, spa-em: 1e-6) or as a share of the misfit (ctf: 1e-5,
        juror: 1e-4).
    n_init : int (em, ctf)
        How many random starts, for EM of two kinds in turn; the best is returned and all are recorded. By default ctf
        has 3, while EM searches by sampling more classes than asked for, which costs about as much as five random
        starts and ends higher.
    ensemble : int or "auto", default 1 (em)
        How many fits to put side by side, each from its own start and stopped early; their mean is one model of rank
        ``ensemble × rank``. ``"auto"`` is 10, or with ``max_seconds`` as many as there is time for, at most 100, and
        while there are no more than 12,288 classes in all.
    max_seconds : float (em, spa-em, bayes)
        A budget of time. An ensemble fits members until it is spent; a chain is made as long as it allows; EM stops
        where it is, and says so. How far a fit came then depends on the machine.
    accelerate : bool, default True (em, spa-em)
        Whether to try long steps (SQUAREM), which never lower the objective.
    init : JointPMF (em)
        Start here, in place of random starts; its rank counts.
    split : list of str (spa, spa-em, juror)
        The variables on the first side of SPA's matrix; by default both sides carry about the same rank.
    triples : "all", int, or list of three names each (ctf)
        Which triples of variables to count: all, that many at random, or these.
    n_directions, bins, operator, scores (juror)
        How pairs are projected: 200 directions by default; see :meth:`juror.Projections.of`.
    inversion : {"lstsq", "fbp"} (juror)
        Pair tables from histograms by least squares, exact, or by filtered back projection, which smooths.
    filter : {"ramp", "shepp-logan", "cosine", "hamming", "hann"} (juror)
        The filter of back projection.
    rho : float or "cv" (juror)
        How strongly G2 draws pair tables to the model (juror-a, juror-c); by default the number of directions, which is
        the diagonal of RᵗR where cells fall whole into bins.
    prior : {"smooth", "flat"} (juror-a, juror-b)
        Prefer factor columns of ordered variables that are smooth, or flat but for jumps, by ``prior_strength`` (1), on
        the scale of J, which grows with the directions and the pairs.
    chains, sweeps, burnt, draws : int, default 2, 1000, 400, 100 (bayes)
        How many chains of how many Gibbs sweeps, how many of the first to forget, and how many draws to keep of all.
        The model is the mean of the draws: side by side they have rank draws × F.
    sparse : bool (bayes)
        Whether the prior of the weights favours few classes among many; by default for ``rank="auto"`` only.
    route : {"auto", "gram", "literal"} (juror)
        Whether to compare histograms (literal) or pair tables in the metric RᵗR, which is the same and does not grow
        with the number of directions.

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
    check_count("seed", seed, least=0)
    if progress is not None and not callable(progress):
        raise ParameterError(f"progress must be a function to call with every step. Got {progress!r} instead.")
    began = time.monotonic()
    rows = None
    if isinstance(data, Statistic):
        _check_alone(domain, missing, unknown, sample_weight)
        domain, decision = data.domain, decide_for_statistic(data, method)
    else:
        domain, rows = read_rows(data, domain, missing, unknown, sample_weight)
        decision = decide_for_rows(rows, domain, rank, method, target, options)
    name, chosen = decision.method, METHODS[decision.method]
    settings = chosen.read_options(name, {**decision.options, **options})
    _check_members(settings, options)
    rank = _check_rank(rank, options.get("init"), domain, data)
    target_position = None if target is None else domain.position(target)
    # projections that come made were warned of when they were made
    about_data = about_order(domain) if chosen.projects and not isinstance(data, Projections) else ()
    for sentence in about_data:
        warnings.warn(sentence, DataWarning, stacklevel=2)
    with LocalRunner(n_jobs) as runner, one_blas_thread():
        seconds = getattr(settings, "max_seconds", None)
        context = Context(int(seed), runner, progress, until=np.inf if seconds is None else began + seconds)
        if rows is None:
            found = _from_statistic(data, int(rank), chosen, settings, context)
        else:
            trial = Trial(rows, domain, chosen, target_position, context)
            found = _search(trial, rank, settings, smoothing_given="smoothing" in options)
        log_likelihood = _log_likelihood(found.solution, rows, domain, runner)
    for complaint in found.solution.complaints:
        warnings.warn(complaint, FitWarning, stacklevel=2)
    cpd = as_cpd(found.solution.parameters, domain)
    info = FitInfo(
        method=name,
        n_rows=float(data.totals.max()) if rows is None else rows.total,
        n_distinct=None if rows is None else len(rows.codes),
        log_likelihood=log_likelihood,
        n_parameters=n_parameters(len(cpd.weights), domain.cardinalities),
        smoothing=found.smoothing,
        why=decision.why,
        seed=int(seed),
        target=target,
        warnings=about_data + found.solution.complaints,
        **found.record(),
    )
    return JointPMF(cpd.weights, cpd.factors, domain, info)


@dataclass(frozen=True)
class _Found:
    """A solution, and how its rank and ρ were chosen if they were."""

    solution: Solution
    smoothing: float = 0.0
    rank_path: tuple[RankScore, ...] = ()
    smoothing_path: tuple[tuple[float, float], ...] = ()
    rho_path: tuple[tuple[float, float], ...] = ()
    chosen_by: str = ""

    def record(self) -> dict[str, Any]:
        """Return what goes into the record of the fit as it is."""
        solution = self.solution
        return {
            "rank": solution.parameters.rank,
            "starts": solution.starts,
            "trace": solution.trace,
            "stopped": solution.reason,
            "n_iter": solution.n_iter,
            "stages": dict(solution.stages),
            "n_draws": solution.n_draws,
            "n_members": solution.n_members,
            "occupied": solution.occupied,
            "mixing": dict(solution.mixing),
            "projected": solution.projected,
            "rho": solution.rho,
            "rank_path": self.rank_path,
            "smoothing_path": self.smoothing_path,
            "rho_path": self.rho_path,
            "chosen_by": self.chosen_by,
        }


def _from_statistic(data: Statistic, rank: int, method: Method, settings: Any, context: Context) -> _Found:
    assert method.solve_statistic is not None
    solution = method.solve_statistic(data, rank, settings, context)
    return _Found(solution, float(getattr(settings, "smoothing", 0.0)))


def _search(trial: Trial, rank: int | str, settings: Any, *, smoothing_given: bool) -> _Found:
    """Choose what is to be chosen, and fit all rows."""
    if isinstance(settings, EMOptions) and settings.ensemble != 1:
        return _ensemble(trial, rank, settings, smoothing_given=smoothing_given)
    chosen_by = trial.measure(SCORED_BY.get(str(rank), "share"))
    over_complete = trial.method.over_complete
    if isinstance(rank, str) and over_complete is not None:
        if rank == "cv":
            raise ParameterError("rank='cv' is for methods that do not learn how many classes there are: pass 'auto'.")
        rank = over_complete
        if settings.sparse is None:
            settings = replace(settings, sparse=True)
    rank_path: tuple[RankScore, ...] = ()
    smoothing_path: tuple[tuple[float, float], ...] = ()
    rho_path: tuple[tuple[float, float], ...] = ()
    if isinstance(rank, str):
        how, chosen = rank, choose_rank_for(trial, settings, rank)
        rank, rank_path = chosen.rank, chosen.path
        if isinstance(settings, EMOptions) and trial.target is not None and chosen.found and not smoothing_given:
            smoothing, smoothing_path = choose_smoothing(trial, settings, rank, chosen.found, how)
            settings = replace(settings, smoothing=smoothing)
    if getattr(settings, "rho", None) == "cv":
        rho, rho_path = choose_rho(trial, settings, rank)
        settings = replace(settings, rho=rho)
    everything = (trial.rows, trial.domain, rank, settings, trial.context)
    if rank_path and isinstance(settings, EMOptions):
        solution = solve_em(*everything, found=chosen.found[:1])
        solution = without_empty_classes(solution, trial.rows, trial.domain, settings, trial.context)
    else:
        solution = trial.method.solve_rows(*everything)
    return _Found(
        solution,
        float(getattr(settings, "smoothing", 0.0)),
        rank_path,
        smoothing_path,
        rho_path,
        chosen_by if rank_path or rho_path else "",
    )


def _ensemble(trial: Trial, rank: int | str, settings: EMOptions, *, smoothing_given: bool) -> _Found:
    if rank == "cv":
        raise ParameterError(
            "rank='cv' is for single fits, and members of an ensemble hold out rows of their own. Pass rank='auto', or "
            "leave ensemble out."
        )
    shared = choose_settings(trial, settings, rank, with_smoothing=not smoothing_given)
    return _Found(
        fit_ensemble(trial, settings, shared),
        shared.smoothing,
        shared.rank_path,
        shared.smoothing_path,
        chosen_by=trial.measure(MEMBERS_SCORED_BY) if shared.rank_path or shared.smoothing_path else "",
    )


def _check_members(settings: Any, given: Collection[str]) -> None:
    """Refuse what members of an ensemble do not look at."""
    if isinstance(settings, EMOptions) and settings.ensemble != 1:
        for name in ("n_init", "tol", "accelerate"):
            if name in given:
                raise ParameterError(
                    f"{name} is for single fits, and members of an ensemble stop early by themselves. Leave {name} or "
                    "ensemble out."
                )


def _log_likelihood(solution: Solution, rows: WeightedRows | None, domain: Domain, runner: LocalRunner) -> float | None:
    if solution.log_likelihood is not None or rows is None:
        return solution.log_likelihood
    cells, found = PackedCells.plain(rows.codes, Stacking(domain.cardinalities)), solution.parameters
    return float(rows.weights @ log_prob_of_cells(cells, found.lam, found.stack, runner))


def _check_alone(domain: Domain | None, missing: Collection[Label], unknown: Unknown, sample_weight: Any) -> None:
    """Refuse what was settled when the statistic was made."""
    for name, given in (
        ("domain", domain is not None),
        ("missing", len(missing) > 0),
        ("unknown", unknown != "error"),
        ("sample_weight", sample_weight is not None),
    ):
        if given:
            raise ParameterError(f"{name} belongs to the rows, which were counted already. Give it when counting them.")


def _check_rank(rank: int | str, init: JointPMF | None, domain: Domain, data: Any) -> int | str:
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
    if isinstance(rank, str) and rank in _CHOSEN_RANKS:
        if isinstance(data, Statistic):
            raise ParameterError(
                f"rank={rank!r} needs rows to hold out, and {type(data).__name__} have none. Pass a number."
            )
        return rank
    if isinstance(rank, bool) or not isinstance(rank, (int, np.integer)) or rank < 1:
        raise ParameterError(f"rank must be 'auto', 'cv' or an int in the range [1, inf). Got {rank!r} instead.")
    return int(rank)
