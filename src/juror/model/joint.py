"""JointPMF: a joint probability table as a mixture of forests, with a method for every kind of question."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from juror.answers import information, sampling
from juror.answers.block import Block, edgeless
from juror.answers.formula_draws import Leeway, draw_satisfying, warn_of_unsolved
from juror.answers.label_frames import decode_frame
from juror.answers.mode import Mode, find_mode
from juror.answers.posterior import posterior, without_settled
from juror.answers.summary import summary
from juror.answers.typed_frames import library_of, with_types
from juror.domain import Domain
from juror.domain.conditions import Conditions, conditions_on
from juror.domain.evidence import Not, Range
from juror.errors import ModelError, QueryError, check_count
from juror.model import backing, file_format
from juror.model.asking import Given, understood, wanted_of
from juror.model.row_answers import RowAnswers
from juror.model.simplex import check_blocks, check_simplex
from juror.model.table_answers import TableAnswers
from juror.printing import numbered, one_line
from juror.record import FitRecord

if TYPE_CHECKING:
    from juror.counts.counts import PairCounts


class JointPMF(TableAnswers, RowAnswers):
    """The joint distribution p(x) = Σ_b Σ_f λ_bf Π_n A_bn[x_pa(n), x_n, f] of the variables of a domain.

    Classes f belong to blocks b, which share a forest: each variable has at most one parent. Without edges the model is
    p(x) = Σ_f λ_f Π_n A_n[x_n, f], which the constructor takes; :meth:`of_blocks` takes blocks.

    Parameters
    ----------
    weights : array-like, (F,)
        Class weights λ: non-negative, summing to one within 1e-6.
    factors : sequence of N array-likes, (I_n, F)
        One matrix per variable, each column a distribution over its labels.
    domain : Domain, optional
        The variables; ``x0, x1, …`` with labels 0, 1, … by default.
    info : FitRecord, optional
        How the model was fitted.
    counts : PairCounts, optional
        The pair counts of the table that it was fitted to.
    conditions : Conditions, optional
        What the model is conditioned on.

    Examples
    --------
    >>> model = JointPMF([0.6, 0.4], [[[0.9, 0.2], [0.1, 0.8]], [[0.7, 0.1], [0.3, 0.9]]])
    >>> round(model.prob({"x0": 1}, given={"x1": 1}), 4)
    0.5667
    >>> model.mode().row
    {'x0': 0, 'x1': 0}
    """

    __slots__ = ("_blocks", "_conditions", "_counts", "_domain", "_info")

    def __init__(
        self,
        weights: npt.ArrayLike,
        factors: Sequence[npt.ArrayLike],
        domain: Domain | None = None,
        info: FitRecord | None = None,
        counts: PairCounts | None = None,
        conditions: Conditions | None = None,
    ):
        lam = check_simplex(weights, 1, "The weights")
        checked = tuple(check_simplex(factor, 2, f"Factor {n}") for n, factor in enumerate(factors))
        if not checked:
            raise ModelError("A model needs at least one factor; there is one per variable.")
        domain = Domain.from_cardinalities([len(factor) for factor in checked]) if domain is None else domain
        if len(domain) != len(checked):
            raise ModelError(f"The domain has {len(domain)} variables, but there are {len(checked)} factors.")
        for variable, factor in zip(domain.variables, checked, strict=True):
            expected = (variable.cardinality, len(lam))
            if factor.shape != expected:
                raise ModelError(
                    f"The factor of {variable.name!r} must have shape {expected}, labels × rank. Got {factor.shape}."
                )
        self._blocks: tuple[Block, ...] = (Block.of_factors(lam, checked),)
        self._domain = domain
        self._info = info
        self._counts = backing.check_counts(counts, domain)
        self._conditions = backing.check_conditions(conditions, domain)

    @classmethod
    def of_blocks(
        cls,
        blocks: Sequence[Block],
        domain: Domain,
        info: FitRecord | None = None,
        counts: PairCounts | None = None,
        conditions: Conditions | None = None,
    ) -> JointPMF:
        """Make a model from blocks, whose weights together sum to one.

        Nodes after the last variable of the domain are hidden: every answer sums over them.
        """
        self = cls.__new__(cls)
        self._blocks = check_blocks(blocks, domain)
        self._domain = domain
        self._info = info
        self._counts = backing.check_counts(counts, domain)
        self._conditions = backing.check_conditions(conditions, domain)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return JointPMF.of_blocks, (self.blocks, self.domain, self.info, self.counts, self.conditions)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks: classes that share a forest, with ``weights``, ``parents`` and ``tables``."""
        return self._blocks

    @property
    def has_edges(self) -> bool:
        """Whether some variable depends on another within a class."""
        return any(block.has_edges for block in self.blocks)

    @property
    def weights(self) -> np.ndarray:
        """Class weights λ, (F,), read-only, of a model without edges."""
        return self._flat("weights").weights

    @property
    def factors(self) -> tuple[np.ndarray, ...]:
        """One read-only matrix (I_n, F) per variable, columns on the simplex, of a model without edges."""
        return self._flat("factors").factors

    def _flat(self, name: str) -> Block:
        """Return all classes as one block, if no block has edges."""
        flat = edgeless(self)
        if flat is None:
            raise ModelError(
                f"This model has no {name} for all classes: its {len(self.blocks)} block(s) have forests, in which "
                "variables depend on each other. Use model.blocks, whose blocks have weights, parents and tables."
            )
        for array in (flat.weights, *flat.tables):
            array.setflags(write=False)
        return flat

    @property
    def domain(self) -> Domain:
        """The variables: names, labels, kinds."""
        return self._domain

    @property
    def info(self) -> FitRecord | None:
        """How the model was fitted; None for a model that was not fitted."""
        return self._info

    @property
    def counts(self) -> PairCounts | None:
        """The pair counts of the table that the model was fitted to, weighted where its rows have weights.

        None for a model that was not fitted to rows or pair counts, and where they were left out: with
        ``keep_counts=False``, after :meth:`condition`, and for very wide tables; ``info.without_counts`` says why.
        """
        return self._counts

    @property
    def conditions(self) -> Conditions | None:
        """What the model is conditioned on; None unless :meth:`condition` made it."""
        return self._conditions

    @property
    def rank(self) -> int:
        """The number of classes of all blocks."""
        return sum(block.rank for block in self.blocks)

    def __repr__(self) -> str:
        names = ", ".join(self.domain.names[:6]) + (", …" if len(self.domain) > 6 else "")
        return one_line(f"JointPMF(rank {self.rank}, {numbered(len(self.domain), 'variable')}: {names})")

    def summary(self) -> str:
        """Return a summary as text: the variables, how the model was fitted, and how well it reproduces pairs."""
        return summary(self, self.info, self.counts, self.conditions)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.summary())}</pre>"

    def condition(self, evidence: Given = None, /, **more: Any) -> JointPMF:
        """Return the joint distribution of the other variables, given evidence.

        Variables fixed to one label are removed; those restricted to a set or range, or with soft evidence, stay with
        their new distribution. Formulas of columns that evidence is about are left out, as what they compute may not
        satisfy it, and orders with a column that is removed. Rows drawn with ``sample(given=…)`` satisfy and keep all.

        Parameters
        ----------
        evidence : mapping or str, optional
            Evidence by name, for names that are not Python identifiers, or conditions in text, ``"age >= 65"``.
        **more
            Evidence by name; not beside text.
        """
        if isinstance(evidence, str) and more:
            raise QueryError(f"Evidence is given as the text {evidence!r} and by name. Pass all of it in one way.")
        known = evidence if isinstance(evidence, str) else {**(evidence or {}), **more}
        twice = set() if isinstance(evidence, str) else set(evidence or {}) & set(more)
        if twice:
            raise QueryError(f"Evidence on {sorted(twice)[0]!r} is given twice.")
        asked = understood(self, known)
        after, domain = posterior(asked.model, asked.evidence), asked.model.domain
        settled = {
            n: int(np.argmax(weights)) for n, weights in asked.evidence.items() if np.count_nonzero(weights) == 1
        }
        # A number in a range is not known, even if the range is one interval.
        ranges = {n for n, wanted in wanted_of(self, known) if isinstance(wanted, (Range, Not))}
        settled = {n: code for n, code in settled.items() if domain[n].edges is None or n not in ranges}
        if len(settled) == len(domain):
            raise QueryError("The evidence settles every variable, so no distribution is left. Use prob or log_prob.")
        rest = without_settled(after, settled)
        conditions = conditions_on(self.conditions, domain, asked.evidence)
        # What a formula computes may not satisfy the conditions.
        given = {domain[n].name for n in asked.evidence if domain[n].edges is not None}
        formulas = tuple(each for each in rest.domain.formulas if given.isdisjoint(each.solvable))
        return JointPMF.of_blocks(rest.blocks, replace(rest.domain, formulas=formulas), conditions=conditions)

    def mode(self, given: Given = None, *, max_nodes: int = 100_000) -> Mode:
        """Return the most probable row, by branch and bound.

        Parameters
        ----------
        given : mapping, optional
            Evidence that the row must satisfy.
        max_nodes : int
            The maximum number of partial rows to open; beyond it the best row found is returned without proof. In a
            large model with forests, a partial row counts as several.
        """
        check_count("max_nodes", max_nodes)
        asked = understood(self, given)
        asked.warn_of_formulas(range(len(self.domain)))
        return find_mode(posterior(asked.model, asked.evidence), max_nodes)

    def sample(
        self,
        n: int,
        given: Given = None,
        *,
        seed: int = 0,
        numbers: bool = True,
        formulas: bool = True,
        frame: str | None = None,
    ) -> Any:
        """Draw rows like those of the fitted table: with numbers, and with missing cells where these have a label.

        Parameters
        ----------
        n : int
            The number of rows.
        given : mapping or str, optional
            Evidence that the rows satisfy.
        seed : int
            The same seed gives the same rows.
        numbers : bool
            False returns the labels of intervals instead of numbers.
        formulas : bool
            Whether rows satisfy the formulas between columns of numbers that the fit found, such as
            ``area = width × height`` (``model.domain.formulas``), and keep the orders, such as ``start <= end``
            (``model.domain.orders``). False draws from the distribution alone, in which both hold only roughly.
            Without ``numbers``, rows satisfy none.
        frame : {"pandas", "polars", "pyarrow"}, optional
            The library of the frame to return, which then chooses types. By default that of the frame that was fitted,
            with the types of its columns; pandas if no frame was fitted, or its library is not installed.
        """
        check_count("n", n, least=0)
        asked = understood(self, given)
        rng, domain = sampling.generator(seed), asked.model.domain
        sampler = sampling.RowSampler(posterior(asked.model, asked.evidence))
        kind, like = (library_of(domain.frame), domain.frame) if frame is None else (frame, None)
        if not numbers:
            drawn = decode_frame(domain.variables, sampler.draw(n, rng), {}, kind)
            return with_types(drawn, [v for v in domain if v.edges is None], like)
        draws = sampling.RowsWithNumbers(sampler, rng, asked.points)
        if not formulas or not (domain.formulas or domain.orders):
            codes, cells = draws.rows_in(draws.classes(n))
        else:
            rows = draw_satisfying(draws, n, Leeway(domain, asked.evidence, asked.points))
            warn_of_unsolved(rows)
            codes, cells = rows.codes, rows.numbers
        return with_types(decode_frame(domain.variables, codes, cells, kind), domain.variables, like)

    def entropy(self, *, draws: int = 100_000, seed: int = 0) -> information.Estimate:
        """Return the entropy of the joint in nats: exact up to a million cells, else an estimate with standard error.

        Parameters
        ----------
        draws : int
            The number of rows to draw if the table is larger.
        seed : int
            The same seed gives the same draws.
        """
        check_count("draws", draws, least=2)
        return information.entropy(self, draws, sampling.generator(seed))

    def mutual_information(self, a: str, b: str, *, given: Given = None) -> float:
        """Return the mutual information of two variables, in nats."""
        asked = understood(self, given)
        after = posterior(asked.model, asked.evidence)
        return information.mutual_information(after, self.domain.position(a), self.domain.position(b))

    def dependence(self, measure: str = "normalised") -> information.DependenceMatrix:
        """Return the mutual information of every pair of variables.

        Parameters
        ----------
        measure : {"normalised", "information"}
            From 0 to 1, or in nats. From 0 to 1 is I / min(H, H′) for two variables of labels, I / H of the labels for
            a number and labels, and √(1 − exp(−2 I)) for two numbers, which is the size of the correlation if both are
            Gaussian. No measure depends on how finely numbers are cut.
        """
        return information.dependence(self, measure)

    def compress(self, rank: int, *, seed: int = 0, n_jobs: int | None = None) -> JointPMF:
        """Return a model of smaller rank that is close to this one; ``info.compressed`` holds the loss.

        Similar classes are merged, then EM lowers D(p‖q). One-way marginals do not change, and nothing becomes
        impossible. Posterior draws are lost: :meth:`interval` then answers from rows alone.

        Parameters
        ----------
        rank : int
            The number of classes. If it is at least the rank of this model, the result is this model.
        seed, n_jobs : int
            The random seed, and the number of threads, which does not change the result.

        Examples
        --------
        >>> small = JointPMF([0.5, 0.2, 0.3], [[[0.9, 0.1, 0.1], [0.1, 0.9, 0.9]]] * 2).compress(2)
        >>> small.rank, small.info.compressed[-1].rank, round(small.info.compressed[-1].loss, 9)
        (2, 3, 0.0)
        """
        from juror.answers.compressing import compress  # imports the solvers, which are slow to import

        return JointPMF.of_blocks(*compress(self, self.info, rank, seed, n_jobs), self.counts, self.conditions)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, whole or not at all."""
        file_format.write(path, self, self.info, self.counts, self.conditions)
