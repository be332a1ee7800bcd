"""What Spark and Java say at length, in one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from juror.errors import ClusterError, JurorError

# Of a cause in Java's many lines only this much is worth reading
_LONGEST_CAUSE = 300
MARK = "juror's task failed: "

# How causes begin, and what to say about them
_SENTENCES = (
    (rf"{MARK}(.*)", "A task failed on an executor of Spark: {}. Its log tells more."),
    (
        r"most recent failure: Lost task [^)]*\) \([^)]*\): (?:[\w.$]+: )*((?:ExecutorLost|Python worker exited).*)",
        "Spark gave up on a part, as whoever worked on it died again and again: {}. Give executors more memory, or cut "
        "the data into smaller parts.",
    ),
    (r"\[PYTHON_VERSION_MISMATCH\] (.*)", "{}"),
    (r"^: (?:[\w.$]+: )*(.*)", "Spark could not do the work: {}"),
)


@contextmanager
def in_plain_words() -> Iterator[None]:
    """Make one sentence of what Spark and Java say at length."""
    try:
        yield
    except JurorError:
        raise
    except Exception as error:
        raise ClusterError(sentence_of(error)) from None


def sentence_of(error: Exception) -> str:
    """Return what an exception of Spark says, in one sentence."""
    text = str(error)
    for pattern, sentence in _SENTENCES:
        found = re.search(pattern, text, re.MULTILINE)
        if found:
            return sentence.format(first_line(found[1]).rstrip("."))
    return f"Spark could not do the work: {type(error).__name__}: {first_line(text)}"


def first_line(text: str) -> str:
    """Return the first line of a text, no more of it than is worth reading."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= _LONGEST_CAUSE else f"{line[:_LONGEST_CAUSE]}…"
