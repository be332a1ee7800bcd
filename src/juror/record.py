"""The record of a fit: how it went, and how good it is.

One type goes from the solver to the file, the summary and the page. A new diagnostic is one field of
:class:`FitRecord`, made with :func:`diagnostic` and set by the solver: it is then saved, loaded, printed and shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Annotated, Any, Self


@dataclass(frozen=True)
class Between:
    """The numbers from one to another, both included; a bound of a field, which is checked when a file is loaded.

    >>> 0.5 in Between(0, 1), Between(0, 1)
    (True, [0, 1])
    """

    low: float
    high: float

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high

    def __repr__(self) -> str:
        return f"[{self.low:g}, {self.high:g}]"


Count = Annotated[int, Between(0, 2**63)]
# Finite, and its square too
Amount = Annotated[float, Between(0.0, 1e150)]
Positive = Annotated[float, Between(1e-150, 1e150)]
# Neither nothing nor all
Part = Annotated[float, Between(1e-150, 1.0 - 1e-9)]
Finite = Annotated[float, Between(-1e300, 1e300)]


def finite(value: Any) -> Any:
    """Return plain values with None for infinite numbers and NaN, which JSON does not have.

    >>> finite({"a": [1.0, float("inf")], "b": (float("nan"), "x")})
    {'a': [1.0, None], 'b': [None, 'x']}
    """
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def diagnostic(default: Any, label: str, text: Callable[[Any], str] = str) -> Any:
    """Make a field that summary and page show as ``label: text`` wherever it differs from its default."""
    return field(default=default, metadata={"label": label, "text": text})


def _spread(points: tuple[float, float, float]) -> str:
    low, middle, high = points
    return f"{middle:.0f}, between {low:.0f} and {high:.0f} with probability 90 %"


@dataclass(frozen=True)
class RankScore:
    """One step of the path that chose a rank.

    Attributes
    ----------
    rank : int
        The rank tried.
    score : float
        The mean log-probability of held-out rows, or of their targets, in nats, or with ``rank="cv"`` and a target the
        share of labels that are predicted, or for an ensemble their quadratic score; higher is better.
    n_occupied : int
        How many of its classes hold at least half a row.
    """

    rank: Count
    score: float
    n_occupied: Count


@dataclass(frozen=True)
class Compression:
    """One compression of a model to a smaller rank.

    Attributes
    ----------
    rank : int
        The rank before it.
    loss : float
        The divergence D(p‖q) of the model after it, q, from the one before, p, in nats per row.
    standard_error : float
        That of the loss; zero where it is exact.
    """

    rank: Count
    loss: float
    standard_error: Amount = 0.0


@dataclass(frozen=True)
class FitRecord:
    """How a model was fitted.

    Attributes
    ----------
    method : str
        The solver.
    rank : int
        The number of classes F.
    n_rows : float
        The sum of the row weights.
    n_distinct : int, optional
        How many distinct rows there were; None for a fit to a statistic, and for rows that were not merged.
    n_searched : int, optional
        Number of sampled rows used to find the start and choose the rank, for data that do not fit in memory.
    log_likelihood : float, optional
        Σ w log p of the training rows, in nats; None for a fit to a statistic and for a compressed model, −inf where
        a row is impossible.
    n_parameters : int
        How many numbers the model has that others do not determine: (F − 1) + F Σ I_pa (I_n − 1), with I_pa = 1 where a
        variable has no parent.
    smoothing : float
        The pseudo-count of a cell, on average; zero for maximum likelihood, and for ``"bayes"``, which has a prior.
    seed : int
        The seed of all random numbers.
    starts : tuple of float
        The objective that every start reached: log-likelihood with smoothing for EM, squared misfit for the others;
        for an ensemble the mean log-probability of the rows that each member stopped by.
    trace : tuple of float
        The objective along the best start.
    stopped : str
        Why the best start stopped.
    n_iter : int
        Passes over the rows, or other steps, that the best start took, or all members of an ensemble.
    rank_path : tuple of RankScore
        The ranks tried and their held-out scores; empty when the rank was given.
    target : str, optional
        The variable to predict unless another is named.
    warnings : tuple of str
        What the fit warned of.
    stages : mapping of str to tuple of float
        The objective along each stage, for methods that have several.
    n_draws : int
        The number of posterior draws of which the model is the mean; zero for other methods.
    n_members : int
        The number of fits of an ensemble of which the model is the mean; one for a single fit.
    occupied : tuple of three floats, optional
        The 5, 50 and 95 per cent points of the number of classes that hold a row, for a fit by ``"bayes"``.
    mixing : mapping of str to (float, float)
        The worst split-R̂ and effective sample size of the quantities followed along the chains.
    forests : str
        How variables depend on each other within classes; empty where they do not.
    hidden : str
        The states of the hidden nodes of a tree, and how they were chosen; empty for classes.
    labelled_missing : str
        The variables whose missing cells are a label, and which; empty where all are summed out.
    projected : str
        How pairs were projected, for methods that do so, with rank and condition of the operators.
    rho : float, optional
        How strongly pair tables were drawn to the model, for methods with stage G2.
    smoothing_path : tuple of (float, float)
        Smoothings tried and their scores; empty when it was given or not chosen.
    why : str
        Why this method, if ``method="auto"`` chose it.
    rho_path : tuple of (float, float)
        Values of rho tried and their scores; empty when rho was given.
    chosen_by : str
        What the scores of ranks, of smoothings and of rho are; empty when nothing was chosen.
    search_ended : str
        Why no more ranks or other settings were tried, for a choice in a budget of time; empty for others.
    compared_on : str
        How many rows the settings of an ensemble were compared on, if the table has more; empty if on all.
    compressed : tuple of Compression
        From which ranks the model was compressed and at what loss, the last one last; empty when it was not.
    n_effective : float, optional
        How many independent rows the weighted rows are worth at most, (Σ w)² / Σ w² and no more than Σ w, if weights
        have fractions. None if they are whole numbers, which count equal rows.
    widening : float
        How many times as uncertain as the draws the truth is: draws see weights with fractions as rows of weight one on
        average, and these are worth fewer rows.
    without_counts : str
        Why the model has no pair counts of the rows; empty when it has.
    reproduced : tuple of two int, optional
        How many cells of pairs of variables have enough rows to tell and are well reproduced, and how many have enough
        rows; None if the pairs were not counted. See :meth:`juror.JointPMF.check`.
    n_off : int, optional
        How many questions about labels or ranges of two variables the model answers wrongly beyond chance; None if the
        pairs were not counted.
    n_questions : int, optional
        How many such questions have enough rows to be compared; None if the pairs were not counted.
    agreement : tuple of two floats, optional
        For a fit with draws: in what share of the answers about two variables the truth is apart from the draws, and in
        what share it is like them, as the rows have it (``juror.answers.interval_ends``).
    tuned : str
        For which target the conditional likelihood of its labels was climbed, and what that gained; empty if none was.
    formulas : str
        The formulas between columns of numbers, which drawn and filled rows satisfy; empty if there are none.
    orders : str
        Pairs of columns of which one is at most the other, which drawn and filled rows keep; empty if there are none.
    device : str
        The card that passed over the rows, whose sums are in single precision; empty if the CPU did.
    worst : str
        Questions about two variables that the rows answer otherwise, by more than 0.1, or 0.05 if all rows agree, and
        more than chance; empty if there are none. Without shares and rows if the model keeps no counts on request.
    """

    method: str = ""
    rank: Count = 0
    n_rows: Amount = 0.0
    n_distinct: Count | None = None
    log_likelihood: float | None = None
    n_parameters: Count = 0
    smoothing: Amount = 0.0
    seed: Annotated[int, Between(0, 1e300)] = 0
    starts: tuple[float, ...] = ()
    trace: tuple[float, ...] = ()
    stopped: str = ""
    n_iter: Count = 0
    rank_path: tuple[RankScore, ...] = ()
    target: str | None = None
    warnings: tuple[str, ...] = ()
    stages: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    n_draws: Count = 0
    n_members: Count = 1
    occupied: tuple[Finite, Finite, Finite] | None = diagnostic(None, "classes that hold a row", _spread)
    mixing: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    projected: str = diagnostic("", "projected")
    forests: str = diagnostic("", "forests")
    hidden: str = diagnostic("", "hidden nodes")
    labelled_missing: str = diagnostic("", "missing cells as a label")
    rho: Finite | None = None
    rho_path: tuple[tuple[float, float], ...] = ()
    chosen_by: str = ""
    smoothing_path: tuple[tuple[float, float], ...] = ()
    why: str = ""
    compressed: tuple[Compression, ...] = ()
    n_searched: Count | None = None
    n_effective: Positive | None = diagnostic(  # noqa: RUF009 (it makes a field, as for the others)
        None, "effective number of rows", lambda n: f"{n:,.0f}"
    )
    widening: Positive = diagnostic(  # noqa: RUF009 (it makes a field, as for the others)
        1.0, "uncertainty beside that of the draws", lambda factor: f"{factor:.3g} times as large"
    )
    without_counts: str = diagnostic("", "pair counts")
    search_ended: str = diagnostic("", "end of the search")
    compared_on: str = diagnostic("", "settings compared on")
    reproduced: tuple[Count, Count] | None = None
    n_off: Count | None = None
    n_questions: Count | None = None
    agreement: tuple[Part, ...] | None = diagnostic(
        None, "draws agree with the rows", lambda shares: f"in {shares[-1]:.0%} of the answers about two variables"
    )
    worst: str = ""
    tuned: str = diagnostic("", "tuned")
    formulas: str = diagnostic("", "formulas between columns")
    orders: str = diagnostic("", "orders between columns")
    device: str = diagnostic("", "device")

    def diagnostics(self) -> dict[str, str]:
        """Return what fields made with :func:`diagnostic` say, by label.

        >>> FitRecord(projected="200 directions a pair").diagnostics()
        {'projected': '200 directions a pair'}
        """
        values = ((each.metadata, getattr(self, each.name), each.default) for each in fields(self))
        return {meta["label"]: meta["text"](value) for meta, value, default in values if meta and value != default}

    @property
    def aic(self) -> float | None:
        """Akaike's criterion, 2k − 2 log-likelihood; lower is better. None without likelihood, for draws, ensembles."""
        if self.log_likelihood is None or self.n_draws or self.n_members > 1:
            return None
        return 2 * self.n_parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float | None:
        """The Bayesian criterion, k log n − 2 log-likelihood; lower is better. None as for :attr:`aic`."""
        if self.log_likelihood is None or self.n_draws or self.n_members > 1:
            return None
        return self.n_parameters * math.log(self.n_rows) - 2 * self.log_likelihood

    @property
    def chosen_rank(self) -> int | None:
        """The rank that :attr:`rank_path` led to, that of one member of an ensemble; None without a path, and once a
        compression has made another of it.
        """
        return self.rank // max(1, self.n_members) if self.rank_path and not self.compressed else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold: None where a score is not finite, text where the likelihood is."""
        plain: dict[str, Any] = finite(asdict(self))
        if self.log_likelihood is not None and not math.isfinite(self.log_likelihood):
            plain["log_likelihood"] = str(self.log_likelihood)
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Make a record from what :meth:`to_dict` gave; fields of later versions may be absent."""
        values = {each.name: plain[each.name] for each in fields(cls) if each.name in plain or each.name in _ALWAYS}
        return cls(**{name: _READ[name](value) if name in _READ else value for name, value in values.items()})


def _numbers(plain: Any, missing: float = -math.inf) -> tuple[Any, ...]:
    """Read a list of numbers in which None stands for one that is not finite."""
    return tuple(missing if number is None else number for number in plain)


# The fields of the first version: a record must have all of them.
_ALWAYS = frozenset(("method", "rank", "n_rows", "n_distinct", "log_likelihood", "n_parameters", "smoothing", "seed"))
_ALWAYS |= {"starts", "trace", "stopped", "n_iter"}
# How to read from JSON the fields that are more than one number or text
_READ: dict[str, Callable[[Any], Any]] = {
    "warnings": tuple,
    **dict.fromkeys(("starts", "trace"), _numbers),
    **dict.fromkeys(("rho_path", "smoothing_path"), lambda pairs: tuple(_numbers(pair) for pair in pairs)),
    "log_likelihood": lambda number: None if number is None else float(number),
    **dict.fromkeys(("occupied", "reproduced", "agreement"), lambda points: None if points is None else tuple(points)),
    "stages": lambda traces: {name: _numbers(trace) for name, trace in traces.items()},
    "mixing": lambda pairs: {name: _numbers(pair, math.inf) for name, pair in pairs.items()},
    "compressed": lambda steps: tuple(Compression(**step) for step in steps),
    "rank_path": lambda steps: tuple(
        RankScore(**step | {"score": -math.inf if step["score"] is None else step["score"]}) for step in steps
    ),
}

# The public name of the first version
FitInfo = FitRecord
