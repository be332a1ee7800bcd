"""Which tiles are fastest: each of a list is compiled, several at once, and timed on a table of random codes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from benchmarks.gpu.passes import Setting, milliseconds

from juror.kernels.cuda import card_passes
from juror.kernels.cuda.card_tables import CardTables
from juror.kernels.cuda.placed import Placed
from juror.kernels.cuda.shapes import Tile, Tiling

# Classes of a tile; tiles of the first kernel and of the second: rows, cells, warps of a program, pipeline stages
CLASSES = {64: (64,), 1024: (128, 256)}
WEIGHING = [Tile(*each) for each in itertools.product((64, 128, 256), (32,), (4, 8), (2, 3, 4, 5))]
COUNTING = [Tile(*each) for each in itertools.product((32,), (64, 128, 256), (4, 8), (3, 4, 5, 6))]


def tried(setting: Setting) -> list[tuple[str, int, Tile, float]]:
    """Return the kernel, the classes and tile, and the milliseconds of all that can be compiled, the fastest first."""
    placed, t = setting.made()
    found = [each for classes in CLASSES[setting.rank] for each in _tried(placed, t, classes)]
    return sorted(found, key=lambda each: each[-1])


def _tried(placed: Placed, t: CardTables, classes: int) -> list[tuple[str, int, Tile, float]]:
    def made(weighing: Tile, counting: Tile) -> card_passes._Pass:
        cut = t._replace(tiling=Tiling(classes, weighing, counting))
        return card_passes._Pass(placed, None, cut, exact=False)

    some = Tile(128, 32, 8, 3), Tile(32, 256, 8, 3)
    weighed = next(iter(made(*some)))

    def weighing(tile: Tile) -> Callable[[], Any]:
        found = made(tile, some[1])
        return lambda: found._weigh(weighed.piece, weighed.E)

    def counting(tile: Tile) -> Callable[[], Any]:
        found = made(some[0], tile)
        # Words are padded to whole tiles of cells.
        own = weighed._replace(marks=found._marked(weighed.piece)[1])
        return lambda: found.count(own)

    def compiled(work: Callable[[], Any]) -> Callable[[], Any] | None:
        try:
            work()
        except Exception as error:
            # Too many registers or too much shared memory: other tiles are left.
            print(repr(error)[:100])
            return None
        return work

    named = [("weigh", tile, weighing(tile)) for tile in WEIGHING]
    named += [("count", tile, counting(tile)) for tile in COUNTING]
    with ThreadPoolExecutor(14) as pool:
        works = list(pool.map(compiled, [work for _, _, work in named]))
    torch.cuda.synchronize()
    timed = [(name, tile, work) for (name, tile, _), work in zip(named, works, strict=True) if work is not None]
    return [(name, classes, tile, milliseconds(work, 7)) for name, tile, work in timed]
