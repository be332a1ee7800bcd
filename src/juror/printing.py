"""Text for people: control characters are shown as Python writes them, so that no terminal obeys them.

Names and labels come from files that others wrote. An escape sequence in one could clear the screen, or change what was
printed before.
"""

from __future__ import annotations

import re

# C0 and C1 controls, line and paragraph separators, and marks that turn the direction of text; surrogates cannot be
# encoded. Marks without width stay: they are part of words in Persian and of pictures of people.
_CONTROL = "\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_CONTROLS = re.compile(f"[{_CONTROL}]")
_CONTROLS_AND_BREAKS = re.compile(f"[{_CONTROL}\n]")


def printable(text: str) -> str:
    r"""Return text with escaped control characters; line breaks stay.

    >>> print(printable("a\x1b[2Jb\r\nc"))
    a\x1b[2Jb\r
    c
    """
    return _CONTROLS.sub(_escaped, text)


def one_line(text: object) -> str:
    r"""Return text with escaped control characters and line breaks.

    >>> print(one_line("a\nb"))
    a\nb
    """
    return _CONTROLS_AND_BREAKS.sub(_escaped, str(text))


def shortened(text: object, most: int = 60) -> str:
    """Return text of at most some characters: of longer ones, such as reports in a column, the beginning.

    >>> shortened("OCR opened an investigation", 12), shortened(37)
    ('OCR opened …', '37')
    """
    whole = str(text)
    return whole if len(whole) <= most else whole[: most - 2].rstrip() + " …"


def numbered(n: int, noun: str, plural: str = "") -> str:
    """Return a number of things in words.

    >>> numbered(1, "variable"), numbered(1200, "class", "classes")
    ('1 variable', '1,200 classes')
    """
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def _escaped(character: re.Match[str]) -> str:
    return repr(character[0])[1:-1]
