"""One fit, with all that is chosen on the way to it: rank, smoothing, ρ, the members of an ensemble."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from juror.domain import Domain
from juror.errors import ParameterError
from juror.fitting.choose import SCORED_BY, Trial, choose_rank_for, choose_rho, choose_smoothing
from juror.fitting.ensemble import MEMBERS_SCORED_BY, choose_settings, fit_ensemble
from juror.record import RankScore
from juror.rows.distinct import WeightedRows
from juror.rows.expected import log_prob_of_cells
from juror.rows.far import FarRows
from juror.rows.packing import PackedCells
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner
from juror.solvers.methods import Method, Statistic
from juror.solvers.search import EMOptions, solve_em, without_empty_classes
from juror.solvers.solution import Context, Solution


@dataclass(frozen=True)
class Found:
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


def from_statistic(data: Statistic, rank: int, method: Method, settings: Any, context: Context) -> Found:
    """Fit a statistic."""
    assert method.solve_statistic is not None
    solution = method.solve_statistic(data, rank, settings, context)
    return Found(solution, float(getattr(settings, "smoothing", 0.0)))


def search(trial: Trial, rank: int | str, settings: Any, *, smoothing_given: bool, far: FarRows | None = None) -> Found:
    """Choose what is to be chosen, and fit all rows.

    Parameters
    ----------
    trial : Trial
        The rows, or where they are too many a sample of them to choose by and to start from.
    rank : int or str
        The number of classes, or how to choose it.
    settings : options of the method
        How to fit.
    smoothing_given : bool
        Whether the smoothing is not to be chosen.
    far : FarRows, optional
        All rows, where the trial has a sample.
    """
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
        solution = solve_em(*everything, found=chosen.found[:1], far=far)
        solution = without_empty_classes(solution, trial.rows, trial.domain, settings, trial.context, far)
    elif far is not None:
        solution = trial.method.solve_far(*everything, far)
    else:
        solution = trial.method.solve_rows(*everything)
    return Found(
        solution,
        float(getattr(settings, "smoothing", 0.0)),
        rank_path,
        smoothing_path,
        rho_path,
        chosen_by if rank_path or rho_path else "",
    )


def _ensemble(trial: Trial, rank: int | str, settings: EMOptions, *, smoothing_given: bool) -> Found:
    if rank == "cv":
        raise ParameterError(
            "rank='cv' is for single fits, and members of an ensemble hold out rows of their own. Pass rank='auto', or "
            "leave ensemble out."
        )
    shared = choose_settings(trial, settings, rank, with_smoothing=not smoothing_given)
    return Found(
        fit_ensemble(trial, settings, shared),
        shared.smoothing,
        shared.rank_path,
        shared.smoothing_path,
        chosen_by=trial.measure(MEMBERS_SCORED_BY) if shared.rank_path or shared.smoothing_path else "",
    )


def log_likelihood_of(
    solution: Solution, rows: WeightedRows | FarRows | None, domain: Domain, runner: LocalRunner
) -> float | None:
    """Return Σ w log p of the rows, if there are any."""
    if solution.log_likelihood is not None or rows is None:
        return solution.log_likelihood
    found = solution.parameters
    if isinstance(rows, FarRows):
        return rows.log_likelihood(found.lam, found.stack)
    cells = PackedCells.plain(rows.codes, Stacking(domain.cardinalities))
    return float(rows.weights @ log_prob_of_cells(cells, found.lam, found.stack, runner))
