"""Messages: options are facts, and every interface spells them in its own way."""

from __future__ import annotations

import ast
import copy
import inspect
import pickle
import re
import warnings
from functools import partial
from pathlib import Path
from string import Formatter

import pytest
import typer

import juror
from juror import errors
from juror.cli.app import app, in_shell, options_by_argument
from juror.counts.counts import PairCounts, TripleCounts
from juror.counts.projections import Projections
from juror.errors import Complaint, FitWarning, Message, Option, ParameterError, check_count
from juror.readers.described import Files, Query
from juror.solvers.methods import ALL_OPTIONS

SOURCE = Path(juror.__file__).parent
MESSAGE = re.compile(r"Message|Complaint|[A-Z]\w*(Error|Warning)")


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


def test_values_make_a_template():
    error = ParameterError("{rank} is {got!r} {{}}.", got="{tol}")
    assert str(error) == "rank is '{tol}' {}."
    assert error.message == Message("{rank} is {got!r} {{}}.", got="{tol}")


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
    "Query": [Query],
}


def known_options(owner: str) -> set[str]:
    names = {name for taker in TAKERS[owner] for name in inspect.signature(taker).parameters}
    return names | (set(ALL_OPTIONS) if owner in ("", "fit") else set())


def messages_in(source: str) -> list[ast.Call]:
    """Return the calls that make messages: Message, Complaint, and errors and warnings."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and node.args]
    return [call for call in calls if isinstance(call.func, ast.Name) and MESSAGE.fullmatch(call.func.id)]


def mistakes_in(call: ast.Call) -> list[str]:
    """Return what is wrong with a template: it is not constant, has unknown options, or values that are not shown."""
    assert isinstance(call.func, ast.Name)
    if any(keyword.arg is None for keyword in call.keywords):
        return []  # passed on by the classes themselves
    is_constant = isinstance(call.args[-1], ast.Constant)
    text = call.args[-1].value if isinstance(call.args[-1], ast.Constant) else ""
    if call.func.id not in ("Message", "Complaint") and not call.keywords:
        return ["Options need a Message."] if re.search(r"\{[a-z]", str(text)) else []
    if not is_constant:
        return ["The template is not constant."]
    fields = list(Formatter().parse(str(text)))
    used = {field for _, field, _, _ in fields if field is not None}
    inner = {name for _, _, spec, _ in fields for _, name, _, _ in Formatter().parse(spec or "") if name is not None}
    values = {keyword.arg for keyword in call.keywords}
    options = [field.rpartition(".") for field in used - values]
    mistakes = [f"{name} is no option." for owner, _, name in options if name not in known_options(owner)]
    mistakes += [f"{name} is not given." for name in inner - values]
    return mistakes + [f"{value} is not shown." for value in values - used - inner]


@pytest.mark.parametrize("module", sorted(SOURCE.rglob("*.py")), ids=lambda module: str(module.relative_to(SOURCE)))
def test_templates_name_values_and_options(module):
    assert [(call.lineno, mistakes_in(call)) for call in messages_in(module.read_text()) if mistakes_in(call)] == []


@pytest.mark.parametrize(
    ("source", "mistakes"),
    [
        ("Message('{rank} is {got}', got=1)", []),
        ("Complaint('kind', '{ranc} is {got}', got=1)", ["ranc is no option."]),
        ("ParameterError('{Files.rank} is {got}', got=1)", ["rank is no option."]),
        ("DataWarning('{rank:= {n}}', m=1)", ["n is not given.", "m is not shown."]),
        ("Message(text)", ["The template is not constant."]),
        ("DataError(f'{x} is {got}', got=1)", ["The template is not constant."]),
        ("DataError('{rank} is odd')", ["Options need a Message."]),
        ("DataError(f'{rank} is odd')", []),
    ],
)
def test_a_wrong_template_would_be_found(source, mistakes):
    (call,) = messages_in(source)
    assert mistakes_in(call) == mistakes


def plain_text(call: ast.Call) -> str:
    """Return the constant text of an error that is made from plain text."""
    if call.keywords or not isinstance(call.args[0], ast.JoinedStr | ast.Constant):
        return ""
    pieces = call.args[0].values if isinstance(call.args[0], ast.JoinedStr) else [call.args[0]]
    return "".join(str(piece.value) if isinstance(piece, ast.Constant) else "…" for piece in pieces)


@pytest.mark.parametrize("module", sorted(SOURCE.rglob("*.py")), ids=lambda module: str(module.relative_to(SOURCE)))
def test_plain_text_names_no_option(module):
    names = "|".join(options_by_argument().keys() & known_options(""))
    named = re.compile(rf"(?<![-\w])({names}) ?=|(^|\. )({names}) (must|is|names|sums)\b")
    calls = [call for call in messages_in(module.read_text()) if call.func.id not in ("Message", "Complaint")]
    assert [(call.lineno, plain_text(call)) for call in calls if named.search(plain_text(call))] == []


# The command line


def test_options_are_spelled_as_the_command_line_has_them():
    spelled = options_by_argument()
    renamed = {"sample_weight": "--weight", "n_init": "--starts", "n_jobs": "--jobs", "n_directions": "--directions"}
    assert {name: spelled[name] for name in renamed} == renamed
    commands = typer.main.get_command(app).commands.values()
    flags = {parameter.name: set() for command in commands for parameter in command.params}
    for command in commands:
        for parameter in command.params:
            flags[parameter.name] |= {max(parameter.opts, key=len)}
    # One argument has one name in all commands.
    assert {name: flags[name] for name in spelled} == {name: {flag} for name, flag in spelled.items()}


def test_every_argument_that_a_command_sets_is_one_of_the_library():
    parameters = typer.main.get_command(app).commands["fit"].params
    own = {"data", "output", "json", "help", "drop", "dask", "spark"}
    assert {parameter.name for parameter in parameters} - own <= known_options("") | known_options("Query")


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (Message('Pass {unknown:="missing"} to treat it.'), "Pass --unknown missing to treat it."),
        (
            Message("No method has all of them: name yours with {method:=…}"),
            "No method has all of them: name yours with --method …",
        ),
        (Message("{rank:='cv'} is for single fits."), "--rank cv is for single fits."),
        (
            Message("{n_init} is for single fits. Leave {n_init} or {ensemble} out."),
            "--starts is for single fits. Leave --starts or --ensemble out.",
        ),
        (
            Message("Pass {markers}.", markers=Option("missing", ("?", "N A"), "=['?', 'N A']")),
            "Pass --missing '?' --missing 'N A'.",
        ),
        (Message("The rows do not fit into {memory:=}."), "The rows do not fit into --memory."),
        (Message("{sample_weight} sums to 3."), "--weight sums to 3."),
        (Message("More than {max_levels: = {n}}.", n=9), "More than --max-levels 9."),
        (Message("Pass {Files.decimal:=','}."), "Pass --decimal ,."),
        (Message("Name a query with {Query.database:='sqlite:///…'}."), "Name a query with --database 'sqlite:///…'."),
        (Message("Use {Domain.infer.levels:=…}."), "Use Domain.infer(levels=…) (Python only)."),
        (Message("Raise {fit.sweeps}."), "Raise sweeps (Python only)."),
        (Message("{option} must be odd.", option=Option("Cardinality 1")), "Cardinality 1 must be odd."),
        (
            Message("Column {name!r} has the label {label!r}.", name="rank", label="tol=1"),
            "Column 'rank' has the label 'tol=1'.",
        ),
    ],
)
def test_messages_name_options_of_the_command_line(message, text):
    assert message.text(in_shell) == text


def test_the_argument_of_an_error_is_text():
    error = ParameterError("{rank} is {got}.", got=0)
    assert error.args == ("rank is 0.",)
    assert repr(error) == "ParameterError('rank is 0.')"
    assert repr(errors.DataError()) == "DataError()"
    again = pickle.loads(pickle.dumps(error))
    assert (again.args, again.message, again.option) == (error.args, error.message, "rank")


def test_a_command_names_its_own_options():
    message = Message("{draws}, {triples}, {smoothing}, {rank:=…}")
    assert message.text(partial(in_shell, command="fit")) == "draws, triples, --smoothing, --rank …"
    # a model or counts are made by other commands
    assert message.text(partial(in_shell, command="impute")) == "--draws, --triples, --smoothing, --rank …"


def _constant_csv(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\nx,1\nx,2\n")
    return str(tmp_path / "a.csv")


@pytest.mark.parametrize(
    "warned",
    [
        lambda _: juror.Domain.infer({"a": ["x", "x"]}),
        lambda path: juror.Domain.infer(path),
        lambda path: juror.fit(path, 1, "em"),
        lambda _: juror.fit({"a": ["x", "x"], "b": [1, 2]}),
        lambda _: PairCounts.of({"a": ["x", "x"], "b": [1, 2]}),
        lambda _: juror.JointDensity(rank=1, method="em").fit([["x", 1], ["x", 2]]),
    ],
)
def test_a_warning_names_the_line_of_the_caller(warned, tmp_path):
    path = _constant_csv(tmp_path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warned(path)
    assert caught
    assert {(each.filename, each.lineno) for each in caught} == {(__file__, warned.__code__.co_firstlineno)}


def test_warnings_are_given_by_one_function():
    # Kernels are below errors: they warn of the disk, not of data.
    modules = [path for path in SOURCE.rglob("*.py") if "warnings.warn(" in path.read_text()]
    assert sorted(path.name for path in modules) == ["compiling.py", "errors.py"]
