"""Condition a mixture on evidence: re-weight the classes, and update the tables along each block's forest.

With evidence weights w_n and the messages β, μ of :mod:`juror.answers.messages`,

    λ'_bf ∝ λ_bf Π_{n root} μ_bn[f],     A'_bn[x_pa, x, f] = A_bn[x_pa, x, f] β_bn[x, f] / μ_bn[x_pa, f]

in log space, so that hundreds of variables do not underflow. Without edges this is

    λ'_f ∝ λ_f Π_n (Σ_x w_n[x] A_n[x, f]),     A'_n[x, f] ∝ w_n[x] A_n[x, f]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from juror.answers.block import NO_PARENT, BareMixture, Block, Mixture
from juror.answers.messages import Messages
from juror.domain import Domain
from juror.domain.evidence import Evidence, describe
from juror.domain.interval_texts import distinct_texts
from juror.errors import ZeroProbabilityError
from juror.kernels.logarithms import log_sum_exp
from juror.rows.forest import Forest


def log_mass(model: Mixture, evidence: Evidence) -> float:
    """Return the log-probability of an event, or the log of the mean likelihood of soft evidence."""
    return _total([Messages.of(block, evidence) for block in model.blocks])


def _total(messages: Sequence[Messages]) -> float:
    return float(log_sum_exp(np.concatenate([each.log_masses for each in messages])))


def posterior(model: Mixture, evidence: Evidence) -> BareMixture:
    """Return the mixture over the same domain given evidence; raise ZeroProbabilityError if it has probability zero."""
    if not evidence:
        return BareMixture(model.blocks, model.domain)
    messages, mass = _possible(model, evidence)
    masses = [np.exp(each.log_masses - mass) for each in messages]
    # Rounding may leave the sum slightly off one.
    total = np.concatenate(masses).sum()
    blocks = tuple(
        Block(own / total, block.forest, each.updated_tables(block))
        for block, each, own in zip(model.blocks, messages, masses, strict=True)
    )
    return BareMixture(blocks, model.domain)


def possible_log_mass(model: Mixture, evidence: Evidence) -> float:
    """Return the log-probability of evidence; raise ZeroProbabilityError if it is zero."""
    return _possible(model, evidence)[1] if evidence else 0.0


def _possible(model: Mixture, evidence: Evidence) -> tuple[list[Messages], float]:
    """Return the messages of every block and the log-probability of the evidence, which must be possible."""
    for n, label_weights in evidence.items():
        if not np.any(label_weights > 0):
            raise ZeroProbabilityError(
                f"The conditions on {model.domain[n].name!r} leave none of its labels, so they have probability zero."
            )
    messages = [Messages.of(block, evidence) for block in model.blocks]
    mass = _total(messages)
    if mass == -np.inf:
        _refuse_where_no_numbers_are(model.domain, evidence)
        raise ZeroProbabilityError(
            "The evidence {evidence} has probability zero under this model, so nothing follows from it. Drop or "
            "widen a part of it, or fit with {smoothing} above zero.",
            evidence=describe(model.domain, evidence),
        )
    return messages, mass


def _refuse_where_no_numbers_are(domain: Domain, evidence: Evidence) -> None:
    """Raise ZeroProbabilityError if a condition leaves none of the numbers that its variable may have."""
    for n, label_weights in evidence.items():
        variable, n_present = domain[n], len(domain[n].present_labels)
        if variable.law is None or label_weights[n_present:].any():
            continue
        if label_weights[:n_present] @ variable.inside.masses > 0:
            continue
        grid, ends = variable.law.grid, np.array([variable.law.starts[0], variable.law.ends[-1]])
        ends[1] = grid.last_below(ends[1:])[0]
        low, high = distinct_texts(grid.numbers(ends).tolist(), variable.calendar)
        raise ZeroProbabilityError(
            f"The evidence {describe(domain, {n: label_weights})} has probability zero, so nothing follows from it: "
            f"{variable.name!r} has no numbers there, as under this model they lie between {low} and {high}. Drop or "
            "widen it."
        )


def without_settled(model: Mixture, settled: dict[int, int]) -> BareMixture:
    """Remove variables whose labels are known, given by position, from a mixture conditioned on them.

    A known node cuts the forest: its children become roots, with their tables' rows of the known label.
    """
    blocks = tuple(_cut(block, settled) for block in model.blocks)
    return BareMixture(blocks, model.domain.without(settled))


def _cut(block: Block, settled: dict[int, int]) -> Block:
    kept = [n for n in range(len(block.tables)) if n not in settled]
    number = {n: place for place, n in enumerate(kept)}
    parents, tables = [], []
    for n in kept:
        parent, table = block.forest.parents[n], block.tables[n]
        if parent in settled:
            table = table[settled[parent]][None]
        parents.append(number.get(parent, NO_PARENT))
        tables.append(table)
    return replace(block, forest=Forest(tuple(parents)), tables=tuple(tables))
