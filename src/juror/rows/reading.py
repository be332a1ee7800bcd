"""From a user's data to rows of codes over a domain: in memory, on disk, or with the workers of a cluster."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np

from juror.domain.discovery import Discovery
from juror.domain.domain import Domain, discover
from juror.domain.formula_columns import Measured
from juror.domain.variable import Label, Strangers, Unknown, check_unknown
from juror.errors import DataWarning, Message, ParameterError, wrong
from juror.readers import Column, Expected
from juror.readers.columns import read_markers
from juror.readers.joining import read_whole
from juror.readers.opening import open_weighted
from juror.readers.scans import Choose, Part, Scan, numbered
from juror.readers.tallies import tally_columns
from juror.readers.weights import WeightSums, counted_rows
from juror.readers.workers import workers_for
from juror.rows.distinct import WeightedRows
from juror.rows.in_memory import MemoryTable
from juror.rows.out_of_core import OutOfCoreTable
from juror.rows.pieces import Reading
from juror.rows.store import RowStore, merging_bytes, rows_to_search
from juror.rows.table import Table
from juror.runners.local import LocalRunner, Runner, check_any_rows

# How many times more intervals trees with hidden nodes have: the column of a state has two parameters for all of them.
_MORE_INTERVALS = 8
# The most intervals of all numbers together, unless they have more already: there is a table for each two numbers.
_MOST_INTERVALS = 4096
# Formulas are looked for in about as many rows of a table that is not in memory.
_MOST_SEARCHED = 10**6


@dataclass(frozen=True)
class OpenTable:
    """A table as a user gave it: its rows, the domain if there is one, and how to read both.

    Attributes
    ----------
    scan, domain, missing : Scan, Domain or None, tuple
        The rows, their variables if they are known, and the markers that the rows were opened with.
    is_given : bool
        Whether a user gave the domain. Then rows may hold codes or texts of intervals in place of numbers.
    unknown, weight : {"error", "warn", "missing"}, str or None
        What to do with labels that the domain does not know, and the column of row weights.
    local, runner : LocalRunner, Runner
        The threads of this process, and what reads the rows: these threads, or a cluster.
    discovery : Discovery
        The user's choices about variables, if they are to be found.
    """

    scan: Scan
    domain: Domain | None
    missing: tuple[Any, ...]
    is_given: bool
    unknown: Unknown
    weight: str | None
    local: LocalRunner
    runner: Runner
    discovery: Discovery

    @property
    def is_here(self) -> bool:
        """Whether the rows are in memory."""
        return self.scan.in_memory

    @cached_property
    def _columns(self) -> list[Column]:
        """The columns of a table in memory."""
        return read_whole(self.scan)

    def is_above(self, memory: int) -> bool:
        """Whether there are known to be more rows than can be merged in this many bytes."""
        n_rows = len(self._columns[0].index) if self.is_here else self.scan.n_rows or 0
        return n_rows * merging_bytes(len(self.scan.names)) > memory

    def reading(self, domain: Domain) -> Reading:
        """Say how rows are read over a domain."""
        return Reading(domain, self.unknown, self.weight)

    def found_domain(self) -> Domain:
        """Return the domain that was given, or find it in a pass over the rows."""
        return self.domain or discover(self.scan, self.discovery, self.missing, self.runner, self.weight)

    def with_more_intervals(self, domain: Domain) -> OpenTable | None:
        """Return the table with up to eight times the intervals of the domain found in it, closer at the ends.

        None if a user chose them.
        """
        if self.is_given or self.discovery.bins is not None:
            return None
        numbers = [variable for variable in domain if variable.edges is not None]
        sizes = {each.name: len(each.present_labels) for each in numbers if each.name not in self.discovery.edges}
        most = _MOST_INTERVALS // max(1, len(sizes))
        bins = {name: max(size, min(_MORE_INTERVALS * size, most)) for name, size in sizes.items()}
        again = replace(self, domain=None, discovery=replace(self.discovery, bins=bins, binning="ends"))
        labels = domain.missing_labels
        return replace(again, domain=again.found_domain().with_missing_as(labels)) if labels else again

    def measured(self, domain: Domain) -> dict[str, Measured]:
        """Return the columns of numbers and dates of a domain; of the first million rows if not all are held here.

        Empty if there are less than two, or if a cluster holds the rows. Rows of weight zero are left out.
        """
        numbers = [each for each in domain if each.is_numeric]
        if len(numbers) < 2 or self.runner is not self.local:
            return {}
        read = [each.name for each in numbers] + ([] if self.weight is None else [self.weight])
        chunks = [self._columns] if self.is_here else _first_chunks(self.scan, read)
        pieces: dict[str, list[Column]] = {}
        for column in chain.from_iterable(counted_rows(chunk, self.weight)[0] for chunk in chunks):
            pieces.setdefault(column.name, []).append(column)
        measured = {each.name: Measured.of(each, pieces[each.name]) for each in numbers if each.name in pieces}
        return {name: each for name, each in measured.items() if each is not None}

    def read_codes(self) -> tuple[Domain, np.ndarray, np.ndarray | None]:
        """Return the domain, the codes (n_rows, N) and the weights (n_rows,) of rows in memory.

        Rows of weight zero are left out. There are no weights if every row counts once.
        """
        check_any_rows(len(self._columns[0].index))
        columns, weights, _ = counted_rows(self._columns, self.weight)
        if weights is not None:
            WeightSums.of(weights).check()
        domain = self.domain
        if domain is None:
            tallies = tally_columns(columns, weights)
            domain = Domain(self.discovery.variables(tallies), self.missing, self.scan.floats, frame=self.scan.frame)
        domain.check_all_there(columns)
        return domain, domain.encode_columns(columns, self.unknown), weights


def _first_chunks(scan: Scan, names: Collection[str]) -> Iterator[list[Column]]:
    n_rows = 0
    for chunk in (chunk for part in scan.parts for chunk in part.chunks(names)):
        if n_rows > _MOST_SEARCHED:
            return
        yield chunk
        n_rows += len(chunk[0].index)


def open_table(
    data: Any,
    domain: Domain | None,
    missing: Collection[Label],
    unknown: Unknown,
    sample_weight: Any,
    local: LocalRunner,
    client: Any = None,
    choose: Choose | None = None,
    discovery: Discovery | None = None,
) -> OpenTable:
    """Open what a user gave, to be read by local threads or by a cluster; arguments as in :func:`juror.fit`.

    All columns are read unless ``choose`` says which. The choices of ``discovery`` are for tables without a domain.
    """
    if domain is not None and not isinstance(domain, Domain):
        raise wrong("domain", "a juror.Domain, such as Domain.infer makes", domain)
    check_unknown(unknown)
    markers = read_markers(missing)
    if domain is not None and len(markers):
        text = Message("{missing} belongs to the domain when one is given: use Domain.infer(data, missing=…).")
        raise ParameterError(text)
    if domain is not None:
        markers = domain.missing
    discovery = discovery or Discovery()
    expected = Expected(numbers=discovery.cut(data)) if domain is None else domain.expected
    scan, weight = open_weighted(data, markers, replace(expected, choose=choose), sample_weight)
    scan, runner = workers_for(scan, client, local)
    # Rows that are drawn are like those that are fitted, not like those that a given domain was found in.
    domain = None if domain is None else replace(domain, frame=scan.frame)
    return OpenTable(scan, domain, markers, domain is not None, unknown, weight, local, runner, discovery)


@contextmanager
def read_rows(opened: OpenTable, memory: int) -> Iterator[Table]:
    """Read a table and offer its rows inside the block: merged in memory where they fit, else out of core.

    The rows and what is made of them may take ``memory`` bytes in this process.
    """
    local = opened.local
    if opened.is_here and not opened.is_above(memory):
        domain, codes, weights = opened.read_codes()
        yield MemoryTable(WeightedRows.of(codes, weights), domain, local)
        return
    domain, runner = opened.found_domain(), opened.runner
    reading = opened.reading(domain)
    most = rows_to_search(len(domain), memory)
    out_of_core = partial(OutOfCoreTable, packing=reading.packing, domain=domain, local=local, most_sampled=most)
    with ExitStack() as stack:
        if runner is not local:
            kept = runner.keep(reading.load, numbered(opened.scan.parts))
            stack.callback(kept.release)
            kept.map_reduce(attrgetter("strangers"), Strangers.__add__).warn()
            yield _checked(out_of_core(kept, reason="which workers keep"), opened)
            return
        store = stack.enter_context(RowStore(reading.packing, memory))
        _fill(store, opened, reading, local)
        if store.can_merge and store.n_rows > 0:
            yield _checked(MemoryTable(store.merged(), domain, local), opened)
            return
        kept = local.keep(_itself, store.pieces)
        yield _checked(out_of_core(kept, reason="which take more than memory="), opened)


def read_finer(opened: OpenTable, domain: Domain, memory: int, stack: ExitStack) -> MemoryTable | None:
    """Read the rows again with more intervals for numbers; None if their user chose them, or if they are too many."""
    with warnings.catch_warnings():
        # The first reading has warned of the same.
        warnings.simplefilter("ignore", DataWarning)
        again = opened.with_more_intervals(domain)
    return None if again is None else read_again(again, memory, stack, again.domain)


def read_again(opened: OpenTable, memory: int, stack: ExitStack, domain: Domain | None) -> MemoryTable | None:
    """Read the rows again over a domain, or over the one that is found in them; None if they are too many."""
    with warnings.catch_warnings():
        # The first reading has warned of the same.
        warnings.simplefilter("ignore", DataWarning)
        table = stack.enter_context(read_rows(replace(opened, domain=domain), memory))
    return table if isinstance(table, MemoryTable) else None


def _fill(store: RowStore, opened: OpenTable, reading: Reading, runner: LocalRunner) -> None:
    """Put all rows into a store, and warn of labels that are not known."""

    def put(part: Part) -> Strangers:
        strangers = Strangers()
        for chunk, strange in reading.chunks(part):
            store.put(chunk)
            strangers += strange
        return strangers

    sum(runner.map(put, numbered(opened.scan.parts)), Strangers()).warn()
    if store.n_rows == 0 and opened.weight is not None:
        WeightSums().check()


def _itself(piece: Any) -> Any:
    return piece


def _checked(table: Table, opened: OpenTable) -> Table:
    if opened.weight is None:
        check_any_rows(table.n_rows)
    # Without a given domain, the pass that found the domain has checked the weights.
    if opened.weight is not None and opened.domain is not None:
        WeightSums(table.n_rows, table.total, are_whole=table.n_effective is None).check()
    return table
