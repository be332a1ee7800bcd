"""Messages: options are facts, and every interface spells them in its own way."""

from __future__ import annotations

import ast
import copy
import inspect
import pickle
import warnings
from pathlib import Path
from string import Formatter

import pytest

import juror
from juror import errors
from juror.counts.counts import PairCounts, TripleCounts
from juror.counts.projections import Projections
from juror.errors import Complaint, FitWarning, Message, Option, ParameterError, check_count
from juror.readers.described import Files
from juror.solvers.methods import ALL_OPTIONS

SOURCE = Path(juror.__file__).parent


def loud(option: Option) -> str:
    return " ".join([option.name.upper(), *map(str, option.values)])


@pytest.mark.parametrize(
    ("message", "python", "other"),
    [
        (Message("{rank} is {got}.", got=3), "rank is 3.", "RANK is 3."),
        (Message("Pass {rank:='auto'} or {method:=…}."), "Pass rank='auto' or method=….", "Pass RANK auto or METHOD."),
        (Message("Raise {memory:=}."), "Raise memory=.", "Raise MEMORY."),
        (Message("More than {max_levels: = {most}}.", most=9), "More than max_levels = 9.", "More than MAX_LEVELS 9."),
        (Message('Pass {unknown:="warn"}.'), 'Pass unknown="warn".', "Pass UNKNOWN warn."),
        (Message("Pass {Files.decimal:=','}."), "Pass decimal=',' with juror.Files.", "Pass DECIMAL ,."),
        (Message("Raise {Domain.infer.max_levels}."), "Raise max_levels in Domain.infer.", "Raise MAX_LEVELS."),
        (Message("Raise {fit.sweeps}."), "Raise sweeps.", "Raise SWEEPS."),
        (Message("No option {it!r}.", it=Option("tol")), "No option 'tol'.", "No option 'TOL'."),
        (Message("One of {all}.", all=(Option("a"), Option("b"))), "One of ['a', 'b'].", "One of ['A', 'B']."),
        (Message("So: {inner}", inner=Message("{rho} is {n}.", n=1)), "So: rho is 1.", "So: RHO is 1."),
        (Message("So: {e}", e=ParameterError(Message("{rho} is bad."))), "So: rho is bad.", "So: RHO is bad."),
        (Message("{n:,.1f} of {label!r} {{tol}}", n=1e6, label="{x}"), *["1,000,000.0 of '{x}' {tol}"] * 2),
    ],
)
def test_a_message_in_two_spellings(message, python, other):
    assert str(message) == message.text() == python
    assert message.text(loud) == other


def test_options_are_named_once_in_their_order():
    inner = Message("{tol} or {rank}", n=1)
    assert Message("{rank} {Files.decimal} {inner} {rank:=1}", inner=inner).options == ("rank", "decimal", "tol")
    assert Message("{n}", n="{rank}").options == ()


@pytest.mark.parametrize("kind", [ParameterError, errors.MissingDependencyError, errors.DataError, FitWarning])
def test_an_error_knows_its_options(kind):
    error = kind(Message("{rank} or {tol} is {n}.", n=5))
    assert (error.option, error.options) == ("rank", ("rank", "tol"))
    assert str(error) == error.text() == "rank or tol is 5."
    assert error.text(loud) == "RANK or TOL is 5."


def test_plain_text_stays_as_it_is():
    error = ParameterError("The label '{rank}' {is} {0} {{odd}}.")
    assert str(error) == error.text(loud) == "The label '{rank}' {is} {0} {{odd}}."
    assert (error.message, error.option, error.options) == (None, None, ())


@pytest.mark.parametrize("made", [pickle.loads, None])
def test_errors_travel(made):
    message = Message("{rank} is {n}. {way}", n=5, way=Message("Pass {tol:=0.1}."))
    for error in (ParameterError(message), errors.MissingDependencyError(message), FitWarning(message)):
        again = made(pickle.dumps(error)) if made else copy.deepcopy(error)
        assert type(again) is type(error)
        assert again.message == message
        assert again.text(loud) == "RANK is 5. Pass TOL 0.1."


def test_complaints_are_values():
    def copies(n: int) -> Complaint:
        return Complaint("copies", "{n} classes are copies. Lower {rank} to {most}.", n=n, most=3)

    assert copies(2) == copies(2) != copies(1)
    assert len({copies(2), copies(2), copies(1)}) == 2
    assert copies(2) != Message(copies(2).template, **copies(2).values)
    assert (copies(2).kind, copies(2).options, copies(2).values) == ("copies", ("rank",), {"n": 2, "most": 3})
    assert pickle.loads(pickle.dumps(copies(2))) == copies(2)


def test_a_warning_is_made_from_a_complaint():
    complaint = Complaint("copies", "Lower {rank} to {most}.", most=3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.warn(FitWarning(complaint), stacklevel=1)
    assert caught[0].category is FitWarning
    assert str(caught[0].message) == "Lower rank to 3."
    assert caught[0].message.message.kind == "copies"


def test_a_count_that_is_refused_is_an_option():
    with pytest.raises(
        ParameterError, match=r"^n_jobs must be an int in the range \[1, inf\). Got 0 instead\.$"
    ) as caught:
        check_count("n_jobs", 0)
    assert caught.value.option == "n_jobs"


# Every template in the source


TAKERS = {
    "": [juror.fit, juror.Domain.infer, Files, PairCounts.of, TripleCounts.of, Projections.of, juror.JointPMF.impute],
    "fit": [juror.fit],
    "Domain.infer": [juror.Domain.infer],
    "Files": [Files],
}


def known_options(owner: str) -> set[str]:
    names = {name for taker in TAKERS[owner] for name in inspect.signature(taker).parameters}
    return names | (set(ALL_OPTIONS) if owner in ("", "fit") else set())


def messages_in(source: str) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Message", "Complaint")
    ]


def mistakes_in(call: ast.Call) -> list[str]:
    """Return what is wrong with a message: no constant template, unknown options, values that are not shown."""
    template = call.args[-1]
    if not (isinstance(template, ast.Constant) and isinstance(template.value, str)):
        return ["The template is not a constant."]
    fields = list(Formatter().parse(template.value))
    used = {field for _, field, _, _ in fields if field is not None}
    inner = {name for _, _, spec, _ in fields for _, name, _, _ in Formatter().parse(spec or "") if name is not None}
    values = {keyword.arg for keyword in call.keywords}
    owned = [field.rpartition(".") for field in used - values]
    mistakes = [f"{name} is no option" for owner, _, name in owned if name not in known_options(owner)]
    return (
        mistakes
        + [f"{name} is not given" for name in inner - values]
        + [f"{v} is unused" for v in values - used - inner]
    )


@pytest.mark.parametrize("module", sorted(SOURCE.rglob("*.py")), ids=lambda module: str(module.relative_to(SOURCE)))
def test_templates_name_values_and_options(module):
    assert [(call.lineno, mistakes_in(call)) for call in messages_in(module.read_text()) if mistakes_in(call)] == []


@pytest.mark.parametrize(
    ("source", "mistakes"),
    [
        ("Message('{rank} is {got}', got=1)", []),
        ("Complaint('kind', '{ranc} is {got}', got=1)", ["ranc is no option"]),
        ("Message('{Files.rank}')", ["rank is no option"]),
        ("Message('{rank:= {n}}', m=1)", ["n is not given", "m is unused"]),
        ("Message(text)", ["The template is not a constant."]),
    ],
)
def test_a_wrong_template_would_be_found(source, mistakes):
    (call,) = messages_in(source)
    assert mistakes_in(call) == mistakes
