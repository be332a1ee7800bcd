"""The plan of a fit: what to read of the data, which method to use, and why."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from juror.counts.counts import PairCounts, TripleCounts
from juror.domain import Domain
from juror.errors import Message, Option, ParameterError, check_choice, did_you_mean, shortlist, wrong
from juror.files import KINDS
from juror.fitting.hidden_trees import mostly_numbers
from juror.rows.in_memory import MemoryTable
from juror.rows.out_of_core import OutOfCoreTable
from juror.rows.reading import OpenTable, read_rows
from juror.rows.table import Table
from juror.solvers.methods import ALL_OPTIONS, METHODS
from juror.solvers.solver import Options, Statistic

# Sampling takes seconds up to this many cells. Above it an average of EM fits is as good or better, and faster.
_MOST_SAMPLED = 100_000
# From this many distinct rows on an average of EM fits may be better at smaller tables too, and both are compared.
_FEWEST_COMPARED = 500
# Tables of numbers are better fitted by trees with hidden nodes, from this many rows on: ensembles choose them.
_FEWEST_ROWS_OF_NUMBERS = 1000
# EM holds the distinct rows in memory and passes over them some hundred times: about an hour at this many cells.
_MOST_PASSED = 1_000_000_000
# EM on pairs along forests holds the tables of all pairs of labels for every class, and takes minutes beyond this.
_MOST_PAIRED = 400
# How many fits along forests are averaged. Of 1, 2, 3 and 5, five was best on Adult and GSS, and as good as three on
# Votes.
_FORESTS = 5
# Options of Domain.infer that people try to pass to the fit, and it does not have
_OF_DOMAINS = frozenset({"levels", "max_levels"})
# Options that only methods with projections have
_OF_PROJECTIONS = ALL_OPTIONS.difference(*(method.option_names for method in METHODS.values() if not method.projects))
# Options that say nothing about the method: members of an ensemble have them too.
_OF_MEMBERS = frozenset({"max_seconds", "smoothing", "max_iter", "forest"})
_OF_DRAWS = frozenset({"max_seconds", "forest"})


@dataclass(frozen=True)
class Request:
    """A table to be read, the bytes that its rows may take in memory, and the seed."""

    opened: OpenTable
    memory: int
    seed: int

    def read(
        self, stack: ExitStack, method: str, rank: int | str, options: Mapping[str, Any]
    ) -> Table | PairCounts | TripleCounts:
        """Read the rows, or count them if they are not in memory and the method needs no more than counts."""
        if self._needs_counts_only(method, rank, options):
            if TripleCounts not in METHODS[method].accepts:
                return PairCounts.of_table(self.opened)
            triples = options.get("triples")
            return TripleCounts.of_table(self.opened, "all" if triples is None else triples, self.seed)
        return stack.enter_context(read_rows(self.opened, self.memory))

    def _needs_counts_only(self, method: str, rank: int | str, options: Mapping[str, Any]) -> bool:
        """Return whether the method works on counts, and nothing is chosen by rows."""
        by_counts = method != "auto" and bool(METHODS[method].accepts)
        opened = self.opened
        here = opened.runner is opened.local and (opened.is_here or not opened.is_above(self.memory))
        if not by_counts or here:
            return False
        return options.get("rho") != "cv" and (not isinstance(rank, str) or METHODS[method].open_rank is not None)


@dataclass(frozen=True)
class Decision:
    """A method, options that go with the decision, and the reason in words; no reason where the user decided.

    An ensemble may have to be compared with sampling, ``beside_sampling``, which then gives the reason.
    """

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""
    beside_sampling: bool = False


def decide(
    data: Table | Statistic, rank: int | str, method: str, target: str | None, given: Collection[str]
) -> Decision:
    """Return the method for rows or a statistic, and why; arguments as in :func:`decide_for_rows`."""
    if isinstance(data, Statistic):
        return decide_for_statistic(data, rank, method, given)
    if isinstance(data, OutOfCoreTable):
        return decide_out_of_core(data, method, given)
    assert isinstance(data, MemoryTable)
    return decide_for_rows(data, rank, method, target, given)


def decide_for_statistic(data: Statistic, rank: int | str, method: str, given: Collection[str]) -> Decision:
    """Return the method for a statistic, or the one named if it can be fitted from it.

    Triples have CTF, pairs and projections EM on pairs, along a forest if the rank is to be chosen; or the first method
    that has the options given. With very many labels a tree takes the place of classes along a forest.
    """
    if method == "auto":
        what = KINDS[type(data).__name__]
        fitting = ["ctf"] if isinstance(data, TripleCounts) else ["pair-em", "juror-b", "juror-a"]
        method = next((name for name in fitting if set(given) <= set(METHODS[name].option_names)), fitting[0])
        n_labels = sum(data.domain.cardinalities)
        if method != "pair-em" or rank != "auto" or "forests" in given:
            return Decision(method, why=f"{method}, which needs no more than {what}")
        if n_labels > _MOST_PAIRED and set(given) <= set(METHODS["tree"].option_names):
            why = f"a tree, as {n_labels:,} labels are more than the {_MOST_PAIRED:,} for classes along a forest"
            return Decision("tree", why=why)
        return Decision(method, {"forests": _FORESTS}, f"classes along a forest, which need no more than {what}")
    if not isinstance(data, METHODS[method].accepts):
        able = shortlist(other for other, known in METHODS.items() if isinstance(data, known.accepts))
        what = KINDS[type(data).__name__]
        raise ParameterError(f"method {method!r} cannot be fitted from {what}. Use one of {able}.")
    return Decision(method)


def decide_for_rows(
    table: MemoryTable, rank: int | str, method: str, target: str | None, given: Collection[str]
) -> Decision:
    """Return the method for a table: the one named, the one whose options are given, or by size.

    Rank, method and target are as in :func:`juror.fit`; ``given`` holds the names of the options given.
    """
    if method != "auto":
        return Decision(method)
    n_variables = len(table.domain)
    cells, distinct = table.n_counted * n_variables, len(table.rows.codes) * n_variables
    is_open = isinstance(rank, str) and rank == "auto" and set(given) <= {"max_seconds"}
    are_numbers = is_open and table.n_counted >= _FEWEST_ROWS_OF_NUMBERS and mostly_numbers(table.domain)
    for_ensemble = target is not None or cells > _MOST_SAMPLED or are_numbers
    if not set(given) <= (_OF_MEMBERS if for_ensemble else _OF_DRAWS):
        return _by_options(given)
    if isinstance(rank, str) and rank == "cv":
        return Decision("em", why="EM, as only single fits are compared on every fold")
    if target is not None:
        return Decision("em", {"ensemble": "auto"}, f"an ensemble of EM fits, chosen for the labels of {target!r}")
    if cells <= _MOST_SAMPLED and are_numbers:
        return Decision("em", {"ensemble": "auto"}, "an ensemble of EM fits, as most columns are numbers")
    if cells <= _MOST_SAMPLED and is_open and not given and len(table.rows.codes) >= _FEWEST_COMPARED:
        return Decision("em", {"ensemble": "auto"}, beside_sampling=True)
    if cells <= _MOST_SAMPLED:
        return Decision("bayes", why=f"sampling, as {cells:,.0f} cells are at most {_MOST_SAMPLED:,}")
    # EM keeps to a budget of time; pair tables do not.
    if distinct <= _MOST_PASSED or "max_seconds" in given:
        why = f"an ensemble of EM fits, as {cells:,.0f} cells are more than the {_MOST_SAMPLED:,} for sampling"
        return Decision("em", {"ensemble": "auto"}, why)
    why = f"pair tables, as {distinct:,} cells of distinct rows are more than the {_MOST_PASSED:,} for EM"
    return Decision("tree" if isinstance(rank, str) else "pair-em", why=why)


def decide_out_of_core(table: OutOfCoreTable, method: str, given: Collection[str]) -> Decision:
    """Return EM for rows that are not in memory, the method named, or the one whose options are given."""
    if method != "auto":
        return Decision(method)
    if not set(given) <= _OF_MEMBERS:
        return _by_options(given)
    why = f"EM with a forest, as it can pass over {table.n_rows:,} rows, {table.reason}"
    return Decision("em", {"forest": True}, why)


def _by_options(given: Collection[str]) -> Decision:
    """Return the first method that has all the options given."""
    _refuse_options_of_domains(given)
    for name in ("em", "bayes", "spa", "spa-em", "ctf", "juror-b", "pair-em", *METHODS):
        if all(option in METHODS[name].option_names for option in given):
            return Decision(name, why=f"{name!r}, as it has {shortlist(sorted(given), 20)}")
    unknown = [option for option in given if option not in ALL_OPTIONS]
    if unknown:
        raise ParameterError(f"No method has an option {unknown[0]!r}. {did_you_mean(unknown[0], sorted(ALL_OPTIONS))}")
    raise ParameterError(
        "No method has all of the options {options}. Leave out those of other methods, and name yours with {method:=…}",
        options=tuple(Option(name) for name in sorted(given)),
    )


def _refuse_options_of_domains(given: Collection[str]) -> None:
    """Refuse options of Domain.infer, and name it."""
    for option in _OF_DOMAINS.intersection(given):
        raise ParameterError(
            "{option} is about variables: make them with {infer}, and pass {domain:=}.",
            option=Option(option),
            infer=Option(option, source="=…", owner="Domain.infer"),
        )


def are_of_projections(bins: Any, method: str, given: Collection[str]) -> bool:
    """Tell whether ``bins`` are those of projections: a number beside a method that projects, or options of one.

    Otherwise they are intervals of columns.
    """
    projects = METHODS[method].projects if method != "auto" else not _OF_PROJECTIONS.isdisjoint(given)
    return projects and not isinstance(bins, Mapping)


def check_method(method: Any) -> None:
    """Refuse a name that no method has, before anything is read."""
    check_choice("method", method, ["auto", *METHODS])


def read_options(method: str, given: Mapping[str, Any]) -> Options:
    """Make the options of a method, or say which it does not have."""
    known = METHODS[method].option_names
    for option in given:
        if option not in known:
            others = Message("It has {options}.", options=tuple(Option(name, listed=True) for name in known))
            hint = others if option in ALL_OPTIONS else did_you_mean(option, known)
            raise ParameterError(
                "method {name!r} has no option {option!r}. {hint}", name=method, option=Option(option), hint=hint
            )
    return METHODS[method].options(**given)


def check_members(options: Options, given: Collection[str], data: Table | Statistic) -> None:
    """Refuse options that members of an ensemble ignore, and rows that they cannot hold."""
    if not options.has_members:
        return
    if isinstance(data, OutOfCoreTable) and options.ensemble != 1:
        raise ParameterError(
            "Members of an ensemble hold their rows in memory, and there are {n:,} rows, {reason}. Leave "
            "{ensemble} out, or fit fewer rows, or raise {memory:=} if there is room for them.",
            n=data.n_rows,
            reason=data.reason,
        )
    for name in ("n_init", "tol", "accelerate"):
        if name in given:
            raise ParameterError(
                "{option} is for single fits without a forest; others stop early by themselves. Leave {option} or "
                "{members} out.",
                option=Option(name),
                members=Option("ensemble" if options.ensemble != 1 else "forest"),
            )


def check_rank(rank: int | str, init: Any, domain: Domain, data: Any, *, chooses: bool = False) -> int | str:
    """Return the rank: that of the start, a word for choosing it, or a positive number.

    A statistic has no rows to choose a rank by, so the method must be able to choose it itself.
    """
    if init is not None:
        if getattr(init, "has_edges", False):
            text = Message("{init} has forests, and EM starts from classes of independent variables. Leave it out.")
            raise ParameterError(text)
        theirs, ours = init.domain.cardinalities, domain.cardinalities
        if theirs != ours:
            raise ParameterError(
                "{init} has variables of {theirs} labels, the data of {ours}. They must agree.",
                theirs=shortlist(theirs),
                ours=shortlist(ours),
            )
        if [(v.name, v.labels) for v in init.domain] != [(v.name, v.labels) for v in domain]:
            text = Message("{init} has variables of other names or labels than the data. They must agree.")
            raise ParameterError(text)
        if rank not in ("auto", init.rank):
            raise ParameterError(
                "{rank} is {got!r}, but {init} has rank {theirs}. Leave {rank} out.", got=rank, theirs=init.rank
            )
        return int(init.rank)
    if isinstance(rank, str) and rank in ("auto", "cv"):
        if isinstance(data, Statistic) and not (chooses and rank == "auto"):
            raise ParameterError(
                "{asked} needs rows to hold out, and {what} have none. Pass a number.",
                asked=Option("rank", (rank,), f"={rank!r}"),
                what=KINDS[type(data).__name__],
            )
        return rank
    if isinstance(rank, bool) or not isinstance(rank, (int, np.integer)) or rank < 1:
        raise wrong("rank", "'auto', 'cv' or an int in the range [1, inf)", rank)
    return int(rank)
