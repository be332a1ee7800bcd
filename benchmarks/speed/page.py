"""The page and its pictures, from facts alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from juror.files.writing import write_whole
from juror.paper.pictures import write_picture

from .facts import Comparison, Facts, Section, markdown, seconds_text

PAGE_FILE = "speed.md"
FACTS_FOLDER = "speed"


def write_page(folder: Path, sections: Sequence[Section], facts: Mapping[str, Facts]) -> list[Path]:
    """Write the page into a folder, and pictures into the folder ``speed`` there; return what was written."""
    beside = folder / FACTS_FOLDER
    beside.mkdir(parents=True, exist_ok=True)
    written = []
    for section in sections:
        if _has_picture(section, facts):
            written.append(beside / f"{section.name}.png")
            assert section.draw is not None
            write_picture(section.draw(facts[section.name].rows), written[-1])
    written.append(folder / PAGE_FILE)
    text = page(sections, facts)
    write_whole(written[-1], lambda stream: stream.write(text.encode()))
    return written


def _has_picture(section: Section, facts: Mapping[str, Facts]) -> bool:
    if section.draw is None or section.name not in facts:
        return False
    return any(row.get("failed") is None for row in facts[section.name].rows)


def page(sections: Sequence[Section], facts: Mapping[str, Facts]) -> str:
    """Return the page as Markdown."""
    parts = ["# How fast juror is"]
    if any(fact.quick for fact in facts.values()):
        parts.append("**Quick run with smaller settings: for a look, not to be quoted.**")
    parts += [_how(facts), *_goals(sections, facts)]
    for section in sections:
        parts += [f"## {section.title}", *_section(section, facts)]
    parts += ["## Where juror is slower", *_slower(sections, facts)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _how(facts: Mapping[str, Facts]) -> str:
    machines = list({str(fact.machine): fact.machine for fact in facts.values()}.values())
    said = "; and ".join(_machine(one) for one in machines)
    return f"""Made by `make bench` (`python -m benchmarks.speed`), which keeps what it measures in
`{FACTS_FOLDER}/*.json` and makes this page and the pictures of those files alone. Every contestant runs in a process of
its own with one thread unless said, in turns on the same data, and the best of its runs counts; slow ones have fewer
runs. A ratio is the time of another over that of juror.

Measured on {said}."""


def _machine(machine: Mapping[str, object]) -> str:
    packages = machine["packages"]
    assert isinstance(packages, Mapping)
    listed = ", ".join(f"{name} {number}" for name, number in packages.items())
    return f"{machine['processor']}, {machine['cores']} core(s); Python {machine['python']}, {listed}"


def _goals(sections: Sequence[Section], facts: Mapping[str, Facts]) -> Iterator[str]:
    goals = [goal for section in sections if section.name in facts for goal in section.goals(facts[section.name].rows)]
    yield "## What was to be shown"
    if any(fact.quick for fact in facts.values()):
        yield "Of smaller settings nothing is claimed; this is where they stand."
    else:
        yield f"{sum(goal.is_met for goal in goals)} of {len(goals)} are."
    lines = [[goal.what, goal.bound, goal.measured, "yes" if goal.is_met else "**no**"] for goal in goals]
    yield markdown(["", "goal", "measured", "reached"], lines)


def _section(section: Section, facts: Mapping[str, Facts]) -> Iterator[str]:
    if section.name not in facts:
        yield f"Not measured yet: `python -m benchmarks.speed --only {section.name}`."
        return
    yield from section.words(facts[section.name].rows)
    if _has_picture(section, facts):
        yield f"![{section.caption}]({FACTS_FOLDER}/{section.name}.png)"


def _slower(sections: Sequence[Section], facts: Mapping[str, Facts]) -> Iterator[str]:
    compared = [
        one for section in sections if section.name in facts for one in section.comparisons(facts[section.name].rows)
    ]
    slower = sorted((one for one in compared if one.ratio < 1.0), key=lambda one: one.ratio)
    yield f"Of {len(compared)} comparisons above, another is faster in {len(slower)}."
    if slower:
        yield markdown(["", "who is faster", "juror", "the other", "ratio"], [_compared(one) for one in slower])


def _compared(one: Comparison) -> list[str]:
    # nanoseconds a row and pair are compared as such
    is_rate = "pair tables" in one.what or "triples" in one.what
    times = [f"{t:.3f} ns a row" if is_rate else seconds_text(t) for t in (one.juror, one.other)]
    return [one.what, one.who, *times, f"{one.ratio:.2f}"]
