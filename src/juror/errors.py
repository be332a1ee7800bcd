"""What can go wrong, in the user's words: one clear sentence with the value, the bound and the way out."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from numbers import Integral


class JurorError(ValueError):
    """Base of every error that juror raises on purpose."""


class DataError(JurorError):
    """A table, a column or a cell is not what it should be."""


class ParameterError(JurorError):
    """An argument is outside its range."""


class ModelError(JurorError):
    """Weights and factors do not make a joint distribution."""


class QueryError(JurorError):
    """A question names something the model does not know, or cannot be read."""


class ZeroProbabilityError(QueryError):
    """The evidence cannot happen under the model, so nothing follows from it."""


class ModelFileError(JurorError):
    """A file is not a juror model, or not a whole one."""


class ClusterError(JurorError):
    """A cluster cannot do the work: workers are missing, differ or die, or its scheduler went away."""


class MissingDependencyError(JurorError, ImportError):
    """An optional part was asked for and its package is not installed."""


class JurorWarning(UserWarning):
    """Base of every warning that juror gives."""


class DataWarning(JurorWarning):
    """A column is usable, but probably not what was meant."""


class FitWarning(JurorWarning):
    """A fit ended, but not as one would like."""


def check_count(name: str, value: object, least: int = 1) -> None:
    """Refuse what is not a whole number from a least one.

    >>> check_count("draws", 0)
    Traceback (most recent call last):
    juror.errors.ParameterError: draws must be an int in the range [1, inf). Got 0 instead.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ParameterError(f"{name} must be an int in the range [{least}, inf). Got {value!r} instead.")


def shortlist(items: Iterable[object], limit: int = 8) -> str:
    """Write items for a message, the first few in full and the rest as a count.

    >>> shortlist(["a", "b", 3])
    "['a', 'b', 3]"
    >>> shortlist(range(100), limit=3)
    '[0, 1, 2, … 97 more]'
    """
    texts = [repr(item) for item in items]
    if len(texts) > limit:
        texts = [*texts[:limit], f"… {len(texts) - limit} more"]
    return "[" + ", ".join(texts) + "]"


def did_you_mean(word: object, choices: Iterable[object]) -> str:
    """Return a hint that names the closest choice, or all of them when none is close.

    >>> did_you_mean("safty", ["safety", "class"])
    "Did you mean 'safety'?"
    >>> did_you_mean("male", ["Female", "Male"])
    "Did you mean 'Male'?"
    """
    choices = list(choices)
    for choice in choices:
        if str(choice).casefold() == str(word).casefold():
            return f"Did you mean {choice!r}?"
    close = difflib.get_close_matches(str(word), [str(choice) for choice in choices], n=1, cutoff=0.6)
    if close:
        match = next(choice for choice in choices if str(choice) == close[0])
        return f"Did you mean {match!r}?"
    return f"Choose from {shortlist(choices)}."
