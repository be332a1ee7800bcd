"""The page about large tables is made of what was measured, and the cases that measure it run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import dataset
from scale.page import Costs, Rows, page
from scale.tables import LEVELS, write_parquet

ROOT = Path(__file__).parents[1]


def facts():
    beside = ROOT / "docs" / "scale"
    return [json.loads((beside / name).read_text()) for name in ("measures.json", "subsets.json")]


def test_the_page_is_that_of_its_facts():
    assert page(*facts()) == (ROOT / "docs" / "scale.md").read_text()


def test_the_page_follows_its_facts():
    measures, subsets = facts()
    for row in measures["rows"]:
        row["seconds"] *= 2
    assert page(measures, subsets) != (ROOT / "docs" / "scale.md").read_text()


def test_costs_add_up_to_what_was_measured():
    def row(case, seconds):
        return {"case": case, "columns": 50, "rows": 10**6, "seconds": seconds}

    # a microsecond a row, of which a hundredth is counting
    cases = [row("parquet, one thread", 1.0), row("codes, one thread", 0.01), row("em, one thread", 0.1)]
    costs = Costs.of(Rows(cases))
    assert 50 * costs.cell + 1225 * costs.pair == pytest.approx(1000.0)
    assert 50 * costs.em_cell == pytest.approx(100.0)


def test_tables_are_as_described(tmp_path):
    table = dataset.dataset(write_parquet(tmp_path / "rows", 3000, 4)).to_table()
    assert table.shape == (3000, 4)
    for column in table.columns:
        assert len(column.drop_null().unique()) <= LEVELS
        assert 0.02 < column.null_count / 3000 < 0.08


@pytest.mark.parametrize("case", ["parquet, one thread", "em, file"])
def test_cases_run(tmp_path, case):
    folder = write_parquet(tmp_path / "rows", 600_000, 3)
    command = [sys.executable, "-m", "benchmarks.scale.cases", case, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    found = json.loads(done.stdout)
    assert found["rows"] == 600_000
    assert found["seconds"] > 0
    assert 50 < found["peak_megabytes"] < 1000
