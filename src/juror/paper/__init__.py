"""The paper's experiments: its seven tables with printed and measured numbers, and a study of projections."""

from juror.paper.experiments import finished_tables, run_tables, table
from juror.paper.inversion_study import Inversions, compare_inversions
from juror.paper.printed import TABLES as PRINTED
from juror.paper.running import Step, Store
from juror.paper.table_rows import Entry, PaperTable

__all__ = [
    "PRINTED",
    "Entry",
    "Inversions",
    "PaperTable",
    "Step",
    "Store",
    "compare_inversions",
    "finished_tables",
    "run_tables",
    "table",
]
