"""Sentences of the library in words of the command line: options where it names arguments."""

from __future__ import annotations

import re

# Arguments whose options have names of their own, and those of the same name
_OPTIONS = {"n_directions": "--directions", "n_init": "--starts", "n_jobs": "--jobs", "sample_weight": "--weight"}
_OPTIONS |= {"max_iter": "--max-iter", "max_levels": "--max-levels", "max_seconds": "--max-seconds"}
_SAME = "bins decimal domain draws encoding ensemble inversion memory method quote rank rho seed separator smoothing"
_OPTIONS |= {name: f"--{name}" for name in (*_SAME.split(), "target", "tol", "triples", "unknown")}
_NAMES = "|".join(_OPTIONS)
_KINDS = {"PairCounts": "counts of pairs", "TripleCounts": "counts of triples"}


def _option(match: re.Match[str]) -> str:
    value = match["value"]
    return _OPTIONS[match["name"]] + ("" if not value else " " + value.strip("'\""))


def _named(match: re.Match[str]) -> str:
    return match[0].replace(match["name"], _OPTIONS[match["name"]])


def _markers(match: re.Match[str]) -> str:
    markers = re.sub(r"float\((.*?)\)", r"\1", match[1]).split(", ")
    return " ".join(f"--missing {marker}" for marker in markers)


_RULES = (
    # whole phrases first
    (r"max_levels in Domain\.infer", "--max-levels"),
    (r"\bmax_levels = ", "--max-levels "),
    (r"Give them one with Domain\.infer\(levels=…\), or use", "Use"),
    (r"decimal=',' with juror\.Files", "--decimal ,"),
    (r"juror\.Query\(sql, [^)]*\)(?: or '[^']*')?", "--database, and a query as DATA"),
    (r"\bmissing=\[(.*?)\]", _markers),
    (r"separator, quote, encoding and decimal say", "--separator, --quote, --encoding and --decimal say"),
    (r"or name its encoding\.", "or name it with --encoding."),
    (r"Read them with juror\.\w+\.load, and pass them to juror\.fit\.", "Fit a model to them with 'juror fit'."),
    (r"Raise sweeps and burnt\.", "Raise sweeps= and burnt= of juror.fit in Python, or pass another --rank."),
    # method='em', rank=…, memory=
    (rf"\b(?P<name>{_NAMES})=(?P<value>'[^']*'|\"[^\"]*\"|…|[\w.]*\w)?", _option),
    # rank must be …, sample_weight is …
    (rf"(?:^|(?<=\. ))(?P<name>{_NAMES})(?= (?:must|is|names|sums|belongs)\b)", _named),
    (rf"(?<=Leave )(?P<name>{_NAMES})(?= or| out)", _named),
    (rf"(?<= or )(?P<name>{_NAMES})(?= out)", _named),
    (rf"(?<=option ')(?P<name>{_NAMES})(?=')", _named),
    (r"(?<=')(?P<name>n_directions|n_init)(?=')", _named),
    (rf"\b(?:{'|'.join(_KINDS)})\b", lambda match: _KINDS[match[0]]),
)


def in_words_of_the_command_line(message: str) -> str:
    """Name options where the library names arguments.

    >>> in_words_of_the_command_line("sample_weight is zero in every row. Leave ensemble out, or raise memory=.")
    '--weight is zero in every row. Leave --ensemble out, or raise --memory.'
    >>> in_words_of_the_command_line("Column 'rank' is constant. Pass rank='auto', or use method='em'.")
    "Column 'rank' is constant. Pass --rank auto, or use --method em."
    """
    for pattern, replacement in _RULES:
        message = re.sub(pattern, replacement, message)
    return message
