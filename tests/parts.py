"""Tables in parts for tests: each part knows only the labels that its own rows show."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from juror.readers import Column, open_source
from juror.readers.scans import Scan


@dataclass(frozen=True)
class Slices:
    """Some chunks of a table in memory, read as if they came from elsewhere."""

    chunks_of: tuple[tuple[Column, ...], ...]

    def chunks(self, names=None):
        for columns in self.chunks_of:
            yield [column for column in columns if names is None or column.name in names]


def in_parts(data, cuts, missing=(), chunk_rows=3):
    """Cut a table (anything pyarrow takes) at some rows into parts, and each part into chunks of few rows."""
    table = data if isinstance(data, pa.Table) else pa.table(data)
    bounds = [0, *cuts, table.num_rows]
    parts = tuple(
        Slices(
            tuple(
                tuple(open_source(table.slice(start, min(chunk_rows, high - start)), missing))
                for start in range(low, high, chunk_rows)
            )
        )
        for low, high in pairwise(bounds)
    )
    numbers = {f.name for f in table.schema if pa.types.is_integer(f.type) or pa.types.is_floating(f.type)}
    return Scan(parts, tuple(table.column_names), frozenset(numbers))


def random_table(rng, n_rows, missing=0.2):
    """A table of text, categories, booleans, few whole numbers and many fractions, some cells null."""

    def holes(values):
        return pa.array(values, mask=rng.random(n_rows) < missing)

    z = rng.integers(3, size=n_rows)
    return pa.table(
        {
            "colour": holes(np.array(["red", "blue", "green", "teal"])[(z + rng.integers(2, size=n_rows)) % 4]),
            "sold": holes(rng.random(n_rows) < 0.2 + 0.3 * z),
            "doors": holes(z + rng.integers(2, size=n_rows)),
            "price": holes(np.round(rng.normal(size=n_rows) + z, 3)),
            "size": pa.array(np.array(["S", "M", "L"])[(z + (rng.random(n_rows) < 0.2)) % 3]).dictionary_encode(),
        }
    )
