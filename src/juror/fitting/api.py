"""juror.fit: from data to a model, through domain, statistic and solver."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any, TypedDict, Unpack

import numpy as np

from juror.counts.designs import about_order
from juror.counts.projections import Projections
from juror.domain import Domain
from juror.domain.variable import Label, Unknown
from juror.errors import DataWarning, FitWarning, check_count, warn, wrong
from juror.fitting.arguments import check_alone, how_to_find
from juror.fitting.contradictions import Verdict, hold_against_rows
from juror.fitting.devices import card_of, settle_device
from juror.fitting.fit_record import completed, with_verdict
from juror.fitting.held_out import as_mixture
from juror.fitting.kept_counts import kept_counts
from juror.fitting.order_trials import with_rules
from juror.fitting.plan import (
    Request,
    are_of_projections,
    check_members,
    check_method,
    check_rank,
    decide,
    read_options,
)
from juror.fitting.skip_patterns import (
    check_missing_as,
    warn_of_skips,
    with_missing_as,
)
from juror.fitting.steps import choose_and_solve
from juror.model import JointPMF
from juror.progress import ProgressCallback, progress_bar
from juror.rows.reading import open_table, read_again, read_finer
from juror.runners.blas import one_blas_thread
from juror.runners.local import LocalRunner
from juror.runners.memory import read_memory
from juror.solvers.methods import METHODS
from juror.solvers.solver import Context, Method, Options, Solution, Statistic


class FitOptions(TypedDict, total=False):
    """The options of all methods; the docstring of :func:`fit` says which method has which."""

    n_init: int
    smoothing: float | None
    accelerate: bool
    max_iter: int
    tol: float
    init: JointPMF | None
    split: Sequence[str] | None
    triples: str | int | Sequence[Sequence[str]] | None
    forests: int
    n_directions: int | None
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
    forest: bool | str
    ensemble: int | str
    max_seconds: float | None


def fit(
    data: Any,
    rank: int | str = "auto",
    method: str = "auto",
    *,
    seed: int = 0,
    domain: Domain | None = None,
    columns: Collection[str] | None = None,
    edges: Mapping[str, Sequence[float]] | None = None,
    bins: int | Mapping[str, int] | None = None,
    missing: Collection[Label] = (),
    missing_as: Mapping[str, Label] | str | None = None,
    unknown: Unknown = "error",
    sample_weight: Any = None,
    target: str | None = None,
    progress: ProgressCallback | bool | None = None,
    n_jobs: int | None = None,
    memory: int | str = "4GB",
    client: Any = None,
    keep_counts: bool = True,
    device: str = "cpu",
    **options: Unpack[FitOptions],
) -> JointPMF:
    """Learn the joint distribution of a table with holes in it.

    Parameters
    ----------
    data : frame, mapping, array, path, stream or statistic
        Rows in memory: a pandas, polars or pyarrow frame, a dict of columns, or a 2-D array of integer codes with −1
        (or NaN) for missing. A 2-D array of numbers with fractions is read as columns of numbers. Rows of any size: the
        path of a CSV, Parquet or Arrow file, of a folder, or a glob like ``'folder/*.parquet'``; :class:`juror.Files`,
        which says how files are written; a stream of Arrow record batches, such as a DuckDB relation, a lazy polars
        frame or an ADBC cursor; :class:`juror.Query`; a Dask or Spark frame. Or statistics instead of rows:
        :class:`juror.PairCounts`, :class:`juror.TripleCounts` or :class:`juror.Projections`.
    rank : int, "auto" or "cv"
        The number of classes F, of each draw (``"bayes"``) or member (``ensemble``). ``"auto"`` holds out a fifth of
        the rows, and changes the rank while these become more probable, or while labels of a target are predicted
        better; ``"cv"`` holds out each fifth in turn. For ``"bayes"`` nothing is held out: ``"auto"`` takes more
        classes than are needed, and learns weights that leave some empty. ``"pair-em"`` holds out a part of the counts;
        ``"tree"`` has one class.
    method : {"auto", "tree", "em", "bayes", "pair-em", "spa", "spa-em", "ctf", "juror-a", "juror-b", "juror-c"}
        The solver. ``"auto"`` chooses, and ``model.info.why`` says why. For rows it takes ``"bayes"`` up to 100,000
        cells, unless there are 500 distinct rows and an ensemble of ``"em"`` is clearly better on held-out rows; an
        ensemble for larger tables, for a target, and for 1,000 rows or more of mostly numbers; ``"tree"`` if the
        distinct rows are too many for both. If options are given, it takes the method that has them. It takes
        ``"ctf"`` for triples and ``"pair-em"`` for pairs and projections, along forests unless a rank is given.
    seed : int
        The same seed gives the same model, for any number of threads.
    domain : Domain, optional
        The variables. By default they are found in the data; :meth:`Domain.infer` has choices about labels and order.
    columns : collection of str, optional
        The columns to fit, besides that of ``sample_weight``; by default all. The others may hold anything.
    edges : mapping of str to sequence of numbers, optional
        Ends of intervals, by column: ``{"age": [0, 18, 65, 120]}``. Numbers outside them are unknown.
    bins : int or mapping of str to int, optional
        The number of intervals that columns of many numbers are cut into, or that of each of some columns. For the
        methods ``"juror-…"`` a number is about the histograms of projections instead.
    missing : collection
        Markers that stand for a missing value besides null and NaN, such as ``["?"]``.
    missing_as : mapping of str to label, "auto" or "all", optional
        What missing cells mean. By default each has an answer that is not known, so it is summed out. A warning names
        the columns in which cells are missing because of other columns, such as questions that only some people were
        asked. ``{"migration": "not asked"}`` makes missing cells a label of that column; ``{}`` sums all of them out
        without a warning. ``"auto"`` labels them ``"missing"`` in the columns that the warning would name, and
        ``"all"`` in every column, so that drawn rows have holes as the table has. A target is left alone.
    unknown : {"error", "warn", "missing"}
        What to do with values that are not among the labels of the given domain.
    sample_weight : array-like (n_rows,) or str, optional
        How often each row counts, or the name of the column that says so.
    target : str, optional
        A variable to predict: the default of ``predict``. The model is tuned for its labels (``model.info.tuned``).
        With a number as rank or ``ensemble`` it is not tuned; smoothing and whether to have forests are then chosen by
        how well the labels are predicted.
    progress : callable or bool, optional
        Called with a :class:`juror.Progress` after every step. True draws a bar, with the time left if it is known.
    n_jobs : int, optional
        How many threads; all cores by default, and for −1.
    memory : int or str, default "4GB"
        The memory that rows may take, in bytes or as text such as ``"500MB"``, in addition to about 300 MB for the
        program. If the rows need more, they are written to a temporary file, over which EM and sampling pass; start and
        rank are found on a sample.
    client : dask.distributed.Client or pyspark.sql.SparkSession, optional
        A cluster whose workers read the rows, from files that they can open or from a frame of the cluster, and keep
        them. Only sums and one sample of rows come back.
    keep_counts : bool, default True
        Whether the model keeps the pair counts of the table in ``model.counts``, so that answers with at most one
        condition say how many rows are behind them. They are saved with the model. With False, neither counts nor
        shares of rows leave the fit: use it if small counts are private. ``model.info.worst`` still names the answers
        that the rows contradict.
    device : {"cpu", "auto", "cuda"}
        Where EM and sampling pass over the rows. ``"cuda"`` is an NVIDIA card, and needs ``pip install 'juror[cuda]'``;
        it is for rows in memory and for em, spa-em and bayes. ``"auto"`` takes a card if there is one and the table is
        large enough to gain from it. The same seed gives the same model on the same card. A card adds in single
        precision, so the model differs a little from that of the CPU. ``model.info.device`` names the card.

    Other Parameters
    ----------------
    smoothing : float, default 0.1 (all but bayes, which learns its own; ensembles and pair-em choose it unless given)
        A pseudo-count for every cell of weights and factors, spread over the labels of a variable as they are spread in
        the data; 0 for none, which leaves rows with probability zero in methods other than EM.
    max_iter : int (all but spa and tree)
        The most passes over the rows from one start (em, spa-em: 1000, after a search of about 500 passes, which is
        left out if ``max_iter`` is less), steps (pair-em: 1000), sweeps (ctf: 500), or rounds of G2 and steps of G3
        (juror: 1000).
    tol : float (all but spa and tree)
        Stop when a step gains at most this, in nats per row (em, spa-em: 1e-6, pair-em: 3e-5) or as a share of the
        misfit (ctf: 1e-5, juror: 1e-4).
    n_init : int (em, pair-em, ctf)
        How many random starts (for EM of two kinds in turn); the best fit is returned and all are recorded. By default
        ctf has 3, and pair-em 3 or, along a forest, 1. EM by default searches by sampling more classes than asked for,
        which costs about as much as five random starts and ends higher. On small tables it also tries up to 20 random
        starts, as long as all takes about a second, counted in operations.
    forests : int, default 0 (pair-em)
        Along how many forests to fit. With 1, all classes share the strongest forest. With more, the model is the mean
        of a fit along each: the first forest is the strongest, the others are perturbed.
    ensemble : int or "auto", default 1 (em)
        How many fits to put side by side, each from its own start and stopped early; their mean is one model of rank
        ``ensemble × rank``. ``"auto"`` is 10, or with ``max_seconds`` as many as there is time for, at most 100; in
        any case no more than make 12,288 classes (49,152 with ``max_seconds``) or 256 MB of tables in all.
    max_seconds : float (em, spa-em, pair-em, bayes)
        A budget of time from the call on; reading the rows is not cut short. With it EM searches for longer than
        without: larger ranks, up to 4096, are tried while held-out rows gain anything, an ensemble fits more members,
        and a single fit tries more starts. The search ends when nothing improves or the time is spent;
        ``info.search_ended`` says which. Chains are as long as the budget allows. A fit that is cut short warns. The
        result depends on the speed of the machine.
    accelerate : bool, default True (em, spa-em, pair-em)
        Whether to try long steps (SQUAREM), which never lower the objective.
    init : JointPMF (em)
        The model to start from, instead of random starts; the rank is that of this model.
    split : list of str (spa, spa-em, juror)
        The variables on the first side of SPA's matrix; by default both sides carry about the same rank.
    triples : "all", int, or list of three names each (ctf)
        Which triples of variables to count: all, that many at random, or these.
    n_directions, bins (see above), operator, scores (juror)
        How pairs are projected: 200 directions by default; see :meth:`juror.Projections.of`.
    inversion : {"lstsq", "fbp"} (juror)
        Pair tables from histograms by least squares, exact, or by filtered back projection, which smooths.
    filter : {"ramp", "shepp-logan", "cosine", "hamming", "hann"} (juror)
        The filter of back projection.
    rho : float or "cv" (juror)
        How strongly G2 draws pair tables to the model (juror-a, juror-c); by default the number of directions, which is
        the diagonal of RᵗR where cells fall whole into bins.
    prior : {"smooth", "flat"} (juror-a, juror-b)
        Prefer factor columns of ordered variables that are smooth, or that are flat except for jumps.
        ``prior_strength`` (1) is on the scale of J, which grows with the directions and the pairs.
    chains, sweeps, burnt, draws : int, default 2, 1000, 400, 100 (bayes)
        How many chains of how many Gibbs sweeps, how many of the first to forget (two fifths), and how many draws to
        keep of all. Unless ``sweeps`` is given, chains that have not mixed go on for up to three times as long, or
        until ``max_seconds``. The model is the mean of the draws: side by side they have rank draws × F.
    sparse : bool (bayes)
        Whether the prior of the weights favours few classes among many; by default for ``rank="auto"`` only.
    forest : bool or "auto", default "auto" (em, bayes)
        Whether variables may depend on each other within classes. The classes then share a forest, in which each
        variable has at most one parent; each member of an ensemble and each draw has its own forest. For ``"auto"``,
        held-out rows decide in an ensemble, bayes has forests, and a single fit by EM has none. With True a single fit
        by EM stops early, as members do. Rows that do not fit in memory are sampled without forests.
    route : {"auto", "gram", "literal"} (juror)
        Compare histograms (literal), or pair tables in the metric RᵗR: the same, whatever the number of directions.

    Returns
    -------
    JointPMF
        With the record of the fit in ``model.info``.

    Examples
    --------
    >>> import juror
    >>> model = juror.fit(juror.datasets.titanic(), rank=4, method="em")
    >>> round(model.ask("Survived | Sex = Female, Class = 1st")["Yes"], 2)
    0.97
    """
    check_method(method)
    check_count("seed", seed, least=0)
    check_missing_as(missing_as)
    _check_kinds(progress, keep_counts)
    seed, keep_counts = int(seed), bool(keep_counts)
    bytes_here, began = read_memory(memory), time.monotonic()
    with ExitStack() as stack:
        local = stack.enter_context(LocalRunner(n_jobs, device))
        stack.enter_context(one_blas_thread())
        read, reread = data, None
        if bins is not None and are_of_projections(bins, method, options):
            options, bins = {**options, "bins": bins}, None  # type: ignore[typeddict-unknown-key]
        if isinstance(data, Statistic):
            variables = {"domain": domain, "columns": columns, "edges": edges, "bins": bins}
            cells = {"missing": tuple(missing) or None, "missing_as": missing_as}
            rows = {"unknown": None if unknown == "error" else unknown, "sample_weight": sample_weight}
            check_alone({**variables, **cells, **rows, "client": client})
        else:
            choose, found = how_to_find(domain, columns, edges, bins, sample_weight, target)
            opened = open_table(data, domain, missing, unknown, sample_weight, local, client, choose, found)
            opened = with_missing_as(opened, missing_as, bytes_here, seed, target)
            read = Request(opened, bytes_here, seed).read(stack, method, rank, options)
            # Rows over a domain that a user gave may hold intervals in place of numbers.
            reread = None if opened.is_given else partial(read_again, opened, bytes_here, stack)
        decision = decide(read, rank, method, target, options)
        # Formulas and orders of a domain that was given are those of other rows.
        chosen, domain = METHODS[decision.method], replace(read.domain, formulas=(), orders=())
        settle_device(local, decision.method, read)
        settings = read_options(decision.method, {**decision.options, **_left(options, data, read)})
        check_members(settings, options, read)
        rank = check_rank(rank, options.get("init"), domain, data, chooses=chosen.open_rank is not None)
        chooses_rank = isinstance(rank, str) and method != "tree"
        position = None if target is None else domain.position(target)
        about_data = _warn_of_order(data, read, chosen)
        if missing_as is None and not isinstance(read, Statistic):
            about_data += warn_of_skips(read, seed)
        until = np.inf if settings.max_seconds is None else began + settings.max_seconds
        drawn = stack.enter_context(progress_bar()) if progress is True else None
        context = Context(seed, local, progress if callable(progress) else drawn, until=until)
        if isinstance(read, Statistic):
            solution = _solve_statistic(read, chosen, rank, settings, context)
        else:
            how = {"smoothing_given": "smoothing" in options, "beside_sampling": decision.beside_sampling}
            finer = partial(read_finer, opened, read.domain, bytes_here, stack)
            solution, read = choose_and_solve(read, chosen, position, rank, settings, context, finer=finer, **how)
            domain = with_rules(as_mixture(solution.parts, read.domain), opened, read, seed, until)
        # The record and the counts read the rows, which are gone after this block.
        mixture = as_mixture(solution.parts, domain)
        record = replace(completed(solution, mixture, read, decision, seed), device=card_of(local, chosen, read))
        counts, without = kept_counts(read, keep_counts)
        verdict = hold_against_rows(mixture, read, counts or kept_counts(read, True)[0], record, local, reread)
    # A user who gives a rank or asks for a tree limits the model on purpose, so what it misses is only recorded.
    missed = verdict if chooses_rank else Verdict()
    for complaint in (*solution.complaints, *missed.complaints()):
        warn(FitWarning(complaint))
    # A share of rows is as private as the counts, so it is written down only with them.
    written = (*solution.complaints, *missed.complaints(keep_counts))
    record = replace(record, target=target, warnings=about_data + tuple(map(str, written)), without_counts=without)
    return JointPMF.of_blocks(mixture.blocks, domain, with_verdict(record, verdict, keep_counts), counts)


def _check_kinds(progress: object, keep_counts: object) -> None:
    """Refuse a progress that cannot be called, and a keep_counts that is neither True nor False."""
    if not (progress is None or callable(progress) or isinstance(progress, bool)):
        raise wrong("progress", "True, False or a function to call with every step", progress)
    if not isinstance(keep_counts, (bool, np.bool_)):
        raise wrong("keep_counts", "True or False", keep_counts)


def _solve_statistic(
    statistic: Statistic, method: Method, rank: int | str, settings: Options, context: Context
) -> Solution:
    """Fit a statistic; without rows to hold out, a rank that is open is left to the method."""
    if isinstance(rank, str):
        rank, settings = method.open_rank or 1, settings.for_open_rank()
    solution = method.solve(statistic, rank, settings, context)
    if settings.smoothing is None:
        return solution
    return replace(solution, record=replace(solution.record, smoothing=float(settings.smoothing)))


def _left(options: Mapping[str, Any], data: Any, read: Any) -> Mapping[str, Any]:
    """Return the options for the method: without the choice of triples if this fit has counted them already."""
    spent = isinstance(read, Statistic) and read is not data
    return {name: value for name, value in options.items() if not (spent and name == "triples")}


def _warn_of_order(data: Any, read: Any, method: Method) -> tuple[str, ...]:
    """Warn of nominal variables that are projected; projections made earlier have already warned about this."""
    if not method.projects or isinstance(data, Projections):
        return ()
    messages = about_order(read.domain, not isinstance(read, Statistic))
    for message in messages:
        warn(DataWarning(message))
    return tuple(map(str, messages))
