"""The errors of Spark and Java, each shortened to one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from juror.errors import ClusterError, JurorError

# Characters of a cause that are shown
_LONGEST_CAUSE = 300
# Marks, in Java's text, the error of a juror task
TASK_FAILED = "juror's task failed: "

# Patterns of causes, and the message for each
_MESSAGES = (
    (rf"{TASK_FAILED}(.*)", "A task failed on an executor of Spark: {}. See its log for details."),
    (
        r"most recent failure: Lost task [^)]*\) \([^)]*\): (?:[\w.$]+: )*((?:ExecutorLost|Python worker exited).*)",
        "Spark gave up on a part because every process that worked on it died: {}. Give executors more memory, or cut "
        "the data into smaller parts.",
    ),
    (r"\[PYTHON_VERSION_MISMATCH\] (.*)", "{}"),
    (r"^: (?:[\w.$]+: )*(.*)", "Spark could not do the work: {}"),
)


@contextmanager
def short_spark_errors() -> Iterator[None]:
    """Raise the errors of Spark and Java as a ClusterError of one sentence."""
    try:
        yield
    except JurorError:
        raise
    except Exception as error:
        raise ClusterError(message_of(error)) from None


def message_of(error: Exception) -> str:
    """Return what an exception of Spark says, in one sentence."""
    text = str(error)
    for pattern, message in _MESSAGES:
        found = re.search(pattern, text, re.MULTILINE)
        if found:
            return message.format(first_line(found[1]).rstrip("."))
    return f"Spark could not do the work: {type(error).__name__}: {first_line(text)}"


def first_line(text: str) -> str:
    """Return the first line of a text, cut where it gets too long to read."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= _LONGEST_CAUSE else f"{line[:_LONGEST_CAUSE]}…"
