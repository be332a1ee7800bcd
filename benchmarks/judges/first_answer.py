"""``python -W ignore -m benchmarks.judges.first_answer TABLE THREADS``: fit a table, and ask one question."""

from __future__ import annotations

import sys

import juror

from .tables import table


def main(name: str, n_jobs: str) -> None:
    """Fit a table and ask for the marginal of its first column."""
    rows = juror.datasets.titanic() if name == "titanic" else table(name)
    print(juror.fit(rows, n_jobs=int(n_jobs)).marginal(rows.columns[0]))


if __name__ == "__main__":
    main(*sys.argv[1:])
