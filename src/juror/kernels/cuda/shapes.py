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
    """The classes of a tile, the same in all kernels, and the tiles that find posteriors and that count."""

    classes: int
    weighing: Tile
    counting: Tile

    def padded(self, n_classes: int) -> int:
        """Return the number of classes, padded to whole tiles."""
        return -(-n_classes // self.classes) * self.classes


_FEW = Tiling(64, Tile(128, 32, 4, 3), Tile(64, 128, 4, 3))
_MANY = Tiling(128, Tile(64, 32, 4, 2), Tile(64, 128, 4, 3))


def tiling(n_classes: int) -> Tiling:
    """Return the tiles for a number of classes."""
    return _FEW if n_classes <= _FEW.classes else _MANY
