"""Divide the intervals of numbers in a mixture: each part gets its share of the interval's probability."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from juror.answers.block import BareMixture, Block, Mixture
from juror.domain import Domain
from juror.domain.binning import parts_of


def divided_mixture(model: Mixture, domain: Domain) -> Mixture:
    """Return a model over a domain in which some intervals of its own are divided. This changes no answer.

    With s_j the share of part j in the law of its interval i(j), A'[x_pa, j, f] = A[x_pa, i(j), f] s_j, and a child's
    table has the row of the interval for each of its parts.
    """
    if domain is model.domain:
        return model
    pairs = enumerate(zip(model.domain, domain, strict=True))
    parts = {n: parts_of(whole, some) for n, (whole, some) in pairs if some is not whole}
    return BareMixture(tuple(_divided(block, parts) for block in model.blocks), domain)


def _divided(block: Block, parts: dict[int, tuple[np.ndarray, np.ndarray]]) -> Block:
    tables = []
    for n, (parent, table) in enumerate(zip(block.forest.parents, block.tables, strict=True)):
        if n in parts:
            codes, shares = parts[n]
            table = table[:, codes] * shares[:, None]
        if parent in parts:
            table = table[parts[parent][0]]
        tables.append(table)
    return replace(block, tables=tuple(tables))
