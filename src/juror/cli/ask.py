"""juror ask: answer a question about a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from juror.cli import options
from juror.cli.data import rows_beside
from juror.cli.options import Json, Model, UnknownOption, refuse_without_data, unknown_of
from juror.cli.output import records_of, write_columns, write_json
from juror.cli.saved_files import read_model
from juror.cli.terminal import is_terminal, show, tell
from juror.errors import QueryError
from juror.record import finite

if TYPE_CHECKING:
    from juror.answers.interval import IntervalTable
    from juror.answers.marginals import ProbabilityTable
    from juror.answers.support import SupportTable
    from juror.model import JointPMF


def command(
    model: Model,
    question: Annotated[
        str,
        typer.Argument(metavar="QUESTION", help="Such as 'class | safety = high, persons in {4, more}'."),
    ],
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA",
            help="Rows to count, those that meet the conditions: a .csv, .parquet or .arrow file, a folder of them, or "
            "a glob.",
        ),
    ] = None,
    level: Annotated[
        float | None,
        typer.Option(
            "--interval",
            metavar="LEVEL",
            help="Add the ends of an interval that holds the true value with this probability, such as 0.9.",
        ),
    ] = None,
    sample_weight: options.Weight = None,
    unknown: UnknownOption = "error",
    separator: options.Separator = None,
    quote: options.Quote = options.QUOTE,
    encoding: options.Encoding = options.ENCODING,
    decimal: options.Decimal = options.DECIMAL,
    json: Json = False,
) -> None:
    """Answer a QUESTION about MODEL: names of variables, then a bar and conditions.

    With conditions in place of names, such as 'age >= 65 | sex = F', the answer is their probability.

    Beside each probability stand the share and the number of the rows that meet the conditions: for questions about one
    or two variables from the counts in the model, for others with DATA. If the only variable asked for is a number, its
    mean, standard deviation and median follow; with --json they stand beside the list of probabilities.
    """
    from juror.model.query import is_event  # slow to import

    csv = {"separator": separator, "quote": quote, "encoding": encoding, "decimal": decimal}
    refuse_without_data(data, csv, {"weight": sample_weight, "unknown": unknown != "error"}, after="question")
    known, loaded = unknown_of(unknown), read_model(model)
    if is_event(question, loaded.domain):
        _answer_event(loaded, question, is_table=data is not None or level is not None, json=json)
        return
    rows = rows_beside(loaded.domain, data, csv)
    behind: dict[str, Any] = {"data": rows, "sample_weight": sample_weight, "unknown": known}
    answer: IntervalTable | SupportTable | ProbabilityTable
    notes = []
    if level is None:
        table = loaded.ask(question, **behind)
        answer = table if table.support is None else table.support
    else:
        answer = loaded.interval(question, level, **behind)
        table, notes = answer.table, [f"intervals from {answer.basis}", *answer.remarks()]
    if table.support is not None and table.support.n_missing:
        notes.append(table.support.notes()[0])
    uncounted = table.support is None and level is None
    if is_terminal() and not json:
        show(str(answer))
    else:
        # A share of no rows is no number, and CSV and JSON leave it empty.
        columns = finite(answer.to_dict())
        if json and table.summary is not None:
            of_rows = None if table.support is None else table.support.summary
            more = {} if of_rows is None else {"of_rows": of_rows.to_dict()}
            write_json(table.summary.to_dict() | more | {"probabilities": records_of(columns)})
        else:
            write_columns(columns, json)
            notes += table.in_words() if table.support is None else table.support.in_words()
        for note in notes:
            tell(note)
    if uncounted:
        # the counts in a model know neither several conditions nor parts of intervals
        tell("no rows are counted for this question; to count them, name the data after it")


def _answer_event(model: JointPMF, question: str, *, is_table: bool, json: bool) -> None:
    """Write the probability of conditions; refuse what stands only beside tables."""
    if is_table:
        raise QueryError(
            "Shares of rows and intervals stand beside tables, and this asks for the probability of a condition. Leave "
            "out DATA and --interval, or name only variables to the left of the bar."
        )
    probability = model.prob(question)
    if json:
        write_json({"probability": probability})
    elif is_terminal():
        show(f"probability {probability:.4g}")
    else:
        write_columns({"probability": [probability]}, json)
