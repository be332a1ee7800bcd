"""juror.fit: from data to a model, through domain, statistic and solver."""

from __future__ import annotations

import time
import warnings
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

import numpy as np

from juror.counts.counts import PairCounts, TripleCounts
from juror.counts.designs import about_order
from juror.counts.projections import Projections
from juror.domain import Domain
from juror.domain.variable import Label, Unknown
from juror.errors import DataWarning, FitWarning, ParameterError, check_count, shortlist
from juror.fitting.choose import Trial, as_cpd
from juror.fitting.searching import Found, from_statistic, log_likelihood_of, search
from juror.model import JointPMF
from juror.progress import ProgressCallback
from juror.record import FitInfo
from juror.rows.distinct import WeightedRows
from juror.rows.far import FarRows
from juror.rows.reading import OpenTable, open_table, rows_of
from juror.rows.store import rows_to_search
from juror.runners.blas import one_blas_thread
from juror.runners.local import LocalRunner, Runner
from juror.runners.memory import read_memory
from juror.solvers.deciding import Decision, check_method, decide_for_far, decide_for_rows, decide_for_statistic
from juror.solvers.methods import METHODS, Statistic
from juror.solvers.parameters import n_parameters
from juror.solvers.search import EMOptions
from juror.solvers.solution import Context

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
    memory: int | str = "4GB",
    client: Any = None,
    **options: Unpack[Options],
) -> JointPMF:
    """Learn the joint distribution of a table with holes in it.

    Parameters
    ----------
    data : frame, mapping, array, path, stream or statistic
        A pandas, polars or pyarrow frame, a dict of columns, or a 2-D array of integer codes with −1 (or NaN) for
        missing. A 2-D array of numbers with fractions is read as columns of numbers. Or of any size: the path of a CSV,
        Parquet or Arrow file, of a folder of them or a glob like ``'folder/*.parquet'``, or :class:`juror.Files`, which
        says how they are written; a stream of Arrow record batches, such as a DuckDB relation, a lazy polars frame or
        an ADBC cursor, or :class:`juror.Query`; a Dask or Spark frame. In place of rows also
        :class:`juror.PairCounts`, :class:`juror.TripleCounts` or :class:`juror.Projections`, with nothing else.
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
    memory : int or str, default "4GB"
        How much memory rows may take, in bytes or written like ``"500MB"``, beside some 300 MB for the program. Of more
        rows than that, start and rank are looked for in a sample, and EM and sampling pass over all of them on disk, in
        a file that is gone afterwards.
    client : dask.distributed.Client or pyspark.sql.SparkSession, optional
        A cluster whose workers read the rows, from files that they see or from a frame of theirs, and keep them. Sums
        come back, and one sample of rows to start from.

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
        A budget of time, from the beginning; reading the rows is not cut short. An ensemble fits members until it is
        spent; a chain is made as long as it allows; EM stops where it is, and says so. How far a fit came then depends
        on the machine.
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
    check_method(method)
    bytes_here, began = read_memory(memory), time.monotonic()
    with ExitStack() as stack:
        runner = stack.enter_context(LocalRunner(n_jobs))
        stack.enter_context(one_blas_thread())
        if isinstance(data, Statistic):
            _check_alone(domain, missing, unknown, sample_weight, client)
            given = _Given(data.domain, statistic=data)
        else:
            table = open_table(data, domain, missing, unknown, sample_weight).with_workers(client, runner)
            given = _Request(*table, bytes_here, int(seed)).read(stack, method, rank, options)
        decision = given.decide(rank, method, target, options)
        name, chosen, domain = decision.method, METHODS[decision.method], given.domain
        settings = chosen.read_options(name, {**decision.options, **given.left_of(options)})
        _check_members(settings, options, given.far)
        rank = _check_rank(rank, options.get("init"), domain, data)
        target_position = None if target is None else domain.position(target)
        # of projections that come made it was told when they were made
        made_before = isinstance(data, Projections)
        about_data = about_order(domain, given.rows is not None) if chosen.projects and not made_before else ()
        for sentence in about_data:
            warnings.warn(sentence, DataWarning, stacklevel=2)
        seconds = getattr(settings, "max_seconds", None)
        context = Context(int(seed), runner, progress, until=np.inf if seconds is None else began + seconds)
        if given.rows is None:
            found = from_statistic(given.statistic, int(rank), chosen, settings, context)
        else:
            trial = Trial(given.rows, domain, chosen, target_position, context)
            found = search(trial, rank, settings, smoothing_given="smoothing" in options, far=given.far)
        # while the rows are still there
        log_likelihood = log_likelihood_of(found.solution, given.far or given.rows, domain, runner)
        counted = given.record()
    for complaint in found.solution.complaints:
        warnings.warn(complaint, FitWarning, stacklevel=2)
    asked = {"seed": int(seed), "target": target, "warnings": about_data + found.solution.complaints}
    return _model(found, domain, decision, {"log_likelihood": log_likelihood, **counted, **asked})


def _model(found: Found, domain: Domain, decision: Decision, record: Mapping[str, Any]) -> JointPMF:
    """Return what was found as a model, with the record of how."""
    cpd = as_cpd(found.solution.parameters, domain)
    info = FitInfo(
        method=decision.method,
        n_parameters=n_parameters(len(cpd.weights), domain.cardinalities),
        smoothing=found.smoothing,
        why=decision.why,
        **record,
        **found.record(),
    )
    return JointPMF(cpd.weights, cpd.factors, domain, info)


@dataclass(frozen=True)
class _Given:
    """What there is to fit.

    Attributes
    ----------
    domain : Domain
        The variables.
    rows : WeightedRows, optional
        All rows, or where they are too many a sample of them.
    far : FarRows, optional
        All rows, where the others are a sample.
    statistic : PairCounts, TripleCounts or Projections, optional
        What is fitted in place of rows.
    counted : bool
        Whether the statistic was counted for this fit.
    """

    domain: Domain
    rows: WeightedRows | None = None
    far: FarRows | None = None
    statistic: Any = None
    counted: bool = False

    def decide(self, rank: int | str, method: str, target: str | None, options: Mapping[str, Any]) -> Decision:
        """Return the method, and why."""
        if self.rows is None:
            return decide_for_statistic(self.statistic, method)
        if self.far is not None:
            return decide_for_far(self.far, method, options)
        return decide_for_rows(self.rows, self.domain, rank, method, target, options)

    def left_of(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the options that are not spent: which triples to count is, once they are counted."""
        return {name: value for name, value in options.items() if not (self.counted and name == "triples")}

    def record(self) -> dict[str, Any]:
        """Return how many rows there were."""
        if self.rows is None:
            known = getattr(self.statistic, "n_rows", None)
            return {"n_rows": float(self.statistic.totals.max()) if known is None else known, "n_distinct": None}
        if self.far is None:
            return {"n_rows": self.rows.total, "n_distinct": len(self.rows.codes)}
        return {"n_rows": self.far.total, "n_distinct": None, "n_searched": int(self.rows.n_merged.sum())}


@dataclass(frozen=True)
class _Request:
    """A table to be read, by whom, into how many bytes, and with what chance."""

    opened: OpenTable
    reader: Runner
    memory: int
    seed: int

    def read(self, stack: ExitStack, method: str, rank: int | str, options: Mapping[str, Any]) -> _Given:
        """Read the rows, or count them where that is all that is needed of rows that are not here."""
        if self._is_counted(method, rank, options):
            counts = self._counts_for(method, options)
            return _Given(counts.domain, statistic=counts, counted=True)
        domain, rows = stack.enter_context(rows_of(self.opened, self.reader, self.memory))
        if isinstance(rows, WeightedRows):
            return _Given(domain, rows)
        return _Given(domain, rows.sample(rows_to_search(len(domain), self.memory), self.seed), rows)

    def _is_counted(self, method: str, rank: int | str, options: Mapping[str, Any]) -> bool:
        """Tell whether the method works on counts, and nothing is to be chosen by rows."""
        by_counts = method != "auto" and bool(METHODS[method].accepts)
        here = isinstance(self.reader, LocalRunner) and (self.opened.is_here or not self.opened.is_above(self.memory))
        return by_counts and not here and not isinstance(rank, str) and options.get("rho") != "cv"

    def _counts_for(self, method: str, options: Mapping[str, Any]) -> PairCounts | TripleCounts:
        if TripleCounts not in METHODS[method].accepts:
            return PairCounts.of_table(self.opened, self.reader)
        triples = options.get("triples")
        return TripleCounts.of_table(self.opened, self.reader, "all" if triples is None else triples, self.seed)


def _check_members(settings: Any, given: Collection[str], far: FarRows | None) -> None:
    """Refuse what members of an ensemble do not look at, and rows that they cannot."""
    if isinstance(settings, EMOptions) and settings.ensemble != 1:
        if far is not None:
            raise ParameterError(
                f"Members of an ensemble hold their rows in memory, and there are {far.n_rows:,} rows, {far.because}. "
                "Leave ensemble out, or fit fewer rows, or raise memory= where there is room for them."
            )
        for name in ("n_init", "tol", "accelerate"):
            if name in given:
                raise ParameterError(
                    f"{name} is for single fits, and members of an ensemble stop early by themselves. Leave {name} or "
                    "ensemble out."
                )


def _check_alone(
    domain: Domain | None, missing: Collection[Label], unknown: Unknown, sample_weight: Any, client: Any
) -> None:
    """Refuse what was settled when the statistic was made."""
    for name, given in (
        ("domain", domain is not None),
        ("missing", len(missing) > 0),
        ("unknown", unknown != "error"),
        ("sample_weight", sample_weight is not None),
        ("client", client is not None),
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
