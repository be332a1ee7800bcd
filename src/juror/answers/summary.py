"""A summary of a model as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from juror.answers.block import Mixture
from juror.answers.checking import check, reproduced_in_words, worth_of_rows
from juror.answers.information import DependenceMatrix, dependence
from juror.answers.table_texts import align
from juror.domain.conditions import Conditions
from juror.domain.question_texts import first_labels
from juror.printing import numbered, one_line
from juror.record import Compression, FitRecord

if TYPE_CHECKING:
    from juror.counts.counts import PairCounts


def summary(
    model: Mixture, info: FitRecord | None, counts: PairCounts | None = None, conditions: Conditions | None = None
) -> str:
    """Return the variables of a model, how it was fitted, its most dependent pairs, and how well it reproduces pairs.

    The counts are those of the rows that it was fitted to, the conditions those of a conditioned model.
    """
    given = "" if conditions is None else f" given {conditions}"
    head = f"A joint distribution of {numbered(len(model.domain), 'variable')}{given}, rank {_rank(model)}"
    body = [[v.name, v.kind, str(v.cardinality), first_labels(v)] for v in model.domain]
    table = align(["variable", "kind", "labels", ""], body, n_text=2)
    lines = [] if info is None else _fit_lines(info)
    matrix = dependence(model, "normalised")
    pairs = [f"{a} and {b} {x:.3f}" for a, b, x in matrix.strongest(5) if x >= 0.001]
    if pairs:
        lines.append(f"most dependent, from 0 to 1: {'; '.join(pairs)}")
    edges = _strongest_edges(model, matrix)
    if edges:
        lines.append(f"strongest edges of the heaviest block: {'; '.join(edges)}")
    lines += _reproduced(model, info, counts)
    return "\n".join([one_line(head), "", table, "", *map(one_line, lines)])


def _reproduced(model: Mixture, info: FitRecord | None, counts: PairCounts | None) -> list[str]:
    """Say how many pair cells are well reproduced and questions off, as the fit found, or now from the counts."""
    if info is not None and info.reproduced is not None:
        return [reproduced_in_words(*info.reproduced, info.n_off, info.n_questions)]
    return [] if counts is None else [check(model, counts, most=0, worth=worth_of_rows(info)).sentence]


def _rank(model: Mixture) -> str:
    """Say how many classes there are, and in how many blocks if these have forests."""
    rank = str(sum(block.rank for block in model.blocks))
    if not any(block.has_edges for block in model.blocks):
        return rank
    n_blocks, over = len(model.blocks), ""
    if all(len(block.tables) > len(model.domain) for block in model.blocks):
        over = " over hidden nodes"
    where = f"{n_blocks} blocks with forests" if n_blocks > 1 else "one block with a forest"
    return f"{rank} in {where}{over}"


def _strongest_edges(model: Mixture, matrix: DependenceMatrix) -> list[str]:
    """Name the five edges of the heaviest block whose variables depend most on each other."""
    block = max(model.blocks, key=lambda block: float(block.weights.sum()))
    strength = matrix.to_numpy()
    seen = [(a, b) for a, b in block.forest.edges if max(a, b) < len(model.domain)]
    names = model.domain.names
    return [f"{names[a]} – {names[b]}" for a, b in sorted(seen, key=lambda edge: -strength[edge])[:5]]


def _fit_lines(info: FitRecord) -> list[str]:
    if info.method == "compress":
        return _what_for(info)
    if info.n_searched is not None:
        searched = f"{info.n_searched:,} of them" if info.n_searched < info.n_rows else "all of them"
        lines = [f"fitted to {info.n_rows:,.0f} rows out of core, by {info.method}; started from {searched}"]
    elif info.n_distinct is None:
        lines = [f"fitted to statistics of up to {info.n_rows:,.0f} rows, by {info.method}"]
    else:
        lines = [f"fitted to {info.n_rows:,.0f} rows, {info.n_distinct:,} distinct, by {info.method}"]
    if info.log_likelihood is not None:
        likelihood = f"log-likelihood {info.log_likelihood:,.1f}, {info.log_likelihood / info.n_rows:.4f} a row"
        criteria = f"; {info.n_parameters:,} parameters, AIC {info.aic:,.1f}, BIC {info.bic:,.1f}" if info.aic else ""
        lines.append(likelihood + criteria)
    if info.why:
        lines.append(f"method chosen: {info.why}")
    if info.n_members > 1:
        each = "" if info.hidden else f" of {info.rank // info.n_members} classes each"
        lines.append(f"the mean of {info.n_members} fits{each}")
    if info.n_draws:
        lines.append(f"the mean of {info.n_draws} draws of {info.rank // info.n_draws} classes each")
    lines += [f"{label}: {text}" for label, text in info.diagnostics().items()]
    for what, (rhat, size) in info.mixing.items():
        lines.append(f"chains, {what}: split-R-hat {rhat:.2f}, effective sample size {size:.0f}")
    for stage, trace in info.stages.items():
        lines.append(f"misfit {_along(stage, trace)}")
    if info.method == "bayes":
        return [*lines, info.stopped, *_what_for(info)]
    best_of = len(info.starts) if info.n_members == 1 else 1
    starts = f"best of {best_of} starts; " if best_of > 1 else ""
    lines.append(f"smoothing {info.smoothing:g}; {starts}{info.n_iter} {_step_word(info)}; {info.stopped}")
    if info.rank_path:
        tried = ", ".join(f"{step.rank}: {step.score:.4f}" for step in info.rank_path)
        lines.append(f"rank chosen by {info.chosen_by or 'held-out rows'}: {tried}")
    if info.smoothing_path:
        tried = ", ".join(f"{smoothing:g}: {score:.4f}" for smoothing, score in info.smoothing_path)
        lines.append(f"smoothing chosen by {info.chosen_by}: {tried}")
    if info.rho_path:
        tried = ", ".join(f"{rho:g}: {score:.4f}" for rho, score in info.rho_path)
        lines.append(f"rho {info.rho:g} chosen by {info.chosen_by}: {tried}")
    return lines + _what_for(info)


def _what_for(info: FitRecord) -> list[str]:
    steps = [f"compressed from rank {step.rank:,}: {_loss(step)} nats a row lost" for step in info.compressed]
    target = [] if info.target is None else [f"made to predict {info.target}"]
    is_told = any(info.worst in complaint for complaint in info.warnings)
    worst = [] if is_told or not info.worst else [f"contradicted by the rows: {info.worst}"]
    return steps + target + worst + [f"warning: {complaint}" for complaint in info.warnings]


def _loss(step: Compression) -> str:
    error = f" ± {step.standard_error:.2g} (standard error)" if step.standard_error else ""
    return f"{step.loss:.4g}{error}"


def _along(stage: str, trace: Sequence[float]) -> str:
    """Say where the objective of a stage began and ended; G2 need not descend, so its lowest value counts."""
    if len(trace) == 1:
        return f"after {stage}: {trace[0]:.4g}"
    if stage == "G2":
        return f"along G2, with that of tables from the model: from {trace[0]:.4g}, lowest {min(trace[1:]):.4g}"
    return f"along {stage}: from {trace[0]:.4g} to {trace[-1]:.4g}"


def _step_word(info: FitRecord) -> str:
    word = "pass" if info.method.endswith("em") else "step"
    return word if info.n_iter == 1 else {"pass": "passes", "step": "steps"}[word]
