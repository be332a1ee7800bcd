"""Count columns together: all tables of pairs or triples in one pass.

Counts are integers, so that any number of threads gives the same bits. Weights are added up part by part; neither the
parts nor their order depend on the threads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from threading import Event
from types import ModuleType

import numpy as np

from juror.counts.plans import CountingPlan, Positions, plan_counting
from juror.errors import DataError
from juror.kernels import kernels_to_count
from juror.runners.local import LocalRunner, partitions

# Up to this many cells, rows times tables, count table by table: planning would take longer
_FEW = 2**17
# The types that kernels are compiled for; others are converted to int64
_CODE_TYPES = tuple(map(np.dtype, ("int8", "int16", "int32", "int64")))


def count_tables(
    codes: np.ndarray,
    cardinalities: Sequence[int],
    wanted: Sequence[Positions],
    weights: np.ndarray | None,
    runner: LocalRunner,
) -> list[np.ndarray]:
    """Return how often the labels of some columns are seen together, one table for every group of columns.

    Parameters
    ----------
    codes : numpy.ndarray of integers, (n_rows, N)
        Codes, −1 for missing. Fastest if columns are contiguous and of one byte.
    cardinalities : sequence of int
        The labels I_n of every column.
    wanted : sequence of tuples of int
        The one to three columns of each table, in rising order. Rows in which one of them is missing do not count.
    weights : numpy.ndarray, (n_rows,), optional
        How often each row counts.
    runner : LocalRunner
        The threads that count.

    Returns
    -------
    list of numpy.ndarray of float64, (I_a, I_b, …)
    """
    if codes.dtype.kind not in "iu" or codes.shape[1:] != (len(cardinalities),):
        raise DataError(
            f"codes must be whole numbers, one column for each of {len(cardinalities)} variables. Got an array of "
            f"{codes.dtype} of shape {codes.shape}."
        )
    if len(codes) * len(wanted) <= _FEW:
        _check_range(codes, cardinalities)
        return [_count_one(codes, cardinalities, columns, weights) for columns in wanted]
    # rounded, so that the plan is reused for similar numbers of rows
    about = 1 << len(codes).bit_length()
    plan = plan_counting(tuple(cardinalities), tuple(wanted), about)

    stopped, passing = Event(), kernels_to_count(len(codes), len(wanted))

    def of_part(rows: slice) -> np.ndarray:
        return _count_part(passing, codes, rows, plan, weights, stopped)

    try:
        return plan.take_apart(runner.map_reduce(of_part, partitions(len(codes), plan.rows_at_once), _added))
    except BaseException:
        # an error or Ctrl-C: other threads need not finish their parts
        stopped.set()
        raise


def _added(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    one += other
    return one


def _count_part(
    passing: ModuleType,
    codes: np.ndarray,
    rows: slice,
    plan: CountingPlan,
    weights: np.ndarray | None,
    stopped: Event,
) -> np.ndarray:
    """Return the cells of all tables over some rows, (n_cells,); anything after a stop, when nobody wants them."""
    columns, first, last = codes.T, rows.start, rows.stop
    if not (columns.flags.c_contiguous and columns.flags.writeable and columns.dtype in _CODE_TYPES):
        columns, first, last = np.ascontiguousarray(_as_signed(codes[rows]).T), 0, rows.stop - rows.start
    packs = np.empty((len(plan.widths), last - first), dtype=plan.code_type)
    wrong = passing.pack_columns(columns, first, last, plan.sizes, plan.members, plan.bounds, packs)
    if wrong >= 0:
        _check_range(codes, plan.sizes.tolist())
        raise DataError("The codes were changed while they were counted. Leave them alone until it is done.")
    cells: np.ndarray = np.zeros(plan.n_cells, dtype=np.int64 if weights is None else np.float64)
    weights = None if weights is None else np.ascontiguousarray(weights[rows], dtype=float)
    for some in plan.calls(last - first):
        if stopped.is_set():
            break
        groups, bounds = plan.groups[some], plan.fold_bounds[some.start : some.stop + 1]
        how = (plan.widths, groups, bounds, plan.folds, plan.digits, plan.starts, plan.map_sizes)
        if weights is None:
            passing.count_groups(packs, *how, cells)
        else:
            passing.weigh_groups(packs, weights, *how, cells)
    return cells


def _as_signed(codes: np.ndarray) -> np.ndarray:
    if codes.dtype in _CODE_TYPES:
        return codes
    signed = codes.astype(np.int64)
    # a large unsigned number must not become −1, which means missing
    signed[(signed < 0) & (codes > 0)] = np.iinfo(np.int64).min
    return signed


def _check_range(codes: np.ndarray, cardinalities: Sequence[int]) -> None:
    for n, size in enumerate(cardinalities):
        wrong = np.flatnonzero((codes[:, n] < -1) | (codes[:, n] >= size))
        if len(wrong):
            raise DataError(
                f"Column {n} holds the code {codes[wrong[0], n]} in row {wrong[0]}; its codes must be in the range "
                f"[-1, {size - 1}], with -1 for missing."
            )


def _count_one(
    codes: np.ndarray, cardinalities: Sequence[int], columns: Positions, weights: np.ndarray | None
) -> np.ndarray:
    # one more level for missing, which a slice removes at the end
    shape = [cardinalities[n] + 1 for n in columns]
    cells = np.zeros(len(codes), dtype=np.int64)
    for n, size in zip(columns, shape, strict=True):
        cells = cells * size + (codes[:, n].astype(np.int64) + 1)
    table = np.bincount(cells, weights, minlength=math.prod(shape)).reshape(shape)
    return np.ascontiguousarray(table[(slice(1, None),) * len(columns)], dtype=float)
