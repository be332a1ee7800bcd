"""What the prior of the Bayesian estimator learns from the counts: how alike classes are, and how even.

Columns A_n(:, f) ~ Dirichlet(c_n m_n), m_n ~ Dirichlet(g/I_n, …), λ ~ Dirichlet(a, …, a). Given how often each label x
of variable n was drawn in each class, C_n[x, f], the columns are summed out:

    log p(C_n | c, m) = Σ_f [ Γ(c) − Γ(c + Σ_x C) + Σ_x (Γ(c m_x + C_xf) − Γ(c m_x)) ]        (Γ: its logarithm)

and c_n follows by slice sampling of log c_n, g and a likewise. m_n follows from the numbers of tables in a Chinese
restaurant: t_xf is a sum of C_xf coin tosses, the i-th of probability c m_x / (c m_x + i), and m_n ~ Dirichlet(g/I_n +
Σ_f t_xf).

Variables borrow strength from each other, and differ where the data say so: log(c_n / I_n) ~ Normal(μ, τ²), with
μ ~ Normal(1, 1) and τ² ~ InverseGamma(2, ½), both drawn from their conditionals. g and a have the prior
1 / (1 + x/s)² / s. For g s is a hundred times the mean of I_n: base measures are even until the data say otherwise. For
a it is 1, or 2/F where weights shall be sparse. ``benchmarks/prior.py`` shows how little depends on these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

# Slice sampling: the width of a step, in logarithms, the most steps to either side, and the width at which it gives up
_WIDTH, _MOST_STEPS, _CLOSE = 1.0, 20, 1e-12
# Dirichlet(g/I) with small g has entries below all floats.
_TINY = 1e-300
# The prior of μ, and the scale s of the prior of g as a multiple of the mean of I_n
_MEAN_OF_MU, _SPREAD_OF_MU = 1.0, 1.0
_EVEN = 100.0
# The bounds of the guests that are seated one by one
_SEATED, _MOST_SEATED = 1000, 100_000
# Classes as like each other as this are the same. In a table of all combinations nothing else bounds c.
_MOST_ALIKE = 1e6


@dataclass(frozen=True)
class Hyper:
    """The learned part of the prior.

    Attributes
    ----------
    a : float
        The concentration of λ, a class.
    g : float
        The concentration of the base measures.
    c : tuple of float
        One concentration a variable.
    m : tuple of numpy.ndarray, (I_n,)
        One base measure a variable.
    mu, tau2 : float
        Mean and variance of log(c_n / I_n).
    """

    a: float
    g: float
    c: tuple[float, ...]
    m: tuple[np.ndarray, ...]
    mu: float = 0.0
    tau2: float = 0.25


def first_hyper(cardinalities: Sequence[int]) -> Hyper:
    """Return where the sampler begins: classes spread evenly around even base measures."""
    even = tuple(np.full(size, 1.0 / size) for size in cardinalities)
    return Hyper(1.0, float(max(cardinalities)), tuple(map(float, cardinalities)), even)


def next_hyper(
    hyper: Hyper,
    classes: np.ndarray,
    counts: Sequence[np.ndarray],
    rng: np.random.Generator,
    scale_of_a: float = 1.0,
    given: Sequence[float | None] | None = None,
) -> Hyper:
    """Draw every part of the prior given the others, the rows in every class (F,) and the counts C_n (I_n, F).

    ``scale_of_a`` is s of the prior of a: 1 allows classes of similar weight, a small s leaves many of them empty.
    Variables with a ``given`` concentration, which may be infinite, have any number of columns that follow it in place
    of c_n, of which these columns say nothing.
    """
    given = [None] * len(counts) if given is None else given
    of_columns = [c if b is None else b for c, b in zip(hyper.c, given, strict=True)]
    m = tuple(_next_base(C, c, base, hyper.g, rng) for C, c, base in zip(counts, of_columns, hyper.m, strict=True))
    c = tuple(
        _next_c(hyper, C, old, base, rng) if b is None else _free_c(hyper, old, len(base), rng)
        for C, old, base, b in zip(counts, hyper.c, m, given, strict=True)
    )
    # A variable of one label says nothing about how columns vary.
    sizes = np.array([len(base) for base in m])
    mu, tau2 = _next_common(np.log(np.array(c) / sizes)[sizes > 1], hyper.tau2, rng)
    scale = _EVEN * float(sizes[sizes > 1].mean() if np.any(sizes > 1) else 1.0)
    logs_of_bases = [(len(base), float(np.log(base).sum())) for base in m if len(base) > 1]
    g = slice_draw(lambda x: _log_bases(x, logs_of_bases) + _log_prior(x, scale), hyper.g, rng)
    a = slice_draw(lambda x: _log_weights(x, classes) + _log_prior(x, scale_of_a), hyper.a, rng)
    return Hyper(a, g, c, m, mu, tau2)


def _next_c(hyper: Hyper, C: np.ndarray, old: float, base: np.ndarray, rng: np.random.Generator) -> float:
    if len(base) == 1:
        return old

    label, column = np.nonzero(C)
    held, bases, in_columns = C[label, column], base[label], C.sum(axis=0)
    in_columns = in_columns[in_columns > 0]

    def log_density(c: float) -> float:
        if c > _MOST_ALIKE * len(base):
            return -np.inf
        # The density of c is the normal density of log c times 1/c.
        off = np.log(c / len(base)) - hyper.mu
        return _log_held(c, held, bases, in_columns) - off * off / (2.0 * hyper.tau2) - float(np.log(c))

    return slice_draw(log_density, old, rng)


def _free_c(hyper: Hyper, old: float, size: int, rng: np.random.Generator) -> float:
    """Draw the c of a variable none of whose columns follow it: from its prior, or keep it if that is out of bounds."""
    log_c = rng.normal(hyper.mu, hyper.tau2**0.5)
    return size * float(np.exp(log_c)) if log_c <= np.log(_MOST_ALIKE) else old


def _next_common(logs: np.ndarray, tau2: float, rng: np.random.Generator) -> tuple[float, float]:
    """Draw μ given the log(c_n / I_n) and τ², and τ² given them and μ."""
    precision = len(logs) / tau2 + 1.0 / _SPREAD_OF_MU**2
    mu = rng.normal((logs.sum() / tau2 + _MEAN_OF_MU / _SPREAD_OF_MU**2) / precision, precision**-0.5)
    shape, rate = 2.0 + len(logs) / 2.0, 0.5 + 0.5 * float(np.sum((logs - mu) ** 2))
    return float(mu), float(rate / rng.gamma(shape))


def _log_prior(x: float, scale: float) -> float:
    return -2.0 * float(np.log1p(x / scale))


def log_columns(c: float, C: np.ndarray, base: np.ndarray) -> float:
    """Return log p(C | c, m), the columns summed out, of counts (I, columns) and a base measure (I,)."""
    label, column = np.nonzero(C)
    in_columns = C.sum(axis=0)
    return _log_held(c, C[label, column], base[label], in_columns[in_columns > 0])


def _log_held(c: float, held: np.ndarray, bases: np.ndarray, in_columns: np.ndarray) -> float:
    """Return the same of the counts above zero (n,), the base measure of each, and the sums of columns above zero.

    Most labels have no rows in most columns, of which they say nothing.
    """
    from scipy.special import gammaln

    alpha = c * bases
    total = len(in_columns) * gammaln(c) - gammaln(c + in_columns).sum()
    return float(total + (gammaln(alpha + held) - gammaln(alpha)).sum())


def _log_weights(a: float, classes: np.ndarray) -> float:
    from scipy.special import gammaln

    F = len(classes)
    return float(gammaln(F * a) - gammaln(F * a + classes.sum()) + (gammaln(a + classes) - gammaln(a)).sum())


def _log_bases(g: float, logs_of_bases: Sequence[tuple[int, float]]) -> float:
    """Return log p(m_1, m_2, … | g) from the length I of every base measure and Σ_x log m[x]."""
    from scipy.special import gammaln

    log_g, total = gammaln(g), 0.0
    for size, log_base in logs_of_bases:
        share = g / size
        total += float(log_g - size * gammaln(share) + (share - 1.0) * log_base)
    return total


def _next_base(C: np.ndarray, c: float, base: np.ndarray, g: float, rng: np.random.Generator) -> np.ndarray:
    if np.isinf(c):
        # The columns are the base measure: every guest has a table.
        tables = C.sum(axis=1)
    else:
        # Counts that are not whole are rounded at random, so that their means stay the same.
        whole = np.floor(C + rng.random(C.shape)).astype(np.int64)
        tables = _table_counts(whole, c * base, rng)
    drawn = np.maximum(rng.standard_gamma(g / len(base) + tables), _TINY)
    return drawn / drawn.sum()


def _table_counts(C: np.ndarray, concentration: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return Σ_f t_xf, (I,): how many tables the rows with each label sit at.

    Guests are seated one by one up to K = max(1000, 10 θ²) of them. After that a new table is improbable. The number of
    further tables is drawn from the Poisson distribution of the same mean, θ (ψ(θ + C) − ψ(θ + K)), but is at most the
    number of guests left. The error is at most about θ²/K in total variation. K is at most 100,000.
    """
    seated, tables = C, np.zeros(len(C))
    if C.max(initial=0) > _SEATED:
        # Cap the exact draws so that they fit in memory; beyond the cap the approximation is slightly less accurate.
        one_by_one = np.clip(10.0 * concentration**2, _SEATED, _MOST_SEATED).astype(np.int64)[:, None]
        seated = np.minimum(C, one_by_one)
        tables = _later_tables(C, seated, concentration, rng)
    sizes = seated.ravel()
    first = np.cumsum(sizes) - sizes
    label = np.repeat(np.arange(len(C)), seated.sum(axis=1))
    theta = concentration[label]
    seat = np.arange(len(theta)) - np.repeat(first, sizes)
    opens = rng.random(len(theta)) * (theta + seat) < theta
    return np.bincount(label[opens], minlength=len(C)) + tables


def _later_tables(C: np.ndarray, seated: np.ndarray, concentration: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw how many tables are opened for each label after the guests that are seated one by one, (I,)."""
    from scipy.special import digamma

    theta = concentration[:, None]
    later = rng.poisson(theta * np.maximum(digamma(theta + C) - digamma(theta + seated), 0.0))
    return np.minimum(later, C - seated).sum(axis=1).astype(float)


def slice_draw(log_density: Callable[[float], float], x: float, rng: np.random.Generator) -> float:
    """Draw from a density of x > 0 by slice sampling of log x: step out, then shrink (Neal 2003)."""

    def of(y: float) -> float:
        return log_density(float(np.exp(y))) + y

    y = float(np.log(x))
    level = of(y) - rng.exponential()
    low = y - _WIDTH * rng.random()
    high = low + _WIDTH
    for _ in range(_MOST_STEPS):
        if of(low) <= level:
            break
        low -= _WIDTH
    for _ in range(_MOST_STEPS):
        if of(high) <= level:
            break
        high += _WIDTH
    while True:
        tried = low + (high - low) * rng.random()
        # If rounding leaves no point above the level, take the point itself.
        if of(tried) >= level or high - low < _CLOSE:
            return float(np.exp(tried))
        low, high = (tried, high) if tried < y else (low, tried)
