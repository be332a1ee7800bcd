"""One fit, in two steps: choose what is to be chosen (rank, smoothing, ρ), then solve for all rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from juror.errors import Message, Option, ParameterError
from juror.fitting.beside_sampling import against_sampling
from juror.fitting.beyond_memory import fit_beyond_memory
from juror.fitting.choose import SCORED_BY, Chosen, Finer, FitSetting, choose_rank_for, choose_rho, choose_smoothing
from juror.fitting.climb import choose_for_members
from juror.fitting.comparing import MEMBERS_SCORED_BY
from juror.fitting.ensemble import fit_ensemble
from juror.fitting.held_out import Trial
from juror.fitting.label_members import fit_for_labels
from juror.rows.table import Table
from juror.solvers.methods import METHODS
from juror.solvers.solver import Context, Method, Solution

# A rank up to this is allowed for any table, as it takes little time and room.
_SMALL_RANK = 100


def choose_and_solve(
    table: Table,
    method: Method,
    target: int | None,
    rank: int | str,
    options: Any,
    context: Context,
    *,
    smoothing_given: bool = False,
    finer: Finer | None = None,
    beside_sampling: bool = False,
) -> tuple[Solution, Table]:
    """Choose what is to be chosen, on all rows if they are in memory, else on a sample; then fit all rows.

    Trees with hidden nodes are fitted to the rows with finer intervals, if ``finer`` returns any. With
    ``beside_sampling``, an ensemble is compared with sampling, which is taken unless the ensemble is clearly better.
    The rows that were fitted are returned too.
    """
    _check_rank(rank, table)
    trial = Trial(table.sample(context.seed), method, target, context)
    if options.has_members:
        return _ensemble(
            table, trial, rank, options, smoothing_given=smoothing_given, finer=finer, beside_sampling=beside_sampling
        )
    measure = trial.measure(SCORED_BY.get(str(rank), "share"))
    chosen = _chosen(trial, rank, options, smoothing_given=smoothing_given)
    if isinstance(rank, str) and method.open_rank is not None:
        options = options.for_open_rank()
    if chosen.smoothing_path:
        options = replace(options, smoothing=chosen.smoothing)
    rho_path: tuple[tuple[float, float], ...] = ()
    if options.rho == "cv":
        rho, rho_path = choose_rho(trial, options, chosen.rank)
        options = replace(options, rho=rho)
    if chosen.rank_path and method.growth is not None:
        solution = method.growth.finish(table, chosen.rank, options, trial.context, chosen.found[0])
    else:
        solution = method.solve(table, chosen.rank, options, trial.context)
    measure = measure if chosen.rank_path or rho_path else ""
    return _recorded(solution, chosen, options.smoothing, measure, rho_path), table


def _check_rank(rank: int | str, table: Table) -> None:
    """Refuse more classes than rows: most would be empty, and take time and room for nothing."""
    n_rows = int(max(table.n_rows, table.total))
    if not isinstance(rank, str) and rank > max(n_rows, _SMALL_RANK):
        raise ParameterError(
            "{rank} must be at most the number of rows, {n_rows:,}, as further classes would have no row. Got {got:,} "
            "instead. Pass {rank:='auto'} to have it chosen.",
            n_rows=n_rows,
            got=rank,
        )


def _chosen(trial: Trial, rank: int | str, options: Any, *, smoothing_given: bool) -> Chosen:
    """Return the rank that was given, or choose it, and for labels the smoothing too."""
    if not isinstance(rank, str):
        return Chosen(FitSetting(rank, options.smoothing))
    if trial.method.open_rank is not None:
        if rank == "cv":
            text = Message("{rank:='cv'} is for methods that do not learn how many classes there are: pass 'auto'.")
            raise ParameterError(text)
        return Chosen(FitSetting(trial.method.open_rank, options.smoothing))
    chosen = choose_rank_for(trial, options, rank)
    tunes = trial.method.growth is not None and trial.target is not None and not smoothing_given
    return choose_smoothing(trial, options, chosen, rank) if tunes and chosen.found else chosen


def _ensemble(
    table: Table,
    trial: Trial,
    rank: int | str,
    options: Any,
    *,
    smoothing_given: bool,
    finer: Finer | None,
    beside_sampling: bool,
) -> tuple[Solution, Table]:
    if rank == "cv":
        raise ParameterError(
            "{rank:='cv'} is for single fits without a forest; others hold out rows of their own. Pass {rank:='auto'}, "
            "or leave {members} out.",
            members=Option("ensemble" if options.ensemble != 1 else "forest"),
        )
    here = table is trial.table
    if trial.target is not None and here and rank == "auto" and options.ensemble == "auto":
        found = fit_for_labels(trial, options, smoothing_given=smoothing_given)
        if found is not None:
            solution, chosen = found
            rows = replace(trial, target=None).measure(MEMBERS_SCORED_BY) if chosen.smoothing_path else ""
            return _recorded(solution, chosen, chosen.smoothing, rows), table
    chosen = choose_for_members(trial, options, rank, with_smoothing=not smoothing_given, finer=finer if here else None)
    measure = trial.measure(MEMBERS_SCORED_BY) if chosen.rank_path or chosen.smoothing_path else ""
    if not here:
        return _recorded(fit_beyond_memory(table, trial, options, chosen), chosen, chosen.smoothing, measure), table
    why = ""
    judged = chosen.judged() if beside_sampling else None
    if judged is not None:
        compared = against_sampling(judged, trial.context)
        why = compared.why
        if not compared.is_clear:
            bayes = METHODS["bayes"]
            solution, table = choose_and_solve(table, bayes, None, rank, bayes.options(), trial.context)
            return replace(solution, record=replace(solution.record, method="bayes", why=why)), table
    if chosen.table is not None:
        trial = replace(trial, table=chosen.table)
    solution = _recorded(fit_ensemble(trial, options, chosen), chosen, chosen.smoothing, measure)
    return replace(solution, record=replace(solution.record, why=why)), trial.table


def _recorded(
    solution: Solution, chosen: Chosen, smoothing: float | None, chosen_by: str, rho_path: Any = ()
) -> Solution:
    """Add what was chosen to the record; a method that chooses by itself has recorded its choices."""
    known: Any = {"rank_path": chosen.rank_path, "smoothing_path": chosen.smoothing_path, "rho_path": rho_path}
    known |= {
        "search_ended": chosen.ended,
        "compared_on": chosen.compared_on,
        "chosen_by": chosen_by,
        "smoothing": None if smoothing is None else float(smoothing),
    }
    chosen_here = {name: value for name, value in known.items() if value not in ((), "", None)}
    return replace(solution, record=replace(solution.record, **chosen_here))
