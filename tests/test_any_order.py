"""The public surface in any order, against the dense tensor: each model has a table of all its probabilities beside it.

The tables follow from each other by their own arithmetic, never from the model that is tested: a conditioned model is
compared with the table of the model before it, a loaded one with that of the saved one. Only a fit and a compression
begin a new table, and the record of each must agree with it.
"""

from __future__ import annotations

import json
import math
import tempfile
import warnings
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, rule

import juror
from juror import Domain, JointPMF, JurorWarning, Not, Range, Variable
from juror.answers.label_frames import to_frame
from juror.errors import QueryError, ZeroProbabilityError
from juror.testing import dense, random_codes, random_forest_model, random_model
from law_oracle import shares_below, shares_in

# 999 stands for no number in these columns, and that it is not named as missing is what is tested
pytestmark = pytest.mark.filterwarnings("ignore:Column '.*' has the number 999 far:juror.errors.DataWarning")


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@dataclass(frozen=True)
class Known:
    """A model and the tensor of its probabilities."""

    model: JointPMF
    tensor: np.ndarray

    @property
    def domain(self) -> Domain:
        return self.model.domain


@cache
def numbers(kind: str, size: int) -> Variable:
    """Return a variable of some intervals with the law of a column: whole, with two decimals, or with a point."""
    rng = np.random.default_rng(size)
    columns = {
        "whole": np.where(rng.random(300) < 0.1, 999, rng.poisson(40, 300)),
        "decimal": rng.normal(size=300).round(2),
        "point": np.where(rng.random(300) < 0.3, 0.0, rng.gamma(2.0, 10.0, 300)),
    }
    return Domain.infer({kind: columns[kind]}, bins=size)[kind]


def partly_asked(name: str, size: int) -> Variable:
    whole = Domain((replace(numbers("whole", size), name=name),))
    return whole.with_missing_as({name: "not asked"})[name]


# Kinds of variables, by name. To test another kind of variable, add a function that makes one of a name and a size.
KINDS = {
    "nominal": lambda name, size: Variable(name, tuple("abcd"[:size])),
    "ordinal": lambda name, size: Variable(name, tuple(range(1, size + 1)), "ordinal"),
    "boolean": lambda name, size: Variable(name, (True, False)[:size]),
    "binned": lambda name, size: Variable(
        name,
        tuple(f"[{n}, {n + 1})" for n in range(size)),
        "binned",
        edges=tuple(float(n) for n in range(size + 1)),
    ),
    "asked": lambda name, size: Variable(name, (*"ab"[: size - 1], "not asked"), missing_label="not asked"),
    "whole": lambda name, size: replace(numbers("whole", size), name=name),
    "decimal": lambda name, size: replace(numbers("decimal", size), name=name),
    "point": lambda name, size: replace(numbers("point", size), name=name),
    "partly asked": partly_asked,
}
# Intervals that are divided again and again would make large tensors.
MOST_INTERVALS = 7


@st.composite
def domains(draw):
    variables = []
    for n in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(sorted(KINDS)))
        variables.append(KINDS[kind](f"v {n}", draw(st.integers(2, 4))))
    return Domain(tuple(variables))


def conditions(variable: Variable):
    """Return a strategy of evidence: what Python gets, the words of the query language or None, and the weights."""
    codes = st.integers(0, variable.cardinality - 1)
    every = np.arange(variable.cardinality)
    name = json.dumps(variable.name)

    def word(code: int) -> str:
        return json.dumps(str(variable.labels[code]))

    forms = [
        codes.map(lambda code: (variable.labels[code], f"{name} = {word(code)}", every == code)),
        codes.map(lambda code: (Not(variable.labels[code]), f"{name} != {word(code)}", every != code)),
        st.sets(codes, min_size=1).map(
            lambda some: (
                [variable.labels[code] for code in sorted(some)],
                f"{name} in {{{', '.join(map(word, sorted(some)))}}}",
                np.isin(every, sorted(some)),
            )
        ),
        st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0]), min_size=len(every), max_size=len(every))
        .filter(any)
        .map(lambda values: (dict(zip(variable.labels, values, strict=True)), None, np.array(values))),
    ]
    if variable.is_ordered:
        # in closed intervals the labels themselves are bounds too; a label of missing cells is in no range
        present = every < len(variable.present_labels)
        bounds = st.integers(0, len(variable.present_labels) - 1)
        forms.append(
            bounds.map(
                lambda code: (
                    Range(at_least=variable.labels[code]),
                    f"{name} >= {word(code)}",
                    present & (every >= code),
                )
            )
        )
        forms.append(
            bounds.map(lambda code: (Range(below=variable.labels[code]), f"{name} < {word(code)}", every < code))
        )
    return st.one_of(forms)


def evidence_for(data: st.DataObject, domain: Domain, most: int = 3) -> dict[int, tuple[Any, str | None, np.ndarray]]:
    positions = data.draw(st.lists(st.integers(0, len(domain) - 1), max_size=most, unique=True))
    return {n: data.draw(conditions(domain[n])) for n in positions}


def number_of(data: st.DataObject, domain: Domain) -> int | None:
    """Return the position of a variable of numbers; None if there is none whose intervals all hold numbers."""
    known = [
        n
        for n, v in enumerate(domain)
        if v.edges is not None and np.all(shares_below(v, math.inf)[: len(v.present_labels)] > 0)
    ]
    return data.draw(st.sampled_from(known)) if known else None


def bounds_in(data: st.DataObject, variable: Variable) -> tuple[float, float]:
    """Return two numbers, the first below the second, at edges and inside intervals."""
    low, high = float(variable.edges[0]), float(variable.edges[-1])
    # a number within rounding errors of a decimal number is that number, so bounds are not that close to one
    some = st.sampled_from([float(edge) for edge in variable.edges]) | st.floats(low - 1, high + 1).map(
        lambda x: round(x, 4)
    )
    one, other = data.draw(st.lists(some, min_size=2, max_size=2, unique=True))
    return min(one, other), max(one, other)


def divided(variable: Variable, parts: Variable, low: float, high: float) -> np.ndarray:
    """Return the share of each interval's law in each part of a divided variable that a range holds, (parts, I)."""
    n = len(parts.present_labels)
    ends = [-math.inf, *map(float, parts.edges[1:n]), math.inf]
    rows = [shares_in(variable, max(a, low), min(b, high)) for a, b in pairwise(ends)]
    return np.stack([*rows, *np.zeros((parts.cardinality - n, variable.cardinality))])


def weighted(tensor: np.ndarray, evidence: dict[int, tuple[Any, str | None, np.ndarray]]) -> np.ndarray:
    for n, (_, _, weights) in evidence.items():
        tensor = np.moveaxis(np.moveaxis(tensor, n, -1) * weights, -1, n)
    return tensor


def in_python(domain: Domain, evidence: dict[int, Any]) -> dict[str, Any]:
    return {domain[n].name: given for n, (given, _, _) in evidence.items()}


def rows_of(known: Known, n: int, seed: int, missing: float) -> tuple[np.ndarray, Any]:
    """Draw rows as codes and as a frame. Cells are missing where that is no label: all rows stay possible."""
    rng = np.random.default_rng(seed)
    codes = random_codes(known.model, n, rng)
    has_no_label = [variable.missing_label is None for variable in known.domain]
    codes[(rng.random(codes.shape) < missing) & has_no_label] = -1
    return codes, to_frame({v.name: v.decode(codes[:, n]) for n, v in enumerate(known.domain)}, "pandas")


class AnyOrder(RuleBasedStateMachine):
    models = Bundle("models")

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.n_files = 0

    def teardown(self):
        self.folder.cleanup()

    # Models come from nothing, from rows, and from other models

    @rule(
        target=models,
        domain=domains(),
        rank=st.integers(1, 4),
        seed=st.integers(0, 2**32),
        zeros=st.sampled_from([0, 0.3]),
    )
    def make_product(self, domain, rank, seed, zeros):
        rng = np.random.default_rng(seed)
        model = random_model(domain.cardinalities, rank, rng, domain=domain, zeros=zeros)
        return Known(model, dense(model))

    @rule(
        target=models,
        domain=domains(),
        ranks=st.lists(st.integers(1, 3), min_size=1, max_size=3),
        hidden=st.lists(st.integers(1, 3), max_size=2),
        seed=st.integers(0, 2**32),
        zeros=st.sampled_from([0, 0.3]),
    )
    def make_forests(self, domain, ranks, hidden, seed, zeros):
        rng = np.random.default_rng(seed)
        model = random_forest_model(domain.cardinalities, ranks, rng, domain=domain, hidden=hidden, zeros=zeros)
        return Known(model, dense(model))

    @rule(
        target=models,
        known=models,
        method=st.sampled_from(["em", "tree"]),
        rank=st.integers(1, 3),
        missing=st.sampled_from([0.0, 0.2]),
        seed=st.integers(0, 2**32),
    )
    def fit(self, known, method, rank, missing, seed):
        codes, frame = rows_of(known, 40, seed, missing)
        options = {"max_iter": 20, "n_init": 1} if method == "em" else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JurorWarning)
            model = juror.fit(
                frame, rank if method == "em" else "auto", method, domain=known.domain, seed=seed, n_jobs=1, **options
            )
        fitted = Known(model, dense(model))
        close(fitted.tensor.sum(), 1)
        close(model.info.log_likelihood, np.log(self.row_probabilities(fitted, codes)).sum())
        assert model.counts.n_rows == len(codes)
        return fitted

    @rule(target=models, known=models, data=st.data())
    def condition(self, known, data):
        evidence = evidence_for(data, known.domain)
        given = in_python(known.domain, evidence)
        tensor = weighted(known.tensor, evidence)
        # a number in a range is not known, even if the range is one interval
        settled = tuple(
            n
            for n, (wanted, _, weights) in evidence.items()
            if np.count_nonzero(weights) == 1
            and not (known.domain[n].edges is not None and isinstance(wanted, (Range, Not)))
        )
        if tensor.sum() == 0:
            self.refused(lambda: known.model.condition(given), ZeroProbabilityError)
            return known
        if len(settled) == len(known.domain):
            self.refused(lambda: known.model.condition(given), QueryError)
            return known
        rest = Known(known.model.condition(given), tensor.sum(axis=settled) / tensor.sum())
        assert rest.domain == known.domain.without(settled)
        close(dense(rest.model), rest.tensor)
        return rest

    @rule(target=models, known=models, data=st.data())
    def narrow(self, known, data):
        """Condition on a range of numbers that ends inside intervals, which divides them."""
        n = number_of(data, known.domain)
        if n is None or known.domain[n].cardinality > MOST_INTERVALS:
            return known
        variable, (low, high) = known.domain[n], bounds_in(data, known.domain[n])
        wanted = {variable.name: Range(at_least=low, below=high)}
        if weighted(known.tensor, {n: (None, None, shares_in(variable, low, high))}).sum() == 0:
            self.refused(lambda: known.model.condition(wanted), ZeroProbabilityError)
            return known
        model = known.model.condition(wanted)
        parts = model.domain[n]
        assert set(variable.edges[1:-1]) <= set(parts.edges)
        tensor = np.moveaxis(np.moveaxis(known.tensor, n, -1) @ divided(variable, parts, low, high).T, -1, n)
        rest = Known(model, tensor / tensor.sum())
        close(dense(rest.model), rest.tensor)
        return rest

    @rule(target=models, known=models, rank=st.integers(1, 4))
    def compress(self, known, rank):
        model = known.model.compress(rank, n_jobs=1)
        if rank >= known.model.rank:
            close(dense(model), known.tensor)
            return Known(model, known.tensor)
        small = Known(model, dense(model))
        possible = known.tensor > 0
        assert np.all(small.tensor[possible] > 0)
        loss = (known.tensor[possible] * np.log(known.tensor[possible] / small.tensor[possible])).sum()
        assert model.info.compressed[-1].standard_error == 0
        np.testing.assert_allclose(model.info.compressed[-1].loss, max(loss, 0), atol=1e-9)
        for n in range(len(known.domain)):
            others = tuple(m for m in range(len(known.domain)) if m != n)
            np.testing.assert_allclose(small.tensor.sum(axis=others), known.tensor.sum(axis=others), atol=1e-8)
        return small

    @rule(target=models, known=models)
    def save_and_load(self, known):
        self.n_files += 1
        path = Path(self.folder.name) / f"{self.n_files}.juror"
        known.model.save(path)
        model = juror.load(path)
        assert model.domain == known.domain
        assert model.info == known.model.info
        assert str(model.conditions) == str(known.model.conditions)
        assert (model.counts is None) == (known.model.counts is None)
        for one, other in zip(model.blocks, known.model.blocks, strict=True):
            assert one.forest == other.forest
            assert [t.tobytes() for t in one.tables] == [t.tobytes() for t in other.tables]
        assert [path.name for path in Path(self.folder.name).glob(".*")] == []
        return Known(model, known.tensor)

    # Answers

    @rule(known=models, data=st.data())
    def ask(self, known, data):
        """Ask in words and in Python for the table of some variables given others."""
        evidence = evidence_for(data, known.domain)
        targets = data.draw(st.lists(st.integers(0, len(known.domain) - 1), min_size=1, max_size=3, unique=True))
        words = [written for _, written, _ in evidence.values() if written is not None]
        rest = {n: each for n, each in evidence.items() if each[1] is None}
        question = ", ".join(json.dumps(known.domain[n].name) for n in targets)
        question += f" | {', '.join(words)}" if words else ""
        tensor = weighted(known.tensor, evidence)
        if tensor.sum() == 0:
            self.refused(lambda: known.model.ask(question, given=in_python(known.domain, rest)), QueryError)
            return
        others = tuple(n for n in range(tensor.ndim) if n not in targets)
        expected = tensor.sum(axis=others).transpose(np.argsort(np.argsort(targets))) / tensor.sum()
        asked = known.model.ask(question, given=in_python(known.domain, rest))
        close(asked.to_numpy(), expected)
        names = [known.domain[n].name for n in targets]
        close(known.model.marginal(*names, given=in_python(known.domain, evidence)).to_numpy(), expected)
        if known.model.info is not None and known.model.info.n_rows:
            close(
                known.model.interval(question, given=in_python(known.domain, rest)).to_dict()["probability"],
                expected.ravel(),
            )

    @rule(known=models, data=st.data())
    def prob(self, known, data):
        evidence = evidence_for(data, known.domain)
        event = {n: each for n, each in evidence_for(data, known.domain).items() if each[1] is not None}
        mass = weighted(known.tensor, evidence).sum()
        if mass == 0 or not event:
            return
        expected = weighted(weighted(known.tensor, evidence), event).sum() / mass
        close(known.model.prob(in_python(known.domain, event), given=in_python(known.domain, evidence)), expected)

    @rule(known=models, seed=st.integers(0, 2**32), n=st.integers(0, 30), data=st.data())
    def sample(self, known, seed, n, data):
        evidence = evidence_for(data, known.domain, most=1)
        tensor, given = weighted(known.tensor, evidence), in_python(known.domain, evidence)
        if tensor.sum() == 0:
            self.refused(lambda: known.model.sample(n, given=given), ZeroProbabilityError)
            return
        rows = known.model.sample(n, given=given, seed=seed)
        assert rows.equals(known.model.sample(n, given=given, seed=seed))
        assert list(rows.columns) == list(known.domain.names)
        codes = known.domain.encode(rows)
        assert len(codes) == n
        assert np.all(tensor[tuple(codes.T)] > 0)

    @rule(known=models, data=st.data())
    def ask_about_numbers(self, known, data):
        """Ranges that end anywhere, in Python and in words, and quantiles."""
        n, evidence = number_of(data, known.domain), evidence_for(data, known.domain)
        tensor, given = weighted(known.tensor, evidence), in_python(known.domain, evidence)
        if n is None or n in evidence or tensor.sum() == 0:
            return
        variable, (low, high) = known.domain[n], bounds_in(data, known.domain[n])
        shares = tensor.sum(axis=tuple(m for m in range(tensor.ndim) if m != n)) / tensor.sum()
        expected = shares @ shares_in(variable, low, high)
        wanted = {variable.name: Range(at_least=low, below=high)}
        np.testing.assert_allclose(known.model.prob(wanted, given=given), expected, atol=1e-9)
        words = f"{low!r} <= {json.dumps(variable.name)} < {high!r}"
        np.testing.assert_allclose(known.model.prob(words, given=given), expected, atol=1e-9)
        present = shares * (shares_below(variable, math.inf) > 0)
        if present.sum() > 0:
            levels = data.draw(st.lists(st.floats(0, 1), min_size=1, max_size=4))
            for level, number in zip(levels, known.model.quantile(variable.name, levels, given=given), strict=True):
                assert present @ shares_below(variable, number) <= (level + 1e-9) * present.sum()
                assert present @ shares_below(variable, number, after=True) >= (level - 1e-9) * present.sum()

    @rule(known=models, seed=st.integers(0, 2**32), data=st.data())
    def sample_numbers(self, known, seed, data):
        """Numbers that are drawn from a range lie in it, are numbers of the column, and have its distribution."""
        n = number_of(data, known.domain)
        if n is None:
            return
        variable, (low, high) = known.domain[n], bounds_in(data, known.domain[n])
        wanted = {variable.name: Range(at_least=low, below=high)}
        tensor = weighted(known.tensor, {n: (None, None, shares_in(variable, low, high))})
        if tensor.sum() == 0:
            self.refused(lambda: known.model.sample(1, given=wanted), ZeroProbabilityError)
            return
        drawn = known.model.sample(200, given=wanted, seed=seed)[variable.name].to_numpy(dtype=float)
        assert np.all((drawn >= low) & (drawn < high))
        decimals = variable.law.grid.decimals
        assert decimals is None or np.array_equal(drawn, drawn.round(decimals))
        middle = data.draw(st.sampled_from(sorted({low, high, *drawn[:5].tolist()})))
        below = weighted(known.tensor, {n: (None, None, shares_in(variable, low, middle))}).sum() / tensor.sum()
        # by the inequality of Dvoretzky, Kiefer and Wolfowitz, once in ten thousand million times or less
        assert abs(np.mean(drawn < middle) - below) < 0.25

    @rule(known=models, seed=st.integers(0, 2**32), data=st.data())
    def ask_about_rows(self, known, seed, data):
        """Log-probabilities, predictions and filled cells of rows with missing cells."""
        seen, frame = rows_of(known, 6, seed, 0.4)
        close(np.exp(known.model.log_prob(frame)), self.row_probabilities(known, seen))
        target = data.draw(st.integers(0, len(known.domain) - 1))
        hidden = seen.copy()
        hidden[:, target] = -1
        if len(known.domain) > 1:
            found = known.model.predict_proba(frame, target=known.domain[target].name)
            for row, shares in zip(hidden, found, strict=True):
                close(shares, self.given_row(known, row, target))
        filled = known.domain.encode(known.model.impute(frame))
        # Without a cell that shows intervals as text, intervals are filled with numbers: their medians.
        by_median = [bool(np.all(seen[:, n] < 0)) and v.edges is not None for n, v in enumerate(known.domain)]
        for row, full in zip(seen, filled, strict=True):
            for n in np.flatnonzero(row < 0):
                shares = self.given_row(known, row, n)
                if by_median[n]:
                    assert shares[: full[n]].sum() <= 0.5 + 1e-9
                    assert shares[: full[n] + 1].sum() >= 0.5 - 1e-9
                else:
                    close(shares[full[n]], shares.max())
            assert np.all(full[row >= 0] == row[row >= 0])

    @rule(known=models)
    def describe(self, known):
        mode = known.model.mode()
        if mode.proved:
            close(math.exp(mode.log_prob), known.tensor.max())
        place = tuple(v.code(mode.row[v.name]) for v in known.domain)
        close(math.exp(mode.log_prob), known.tensor[place])
        positive = known.tensor[known.tensor > 0]
        np.testing.assert_allclose(known.model.entropy(), -(positive * np.log(positive)).sum(), atol=1e-9)
        assert all(name in known.model.summary() for name in known.domain.names)

    # Oracles

    @staticmethod
    def refused(ask, error):
        try:
            ask()
        except error:
            return
        raise AssertionError("What cannot happen was answered.")

    @staticmethod
    def row_probabilities(known: Known, codes: np.ndarray) -> np.ndarray:
        found = []
        for row in codes:
            tensor = known.tensor
            for n in reversed(range(tensor.ndim)):
                tensor = tensor.sum(axis=n) if row[n] < 0 else tensor.take(int(row[n]), axis=n)
            found.append(float(tensor))
        return np.array(found)

    @staticmethod
    def given_row(known: Known, row: np.ndarray, target: int) -> np.ndarray:
        """Return the distribution of a variable given the cells of a row."""
        tensor = known.tensor
        for n in reversed(range(tensor.ndim)):
            if n == target:
                continue
            tensor = tensor.sum(axis=n) if row[n] < 0 else tensor.take(int(row[n]), axis=n)
        return tensor / tensor.sum()


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(max_examples=30, stateful_step_count=12, deadline=None)
