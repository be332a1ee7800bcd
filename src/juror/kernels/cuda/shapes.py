"""How kernels are cut into tiles: the fastest of those that ``benchmarks/gpu.py`` tried on an H200."""

from __future__ import annotations

from typing import NamedTuple

# Rows and cells are padded to whole tiles of this many.
ROWS, CELLS = 256, 256
# Rows that matrix units add up before the sum is rounded, in half precision and in two parts of single precision
ROWS_A_RUN = {"half": 2048, "single": 512}


class Tile(NamedTuple):
    """The rows and cells of a tile, powers of two, and the warps and pipeline stages of a program."""

    rows: int
    cells: int
    warps: int
    stages: int


class Tiling(NamedTuple):
    """The classes of a tile, the same in all kernels, and the tiles that find posteriors and that count.

    Which cells rows have is read from words of 32 bits: tiles that find posteriors have 32 cells, and those that count
    have 32 rows.
    """

    classes: int
    weighing: Tile
    counting: Tile

    def padded(self, n_classes: int) -> int:
        """Return the number of classes, padded to whole tiles."""
        return -(-n_classes // self.classes) * self.classes


_FEWEST, _MOST = 16, 128


def tiling(n_classes: int) -> Tiling:
    """Return the tiles for a number of classes."""
    classes = min(_MOST, max(_FEWEST, 1 << (n_classes - 1).bit_length()))
    return Tiling(classes, Tile(128, 32, 4, 4 if classes == _MOST else 3), Tile(32, 128, 4, 4))
