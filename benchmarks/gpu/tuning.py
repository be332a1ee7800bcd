"""Which tiles are fastest: each of a list is compiled, several at once, and timed on a table of random codes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from benchmarks.gpu.passes import Setting, milliseconds

from juror.kernels.cuda import card_passes
from juror.kernels.cuda.shapes import Tile, Tiling

# Tiles of the first kernel and of the second: rows, cells, warps of a program, stages of its pipeline
WEIGHING = [Tile(*each) for each in itertools.product((64, 128), (32, 64), (4,), (1, 2, 3))]
WEIGHING += [Tile(*each) for each in itertools.product((128, 256), (32, 64), (8,), (1, 2, 3))]
COUNTING = [Tile(*each) for each in itertools.product((32, 64, 128), (64, 128), (4, 8), (2, 3, 4))]


def tried(setting: Setting) -> list[tuple[str, Tile, float]]:
    """Return the kernel, the tile and the milliseconds of all that can be compiled, the fastest first."""
    placed, t = setting.made()

    def made(weighing: Tile, counting: Tile) -> card_passes._Pass:
        cut = t._replace(tiling=Tiling(t.tiling.classes, weighing, counting))
        return card_passes._Pass(placed, None, cut, exact=False)

    base = made(Tile(128, 64, 4, 1), Tile(128, 64, 4, 3))
    weighed = next(iter(base))

    def weighing(tile: Tile) -> Callable[[], Any]:
        found = made(tile, Tile(128, 64, 4, 3))
        return lambda: found._weigh(weighed.piece, weighed.E)

    def counting(tile: Tile) -> Callable[[], Any]:
        found = made(Tile(128, 64, 4, 1), tile)
        return lambda: found.count(weighed)

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
    return sorted(((name, tile, milliseconds(work, 7)) for name, tile, work in timed), key=lambda found: found[2])
