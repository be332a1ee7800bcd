"""The query language: ``class, price | safety = high, persons in {4, more}, 30 <= age < 65, not class = unacc``.

    question   := names [ "|" conditions ]
    event      := conditions [ "|" conditions ]
    names      := name { "," name }
    conditions := condition { "," condition }
    condition  := [ "not" ] ( name compare value | name "in" "{" value { "," value } "}" | range )
    range      := value order name [ order value ]
    compare    := "=" | "!=" | order
    order      := ">=" | ">" | "<=" | "<"

Names and values are words, or anything between quotes. A label that begins with a comparison, such as ``>50K``, needs
no quotes. Several conditions on one variable must all hold. An error shows the question with a caret under the mistake.

A question is read in two steps. Parsing finds which variables it names and what it wants of them, as values of the
question. ``Parsed.evidence`` turns these into weights of labels, for a domain that may have other intervals than the
one that the question was parsed with.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from juror.domain import Domain
from juror.domain.evidence import Evidence, Not, Range, both, weights_of
from juror.domain.variable import Variable
from juror.errors import QueryError
from juror.model.question_tokens import Token, marked, split
from juror.readers.exact_numbers import as_number

_COMPARE: dict[str, Callable[[Any], Any]] = {
    "=": lambda value: value,
    "!=": Not,
    ">=": lambda value: Range(at_least=value),
    ">": lambda value: Range(above=value),
    "<=": lambda value: Range(at_most=value),
    "<": lambda value: Range(below=value),
}
# The bound of a range that a comparison sets, with the variable on its left or on its right.
_ORDER = {">=": "at_least", ">": "above", "<=": "at_most", "<": "below"}
_TURNED = {">=": "at_most", ">": "below", "<=": "at_least", "<": "above"}
_WRAPPED = re.compile(r"\s*P\((.*)\)\s*", re.DOTALL)
# What other languages have between conditions, and what stands here
_OF_OTHER_LANGUAGES = {
    **dict.fromkeys(("and", "&", "&&"), "Write a comma here."),
    "or": "There is no 'or'. Write in {…} for several labels of one variable, and ask twice for different ones.",
}
_MISTAKEN = {"==": "=", "=>": ">=", "=<": "<=", "<>": "!="}


@dataclass(frozen=True)
class Condition:
    """What a question wants of one variable, as it is written.

    Attributes
    ----------
    position : int
        The position of the variable.
    wanted : str, list of str, Range or Not
        What it should be; all labels and numbers are text.
    start, end : int
        Where the condition stands in the question.
    hint : str
        What to add if the variable refuses this.
    """

    position: int
    wanted: Any
    start: int
    end: int
    hint: str = ""


@dataclass(frozen=True)
class Parsed:
    """A parsed question: the positions of the variables asked for, and the conditions, not yet evaluated.

    Examples
    --------
    >>> domain = Domain.from_cardinalities([2, 5])
    >>> parsed = parse("x0 | 1 <= x1 < 3", domain)
    >>> parsed.targets, [(one.position, one.wanted) for one in parsed.conditions]
    ((0,), [(1, Range(at_least='1', below='3'))])
    >>> parsed.evidence(domain)[1].tolist()
    [0.0, 1.0, 1.0, 0.0, 0.0]
    """

    text: str
    targets: tuple[int, ...]
    conditions: tuple[Condition, ...]

    def evidence(self, domain: Domain, whole: Domain | None = None, is_event: bool = False) -> Evidence:
        """Return the weights of labels that the conditions mean in a domain of the same variables.

        ``whole`` is the domain before it was divided for the conditions, if it was.
        """
        whole = domain if whole is None else whole
        evidence: Evidence = {}
        for one in self.conditions:
            n = one.position
            try:
                evidence = both(evidence, {n: weights_of(domain[n], one.wanted, whole[n], is_event)})
            except QueryError as error:
                raise marked(self.text, one.start, one.end, f"{error}{one.hint}") from None
        return evidence


def parse(question: str, domain: Domain) -> Parsed:
    """Parse a question about the variables of a domain; a QueryError points at the mistake.

    A question may stand in P(…), as above its answer.
    """
    return _Parser(_unwrapped(question, domain), domain).question()


def parse_event(text: str, domain: Domain) -> tuple[Parsed, Parsed]:
    """Parse an event, such as ``"Survived = Yes | Sex = Female"``, and what is given behind the bar, if there is one.

    An event may stand in P(…) too.
    """
    return _Parser(_unwrapped(text, domain), domain).event()


def is_event(text: str, domain: Domain) -> bool:
    """Say whether a text asks for the probability of a condition, like ``"age > 40 | sex = F"``, not for a table."""
    return _Parser(_unwrapped(text, domain), domain).begins_with_condition()


def _unwrapped(text: str, domain: Domain) -> str:
    wrapped = _WRAPPED.fullmatch(text) if isinstance(text, str) else None
    if wrapped is None or any(name.startswith("P(") and text.lstrip().startswith(name) for name in domain.names):
        return text
    return wrapped[1]


def parse_conditions(text: str, domain: Domain) -> Parsed:
    """Parse conditions alone, the part to the right of the bar."""
    return _Parser(text, domain).conditions_only()


class _Parser:
    """A recursive-descent parser that looks a few tokens ahead."""

    def __init__(self, text: str, domain: Domain):
        if not isinstance(text, str):
            raise QueryError(f"A question is text, like {domain.names[0]!r}. Got {type(text).__name__}.")
        if not text.strip():
            raise QueryError(f"The question is empty. Name a variable, like {domain.names[0]!r}.")
        self._text = text
        self._domain = domain
        self._tokens = split(text)
        self._ends = {token.end: n for n, token in enumerate(self._tokens)}
        self._next = 0

    def begins_with_condition(self) -> bool:
        after = self._tokens[min(1, len(self._tokens) - 1)]
        is_compared = after.is_mark(*_COMPARE, *_MISTAKEN) or after.is_word("in")
        return self._take_word("not") or self._begins_with_value() or (self._peek.is_term and is_compared)

    def question(self) -> Parsed:
        targets = self._targets()
        conditions: list[Condition] = []
        if self._take_mark("|"):
            conditions = self._given()
        elif self._peek.is_mark(*_COMPARE):
            self._fail_here(
                "A condition stands to the right of a bar; to its left stand the names of the variables asked for, "
                "and the answer has all their labels. For the probability of a condition use model.prob."
            )
        self._expect_end("',' and another name, '|' and a condition, or the end")
        return Parsed(self._text, tuple(targets), tuple(conditions))

    def event(self) -> tuple[Parsed, Parsed]:
        wanted = self._conditions()
        given = self._given() if self._take_mark("|") else []
        self._expect_end("',' and another condition, '|' and what is given, or the end")
        return Parsed(self._text, (), tuple(wanted)), Parsed(self._text, (), tuple(given))

    def _given(self) -> list[Condition]:
        """Read the conditions behind a bar, and the end."""
        conditions = self._conditions()
        if self._peek.is_mark("|"):
            self._fail_here("A question has one bar; further conditions follow after a comma.")
        self._expect_end("',' and another condition, or the end")
        return conditions

    def conditions_only(self) -> Parsed:
        conditions = self._conditions()
        self._expect_end("',' and another condition, or the end")
        return Parsed(self._text, (), tuple(conditions))

    def _targets(self) -> list[int]:
        targets: list[int] = []
        while not targets or self._take_mark(","):
            token = self._peek
            position = self._name()
            if position in targets:
                self._fail(token.start, token.end, f"{self._domain[position].name!r} is asked for twice.")
            targets.append(position)
        return targets

    def _conditions(self) -> list[Condition]:
        conditions = [self._condition()]
        while self._take_mark(","):
            conditions.append(self._condition())
        return conditions

    def _condition(self) -> Condition:
        negated = self._take_word("not")
        start, hint = self._peek.start, ""
        if self._begins_with_value():
            position, wanted = self._range()
        else:
            position = self._name()
            operator = self._peek
            wanted = self._wanted(self._domain[position])
            whole = self._text[operator.start : self._last.end]
            if whole in self._domain[position].labels:
                hint = f" If {whole!r} is meant, write = before it."
        return Condition(position, Not(wanted) if negated else wanted, start, self._last.end, hint)

    def _wanted(self, variable: Variable) -> Any:
        """Read what follows the name of a variable: a comparison and a value, or a set."""
        if self._take_word("in"):
            return self._set(variable)
        operator = self._peek
        if operator.is_mark(*_COMPARE):
            self._advance()
            return _COMPARE[operator.text](self._value(variable))
        if not operator.is_mark(*_MISTAKEN):
            self._fail_here(f"After {variable.name!r} comes one of =, !=, >=, >, <=, < or 'in {{…}}'.")
        # without a space "=>50K" is the label ">50K" after "="; there is no comparison that begins with "="
        label = self._label_with_mark(variable, operator.start + 1) if operator.text.startswith("=") else None
        if label is None:
            self._fail_here(f"Write {_MISTAKEN[operator.text]} here.")
        return label

    def _begins_with_value(self) -> bool:
        """Tell whether a range comes that begins with its bound: ``30 <= age < 65`` or ``30 <= age``."""
        first, mark, second, after = (self._tokens[min(self._next + n, len(self._tokens) - 1)] for n in range(4))
        if not (first.is_term and mark.is_mark(*_ORDER) and second.is_term):
            return False
        if after.is_mark(*_COMPARE):
            if second.meant not in self._domain and first.meant in self._domain:
                self._fail(
                    after.start,
                    after.end,
                    f"The variable stands in the middle of a range, like 30 <= {first.meant} < 40; several "
                    "conditions have commas between them.",
                )
            return True
        # a bare number that is no name is a bound too, so that an unknown name after it is the mistake
        is_bound = second.meant in self._domain or as_number(first.meant) is not None
        return is_bound and first.meant not in self._domain

    def _range(self) -> tuple[int, Range]:
        value = self._advance().meant
        first = self._advance().text
        position = self._name()
        bounds = {_TURNED[first]: value}
        mark = self._peek
        if mark.is_mark(*_COMPARE):
            # 30 <= age < 65, but neither 30 <= age > 65 nor 30 <= age = 65
            if mark.text[0] != first[0]:
                self._fail_here(f"Both comparisons of a range have the same direction: {first[0]} or {first[0]}= here.")
            self._advance()
            bounds[_ORDER[mark.text]] = self._value(self._domain[position])
        return position, Range(**bounds)

    def _set(self, variable: Variable) -> list[str]:
        if not self._take_mark("{"):
            self._fail_here("After 'in' comes a set of labels in braces, like {low, high}.")
        values = [self._value(variable)]
        while self._take_mark(","):
            values.append(self._value(variable))
        if not self._take_mark("}"):
            self._fail_here("The set of labels is not closed: '}' is missing. Labels of several words need quotes.")
        return values

    def _name(self) -> int:
        token = self._peek
        if not token.is_term:
            self._fail_here("The name of a variable is missing here.")
        self._advance()
        try:
            return self._domain.position(token.meant)
        except QueryError as error:
            hint = " Names of several words need quotes." if self._peek.is_term and not self._peek.is_word("in") else ""
            self._fail(token.start, token.end, f"{error}{hint}")

    def _value(self, variable: Variable) -> str:
        token = self._peek
        label = self._label_with_mark(variable, token.start)
        if label is not None:
            return label
        if not token.is_term:
            hint = " Put a label with <, > or = in quotes." if token.is_mark(*_COMPARE, *_MISTAKEN) else ""
            self._fail_here(f"A label is missing here.{hint}")
        self._advance()
        if self._peek.is_term and as_number(token.meant) is None:
            try:
                variable.code(token.meant)
            except QueryError as error:
                self._fail(token.start, token.end, f"{error} Labels of several words need quotes.")
        return token.meant

    def _label_with_mark(self, variable: Variable, start: int) -> str | None:
        """Take a label that begins with a comparison, such as ``>50K``, if the text at a place is one; the longest."""
        if self._text[start : start + 1] not in ("=", "!", "<", ">"):
            return None
        for label in sorted((str(label) for label in variable.labels), key=len, reverse=True):
            end = start + len(label)
            is_whole = self._text[end : end + 1].strip() in ("", ",", "|", "}") and end in self._ends
            if label and self._text.startswith(label, start) and is_whole:
                self._next = self._ends[end] + 1
                return label
        return None

    @property
    def _peek(self) -> Token:
        return self._tokens[self._next]

    @property
    def _last(self) -> Token:
        return self._tokens[self._next - 1]

    def _advance(self) -> Token:
        self._next += 1
        return self._last

    def _take_mark(self, mark: str) -> bool:
        return self._peek.is_mark(mark) and bool(self._advance())

    def _take_word(self, word: str) -> bool:
        # A variable may be called "not" or "in": it is a name if the next token can only follow a name.
        follower = self._tokens[min(self._next + 1, len(self._tokens) - 1)]
        names = follower.is_mark(*_COMPARE, ",", "|") or (word == "not" and self._is_set(self._next + 1))
        return self._peek.is_word(word) and not names and bool(self._advance())

    def _is_set(self, place: int) -> bool:
        ahead = self._tokens[place : place + 2]
        return len(ahead) == 2 and ahead[0].is_word("in") and ahead[1].is_mark("{")

    def _expect_end(self, expected: str) -> None:
        if self._peek.kind != "end":
            if self._peek.kind == "word" and self._peek.text.lower() in _OF_OTHER_LANGUAGES:
                self._fail_here(_OF_OTHER_LANGUAGES[self._peek.text.lower()])
            hint = " Names and labels of several words need quotes." if self._peek.is_term else ""
            self._fail_here(f"Expected {expected}.{hint}")

    def _fail_here(self, message: str) -> NoReturn:
        self._fail(self._peek.start, self._peek.end, message)

    def _fail(self, start: int, end: int, message: str) -> NoReturn:
        raise marked(self._text, start, end, message) from None
