"""``make demo``: fit, summarise, ask, sample and save the embedded example."""

from __future__ import annotations

from pathlib import Path

from juror.cli.bar import progress_bar
from juror.cli.output import write_frame
from juror.cli.terminal import show
from juror.datasets import titanic
from juror.fitting import fit
from juror.report import Report

_QUESTIONS = (
    "Survived",
    "Survived | Sex = Female, Class in {1st, 2nd}",
    "Survived | Sex = Male, Class = 3rd, Age = Adult",
    "Class, Sex | Survived = Yes",
)
_FOLDER = Path("demo")


def main() -> None:
    """Fit the people of the Titanic and show what the model can answer."""
    people = titanic()
    show("The 2201 people aboard the Titanic, their joint distribution fitted by Gibbs sampling:\n")
    with progress_bar() as progress:
        model = fit(people, progress=progress)
    show(model.summary())
    for question in _QUESTIONS:
        show(f"\n$ juror ask demo/titanic.juror '{question}'\n{model.ask(question)}")
    show(f"\nFive people like them who survived:\n{model.sample(5, given='Survived = Yes').to_string(index=False)}")
    mode = model.mode()
    show(f"\nThe most probable person: {', '.join(str(label) for label in mode.row.values())}")
    _FOLDER.mkdir(exist_ok=True)
    model.save(_FOLDER / "titanic.juror")
    write_frame(people, _FOLDER / "titanic.csv")
    Report(model, people, name="titanic.juror").save(_FOLDER / "titanic.html")
    show(f"\nwrote {_FOLDER / 'titanic.juror'} (the model) and {_FOLDER / 'titanic.csv'} (the table)")
    show(f"and {_FOLDER / 'titanic.html'}: open it in a browser, and click what you know")


if __name__ == "__main__":
    main()
