"""Fill the holes of a table with labels; other cells, types, index and kind of frame stay the same."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, get_args

import numpy as np

from juror.answers.block import Mixture
from juror.answers.formula_holes import FormulaHoles
from juror.answers.holes import Fill
from juror.answers.label_frames import Gathered, gather_frame
from juror.answers.numbers import Centre
from juror.answers.order_holes import Filled, OrderHoles, Rows
from juror.answers.posterior import posterior
from juror.answers.posterior_draws import posterior_draw
from juror.answers.sampling import fill_at_random, fill_best, generator
from juror.answers.scores import log_prob_of_cells
from juror.domain.evidence import Evidence
from juror.domain.variable import Unknown, Variable
from juror.errors import Option, QueryError, ZeroProbabilityError, check_choice, check_count, wrong
from juror.readers import Column
from juror.readers.columns import MISSING
from juror.readers.joining import read_whole
from juror.readers.scans import Scan


def impute(
    model: Mixture,
    data: Any,
    draws: int | None,
    seed: int,
    unknown: Unknown,
    also: Collection[str] = (),
    n_posterior_draws: int = 0,
    numbers: Centre | None = None,
    formulas: bool = True,
) -> Any:
    """Fill the holes of a table with their most probable labels and numbers, or with one or more random draws.

    Filled rows satisfy formulas and keep orders, as far as that is possible, unless ``formulas`` is False.
    Missing cells that have a label are no holes, unless ``also`` names their variables. If the model is the mean of
    posterior draws, each of several tables is filled by another draw, so that the tables also show how uncertain the
    distribution is.
    """
    if numbers is not None:
        check_choice("numbers", numbers, get_args(Centre))
    scan = model.domain.scan(data)
    columns = read_whole(scan)
    beside = _putting_beside(data, scan, len(columns[0].index))
    codes = model.domain.encode_columns(columns, unknown)
    present = _open(model, columns, codes, also)
    _refuse_impossible_holes(model, columns, also)
    domain = model.domain if formulas else replace(model.domain, formulas=(), orders=())
    by_formulas, rng = FormulaHoles.of(domain, columns, codes, also), generator(seed)

    def whole(filled: Filled) -> Any:
        return beside(fill_holes(data, columns, domain.variables, *filled))

    def ordered(source: Mixture) -> OrderHoles:
        return OrderHoles.of(by_formulas, columns, partial(_drawn, source, codes, by_formulas, rng))

    if draws is None:
        are_codes = isinstance(data, np.ndarray) and model.domain.floats != "values"
        source = _given(model, present)
        best = _following(by_formulas, fill_best(source, codes, numbers, are_codes=are_codes))
        return whole(ordered(source).in_order(best) if domain.orders else best)
    check_count("draws", draws)
    by_draws = n_posterior_draws > 1 and draws > 1
    filled = []
    for number in range(draws):
        # Evenly spread, as neighbours in a chain are alike
        one = number * n_posterior_draws // draws
        source = _given(posterior_draw(model, n_posterior_draws, one) if by_draws else model, present)
        filled.append(whole(ordered(source).drawn()))
    return filled[0] if draws == 1 else filled


def _drawn(
    model: Mixture, codes: np.ndarray, by_formulas: FormulaHoles, rng: np.random.Generator, rows: Rows
) -> Filled:
    """Fill some rows (n,) of a table at random."""
    return _following(by_formulas.at(rows), fill_at_random(model, codes[rows], rng))


def _following(by_formulas: FormulaHoles, filled: Filled) -> Filled:
    """Return filled rows whose holes have what follows from other cells."""
    codes, numbers = filled
    return codes, by_formulas.filled(codes, numbers)


def _putting_beside(data: Any, scan: Scan, n_rows: int) -> Callable[[Any], Any]:
    """Return a function that puts the columns that the model does not know back into a filled table.

    A frame that was filled has them still, and an array has none.
    """
    if not scan.others:
        return lambda filled: filled
    from juror.answers.filled_frames import is_frame
    from juror.readers.other_columns import read_others

    if is_frame(data):
        return lambda filled: filled
    others = read_others(data, scan, n_rows)
    return lambda filled: filled.assign(**others)[list(scan.all_names)]


def _given(model: Mixture, present: Evidence) -> Mixture:
    return posterior(model, present) if present else model


def _open(model: Mixture, columns: Sequence[Column], codes: np.ndarray, also: Collection[str]) -> Evidence:
    """Make holes of the labelled missing cells of some variables; return evidence that these are not missing."""
    if isinstance(also, str) or not isinstance(also, Collection):
        raise wrong("also", "a list of columns, like ['column']", also)
    by_name, present = {column.name: column for column in columns}, {}
    for name in also:
        n = model.domain.position(name)
        variable = model.domain[n]
        if variable.missing_label is None:
            raise QueryError(
                f"Missing cells of {name!r} have no label of their own, so they are filled anyway. Leave it out."
            )
        if name in by_name:
            codes[by_name[name].index < 0, n] = MISSING
            present[n] = (np.arange(variable.cardinality) != variable.missing_code).astype(np.float64)
    return present


def _refuse_impossible_holes(model: Mixture, columns: Sequence[Column], also: Collection[str]) -> None:
    """Refuse missing cells that are an answer, and one that cannot be: a conditioned model may exclude their label."""
    impossible = log_prob_of_cells(model, np.array([variable.missing_code for variable in model.domain])) == -np.inf
    for column in columns:
        if impossible[model.domain.position(column.name)] and column.name not in also and np.any(column.index < 0):
            raise ZeroProbabilityError(
                "Column {column!r} has missing cells, and their label {label!r} has probability zero under this model, "
                "so nothing follows from them. Pass {also} to fill them.",
                column=column.name,
                label=model.domain[column.name].missing_label,
                also=Option("also", (column.name,), f"={[column.name]!r}"),
            )


def fill_holes(
    data: Any,
    columns: Sequence[Column],
    variables: Sequence[Variable],
    codes: np.ndarray,
    numbers: Mapping[int, np.ndarray],
) -> Any:
    """Return the data with missing cells replaced by the labels of the codes, and all other cells unchanged.

    An array is returned as an array, a frame as a frame of its kind, all else as pandas. Columns are the same data,
    opened; the variables include one for each column. Only codes (rows, n_variables) of missing cells are used, and
    only numbers (rows,) of missing cells: these replace the labels, by variable.
    """
    position = {variable.name: n for n, variable in enumerate(variables)}
    places = [position[column.name] for column in columns]
    fills = [Fill(c, variables[n], codes[:, n], numbers.get(n)) for c, n in zip(columns, places, strict=True)]
    if isinstance(data, np.ndarray):
        return _fill_array(data, fills)
    # slow to import
    from juror.answers.filled_frames import fill_frame, is_frame

    if is_frame(data):
        return fill_frame(data, [fill for fill in fills if fill])
    return gather_frame({fill.name: Gathered(*fill.whole_column()) for fill in fills}, "pandas")


def _fill_array(array: np.ndarray, fills: Sequence[Fill]) -> np.ndarray:
    filled = array.copy()
    if array.dtype.kind == "U":
        # NumPy would cut longer labels to the width of the array's text type.
        width = max([array.dtype.itemsize // 4, *(len(str(label)) for fill in fills for label in fill.labels)])
        filled = array.astype(f"<U{width}")
    for n, fill in enumerate(fills):
        try:
            own = np.array(fill.labels, dtype=filled.dtype)
        except (OverflowError, TypeError, ValueError):
            raise fill.no_room(array.dtype) from None
        if array.dtype.kind in "iu" and not np.array_equal(own, fill.labels):
            raise fill.no_room(array.dtype)
        filled[fill.rows, n] = own[fill.positions]
    return filled
