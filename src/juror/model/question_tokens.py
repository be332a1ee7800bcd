"""The tokens of a question: words, quoted texts and marks, with the places where they stand, for messages."""

from __future__ import annotations

import re
from dataclasses import dataclass

from juror.errors import QueryError

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<mark>==|=>|=<|<>|>=|<=|!=|=|<|>|\||,|\{|\})
      | (?P<word>(?:\d{4}-\d\d-\d\d[ ](?=\d\d:))?[^\s,|=<>!{}"']+)
    )""",
    re.VERBOSE,
)

# What stands after a backslash in quotes: a control character as titles have it (juror.printing), or any other
_ESCAPED = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|(.))", re.DOTALL)
_BY_LETTER = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True)
class Token:
    """A word, a quoted text, a mark, or the end of a question, and where it stands."""

    kind: str
    text: str
    start: int
    end: int

    def is_mark(self, *marks: str) -> bool:
        """Say whether it is one of these marks."""
        return self.kind == "mark" and self.text in marks

    def is_word(self, word: str) -> bool:
        """Say whether it is this word, with or without capitals."""
        return self.kind == "word" and self.text.lower() == word

    @property
    def is_term(self) -> bool:
        """Whether it may be a name or a label."""
        return self.kind in ("word", "quoted")

    @property
    def meant(self) -> str:
        """The name or label that it means: its text without quotes."""
        return _ESCAPED.sub(_without_escape, self.text[1:-1]) if self.kind == "quoted" else self.text


def split(text: str) -> list[Token]:
    """Return the tokens of a question; the last one is its end.

    >>> [token.meant for token in split("age | 'home town' != Ulm")]
    ['age', '|', 'home town', '!=', 'Ulm', '']
    """
    tokens, place = [], 0
    while text[place:].strip():
        match = _TOKEN.match(text, place)
        if match is None:
            start = place + len(text[place:]) - len(text[place:].lstrip())
            what = text[start]
            message = "This quote is not closed." if what in "\"'" else f"{what!r} is not understood."
            raise marked(text, start, start + 1, message)
        kind = str(match.lastgroup)
        tokens.append(Token(kind, match.group(kind), match.start(kind), match.end(kind)))
        place = match.end()
    return [*tokens, Token("end", "", len(text), len(text) + 1)]


def marked(text: str, start: int, end: int, message: str) -> QueryError:
    """Return an error that shows a question with carets under a part of it."""
    pointer = " " * start + "^" * max(1, end - start)
    # A tab or a line break would misalign the caret.
    shown = re.sub(r"\s", " ", text)
    return QueryError(f"{message}\n  {shown}\n  {pointer}")


def _without_escape(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    return chr(int(code, 16)) if code else _BY_LETTER.get(found[3], found[3])
