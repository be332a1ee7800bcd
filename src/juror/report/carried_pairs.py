"""What a page carries for answers with one condition: rows, the fitted tables that its model misses, and intervals.

The page computes answers with a model that may be smaller than the fitted one, or rounded. An answer with a single
condition needs only the table of two variables. So the page carries the fitted table of every pair for which its own
model is off by more than a point, and answers from it. It also carries the counts of pairs, and for models with
intervals both ends for every label given every label. All this is deflated. What does not fit is left out, that of the
least dependent pairs first, and the page says so where it matters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from juror.answers.checking import worth_of_rows
from juror.answers.interval_ends import UNSEEN
from juror.answers.pairs import pair_tables
from juror.counts.counts import PairCounts
from juror.model import JointPMF
from juror.model.backing import rows_that_show
from juror.report.html import make_page
from juror.report.packing_numbers import deflated, encode
from juror.report.page_model import POINT, PageModel
from juror.report.pair_intervals import LEVEL, ends_by_draws, ends_by_rows, expected_rows

# The most bytes of a page. One with all classes of a large model may be larger, and has this much room for pairs.
_PAGE_BYTES, _ROOM_BEYOND = 2_000_000, 400_000
# The most conditions whose intervals are found from draws, which takes milliseconds each.
_MOST_ENDS = 2_000
# The most bytes of the end of an interval that is written out: six digits, a point, an exponent and a comma
_END_BYTES = 12
# Base64 has four characters for three bytes.
_BASE64 = 4 / 3


@dataclass
class CarriedPairs:
    """Tables of pairs that a page carries, by the number of the pair in the order of :func:`itertools.combinations`.

    Attributes
    ----------
    room : float
        Bytes that are left.
    apart : numpy.ndarray, (n_pairs,)
        How far answers of the page's model given one variable are from those of the fitted one, at most.
    level : float, optional
        The probability of intervals; None without any.
    is_expected : bool
        Whether intervals are from as many rows as the model expects, because it keeps no counts.
    worth : float
        The number of independent rows that a weight of one is worth.
    counts : dict of int to numpy.ndarray, (I_a, I_b)
        The counts.
    fitted : dict of int to numpy.ndarray, (I_a, I_b)
        Tables of the fitted model, for pairs that the page's model misses.
    ends : dict of int to numpy.ndarray, (4, I_a, I_b)
        Ends of intervals: low and high of b given a, then low and high of a given b.
    """

    room: float
    apart: np.ndarray
    level: float | None = None
    is_expected: bool = False
    worth: float = 1.0
    counts: dict[int, np.ndarray] = field(default_factory=dict)
    fitted: dict[int, np.ndarray] = field(default_factory=dict)
    ends: dict[int, np.ndarray] = field(default_factory=dict)

    def take(self, name: str, order: Sequence[int], table_of: Callable[[int], np.ndarray]) -> None:
        """Take the tables of pairs in this order while there is room; one that is too large makes way for the next."""
        taken, tables = getattr(self, name), {pair: table_of(pair) for pair in order}
        whole = _n_bytes(name, list(tables.values()))
        if whole <= self.room:
            taken |= tables
            self.room -= whole
            return
        for pair, table in tables.items():
            size = _n_bytes(name, [table])
            if size <= self.room:
                taken[pair] = table
                self.room -= size

    def plain(self) -> dict[str, Any]:
        """Return everything as plain values."""
        kinds = {"counts": self.counts, "fitted": self.fitted, "intervals": self.ends}
        return {
            "level": self.level,
            "is_expected": self.is_expected,
            "worth": self.worth,
            "apart": self.apart.tolist(),
            **{name: [{"pair": k, "table": t.tolist()} for k, t in taken.items()] for name, taken in kinds.items()},
        }

    def packed(self) -> dict[str, Any]:
        """Return everything as the page has it: the numbers of the pairs, and their tables one after the other."""
        # A byte for every pair: whole points, rounded up, at most 255; zero for up to one point.
        points = np.where(self.apart > POINT, np.minimum(np.ceil(100 * self.apart), 255), 0).astype(np.uint8)
        kinds = {"counts": self.counts, "fitted": self.fitted, "intervals": self.ends}
        encoded = {name: _encoded(name, list(taken.values())) for name, taken in kinds.items()}
        return {
            "level": self.level,
            "is_expected": self.is_expected,
            "worth": self.worth,
            "apart": deflated(points) if points.any() else None,
            **{
                name: {"pairs": list(kinds[name]), "type": codes.dtype.str[1:], "numbers": deflated(codes)}
                for name, codes in encoded.items()
                if len(codes)
            },
        }


def carry(
    model: JointPMF, page: PageModel, counts: PairCounts | None, facts: dict[str, Any], *, is_large: bool
) -> CarriedPairs:
    """Choose what a page carries about pairs, in the room that the other facts leave.

    Ends of intervals of single variables are added to the facts.
    """
    room = _PAGE_BYTES - len(make_page(facts, {"blocks": page.packed, "pairs": {}}).encode())
    # Intervals of single variables come last, and always have room.
    room -= _END_BYTES * 2 * sum(model.domain.cardinalities)
    carried = CarriedPairs(_ROOM_BEYOND if is_large else room, page.apart)
    order = _by_dependence(facts["dependence"])
    off = np.flatnonzero(page.apart > POINT)
    if len(off):
        fitted = {k: table for k, (_, _, table) in enumerate(pair_tables(model)) if page.apart[k] > POINT}
        carried.take("fitted", [k for k in order if k in fitted], fitted.__getitem__)
    if counts is not None:
        carried.take("counts", order, counts.tables.__getitem__)
    _carry_intervals(model, carried, order, facts["variables"])
    return carried


def _carry_intervals(
    model: JointPMF, carried: CarriedPairs, order: Sequence[int], variables: Sequence[dict[str, Any]]
) -> None:
    """Take the ends of intervals in the room that is left, as :meth:`juror.JointPMF.interval` answers.

    They are from draws if there are some, and from rows of the fit or, if these are not known, from as many rows as the
    model expects.
    """
    n_draws = 0 if model.info is None else model.info.n_draws
    # The rows of the fit, not those that the page shows
    fitted, sizes = model.counts, model.domain.cardinalities
    worth = worth_of_rows(model.info)
    n_rows = worth * rows_that_show((), fitted, model.info)
    chosen = _first_in(order, sizes, carried.room, _MOST_ENDS if n_draws >= 2 else None)
    if fitted is not None and fitted.singles is not None:
        singles, tables = [worth * each for each in fitted.singles], {k: worth * fitted.tables[k] for k in chosen}
    elif n_rows > 0:
        singles, tables = expected_rows(model, n_rows, chosen)
        carried.is_expected = True
    else:
        return
    if model.info is not None and n_draws >= 2:
        agreement, widening = model.info.agreement or UNSEEN, model.info.widening
        singles, ends = ends_by_draws(model, n_draws, singles, tables, agreement, widening)
    else:
        singles, ends = ends_by_rows(singles, tables)
    for variable, (low, high) in zip(variables, singles, strict=True):
        variable |= {"low": low.tolist(), "high": high.tolist()}
    carried.take("ends", list(ends), ends.__getitem__)
    carried.level = LEVEL


def _by_dependence(dependence: dict[str, Any]) -> list[int]:
    """Return the numbers of all pairs, those that depend most by the rows or by the model first."""
    matrix, counted = dependence["matrix"], dependence["counted"]
    strength = np.maximum(matrix, np.array(matrix if counted is None else counted, dtype=float))
    above = np.nan_to_num(strength)[np.triu_indices(len(matrix), k=1)]
    return np.argsort(-above, kind="stable").tolist()


def _first_in(order: Sequence[int], sizes: Sequence[int], room: float, most: int | None) -> list[int]:
    """Return the first pairs whose intervals fit into a room, by estimate: four numbers of 16 bits for each cell.

    With ``most``, they have at most that many conditions in all.
    """
    pairs = list(combinations(sizes, 2))
    n_bytes = np.cumsum([_BASE64 * 8 * pairs[k][0] * pairs[k][1] for k in order])
    n_conditions = np.cumsum([sum(pairs[k]) for k in order])
    fits = int(np.searchsorted(n_bytes, room, side="right"))
    return list(order[: fits if most is None else min(fits, int(np.searchsorted(n_conditions, most, side="right")))])


def _encoded(name: str, tables: Sequence[np.ndarray]) -> np.ndarray:
    """Return the numbers of tables in a row: counts as integers if all are, probabilities as logarithms in 16 bits."""
    numbers = np.concatenate([table.ravel() for table in tables]) if tables else np.empty(0)
    if name != "counts":
        return encode(numbers, 16)
    is_whole = np.array_equal(numbers, np.floor(numbers)) and float(numbers.max(initial=0.0)) < 2**32
    return numbers.astype("<u4" if is_whole else "<f4")


def _n_bytes(name: str, tables: Sequence[np.ndarray]) -> float:
    """Return the size of the text of tables."""
    return len(deflated(_encoded(name, tables)))
