"""What the record of a fit says besides the solver's own: method, rows, size, and how the model holds against them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from juror.answers.block import Mixture
from juror.fitting.contradictions import Verdict
from juror.fitting.plan import Decision
from juror.fitting.skip_patterns import labels_in_words
from juror.record import FitRecord
from juror.rows.in_memory import MemoryTable
from juror.rows.table import Table
from juror.solvers.solver import Solution, Statistic


def completed(solution: Solution, mixture: Mixture, read: Any, decision: Decision, seed: int) -> FitRecord:
    """Add to the solver's record what it does not know: the method and why, the rows, the size of the model."""
    n_rows, rank = _numbers_of_rows(read, seed), sum(part.rank for part in solution.parts)
    log_likelihood = solution.record.log_likelihood
    if log_likelihood is None and not isinstance(read, Statistic):
        log_likelihood = read.log_prob(solution.parts)
    return replace(
        solution.record,
        method=solution.record.method or decision.method,
        why=solution.record.why or decision.why,
        rank=rank,
        # The weights of all classes sum to one.
        n_parameters=sum(block.n_parameters for block in mixture.blocks) - 1,
        seed=seed,
        log_likelihood=log_likelihood,
        labelled_missing=labels_in_words(read.domain),
        formulas="; ".join(formula.described() for formula in mixture.domain.formulas),
        orders="; ".join(order.described() for order in mixture.domain.orders),
        **n_rows,
    )


def _numbers_of_rows(data: Table | Statistic, seed: int) -> dict[str, Any]:
    """Return what the record of a fit says about how many rows there were."""
    if isinstance(data, Statistic):
        n_rows = getattr(data, "n_rows", None)
        return {"n_rows": float(data.totals.max()) if n_rows is None else n_rows}
    found = {"n_rows": data.total, "n_effective": data.n_effective}
    n_distinct = {"n_distinct": len(data.rows.codes)} if isinstance(data, MemoryTable) else None
    return found | (n_distinct or {"n_searched": data.sample(seed).n_rows})


def with_verdict(record: FitRecord, verdict: Verdict, keeps_counts: bool) -> FitRecord:
    """Write down how the fit holds against its rows, without shares of rows if the model keeps no counts."""
    return replace(
        record,
        reproduced=verdict.reproduced,
        n_off=verdict.n_off,
        n_questions=verdict.n_questions,
        worst=verdict.worst(keeps_counts),
        agreement=verdict.agreement,
    )
