"""Count how often codes occur together.

Columns are joined into packs, packs are counted together in groups, and the tables of single columns are sums over the
joint tables of the groups; :mod:`juror.counts.counting` plans packs and groups. With codes x_n in −1 … I_n − 1:

    pack     c_p(i)  = the number with the digits x_n(i) + 1 to the bases I_n + 1, n in p
    group    T_g[c]  = Σ_i w_i [c_p(i) = c_p for all p in g]
    table    Z[z]    = Σ_c T_g[c] [m_p(c_p) = z_p for all p in g],  m_p from levels of a pack to cells, −1 for none
"""

from __future__ import annotations

import numpy as np


def pack_columns(
    columns: np.ndarray,
    first: int,
    last: int,
    sizes: np.ndarray,
    members: np.ndarray,
    bounds: np.ndarray,
    packs: np.ndarray,
) -> int:
    """Fill packs with the joint codes of columns.

    Parameters
    ----------
    columns : numpy.ndarray of integers, (N, rows)
        Codes, −1 for missing, every column contiguous.
    first, last : int
        The range of rows.
    sizes : numpy.ndarray, (N,)
        The number of labels I_n of every column.
    members, bounds : numpy.ndarray, (N,), (n_packs + 1,)
        The columns, pack after pack, and the position at which each pack begins.
    packs : numpy.ndarray of unsigned integers, (n_packs, last − first)
        The output.

    Returns
    -------
    int
        A column with a code outside −1 … I_n − 1, or −1 if there is none. After a fault the packs are undefined.
    """
    for p in range(len(bounds) - 1):
        packs[p] = 0
        for n in members[bounds[p] : bounds[p + 1]]:
            codes = columns[n, first:last]
            if codes.min(initial=-1) < -1 or codes.max(initial=-1) >= sizes[n]:
                return int(n)
            packs[p] = packs[p] * packs.dtype.type(sizes[n] + 1) + (codes.astype(np.int64) + 1).astype(packs.dtype)
    return -1


def count_groups(
    packs: np.ndarray,
    widths: np.ndarray,
    groups: np.ndarray,
    bounds: np.ndarray,
    folds: np.ndarray,
    digits: np.ndarray,
    starts: np.ndarray,
    sizes: np.ndarray,
    out: np.ndarray,
) -> None:
    """Count the joint codes of every group of packs, and add to out the tables folded from them.

    Parameters
    ----------
    packs : numpy.ndarray of unsigned integers, (n_packs, rows)
        Joint codes of columns; fewer than 2³² rows.
    widths : numpy.ndarray, (n_packs,)
        The number of levels of each pack.
    groups : numpy.ndarray, (n_groups, 3)
        The packs to count together, padded with −1 in front if there are fewer than three.
    bounds : numpy.ndarray, (n_groups + 1,)
        The position in folds at which the tables of each group begin.
    folds : numpy.ndarray, (n_tables, 4)
        For every table the maps of its group's packs, and its position in out.
    digits : numpy.ndarray
        All maps, concatenated: the cell of every level of a pack, −1 if the level is left out.
    starts, sizes : numpy.ndarray, (n_maps,)
        The position in digits of every map, and its number of cells.
    out : numpy.ndarray of int64
        The output; counts are added to it.
    """
    weigh_groups(packs, None, widths, groups, bounds, folds, digits, starts, sizes, out)


def weigh_groups(
    packs: np.ndarray,
    weights: np.ndarray | None,
    widths: np.ndarray,
    groups: np.ndarray,
    bounds: np.ndarray,
    folds: np.ndarray,
    digits: np.ndarray,
    starts: np.ndarray,
    sizes: np.ndarray,
    out: np.ndarray,
) -> None:
    """Do the same as :func:`count_groups` with row weights, (rows,); out is of float64."""
    for g, group in enumerate(groups):
        counts = np.bincount(_joint_codes(packs, widths, group), weights, minlength=int(_shape(widths, group).prod()))
        _fold(counts, widths, group, folds[bounds[g] : bounds[g + 1]], digits, starts, sizes, out)


def _shape(widths: np.ndarray, group: np.ndarray) -> np.ndarray:
    return np.where(group >= 0, widths[group], 1)


def _joint_codes(packs: np.ndarray, widths: np.ndarray, group: np.ndarray) -> np.ndarray:
    joint = np.zeros(packs.shape[1], dtype=np.int64)
    for p in group[group >= 0]:
        joint = joint * widths[p] + packs[p].astype(np.int64)
    return joint


def _fold(
    counts: np.ndarray,
    widths: np.ndarray,
    group: np.ndarray,
    folds: np.ndarray,
    digits: np.ndarray,
    starts: np.ndarray,
    sizes: np.ndarray,
    out: np.ndarray,
) -> None:
    shape = _shape(widths, group)
    for *maps, place in folds:
        cells = [digits[starts[m] : starts[m] + width] for m, width in zip(maps, shape, strict=True)]
        kept = [np.flatnonzero(cell >= 0) for cell in cells]
        table = np.zeros(sizes[maps], dtype=out.dtype)
        to = np.ix_(*(cell[some] for cell, some in zip(cells, kept, strict=True)))
        np.add.at(table, to, counts.reshape(shape)[np.ix_(*kept)])
        out[place : place + table.size] += table.ravel()
