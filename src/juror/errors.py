"""Errors and warnings: one clear sentence with the value, the bound and the way out.

A sentence that speaks of options is a :class:`Message`: a template and values. It keeps the options as facts, and each
interface spells them in its own way: ``rank='auto'`` in Python, ``--rank auto`` on the command line. No text shows
passwords or has control characters: all pass through :func:`juror.credentials.masked` and
:func:`juror.printing.printable`.
"""

from __future__ import annotations

import difflib
import inspect
import os
import re
import warnings
from ast import literal_eval
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from string import Formatter
from typing import Any

from juror.credentials import masked
from juror.printing import printable

_FORMATTER = Formatter()
_PACKAGE = f"{Path(__file__).parent}{os.sep}"
# How Python names an argument of a function, and how it sets one
_OWNERS = {
    "": ("{}", "{}"),
    "fit": ("{}", "{}"),
    "Domain.infer": ("{} in Domain.infer", "Domain.infer({})"),
    "Files": ("{} of juror.Files", "{} with juror.Files"),
    "Query": ("{} of juror.Query", "juror.Query(sql, {})"),
}


@dataclass(frozen=True)
class Option:
    """An argument that a message names, with its value, or several values if it takes a list.

    ``source`` is the assignment in Python, such as ``"='auto'"``. ``owner`` is the function that takes the argument, if
    the message must name it, such as ``"Domain.infer"`` or ``"Files"``. One that is ``listed`` among others is left out
    where it does not exist.
    """

    name: str
    values: tuple[Any, ...] = ()
    source: str = ""
    owner: str = ""
    listed: bool = False

    @classmethod
    def parse(cls, field: str, spec: str = "") -> Option:
        """Read an option as templates write it.

        >>> Option.parse("Files.decimal", "=','")
        Option(name='decimal', values=(',',), source="=','", owner='Files', listed=False)
        """
        owner, _, name = field.rpartition(".")
        value = spec.partition("=")[2].strip(" …")
        return cls(name, (literal_eval(value),) if value else (), spec, owner)


Spelling = Callable[[Option], str]


def in_python(option: Option) -> str:
    """Spell an option as an argument of a function.

    >>> in_python(Option("rank")), in_python(Option.parse("Files.decimal", "=','"))
    ('rank', "decimal=',' with juror.Files")
    """
    return _OWNERS[option.owner][bool(option.source)].format(option.name + option.source)


class Message:
    """A sentence whose options are spelled when it is shown: a template for ``str.format``, and its values.

    A value is a number, text, an :class:`Option`, a tuple of options, a message or an error. A field without a value
    names an option, and may say what it is set to: ``{rank}``, ``{rank:='auto'}``, ``{rank:=…}``,
    ``{max_levels:= {most}}``. The owner of an argument stands before it: ``{Domain.infer.levels:=…}``.

    >>> message = Message("{rank} must be at most {most:,}. Got {got!r}. Pass {rank:='auto'}.", most=1000, got="x")
    >>> str(message)
    "rank must be at most 1,000. Got 'x'. Pass rank='auto'."
    >>> message.text(lambda option: " ".join(["--" + option.name, *option.values]))
    "--rank must be at most 1,000. Got 'x'. Pass --rank auto."
    >>> message.options
    ('rank',)
    """

    def __init__(self, template: str, /, **values: Any) -> None:
        self.template = template
        self.values = values

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text()!r})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash(self.template)

    @property
    def options(self) -> tuple[str, ...]:
        """The names of the options in the message, in their order."""
        seen: dict[str, str] = {}
        self.text(lambda option: seen.setdefault(option.name, ""))
        return tuple(seen)

    def text(self, spelling: Spelling = in_python) -> str:
        """Write the sentence with options spelled in a given way."""
        text = ""
        for literal, field, spec, conversion in _FORMATTER.parse(self.template):
            text += literal
            if field is None:
                continue
            spec = (spec or "").format(**self.values)
            if field in self.values:
                value = _spelled(self.values[field], spelling)
            else:
                value, spec = spelling(Option.parse(field, spec)), ""
            text += format(_FORMATTER.convert_field(value, conversion), spec)
        return printable(masked(text))


class Complaint(Message):
    """What a fit warns of: a message and its kind, for code that asks.

    >>> complaint = Complaint("copies", "{n} classes are copies. Lower {rank} to {most}.", n=2, most=3)
    >>> str(FitWarning(complaint)), complaint.kind, complaint.values
    ('2 classes are copies. Lower rank to 3.', 'copies', {'n': 2, 'most': 3})
    """

    def __init__(self, kind: str, template: str, /, **values: Any) -> None:
        super().__init__(template, **values)
        self.kind = kind


def _spelled(value: Any, spelling: Spelling) -> Any:
    """Replace the options in a value by their text."""
    if isinstance(value, Option):
        return spelling(value)
    if isinstance(value, Message | _WithMessage):
        return value.text(spelling)
    if isinstance(value, tuple) and any(isinstance(item, Option) for item in value):
        texts = [_spelled(item, spelling) for item in value]
        return str([text for text in texts if text])
    return value


class _WithMessage(Exception):  # noqa: N818 (warnings share it)
    """What errors and warnings share: they know the options that they name.

    With values, ``text`` is the template of a :class:`Message`; without values it is shown as it is.
    """

    message: Message | None = None

    def __init__(self, *text: str | Message, **values: Any) -> None:
        if text and values:
            text = (Message(str(text[0]), **values),)
        if text and isinstance(text[0], Message):
            self.message = text[0]
        # The argument of an exception is text, as for any other: code may read it.
        super().__init__(*(printable(masked(str(each))) for each in text))

    @property
    def options(self) -> tuple[str, ...]:
        """The names of the options in the message."""
        return self.message.options if self.message else ()

    @property
    def option(self) -> str | None:
        """The first option in the message, or None."""
        return next(iter(self.options), None)

    def text(self, spelling: Spelling = in_python) -> str:
        """Return the sentence with options spelled in a given way."""
        return self.message.text(spelling) if self.message else str(self)


class JurorError(_WithMessage, ValueError):
    """Base of every error that juror raises on purpose."""


class DataError(JurorError):
    """A table, a column or a cell is not what it should be."""


class FileWriteError(DataError, OSError):
    """A file cannot be written: the disk is full, or one may not write there."""


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


class JurorWarning(_WithMessage, UserWarning):
    """Base of every warning that juror gives."""


class DataWarning(JurorWarning):
    """A column is usable, but probably not what was meant."""


class FitWarning(JurorWarning):
    """A fit ended, but not as one would like."""


def warn(warning: JurorWarning) -> None:
    """Give a warning that names the line outside juror that called it: only there can its reader do something."""
    warnings.warn(warning, stacklevel=_level_of_caller())


def _level_of_caller() -> int:
    """Return how far above the function that warns the caller of juror is; that function itself if all are juror's."""
    frame, level, outermost = inspect.currentframe(), 0, 0
    while frame is not None:
        # Frames of other packages, such as contextlib, may lie between those of juror.
        if frame.f_code.co_filename.startswith(_PACKAGE):
            outermost = level
        frame, level = frame.f_back, level + 1
    # Levels count from this function, so that warn is 1, as in the module warnings.
    return outermost + 1 if outermost + 1 < level else 2


def wrong(name: str, must_be: str, got: object) -> ParameterError:
    """Return the error for an argument that is not what it must be.

    >>> str(wrong("sparse", "True, False or None", 3))
    'sparse must be True, False or None. Got 3 instead.'
    """
    return ParameterError("{option} must be {what}. Got {got!r} instead.", option=Option(name), what=must_be, got=got)


def check_count(name: str, value: object, least: int = 1) -> None:
    """Refuse a value that is not a whole number of at least ``least``.

    >>> check_count("draws", 0)
    Traceback (most recent call last):
    juror.errors.ParameterError: draws must be an int in the range [1, inf). Got 0 instead.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise wrong(name, f"an int in the range [{least}, inf)", value)


def check_choice(name: str, value: object, choices: Iterable[object]) -> None:
    """Refuse a value that is not among the choices.

    >>> check_choice("inversion", "svd", ["lstsq", "fbp"])
    Traceback (most recent call last):
    juror.errors.ParameterError: inversion must be one of ['lstsq', 'fbp']. Got 'svd' instead.
    """
    choices = list(choices)
    if value not in choices:
        raise wrong(name, f"one of {shortlist(choices, limit=12)}", value)


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


def misspelt(word: str, choices: Iterable[str]) -> str | None:
    """Return the choice that a word is probably a misspelling of; None if it is probably another word.

    Names that differ only in their numbers are names of a series.

    >>> misspelt("Sfety", ["class", "safety"]), misspelt("income_2020", ["income_2019"])
    ('safety', None)
    """
    plain = {choice.casefold(): choice for choice in choices}
    close = difflib.get_close_matches(word.casefold(), plain, n=1, cutoff=0.75)
    is_series = bool(close) and close[0] != word.casefold() and _letters(close[0]) == _letters(word.casefold())
    return plain[close[0]] if close and not is_series else None


def _letters(word: str) -> str:
    return re.sub(r"\d+", "", word)


def did_you_mean(word: object, choices: Iterable[object]) -> str:
    """Return a hint that names the closest choice, or all of them when none is close.

    >>> did_you_mean("safty", ["safety", "class"])
    "Did you mean 'safety'?"
    >>> did_you_mean("male", ["Female", "Male"])
    "Did you mean 'Male'?"
    """
    choices = list(choices)
    same = [str(choice) for choice in choices if str(choice).casefold() == str(word).casefold()]
    close = same or difflib.get_close_matches(str(word), map(str, choices), n=1, cutoff=0.6)
    matches = (choice for choice in choices if close and str(choice) == close[0])
    return next((f"Did you mean {match!r}?" for match in matches), f"Choose from {shortlist(choices)}.")
