"""Labels drawn at random, and the most probable ones.

A number u, from 0 up to but not including 1, draws from probabilities p over K things the first k with

    Σ_{j ≤ k} p_j > u Σ_j p_j

so that rounding in the sums leaves nothing to a thing of probability zero. Sums run from the first to the last, in
double precision: the same numbers draw the same things everywhere.
"""

from __future__ import annotations

import numpy as np


def draw_columns(probabilities: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Draw a column for every row, (rows,).

    Parameters
    ----------
    probabilities : numpy.ndarray, (rows, K)
        One distribution a row, up to a factor.
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
        The sums Σ_{j ≤ k} p_j of every class.
    uniform : numpy.ndarray, (rows,)
        u, for every row: that of a row without a hole is not looked at.
    column : numpy.ndarray of int, (rows,)
        Codes; those below zero are overwritten.
    """
    holes = column < 0
    column[holes] = _first_above(cumulative[classes[holes]], uniform[holes])


def most_probable(R: np.ndarray, stack: np.ndarray, starts: np.ndarray, codes: np.ndarray) -> None:
    """Fill every hole with its most probable label, the x at which Σ_f R[i, f] A_n[x, f] is largest, the first of them.

    Parameters
    ----------
    R : numpy.ndarray, (rows, F)
        Class posteriors.
    stack : numpy.ndarray, (Σ I_n, F)
        The factors A_n, one below the other.
    starts : numpy.ndarray of int, (N + 1,)
        Where each factor begins in the stack, and where the last one ends.
    codes : numpy.ndarray of int, (rows, N)
        Codes; those below zero are overwritten.
    """
    for n in range(codes.shape[1]):
        holes = codes[:, n] < 0
        codes[holes, n] = (R[holes] @ stack[starts[n] : starts[n + 1]].T).argmax(axis=1)


def _first_above(cumulative: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    return (cumulative > (uniform * cumulative[:, -1])[:, None]).argmax(axis=1)
