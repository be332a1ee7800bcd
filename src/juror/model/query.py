"""The query language: ``class, price | safety = high, persons in {4, more}, doors >= 3, not class = unacc``.

    question   := names [ "|" conditions ]
    names      := name { "," name }
    conditions := condition { "," condition }
    condition  := [ "not" ] name ( compare value | "in" "{" value { "," value } "}" )
    compare    := "=" | "!=" | ">=" | ">" | "<=" | "<"

Names and values are words, or anything between quotes. Several conditions on one variable must all hold. A syntax error
shows the question with a caret under the mistake.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from juror.domain import Domain
from juror.domain.evidence import Evidence, Not, Range, both, weights_of
from juror.errors import QueryError

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<mark>==|=>|=<|<>|>=|<=|!=|=|<|>|\||,|\{|\})
      | (?P<word>[^\s,|=<>!{}"']+)
    )""",
    re.VERBOSE,
)

_COMPARE: dict[str, Callable[[Any], Any]] = {
    "=": lambda value: value,
    "!=": Not,
    ">=": lambda value: Range(at_least=value),
    ">": lambda value: Range(above=value),
    "<=": lambda value: Range(at_most=value),
    "<": lambda value: Range(below=value),
}
_MISTAKEN = {"==": "=", "=>": ">=", "=<": "<=", "<>": "!="}


@dataclass(frozen=True)
class Question:
    """A parsed question: the positions of the variables asked for, and the evidence."""

    targets: tuple[int, ...]
    evidence: Evidence


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int

    def is_mark(self, *marks: str) -> bool:
        return self.kind == "mark" and self.text in marks

    def is_word(self, word: str) -> bool:
        return self.kind == "word" and self.text.lower() == word

    @property
    def is_term(self) -> bool:
        return self.kind in ("word", "quoted")


def read(question: str, domain: Domain) -> Question:
    """Parse a question about the variables of a domain; a QueryError points at the mistake."""
    return _Reader(question, domain).question()


def read_conditions(text: str, domain: Domain) -> Evidence:
    """Parse conditions alone, the part to the right of the bar."""
    return _Reader(text, domain).conditions_only()


class _Reader:
    """A recursive-descent parser with one token of look-ahead."""

    def __init__(self, text: str, domain: Domain):
        if not isinstance(text, str):
            raise QueryError(f"A question is text, like {domain.names[0]!r}. Got {type(text).__name__}.")
        if not text.strip():
            raise QueryError(f"The question is empty. Name a variable, like {domain.names[0]!r}.")
        self._text = text
        self._domain = domain
        self._tokens = self._split()
        self._next = 0

    def _split(self) -> list[_Token]:
        tokens, place = [], 0
        while self._text[place:].strip():
            match = _TOKEN.match(self._text, place)
            if match is None:
                start = place + len(self._text[place:]) - len(self._text[place:].lstrip())
                what = self._text[start]
                message = "This quote is not closed." if what in "\"'" else f"{what!r} is not understood."
                self._fail(start, start + 1, message)
            kind = str(match.lastgroup)
            tokens.append(_Token(kind, match.group(kind), match.start(kind), match.end(kind)))
            place = match.end()
        tokens.append(_Token("end", "", len(self._text), len(self._text) + 1))
        return tokens

    def question(self) -> Question:
        targets = self._targets()
        evidence: Evidence = {}
        if self._take_mark("|"):
            evidence = self._conditions()
            if self._peek.is_mark("|"):
                self._fail_here("A question has one bar; further conditions follow after a comma.")
            self._expect_end("',' and another condition, or the end")
        elif self._peek.is_mark(*_COMPARE):
            self._fail_here(
                "A condition stands to the right of a bar; to its left stand the names of the variables asked for."
            )
        self._expect_end("',' and another name, '|' and a condition, or the end")
        return Question(tuple(targets), evidence)

    def conditions_only(self) -> Evidence:
        evidence = self._conditions()
        self._expect_end("',' and another condition, or the end")
        return evidence

    def _targets(self) -> list[int]:
        targets: list[int] = []
        while not targets or self._take_mark(","):
            token = self._peek
            position = self._name()
            if position in targets:
                self._fail(token.start, token.end, f"{self._domain[position].name!r} is asked for twice.")
            targets.append(position)
        return targets

    def _conditions(self) -> Evidence:
        evidence = self._condition()
        while self._take_mark(","):
            evidence = both(evidence, self._condition())
        return evidence

    def _condition(self) -> Evidence:
        negated = self._take_word("not")
        start = self._peek.start
        position = self._name()
        variable = self._domain[position]
        if self._take_word("in"):
            wanted: Any = self._set()
        elif self._peek.is_mark(*_COMPARE):
            wanted = _COMPARE[self._advance().text](self._value())
        elif self._peek.is_mark(*_MISTAKEN):
            self._fail_here(f"Write {_MISTAKEN[self._peek.text]} here.")
        else:
            self._fail_here(f"After {variable.name!r} comes one of =, !=, >=, >, <=, < or 'in {{…}}'.")
        try:
            return {position: weights_of(variable, Not(wanted) if negated else wanted)}
        except QueryError as error:
            hint = " Labels of several words need quotes." if self._peek.is_term else ""
            self._fail(start, self._tokens[self._next - 1].end, f"{error}{hint}")

    def _set(self) -> list[str]:
        if not self._take_mark("{"):
            self._fail_here("After 'in' comes a set of labels in braces, like {low, high}.")
        values = [self._value()]
        while self._take_mark(","):
            values.append(self._value())
        if not self._take_mark("}"):
            self._fail_here("The set of labels is not closed: '}' is missing. Labels of several words need quotes.")
        return values

    def _name(self) -> int:
        token = self._peek
        if not token.is_term:
            self._fail_here("The name of a variable is missing here.")
        self._advance()
        try:
            return self._domain.position(_unquote(token))
        except QueryError as error:
            hint = " Names of several words need quotes." if self._peek.is_term and not self._peek.is_word("in") else ""
            self._fail(token.start, token.end, f"{error}{hint}")

    def _value(self) -> str:
        token = self._peek
        if not token.is_term:
            hint = " Put a label with <, > or = in quotes." if token.is_mark(*_COMPARE) else ""
            self._fail_here(f"A label is missing here.{hint}")
        self._advance()
        return _unquote(token)

    @property
    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _advance(self) -> _Token:
        self._next += 1
        return self._tokens[self._next - 1]

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
            hint = " Names and labels of several words need quotes." if self._peek.is_term else ""
            self._fail_here(f"Expected {expected}.{hint}")

    def _fail_here(self, message: str) -> NoReturn:
        self._fail(self._peek.start, self._peek.end, message)

    def _fail(self, start: int, end: int, message: str) -> NoReturn:
        pointer = " " * start + "^" * max(1, end - start)
        # A tab or a line break would misalign the caret.
        shown = re.sub(r"\s", " ", self._text)
        raise QueryError(f"{message}\n  {shown}\n  {pointer}") from None


def _unquote(token: _Token) -> str:
    return re.sub(r"\\(.)", r"\1", token.text[1:-1]) if token.kind == "quoted" else token.text
