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

    Either reads which cells rows have from words of 32 bits, or compares labels: to make the words pays if several
    tiles of classes read them. Tiles that find posteriors have 32 cells, and those that count by words 32 rows.
    """

    classes: int
    weighing: Tile
    counting: Tile
    is_marked: bool

    def padded(self, n_classes: int) -> int:
        """Return the number of classes, padded to whole tiles."""
        return -(-n_classes // self.classes) * self.classes


_FEW = Tiling(64, Tile(128, 32, 4, 3), Tile(64, 128, 4, 3), is_marked=False)
_MANY = Tiling(128, Tile(128, 32, 4, 3), Tile(32, 128, 4, 4), is_marked=True)


def tiling(n_classes: int) -> Tiling:
    """Return the tiles for a number of classes."""
    return _FEW if n_classes <= _FEW.classes else _MANY
