"""Draw labels at random, or take the most probable ones.

A random number u in [0, 1) selects, from probabilities p over K outcomes, the first k with

    Σ_{j ≤ k} p_j > u Σ_j p_j

so that rounding never selects an outcome of probability zero. Sums run from the first to the last outcome, in double
precision: the same u selects the same outcome in every implementation.
"""

from __future__ import annotations

import numpy as np

from juror.kernels.logarithms import log_of, log_sum_exp


def draw_columns(probabilities: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Draw a column for every row, (rows,).

    Parameters
    ----------
    probabilities : numpy.ndarray, (rows, K)
        One distribution per row, up to a factor.
    uniform : numpy.ndarray, (rows,)
        u.
    """
    return _first_above(np.cumsum(probabilities, axis=1), uniform)


def draw_labels(classes: np.ndarray, cumulative: np.ndarray, uniform: np.ndarray, column: np.ndarray) -> None:
    """Fill the holes of a column of codes with labels drawn from the distribution of each row's class.

    Parameters
    ----------
    classes : numpy.ndarray, (rows,)
        The class of every row.
    cumulative : numpy.ndarray, (F, I)
        The cumulative sums Σ_{j ≤ k} p_j of every class.
    uniform : numpy.ndarray, (rows,)
        u, one for every row; it is not used in rows without a hole.
    column : numpy.ndarray of int, (rows,)
        Codes; those below zero are overwritten.
    """
    holes = column < 0
    column[holes] = _first_above(cumulative[classes[holes]], uniform[holes])


def most_probable(R: np.ndarray, stack: np.ndarray, starts: np.ndarray, codes: np.ndarray) -> None:
    """Fill every hole with its most probable label, the first x that maximises Σ_f R[i, f] A_n[x, f].

    Parameters
    ----------
    R : numpy.ndarray, (rows, F)
        Class posteriors.
    stack : numpy.ndarray, (Σ I_n, F)
        The factors A_n, one below the other.
    starts : numpy.ndarray of int, (N + 1,)
        The position of each factor in the stack, and the end of the last one.
    codes : numpy.ndarray of int, (rows, N)
        Codes; those below zero are overwritten.
    """
    for n in range(codes.shape[1]):
        holes = codes[:, n] < 0
        codes[holes, n] = (R[holes] @ stack[starts[n] : starts[n + 1]].T).argmax(axis=1)


def draw_holes(
    codes: np.ndarray,
    classes: np.ndarray,
    stack: np.ndarray,
    starts: np.ndarray,
    sizes: np.ndarray,
    parents: np.ndarray,
    order: np.ndarray,
    uniform: np.ndarray,
) -> None:
    """Fill the holes of rows with labels drawn from their joint distribution in each row's class, along a forest.

    For every missing node v, G_v[x] is the probability of what is observed below it, given label x. A label is drawn
    with probabilities T_v[r, x] G_v[x], parents first, where r is the label of the parent.

    Parameters
    ----------
    codes : numpy.ndarray of int, (rows, N)
        Codes; those below zero are overwritten.
    classes : numpy.ndarray, (rows,)
        The class of every row.
    stack, starts : numpy.ndarray, (stacked rows, F) and (N + 1,)
        The tables T, as in :mod:`juror.rows.stacking`, and the first row of each.
    sizes, parents, order : numpy.ndarray of int, (N,)
        The number of labels of every node, its parent or −1, and all nodes, parents before children.
    uniform : numpy.ndarray, (rows, N)
        u for every node; it is not used for one that is observed.
    """
    for row, f, u in zip(codes, classes, uniform, strict=True):
        tables = [log_of(stack[starts[v] : starts[v + 1] - 1, f]).reshape(-1, sizes[v]) for v in range(len(sizes))]
        values = [np.zeros(size) for size in sizes]
        for v in order[::-1]:
            if parents[v] >= 0 and row[parents[v]] < 0:
                of = tables[v][:, row[v]] if row[v] >= 0 else log_sum_exp(tables[v] + values[v])
                values[parents[v]] += of
        for v in order:
            if row[v] < 0:
                logs = tables[v][row[parents[v]] if parents[v] >= 0 else 0] + values[v]
                row[v] = _first_above(np.cumsum(np.exp(logs - logs.max()))[None], u[v : v + 1])[0]


def _first_above(cumulative: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    return (cumulative > (uniform * cumulative[:, -1])[:, None]).argmax(axis=1)
