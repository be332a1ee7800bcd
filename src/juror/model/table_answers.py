"""Answers about variables: the probability of an event, tables with the rows behind them, and intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from juror.answers.checking import worth_of_rows
from juror.answers.interval import IntervalTable, intervals
from juror.answers.marginals import ProbabilityTable, marginal
from juror.answers.numbers import as_cells, check_levels, check_numeric, moments, quantiles_of
from juror.answers.posterior import log_mass, possible_log_mass, posterior
from juror.answers.support import nearly_counted
from juror.domain.evidence import both, describe
from juror.domain.variable import Unknown
from juror.errors import QueryError
from juror.model import backing
from juror.model.asking import Asked, Given, understood
from juror.model.parts import ModelParts
from juror.readers.exact_numbers import as_float


class TableAnswers(ModelParts):
    """The methods of :class:`juror.JointPMF` that answer with a probability or a table of probabilities."""

    __slots__ = ()

    def prob(self, event: Mapping[str, Any] | str, given: Given = None) -> float:
        """Return the probability of an event.

        Parameters
        ----------
        event : mapping of str to value, or str
            By variable name a label, a collection of labels, a :class:`juror.Range` or :class:`juror.Not`; or
            conditions in the query language, like ``"Survived = Yes, Class != Crew"``. In text, what is given may
            follow a bar: ``"Survived = Yes | Sex = Female"``.
        given : mapping or str, optional
            Evidence, in the same forms or soft: a mapping of every label to its likelihood.

        Examples
        --------
        >>> import juror
        >>> model = juror.fit(juror.datasets.titanic(), rank=4, method="em")
        >>> round(model.prob("Survived = Yes | Sex = Female, Class in {1st, 2nd}"), 2)
        0.93
        >>> round(model.prob({"Survived": "Yes"}, given={"Sex": "Female", "Class": ["1st", "2nd"]}), 2)
        0.93
        """
        asked = understood(self, given, event)
        asked.warn_of_formulas(asked.event)
        known = possible_log_mass(asked.model, asked.evidence)
        # Rounding must not give more than one.
        return min(1.0, float(np.exp(log_mass(asked.model, both(asked.evidence, asked.event)) - known)))

    def marginal(
        self, *names: str, given: Given = None, data: Any = None, sample_weight: Any = None, unknown: Unknown = "error"
    ) -> ProbabilityTable:
        """Return the joint table of some variables, perhaps given evidence; ``data`` and the rest as in :meth:`ask`."""
        if not names:
            raise QueryError(f"Name at least one variable, such as {self.domain.names[0]!r}.")
        asked = replace(understood(self, given), targets=tuple(self.domain.position(name) for name in names))
        asked.warn_of_formulas(asked.targets)
        return self._supported(asked, data, sample_weight, unknown)

    def _supported(self, asked: Asked, data: Any, sample_weight: Any, unknown: Unknown) -> ProbabilityTable:
        """Answer, with the rows behind the answer if they are given or the counts of the fit say so."""
        domain = asked.model.domain
        after = posterior(asked.model, asked.evidence)
        variables = tuple(domain[n] for n in asked.targets)
        settled = asked.points.get(asked.targets[0]) if len(asked.targets) == 1 else None
        known = describe(domain, asked.evidence)
        table = ProbabilityTable(variables, marginal(after, asked.targets), known, settled=settled)
        if data is not None:
            return backing.backed_by_rows(table, asked, self.conditions, data, sample_weight, unknown)
        backing.refuse_without_rows(sample_weight, unknown)
        return backing.backed_by_counts(table, asked, self.counts, self.info)

    def expect(self, name: str, given: Given = None) -> Any:
        """Return the mean of a number, given evidence; of dates and times a date or time.

        Parameters
        ----------
        name : str
            A variable of numbers. A missing cell that has a label is no number, and not counted.
        given : mapping or str, optional
            Evidence, as in :meth:`prob`.

        Examples
        --------
        >>> import juror
        >>> domain = juror.Domain.infer({"age": [5.0, 30.0]}, edges={"age": [0, 20, 100]})
        >>> model = juror.JointPMF([1.0], [[[0.25], [0.75]]], domain)
        >>> round(model.expect("age", given="age < 20"), 2), model.quantile("age", [0, 1])
        (10.33, [0, 100])
        """
        n, variable = self.domain.position(name), self.domain[name]
        check_numeric(variable)
        asked = understood(self, given)
        asked.warn_of_formulas([n])
        if n in asked.points:
            mean = as_float(asked.points[n])
        else:
            mean, _ = moments(asked.model.domain[n], marginal(posterior(asked.model, asked.evidence), [n]))
        return mean if variable.calendar is None else as_cells(variable, [math.floor(mean)])[0]

    def quantile(self, name: str, level: float | Sequence[float] = 0.5, given: Given = None) -> Any:
        """Return the number that a share of the distribution does not exceed, or a list of them for several shares.

        Parameters
        ----------
        name : str
            A variable of numbers.
        level : float or sequence of float
            Shares in the range [0, 1]; 0.5 is the median.
        given : mapping or str, optional
            Evidence, as in :meth:`prob`.
        """
        n = self.domain.position(name)
        check_numeric(self.domain[n])
        levels = check_levels(level)
        asked = understood(self, given)
        asked.warn_of_formulas([n])
        if n in asked.points:
            found = [asked.points[n]] * len(levels)
        else:
            table = marginal(posterior(asked.model, asked.evidence), [n])
            found = quantiles_of(asked.model.domain[n], np.repeat(table[None], len(levels), axis=0), levels).tolist()
        found = as_cells(self.domain[n], found)
        return found if np.ndim(level) else found[0]

    def ask(
        self,
        question: str,
        *,
        given: Given = None,
        data: Any = None,
        sample_weight: Any = None,
        unknown: Unknown = "error",
    ) -> ProbabilityTable:
        """Answer a question such as ``"class, price | safety = high, persons in {4, more}, not doors = 2"``.

        If the question is about one or two variables in all, the text of the answer and its ``.support`` say how many
        rows of the fitted table meet its condition, and what shares they have, from :attr:`counts`. Rows that are given
        in ``data`` are counted for any question without likelihoods. Many intervals of a number are joined in the text.

        Parameters
        ----------
        question : str
            Names of variables, then a bar and conditions.
        given : mapping or str, optional
            Further evidence, as in :meth:`prob`: also likelihoods, which the question has no words for.
        data : frame, mapping, array, path or stream, optional
            Rows to count, as in :func:`juror.fit`; only the columns of the question are read. They must meet the
            conditions of a conditioned model too, whose columns are read.
        sample_weight : array-like (n_rows,) or str, optional
            How often each row of data counts, or the name of the column that says so.
        unknown : {"error", "warn", "missing"}
            What to do with labels in data that the model does not know.

        Examples
        --------
        >>> import juror
        >>> people = juror.datasets.titanic()
        >>> answer = juror.fit(people, rank=4, method="em").ask("Survived | Sex = Female")
        >>> print(answer)
        P(Survived | Sex = Female)
        Survived  probability   share  rows
        No             0.26...  0.2681   126  ...
        Yes            0.73...  0.7319   344  ...
        shares of 470 rows
        """
        asked = understood(self, given, question="" if question is None else question)
        asked.warn_of_formulas(asked.targets)
        return self._supported(asked, data, sample_weight, unknown)

    def interval(
        self,
        question: str,
        level: float = 0.95,
        *,
        given: Given = None,
        data: Any = None,
        sample_weight: Any = None,
        unknown: Unknown = "error",
    ) -> IntervalTable:
        """Answer a question with intervals, from posterior draws, from the rows behind the answer, or from both.

        Fits by ``method="bayes"`` have draws. Rows are known for questions about one or two variables, or given in
        ``data``, as in :meth:`ask`. A model without draws takes as many rows as it expects if they are not known; with
        likelihoods in ``given``, as many as rows that count by their likelihoods are worth.

        Examples
        --------
        >>> import juror
        >>> model = juror.fit(juror.datasets.titanic(), rank=4, method="em")
        >>> model.interval("Survived", 0.9, given={"Sex": {"Female": 0.9, "Male": 0.1}}).basis
        'about 893 rows, as many as the model expects all rows to be worth by their likelihoods'
        """
        asked = understood(self, given, question="" if question is None else question)
        asked.warn_of_formulas(asked.targets)
        table = self._supported(asked, data, sample_weight, unknown)
        n_draws, agreement = (0, None) if self.info is None else (self.info.n_draws, self.info.agreement)
        n_rows = backing.rows_that_show({*asked.targets, *asked.evidence}, self.counts, self.info)
        worth, widening = worth_of_rows(self.info), 1.0 if self.info is None else self.info.widening
        answered = (asked.model, n_draws, n_rows, asked.targets, asked.evidence, table)
        about = None
        if table.support is None and self.counts is not None:
            about = nearly_counted(asked.model.domain, self.counts, asked.targets, asked.evidence)
        return intervals(*answered, level, agreement, worth, widening, about)
