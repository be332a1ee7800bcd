"""EM passes on a card: time, errors against double precision, bits, and the limits of the card."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import torch

from juror.kernels.cuda import card_passes
from juror.kernels.cuda.card_tables import CardTables, tables
from juror.kernels.cuda.placed import Placed
from juror.kernels.cuda.shapes import tiling
from juror.rows.stacking import Stacking

REPEATS = 30
# Passes whose bits are held against those of the first
AGAIN = 20
_CLOCK = ("nvidia-smi", "--query-gpu=clocks.max.sm", "--format=csv,noheader,nounits")


def milliseconds(work: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Return the median time of some work that is queued on the card, by events, after two runs to warm up."""
    times = []
    for number in range(repeats + 2):
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        before.record()
        work()
        after.record()
        torch.cuda.synchronize()
        if number > 1:
            times.append(before.elapsed_time(after))
    return median(times)


@dataclass(frozen=True)
class Limits:
    """What the card does at most: bytes copied and operations of a half-precision matrix product, as measured.

    First-level caches give 128 bytes for each multiprocessor and tick of the clock.
    """

    bytes_a_second: float
    operations_a_second: float
    cached_bytes_a_second: float

    @classmethod
    def measured(cls) -> Limits:
        """Copy 2 GB within the card, and multiply two matrices of 8192 × 8192."""
        a = torch.empty(1 << 31, dtype=torch.uint8, device="cuda").random_()
        b = torch.empty_like(a)
        copied = 2 * a.numel() / milliseconds(lambda: b.copy_(a), 10) * 1e3
        m, k = (torch.randn(8192, 8192, dtype=torch.float16, device="cuda") for _ in range(2))
        out = torch.empty_like(m)
        multiplied = 2 * 8192**3 / milliseconds(lambda: torch.matmul(m, k, out=out), 10) * 1e3
        card = torch.cuda.get_device_properties(0)
        ticks = float(subprocess.check_output([*_CLOCK], text=True).split()[0]) * 1e6
        return cls(copied, multiplied, 128 * card.multi_processor_count * ticks)


@dataclass(frozen=True)
class Setting:
    """A table of random codes, ``labels`` for each column, and a random model."""

    name: str
    n_rows: int
    n_columns: int
    labels: int
    rank: int
    missing: float = 0.0
    weighted: bool = False

    def made(self) -> tuple[Placed, CardTables]:
        """Place the rows on the card, and make the tables of the model."""
        rng = np.random.default_rng(7)
        stacking = Stacking((self.labels,) * self.n_columns)
        codes = rng.integers(0, self.labels, (self.n_rows, self.n_columns), dtype=np.int8)
        if self.missing:
            codes[rng.random(codes.shape, dtype=np.float32) < self.missing] = -1
        weights = rng.exponential(size=self.n_rows) if self.weighted else None
        scatter = rng.random((stacking.n_rows, self.rank))
        stack = stacking.normalise(scatter, otherwise=np.ones_like(scatter))
        lam = rng.dirichlet(np.ones(self.rank))
        parts = np.arange(stacking.n_rows, dtype=np.int32)[:, None]
        placed = Placed.of(stacking.cells(codes), weights, stacking.n_rows)
        made = tables(lam, stack, parts, self.n_rows, self.n_columns)
        # They are made on another stream than the one that is timed.
        torch.cuda.synchronize()
        return placed, made


def in_double(placed: Placed, t: CardTables) -> tuple[float, torch.Tensor]:
    """Return Σ w ℓ and the counts (cells, F) by double precision throughout, on the card."""
    log_rows = torch.as_tensor(t.given.stack, device="cuda").log()[placed.order[: placed.n_cells]]
    log_lam = torch.as_tensor(t.given.lam, device="cuda").log()
    counts, total = torch.zeros_like(log_rows), 0.0
    at_once = max(1, (1 << 26) // log_rows.shape[1])
    for first in range(0, len(placed), at_once):
        here = slice(first, min(first + at_once, len(placed)))
        cells = placed.columns[:, here].long() + placed.starts.long()[:, None]
        z = log_lam.repeat(cells.shape[1], 1)
        for column in cells:
            z += log_rows[column]
        logs = z.logsumexp(1)
        weights = torch.ones_like(logs) if placed.weights is None else placed.weights[here].double()
        r = (z - logs[:, None]).exp_() * weights[:, None]
        total += float(weights @ logs)
        for column, start, end in _spans(placed, cells):
            # One label after the other: a sum in a fixed order.
            for label in range(start, end):
                counts[label] += r[column == label].sum(0)
    return total, counts


def _spans(placed: Placed, cells: torch.Tensor) -> Iterator[tuple[torch.Tensor, int, int]]:
    starts = [*placed.starts.tolist(), placed.n_cells]
    for n, column in enumerate(cells):
        yield column, starts[n], starts[n + 1]


@dataclass(frozen=True)
class Measured:
    """One setting: milliseconds, errors, and whether more passes gave the same bits.

    ``whole`` is a pass, of which ``weigh`` and ``count`` are parts; ``step`` also has the parameters sent, and the
    counts fetched.
    """

    setting: Setting
    n_cells: int
    whole: float
    step: float
    weigh: float
    count: float
    error_counts: float
    error_log: float
    same_bits: bool
    is_exact: bool

    @classmethod
    def of(cls, facts: dict[str, Any]) -> Measured:
        """Read what was written as JSON."""
        return cls(**{**facts, "setting": Setting(**facts["setting"])})

    @property
    def operations(self) -> float:
        """Operations of the three matrix products, with the cells and classes that the model has."""
        return 3 * 2 * self.setting.n_rows * self.n_cells * self.setting.rank

    @property
    def padded_operations(self) -> float:
        """The same with whole tiles of cells and classes."""
        cut = tiling(self.setting.rank)
        first, second = (-(-self.n_cells // tile.cells) * tile.cells for tile in (cut.weighing, cut.counting))
        return 2 * self.setting.n_rows * (2 * first + second) * cut.padded(self.setting.rank)

    @property
    def moved_bytes(self) -> float:
        """Bytes through the card's memory: labels, words, posteriors, their tops, sums and shares."""
        cut, size = tiling(self.setting.rank), 4 if self.is_exact else 2
        posteriors = 2 * size * cut.padded(self.setting.rank)
        # Words that mark cells are written and read by rows, and written and read by cells.
        words = 5 * -(-self.n_cells // cut.counting.cells) * cut.counting.cells / 8
        return self.setting.n_rows * (
            2 * self.setting.n_columns + words + posteriors + 24 * posteriors / (2 * size * cut.classes)
        )

    @property
    def gathered_bytes(self) -> float:
        """Bytes of logarithms in single precision that a gather would read."""
        return 4 * self.setting.n_rows * self.setting.n_columns * self.setting.rank


def _of_step(placed: Placed, t: CardTables) -> float:
    """Return the milliseconds of a pass as EM on the CPU calls it, by the clock of the host."""
    times = []
    for _ in range(12):
        began = time.perf_counter()
        card_passes.expected_counts(placed, None, tables(*t.given))
        times.append(1e3 * (time.perf_counter() - began))
    return median(times[2:])


def measure(setting: Setting) -> Measured:
    """Time a pass and its kernels, and hold it against double precision."""
    placed, t = setting.made()
    exact = placed.weights is not None or len(placed) < card_passes._MANY_ROWS

    def one_pass() -> Any:
        found = card_passes._Pass(placed, None, t, exact=exact)
        for weighed in found:
            found.count(weighed)
        return found, found._counts

    found, counts = one_pass()
    log_found = found.log_likelihood
    same_bits = all(torch.equal(counts, one_pass()[1]) for _ in range(AGAIN))
    log_true, counts_true = in_double(placed, t)
    off = counts[: placed.n_cells, : setting.rank] - counts_true
    whole = milliseconds(one_pass)
    weighed = next(iter(found))
    piece, E = weighed.piece, torch.empty_like(weighed.E)
    weigh = milliseconds(lambda: found._weigh(piece, E))
    count = milliseconds(lambda: found.count(weighed))
    n_pieces = -(-len(placed) // found.at_once)
    return Measured(
        setting,
        placed.n_cells,
        whole,
        _of_step(placed, t),
        weigh * n_pieces,
        count * n_pieces,
        float(off.norm() / counts_true.norm()),
        abs(log_found - log_true) / abs(log_true),
        same_bits,
        exact,
    )
