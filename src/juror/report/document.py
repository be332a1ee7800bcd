"""Report: a page about a model, as a value that can be saved, shown in a notebook, or read as facts."""

from __future__ import annotations

import os
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from juror.files.writing import write_whole
from juror.report.facts import gather_facts
from juror.report.html import make_page

if TYPE_CHECKING:
    from juror.domain.variable import Unknown
    from juror.model import JointPMF


class Report:
    """A page about a model: click what is known, and see what follows.

    It is one file that holds the model and answers in the browser, without a server or a network. Beside bars for every
    variable it shows what depends on what, the latent classes, how the model was fitted and, with data, how well it
    knows them. A notebook shows it in place.

    Parameters
    ----------
    model : JointPMF
        The model.
    data : frame, mapping, array, path or other table, optional
        Rows to hold the model against, as in :func:`juror.fit`.
    name : str
        The model's file, as it stands in the commands that the page gives; its title is the name without its ending.
    rank : int, "auto" or "all"
        How many classes the page has: all, or the nearest model of so many; ``"auto"`` has all if that keeps the page
        below two megabytes, else as many as do and are found in about half a minute. The page says how far from the
        fitted model that is, and so does ``facts["model"]["loss"]``, in nats a row.
    sample_weight : array-like (n_rows,) or str, optional
        How often each row of the data counts, or the name of the column that says so.
    unknown : {"error", "warn", "missing"}
        What to do with labels of the data that the model does not know.
    seed : int
        Where chance comes from: a compression, and a sample of rows where there are many.

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
        self._facts = gather_facts(
            model, data, name=name, rank=rank, sample_weight=sample_weight, unknown=unknown, seed=seed
        )

    @property
    def facts(self) -> dict[str, Any]:
        """All that the page shows, as plain values that JSON can hold."""
        return self._facts

    @cached_property
    def _html(self) -> str:
        return make_page(self._facts)

    def to_html(self) -> str:
        """Return the page."""
        return self._html

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        # of all text only the title may hold what UTF-8 cannot: the name of a file
        html = self._html.encode(errors="replace")
        write_whole(Path(path), lambda stream: stream.write(html))

    def __repr__(self) -> str:
        model, observed = self._facts["model"], self._facts["observed"]
        beside = "" if observed is None else f", beside {observed['n_rows']:,.15g} rows"
        return f"Report({self._facts['file']!r}: {model['n_variables']:,} variables, {model['rank']:,} classes{beside})"

    def _repr_html_(self) -> str:
        frame = "width: 100%; height: 48rem; border: 0"
        return f'<iframe srcdoc="{escape(self._html)}" style="{frame}" title="juror report"></iframe>'
