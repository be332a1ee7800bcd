"""All numbers of the paper's Tables 1–7, as printed.

Two corrections. In Table 3 two rows are named JUROR-B; the second is where every other table has JUROR-C, so it is
taken as JUROR-C. In Table 6 the rows are numbers of projections M, for a method that the text calls "Spa-r-a";
the first row repeats JUROR-A of Table 1, so the method is JUROR-A. Table 7 is in per cent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Printed:
    """One table of the paper: number, caption, sample sizes N_s or data sets, and the numbers of each row by its key.

    Examples
    --------
    >>> TABLES[1].at("juror-a", 1000)
    0.205
    >>> TABLES[1].at("uniform", 1000) is None
    True
    """

    number: int
    caption: str
    columns: tuple[int | str, ...]
    rows: Mapping[str, tuple[float, ...]]

    def at(self, row: str, column: int | str) -> float | None:
        """Return the printed number, or None where the paper has none."""
        if row not in self.rows or column not in self.columns:
            return None
        return self.rows[row][self.columns.index(column)]


_ALL = (
    Printed(
        1,
        "MSE for PMFs for F = 25, I = 10, N = 6, κ = 1",
        (100, 1000, 5000, 10000, 50000),
        {
            "ctf": (0.339, 0.294, 0.233, 0.172, 0.103),
            "spa": (0.295, 0.264, 0.196, 0.143, 0.084),
            "juror-a": (0.253, 0.205, 0.174, 0.138, 0.092),
            "juror-b": (0.267, 0.229, 0.182, 0.131, 0.087),
            "juror-c": (0.262, 0.217, 0.185, 0.140, 0.098),
            "rand-em": (0.284, 0.246, 0.204, 0.149, 0.106),
        },
    ),
    Printed(
        2,
        "MAE for PMFs for F = 15, I = 10, N = 4, κ = 1",
        (100, 1000, 5000, 10000),
        {
            "ctf": (0.215, 0.181, 0.123, 0.096),
            "spa": (0.175, 0.151, 0.114, 0.063),
            "juror-a": (0.158, 0.136, 0.093, 0.054),
            "juror-b": (0.169, 0.148, 0.102, 0.048),
            "juror-c": (0.162, 0.139, 0.108, 0.059),
            "rand-em": (0.183, 0.174, 0.116, 0.082),
        },
    ),
    Printed(
        3,
        "MSE for CIMs for F = 90, I = 50, N = 5, κ = 1",
        (1000, 5000, 10000, 50000, 100000),
        {
            "ctf": (0.318, 0.289, 0.227, 0.191, 0.164),
            "spa": (0.296, 0.274, 0.238, 0.182, 0.158),
            "juror-a": (0.271, 0.259, 0.194, 0.162, 0.149),
            "juror-b": (0.283, 0.264, 0.209, 0.175, 0.137),
            "juror-c": (0.276, 0.268, 0.204, 0.179, 0.155),
            "rand-em": (0.281, 0.268, 0.198, 0.187, 0.157),
        },
    ),
    Printed(
        4,
        "MSE for PMFs for F = 20, I = 15, N = 5, κ = 0.8",
        (100, 1000, 10000, 50000),
        {
            "ctf": (0.316, 0.151, 0.142, 0.092),
            "spa": (0.238, 0.162, 0.126, 0.117),
            "juror-a": (0.205, 0.147, 0.131, 0.103),
            "juror-b": (0.225, 0.159, 0.118, 0.107),
            "juror-c": (0.218, 0.154, 0.126, 0.114),
            "rand-em": (0.269, 0.173, 0.152, 0.136),
        },
    ),
    Printed(
        5,
        "MSE for PMFs for F = 20, I = 10, N = 15, κ = 1",
        (1000, 5000, 10000, 50000, 100000),
        {
            "ctf": (0.268, 0.242, 0.201, 0.154, 0.104),
            "spa": (0.245, 0.237, 0.226, 0.176, 0.126),
            "juror-a": (0.229, 0.208, 0.184, 0.162, 0.115),
            "juror-b": (0.258, 0.217, 0.205, 0.158, 0.109),
            "juror-c": (0.241, 0.225, 0.197, 0.171, 0.119),
            "rand-em": (0.248, 0.226, 0.217, 0.197, 0.143),
        },
    ),
    Printed(
        6,
        "MSE for PMFs for F = 25, I = 10, N = 6, κ = 1, with M projections a pair",
        (100, 1000, 5000, 10000, 50000),
        {
            "M=200": (0.253, 0.205, 0.174, 0.138, 0.092),
            "M=150": (0.264, 0.214, 0.188, 0.151, 0.106),
            "M=100": (0.289, 0.267, 0.223, 0.184, 0.129),
            "M=50": (0.384, 0.357, 0.305, 0.264, 0.213),
        },
    ),
    Printed(
        7,
        "Classification accuracies on real-world datasets, in per cent",
        ("car", "mushroom"),
        {
            "ctf": (84.92, 95.13),
            "spa": (86.45, 96.01),
            "juror-a": (87.59, 96.72),
            "juror-b": (86.37, 95.12),
            "juror-c": (88.38, 95.79),
            "rand-em": (82.68, 94.65),
            "logistic regression": (82.37, 95.86),
            "svm-rbf": (78.32, 95.74),
            "naive bayes": (84.39, 89.67),
            "neural net": (85.16, 96.37),
        },
    ),
)
TABLES = {printed.number: printed for printed in _ALL}
