"""Report: a page about a model that can be saved, shown in a notebook, or read as facts."""

from __future__ import annotations

import os
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from juror.files.writing import write_whole
from juror.printing import numbered
from juror.report.facts import gather_facts
from juror.report.html import make_page

if TYPE_CHECKING:
    from juror.domain.variable import Unknown
    from juror.model import JointPMF


class Report:
    """A page about a model: click what is known, and see what follows.

    The page is one file that holds the model and computes answers in the browser, without a server or a network. It
    shows bars for every variable, the dependence of every pair, the latent classes, and how the model was fitted. It
    also shows how well the model agrees with data, or without data with the counts of the rows that it was fitted to
    (:attr:`JointPMF.counts`). Answers with at most one condition show the rows behind them, and their intervals if the
    model has intervals. A notebook shows the page in place.

    Parameters
    ----------
    model : JointPMF
        The model.
    data : frame, mapping, array, path or other table, optional
        Rows to compare the model with, as in :func:`juror.fit`.
    name : str
        The model's file, for the commands to copy from the page. The title is this name without its ending.
    rank : int, "auto" or "all"
        The number of classes of the page: all, or at most this many, those of the nearest such model. ``"auto"`` takes
        all if the page then stays below two megabytes, else as many as do and as half a minute of compression allows.
        The page and ``facts["model"]["loss"]`` say how far this is from the fitted model, in nats per row. Answers with
        one condition come from tables of the fitted model where the smaller one is off by more than a point.
    sample_weight : array-like (n_rows,) or str, optional
        How often each row of the data counts, or the name of the column of weights.
    unknown : {"error", "warn", "missing"}
        What to do with labels of the data that the model does not know.
    seed : int
        Seed of a compression, and of the sample of rows if there are many.

    Examples
    --------
    >>> import juror
    >>> people = juror.datasets.titanic()
    >>> report = Report(juror.fit(people, rank=4, method="em"), people, name="titanic.juror")
    >>> report
    Report('titanic.juror': 4 variables, 4 classes, beside 2,201 rows)
    >>> [variable["name"] for variable in report.facts["variables"]]
    ['Class', 'Sex', 'Age', 'Survived']
    >>> report.to_html()[:15]
    '<!doctype html>'
    """

    def __init__(
        self,
        model: JointPMF,
        data: Any = None,
        *,
        name: str = "model.juror",
        rank: int | Literal["auto", "all"] = "auto",
        sample_weight: Any = None,
        unknown: Unknown = "error",
        seed: int = 0,
    ):
        self._facts, self._packed = gather_facts(
            model, data, name=name, rank=rank, sample_weight=sample_weight, unknown=unknown, seed=seed
        )

    @property
    def facts(self) -> dict[str, Any]:
        """All facts that the page shows, as plain values that JSON can hold."""
        return self._facts

    @cached_property
    def _html(self) -> str:
        return make_page(self._facts, self._packed)

    def to_html(self) -> str:
        """Return the page."""
        return self._html

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        # The name of a file, which is the title, may hold what UTF-8 cannot encode.
        html = self._html.encode(errors="replace")
        write_whole(Path(path), lambda stream: stream.write(html))

    def __repr__(self) -> str:
        model, observed = self._facts["model"], self._facts["observed"]
        beside = "" if observed is None or observed["source"] == "fit" else f", beside {observed['n_rows']:,.15g} rows"
        size = f"{numbered(model['n_variables'], 'variable')}, {numbered(model['rank'], 'class', 'classes')}"
        return f"Report({self._facts['file']!r}: {size}{beside})"

    def _repr_html_(self) -> str:
        frame = "width: 100%; height: 48rem; border: 0"
        return f'<iframe srcdoc="{escape(self._html)}" style="{frame}" title="juror report"></iframe>'
