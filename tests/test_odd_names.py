"""Names that were probably read wrongly are warned of; others are not."""

import warnings

import numpy as np
import pytest

from juror.domain import Domain
from juror.errors import DataWarning

LINES = [f"{'yes' if n % 3 else 'no'},{n * 0.37 % 5:.2f},{n % 4}" for n in range(60)]


def infer(tmp_path, lines):
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines))
    return Domain.infer(str(path))


def test_a_first_row_that_was_read_as_names(tmp_path):
    with pytest.warns(DataWarning, match=r"names of the columns, \['no', '0.00', '0'\], look like a row") as caught:
        infer(tmp_path, LINES)
    assert len(caught) == 1


def test_spaces_after_commas(tmp_path):
    with pytest.warns(DataWarning, match=r"^Columns \[' b', ' c'\] have names with spaces at an end,") as caught:
        infer(tmp_path, ["a, b, c", *(line.replace(",", ", ") for line in LINES)])
    assert len(caught) == 1
    with pytest.warns(DataWarning, match="^Column 'b ' has a name with spaces at an end"):
        infer(tmp_path, ["a,b ,c", *LINES])


def test_good_names(tmp_path):
    bits = np.random.default_rng(0).integers(0, 2, (60, 3))
    tables = [
        ["a,b,c", *LINES],
        ["yes,2019,2020", *LINES],
        ["1,2,3", *(",".join(map(str, row)) for row in (bits + 1).tolist())],
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for lines in tables:
            infer(tmp_path, lines)
