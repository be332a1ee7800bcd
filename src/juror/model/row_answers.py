"""Answers about rows of data: their probabilities, their missing cells and their predicted labels."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from juror.answers import continuous, scores
from juror.answers.checking import CheckTable, check, worth_of_rows
from juror.answers.filling import impute
from juror.answers.formula_holes import with_what_follows
from juror.answers.numbers import Centre, best_guesses
from juror.domain.variable import Unknown
from juror.errors import ModelError, QueryError, shortlist
from juror.kernels import card_for, check_device
from juror.model.backing import refuse_rows, refuse_without_rows
from juror.model.parts import ModelParts
from juror.readers import Column


class RowAnswers(ModelParts):
    """The methods of :class:`juror.JointPMF` that take rows of data."""

    __slots__ = ()

    def log_prob(self, data: Any, *, unknown: Unknown = "error", device: str = "cpu") -> np.ndarray:
        """Return the natural log-probability of every row, missing cells and absent columns summed out.

        A missing cell of a variable with a label for missing cells counts as that label. Columns that the model does
        not know are left out without a warning, here as in all answers about rows: an identifier or a later column says
        nothing under this model. A name that is probably a misspelling of a column that is absent is refused.

        Parameters
        ----------
        data : frame, mapping, array or path
            Rows, as in :func:`juror.fit`.
        unknown : {"error", "warn", "missing"}
            What to do with labels that the model does not know.
        device : {"cpu", "auto", "cuda"}
            Where rows are passed over, as in :func:`juror.fit`; a card computes in single precision.

        Returns
        -------
        numpy.ndarray, (n_rows,)
            −inf for rows that are impossible under the model.
        """
        check_device(device)
        codes = self.domain.encode(data, unknown)
        return scores.log_prob(self, codes, card_for(device, codes.size))

    def density(self, data: Any, *, unknown: Unknown = "error") -> np.ndarray:
        """Return the density of every row in original units, (n_rows,); see :meth:`log_density`.

        Examples
        --------
        >>> from juror import Domain, JointPMF
        >>> domain = Domain.infer({"age": [5.5, 30.25]}, edges={"age": [0, 20, 100]})
        >>> JointPMF([1.0], [[[0.25], [0.75]]], domain).density({"age": ["[0, 20)", None]}).tolist()
        [0.25, 1.0]
        """
        with np.errstate(over="ignore"):
            return np.exp(self.log_density(data, unknown=unknown))

    def log_density(self, data: Any, *, unknown: Unknown = "error") -> np.ndarray:
        """Return the logarithm of the density of every row in original units, missing cells summed out.

        Numbers count by the density of their law (``Variable.law``), all else by probability. Where a number
        has a probability, there is no density: whole numbers, decimal numbers and dates stand for the interval up to
        the next one, so their density is their probability divided by that step. A value that recurs in a column
        without a step counts by its probability. Intervals that are given by their labels count by their probability,
        too.

        Parameters
        ----------
        data : frame, mapping, array or path
            Rows, as in :func:`juror.fit`.
        unknown : {"error", "warn", "missing"}
            What to do with labels that the model does not know.

        Returns
        -------
        numpy.ndarray, (n_rows,)
            −inf for rows that are impossible under the model.
        """
        return continuous.log_density(self, self.domain.open(data), unknown)

    def cdf(self, data: Any, *, unknown: Unknown = "error") -> np.ndarray:
        """Return P(X ≤ x) for the observed variables of every row, (n_rows,); the others are summed out.

        It is the sum, or the integral, of :meth:`density`. A label, also of an interval, counts in full. Nominal
        variables have no order and are refused. The arguments are those of :meth:`log_density`.

        Examples
        --------
        >>> from juror import Domain, JointPMF
        >>> domain = Domain.infer({"age": [5.0, 30.0]}, edges={"age": [0, 20, 100]})
        >>> JointPMF([1.0], [[[0.25], [0.75]]], domain).cdf({"age": [-1, 19.5, 200]}).tolist()
        [0.0, 0.25, 1.0]
        """
        return continuous.cdf(self, self.domain.open(data), unknown)

    def impute(
        self,
        data: Any,
        draws: int | None = None,
        *,
        seed: int = 0,
        unknown: Unknown = "error",
        also: Collection[str] = (),
        numbers: Centre | None = None,
        formulas: bool = True,
    ) -> Any:
        """Fill the missing cells of a table; observed cells are not changed.

        Missing cells that are a state of their own (``missing_as`` in :func:`juror.fit`) are an answer, and stay.

        Parameters
        ----------
        data : frame, mapping, array or path
            Rows, as in :func:`juror.fit`. A frame is returned as a frame of its kind, an array as an array, all else as
            a pandas frame. Columns that the model does not know come back untouched, in their places.
        draws : int, optional
            By default every hole gets its most probable label given the observed cells of its row, and every hole of a
            column of numbers their median. With ``draws=1`` the holes of a row get one draw from their joint
            distribution instead. With more draws, a list of as many completed tables is returned, for multiple
            imputation: :func:`juror.pool` makes one estimate of them. If the model was fitted with ``method="bayes"``,
            each table comes from another draw of the posterior, so that the tables also show the uncertainty about the
            model.
        seed : int
            The same seed gives the same draws.
        unknown : {"error", "warn", "missing"}
            What to do with labels that the model does not know; with ``"missing"`` they stay in the table and are
            ignored.
        also : list of str
            Variables with a label for missing cells whose missing cells are filled too, as if they had been asked: each
            gets a label of those who were.
        numbers : {"median", "mean"}, optional
            What fills holes of numbers without ``draws``. The mean has the smaller squared error, and is rounded to a
            number that the column may have. By default it is the median. Columns of up to ten whole numbers, which
            may be codes, get the most probable one by default, and their median if this is given; columns of more whole
            numbers or of few fractions, which are labels, too, get the median in any case. Arrays of codes hold codes.
        formulas : bool
            Whether formulas between columns of numbers (``model.domain.formulas``), which nearly all fitted rows
            satisfy, fill the holes that follow from the other cells of their row, and filled rows keep the orders
            between columns (``model.domain.orders``). Where medians would break an order, the columns with
            orders or formulas get the one of 25 draws that is most in the middle.
        """
        n_draws = 0 if self.info is None else self.info.n_draws
        return impute(self, data, draws, seed, unknown, also, n_draws, numbers, formulas)

    def predict_proba(
        self, data: Any, target: str | None = None, *, unknown: Unknown = "error", device: str = "cpu"
    ) -> np.ndarray:
        """Return p(target | the row's other cells), (n_rows, labels of the target), in the order of its labels.

        If missing cells of the target have a label, that is one of its labels here, and may be the most probable.

        Parameters
        ----------
        data : frame, mapping, array or path
            Rows, as in :func:`juror.fit`. The target's own column is ignored if present, and so are columns that the
            model does not know.
        target : str, optional
            The variable to predict; by default the one named when fitting.
        unknown : {"error", "warn", "missing"}
            What to do with labels that the model does not know.
        device : {"cpu", "auto", "cuda"}
            Where rows are passed over, as in :func:`juror.fit`; a card computes in single precision.
        """
        check_device(device)
        codes, position = self._without_target(data, target, unknown)
        return scores.predict_proba(self, codes, position, card_for(device, codes.size))

    def predict(
        self, data: Any, target: str | None = None, *, unknown: Unknown = "error", formulas: bool = True
    ) -> np.ndarray:
        """Return the most probable label of the target for every row, (n_rows,); of numbers the median.

        Where a formula between columns of numbers (``model.domain.formulas``) gives the target, its number is returned,
        as in :meth:`impute`, unless ``formulas=False``. Orders between columns do not matter here. See
        :meth:`predict_proba`.
        """
        columns, position = self._seen(data, target)
        codes, variable = self.domain.encode_columns(columns, unknown), self.domain[position]
        blocks = scores.probabilities_in_blocks(self, codes, position)
        guesses = np.concatenate([best_guesses(variable, chances) for chances in blocks])
        return with_what_follows(guesses, self.domain, variable, columns, codes) if formulas else guesses

    def _without_target(self, data: Any, target: str | None, unknown: Unknown) -> tuple[np.ndarray, int]:
        """Return the codes of rows without the column of the target, and the target's position."""
        columns, position = self._seen(data, target)
        return self.domain.encode_columns(columns, unknown), position

    def _seen(self, data: Any, target: str | None) -> tuple[list[Column], int]:
        """Return the columns of rows without that of the target, if there are others, and the target's position."""
        position = self.target(target)
        columns = list(self.domain.open(data))
        name = self.domain[position].name
        return [column for column in columns if column.name != name] or columns, position

    def target(self, name: str | None = None) -> int:
        """Return the position of the variable to predict: ``name``, or by default the target of the fit."""
        if name is None and self.info is not None:
            name = self.info.target
        if name is None:
            names = shortlist(self.domain.names)
            raise QueryError("Name the variable to predict, {target:=…}, one of {names}.", names=names)
        return self.domain.position(name)

    def check(self, data: Any = None, *, unknown: Unknown = "error", sample_weight: Any = None) -> CheckTable:
        """Compare every answer about two variables with the rows, worst first.

        A question P(a = x | b = y) is compared with the share of x among the rows that have b = y and both cells.
        Ranges of ordered variables are asked for too. :class:`juror.answers.checking.CheckTable` says how far a
        difference may be chance. If cells are missing for a reason that a third variable shows, the model may be right
        and differ from the shares.

        Parameters
        ----------
        data : frame, mapping, array, path, stream or PairCounts, optional
            Rows to compare with, as in :func:`juror.fit`, or their counts; by default those that the model was fitted
            to, whose counts it keeps. Columns that they lack are left out, and named in ``absent`` of the answer;
            columns that the model does not know are left out too.
        unknown : {"error", "warn", "missing"}
            What to do with labels in the data that the model does not know.
        sample_weight : array-like (n_rows,) or str, optional
            How often each row of the data counts, or the name of the column that says so.

        Examples
        --------
        >>> import juror
        >>> people = juror.datasets.titanic()
        >>> table = juror.fit(people, rank=2, method="em").check()
        >>> table.n_well, table.n_cells
        (52, 67)
        >>> table.to_pandas()["question"][0]
        'P(Class = 3rd | Age = Child)'
        """
        if data is not None:
            from juror.answers.checking_rows import check_counts, check_rows  # imports readers, slow to import
            from juror.counts.counts import PairCounts

            refuse_rows(self.conditions, "Check the model before that.")
            if not isinstance(data, PairCounts):
                return check_rows(self, data, unknown, sample_weight)
            refuse_without_rows(sample_weight, unknown)
            return check_counts(self, data)
        refuse_without_rows(sample_weight, unknown)
        if self.counts is None:
            raise ModelError(
                "The model has no pair counts to compare with. Give it rows: model.check(data), or on the command line "
                "'juror check MODEL DATA'."
            )
        return check(self, self.counts, worth=worth_of_rows(self.info))
