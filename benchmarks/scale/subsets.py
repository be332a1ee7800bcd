"""What a random subset of pairs or triples costs in accuracy and saves in tables.

Pairs grow as N² and triples as N³, so that wide tables cannot have all of them. Rows are drawn from random models, and
fits on c·N random tables are compared with fits on all of them and with EM, which needs none, by

    loss = E log p(x) − E log p̂(x) ≥ 0,     x fresh rows of the truth p, in nats a row.

``python -m benchmarks.scale.subsets`` writes four parts into ``subsets.json``: ``triples`` (CTF), ``pairs`` (descent
of juror-b, whose misfit takes any pairs as it is; only SPA, where it starts, wants all), ``costs`` (bytes and
nanoseconds a row, measured) and ``plan`` (the same for 5,000 columns, by proportion).
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import juror
from juror.answers.sampling import sample
from juror.counts.designs import Design
from juror.domain import Domain
from juror.files.writing import write_whole
from juror.kernels import kernels
from juror.solvers import ctf
from juror.solvers.descent import descend
from juror.solvers.misfit import Gram, Group, Misfit
from juror.testing import random_model

Row = dict[str, Any]
Pair = tuple[int, int]
Tables = dict[Pair, np.ndarray]
Factors = dict[int, np.ndarray]
Start = tuple[np.ndarray, list[np.ndarray]]
Tell = Callable[[str], None]

ALL = "all"
CTF: Row = {"n_init": 2, "max_iter": 150, "tol": 1e-5}
DESCENT: Row = {"max_iter": 2000, "tol": 1e-5}
OPTIONS: Row = {"ctf": CTF, "juror-b": DESCENT, "spa": {}, "em": {}}
SMOOTHING = 0.1
FRESH_ROWS = 100_000
# EM's own search is run on no more rows than these; its passes after other fits where tables are few
SEARCHED_ROWS, EM_PASSES, EM_AFTER = 10_000, (1, 5), 4
# Variables whose pairs are all counted, for SPA, and with how many of them every other one is paired
BLOCK, LINKS = 10, 3


@dataclass(frozen=True)
class Setting:
    """Models of one size, the rows drawn of them, how many tables a variable to try besides all, and whether all."""

    n_variables: int
    labels: int
    rank: int
    rows: tuple[int, ...]
    per_variable: tuple[int, ...]
    also_all: bool = True
    seeds: tuple[int, ...] = (0, 1, 2)


FULL: Row = {
    "triples": (
        Setting(12, 6, 6, (10_000, 100_000, 1_000_000), (1, 2, 4, 8)),
        Setting(20, 6, 6, (100_000, 1_000_000), (1, 2, 4, 8)),
        Setting(40, 6, 6, (100_000,), (1, 2, 4, 8, 16)),
        Setting(100, 4, 5, (100_000,), (1, 2, 4), False, (0, 1)),
        # Many labels, and more classes than labels, which is hard
        Setting(12, 10, 8, (100_000,), (1, 2, 4, 8)),
        Setting(20, 4, 10, (100_000,), (1, 2, 4, 8)),
    ),
    "pairs": (Setting(20, 6, 6, (100_000,), (4, 6)), Setting(40, 6, 6, (100_000,), (4, 8))),
    "costs": {"variables": (50, 200), "n_rows": 500_000},
}
QUICK: Row = {
    "triples": (Setting(8, 4, 3, (20_000,), (1, 2)),),
    "pairs": (Setting(12, 4, 3, (20_000,), (5,), False, (0,)),),
    "costs": {"variables": (20,), "n_rows": 20_000},
}


class Task:
    """A random truth, rows drawn from it, and fresh ones to judge by."""

    def __init__(self, setting: Setting, n_rows: int, seed: int, fresh_rows: int = FRESH_ROWS):
        self.rng = np.random.default_rng([seed, setting.n_variables, setting.labels, setting.rank, n_rows])
        self.setting, self.seed = setting, seed
        self.truth = random_model([setting.labels] * setting.n_variables, setting.rank, self.rng)
        self.domain = self.truth.domain
        self.codes = sample(self.truth, n_rows, self.rng)
        self.fresh = sample(self.truth, fresh_rows, self.rng)
        self.log_truth = self.truth.log_prob(self.fresh)
        # With one count more, shared by the labels
        counts = [np.bincount(column, minlength=setting.labels) + 1.0 / setting.labels for column in self.codes.T]
        self.marginals = [(count / count.sum())[:, None] for count in counts]

    def loss(self, model: juror.JointPMF) -> float:
        """Return the mean of log p − log p̂ over the fresh rows, with less noise than the plain mean.

        E p̂/p = 1, so that a multiple of p̂/p − 1 may be added. The multiple of least variance is used; for a good p̂ it
        leaves a tenth of the noise or less.
        """
        log_ratio = model.log_prob(self.fresh) - self.log_truth
        excess = np.expm1(log_ratio)
        spread = float(np.var(excess))
        slope = 0.0 if spread == 0.0 else float(np.mean((excess - excess.mean()) * log_ratio)) / spread
        return float(np.mean(slope * excess - log_ratio))

    def judged(self, about: Row, make: Callable[[], juror.JointPMF], em_passes: Sequence[int] = ()) -> Iterator[Row]:
        """Make a model, and judge it as it is and after some passes of EM over the rows."""
        model, seconds = timed(make)
        for passes in (0, *em_passes):
            after = self.fit(self.codes, "em", init=model, max_iter=passes) if passes else model
            measured = {"loss": self.loss(after), "factor_error": juror.compare.factor_mse(self.truth, after)}
            yield about | {"em_passes": passes, "seconds": seconds} | measured

    def fit(self, data: Any, method: str, **options: Any) -> juror.JointPMF:
        """Fit rows or tables with the true rank on one core."""
        domain = {"domain": self.domain} if isinstance(data, np.ndarray) else {}
        options = OPTIONS[method] | {"smoothing": SMOOTHING, "seed": self.seed, "n_jobs": 1} | domain | options
        with warnings.catch_warnings():
            # Early stops are intended.
            warnings.simplefilter("ignore", juror.FitWarning)
            return juror.fit(data, self.setting.rank, method, **options)

    def smoothed(self, lam: np.ndarray, factors: Sequence[np.ndarray]) -> juror.JointPMF:
        """Return a model of λ (F,) and factors (I_n, F) with pseudo-counts as every fit has them."""
        n, pseudo = len(self.codes), SMOOTHING * self.setting.labels
        A = [(n * lam * a + pseudo * m) / (n * lam + pseudo) for a, m in zip(factors, self.marginals, strict=True)]
        return juror.JointPMF((n * lam + SMOOTHING) / (n + SMOOTHING * len(lam)), A, self.domain)


def references(task: Task) -> Iterator[Row]:
    """Judge what needs no tables: EM from the truth, EM from a search on some of the rows, and the marginals."""
    none = {"per_variable": None, "n_tables": 0, "share": 0.0, "bytes": 0}
    best = partial(task.fit, task.codes, "em", init=task.truth)
    yield from task.judged(none | {"who": "em", "start": "truth"}, best)
    # Column by column, as all codes are
    some = np.asfortranarray(task.codes[:SEARCHED_ROWS])
    found = partial(task.fit, some, "em")
    yield from task.judged(none | {"who": "em", "start": f"search on {len(some)} rows"}, found, EM_PASSES)
    product = partial(juror.JointPMF, [1.0], task.marginals, task.domain)
    yield from task.judged(none | {"who": "product of marginals", "start": None}, product)


def judge_triples(task: Task, per_variable: int | str) -> Iterator[Row]:
    """Judge CTF on c·N random triples or all: from random starts, and from the truth, which shows the tables alone."""
    N = task.setting.n_variables
    wanted: Any = ALL if per_variable == ALL else int(per_variable) * N
    counts = juror.TripleCounts.of_codes(task.codes, task.domain, n_jobs=1, triples=wanted, seed=task.seed)
    about = {"who": "ctf", "per_variable": per_variable, **size_of(counts.tables, math.comb(N, 3))}
    few = per_variable != ALL and int(per_variable) <= EM_AFTER
    found = partial(task.fit, counts, "ctf")
    yield from task.judged(about | {"start": "random"}, found, EM_PASSES if few else ())

    def from_truth() -> juror.JointPMF:
        end = ctf.sweep_from(ctf.TripleTables(counts), *start_at(task.truth), max_iter=CTF["max_iter"], tol=CTF["tol"])
        return task.smoothed(end.lam, end.factors)

    yield from task.judged(about | {"start": "truth"}, from_truth)


def judge_pairs(task: Task, per_variable: int | str) -> Iterator[Row]:
    """Judge the descent of juror-b on c·N pairs from four starts, and the library's juror-b and SPA on all."""
    N = task.setting.n_variables
    counts = juror.PairCounts.of_codes(task.codes, task.domain, n_jobs=1)
    tables = {(j, k): table / table.sum() for (j, k), table in zip(counts.groups, counts.tables, strict=True)}
    n_pairs = len(tables) if per_variable == ALL else int(per_variable) * N
    around, block = block_pairs(N, n_pairs, task.rng)
    scattered = random_pairs(N, n_pairs, task.rng)
    few = juror.TripleCounts.of_codes(task.codes, task.domain, n_jobs=1, triples=N, seed=task.seed)
    starts: dict[str, tuple[list[Pair], Callable[[], Start]]] = {
        "random": (scattered, partial(random_start, task)),
        "ctf on N triples": (scattered, lambda: start_at(task.fit(few, "ctf"))),
        "block": (around, partial(block_start, task, tables, around, block)),
        "truth": (scattered, partial(start_at, task.truth)),
    }
    for start, (pairs, begin) in starts.items():
        chosen = [tables[pair] for pair in pairs]
        about = {"who": "juror-b", "start": start, "per_variable": per_variable, **size_of(chosen, len(tables))}
        if start.startswith("ctf"):
            about["bytes"] += size_of(few.tables, N)["bytes"]
        yield from task.judged(about, partial(descended, task, tables, pairs, begin), EM_PASSES)
    for method in ("juror-b", "spa") if per_variable == ALL else ():
        about = {"who": f"{method}, library", "start": "spa", "per_variable": ALL, **size_of(counts.tables, n_pairs)}
        yield from task.judged(about, partial(task.fit, counts, method), EM_PASSES)


def misfit_over(tables: Tables, pairs: Sequence[Pair]) -> Misfit:
    """Make J over some pairs, all of one shape."""
    Z = np.stack([tables[pair] for pair in pairs])
    two, design = Domain.from_cardinalities(Z.shape[1:]), Design()
    (R,) = design.operators(two, design.directions(two))
    first, second = zip(*pairs, strict=True)
    return Misfit([Group(first, second, tuple(range(len(pairs))), np.ones(len(pairs)), Gram(R, Z), R)])


def descended(task: Task, tables: Tables, pairs: Sequence[Pair], begin: Callable[[], Start]) -> juror.JointPMF:
    """Go down J over some pairs from a start, as juror-b does over all."""
    end = descend(misfit_over(tables, pairs).at, *begin(), **DESCENT)
    return task.smoothed(end.lam, end.factors)


def random_pairs(n_variables: int, n_pairs: int, rng: np.random.Generator) -> list[Pair]:
    """Draw pairs: a ring through all variables in random order, so that none is left alone, then any."""
    ring = rng.permutation(n_variables).tolist()
    return _filled(zip(ring, ring[1:] + ring[:1], strict=True), n_variables, n_pairs, rng)


def block_pairs(n_variables: int, n_pairs: int, rng: np.random.Generator) -> tuple[list[Pair], list[int]]:
    """Draw pairs: all within a block of variables, some from every other variable to the block, then any."""
    block = sorted(rng.choice(n_variables, BLOCK, replace=False).tolist())
    others = sorted(set(range(n_variables)).difference(block))
    links = [(n, k) for n in others for k in rng.choice(block, LINKS, replace=False).tolist()]
    return _filled([*combinations(block, 2), *links], n_variables, n_pairs, rng), block


def _filled(needed: Any, n_variables: int, n_pairs: int, rng: np.random.Generator) -> list[Pair]:
    chosen = {(min(pair), max(pair)) for pair in needed}
    if len(chosen) > n_pairs:
        raise ValueError(f"{n_variables} variables need {len(chosen)} pairs at least for this design. Got {n_pairs}.")
    rest = [pair for pair in combinations(range(n_variables), 2) if pair not in chosen]
    more = rng.choice(len(rest), n_pairs - len(chosen), replace=False).tolist() if n_pairs > len(chosen) else []
    return sorted(chosen | {rest[at] for at in more})


def start_at(model: juror.JointPMF) -> Start:
    """Return λ (F,) and the factors (I_n, F) of a model as arrays of their own."""
    return np.array(model.weights), [np.array(A) for A in model.factors]


def random_start(task: Task) -> Start:
    """Scatter classes around the marginals."""
    F = task.setting.rank
    scattered = [m * task.rng.exponential(size=(len(m), F)) for m in task.marginals]
    return np.full(F, 1.0 / F), [A / A.sum(axis=0) for A in scattered]


def block_start(task: Task, tables: Tables, pairs: Sequence[Pair], block: Sequence[int]) -> Start:
    """Fit a block of variables by juror-b, and every other one by least squares on its pairs with the block."""
    domain = Domain.from_cardinalities([task.setting.labels] * len(block))
    counts = juror.PairCounts.of_codes(np.asfortranarray(task.codes[:, block]), domain, n_jobs=1)
    lam, within = start_at(task.fit(counts, "juror-b"))
    known, every = dict(zip(block, within, strict=True)), range(task.setting.n_variables)
    return lam, [known[n] if n in known else regressed(n, lam, known, tables, pairs) for n in every]


def regressed(n: int, lam: np.ndarray, known: Factors, tables: Tables, pairs: Sequence[Pair]) -> np.ndarray:
    """Return A_n (I_n, F) that minimises Σ_k ‖Z_nk − A_n D(λ) A_kᵗ‖² over pairs of n with known variables k."""
    gram, right = np.zeros(()), np.zeros(())
    for j, k in pairs:
        if n in (j, k) and (other := j + k - n) in known:
            Z = tables[j, k] if n == j else tables[j, k].T
            along = known[other] * lam
            gram, right = gram + along.T @ along, right + Z @ along
    return kernels().least_squares_factor(gram, right, np.full(right.shape, 1.0 / len(right)), 5000, 1e-12)


def size_of(tables: Sequence[np.ndarray], of: int) -> Row:
    """Return how many tables there are, which share of all that is, and their bytes."""
    return {"n_tables": len(tables), "share": len(tables) / of, "bytes": sum(table.nbytes for table in tables)}


def simulate(settings: Sequence[Setting], judge: Callable[[Task, Any], Iterator[Row]], tell: Tell) -> list[Row]:
    """Run every setting, number of rows and seed; return one row for each way, over its seeds."""
    rows: list[Row] = []
    for setting, n_rows in [(each, n_rows) for each in settings for n_rows in each.rows]:
        runs: dict[str, list[Row]] = {}
        for seed in setting.seeds:
            task = Task(setting, n_rows, seed)
            levels = (*setting.per_variable, ALL) if setting.also_all else setting.per_variable
            for row in [*references(task), *(row for c in levels for row in judge(task, c))]:
                measured = {name: row.pop(name) for name in ("loss", "factor_error", "seconds")}
                runs.setdefault(json.dumps(row), []).append(measured)
        about = {"n_variables": setting.n_variables, "labels": setting.labels, "rank": setting.rank, "n_rows": n_rows}
        new = [about | json.loads(way) | over_seeds(measured) for way, measured in runs.items()]
        rows += new
        tell("\n".join(map(line, new)))
    return rows


def over_seeds(runs: Sequence[Row]) -> Row:
    """Return what runs with different seeds measured: the losses, and mean, deviation, median and most of all."""
    row: Row = {"n_seeds": len(runs), "losses": [run["loss"] for run in runs]}
    for name in runs[0]:
        values = [run[name] for run in runs]
        row[f"{name}_mean"], row[f"{name}_median"] = statistics.fmean(values), statistics.median(values)
        row[f"{name}_most"] = max(values)
        row[f"{name}_sd"] = statistics.stdev(values) if len(values) > 1 else None
    return row


def costs(variables: Sequence[int], n_rows: int, tell: Tell, labels: int = 10, rank: int = 10) -> list[Row]:
    """Count all pairs and c·N triples of tables of some widths; tell bytes, and CPU nanoseconds a row."""
    rows = []
    for N in variables:
        task = Task(Setting(N, labels, rank, (), ()), n_rows, 0, fresh_rows=1)
        about: Row = {"n_variables": N, "labels": labels, "n_rows": n_rows}
        for statistic, c in (("pairs", ALL), ("triples", 1), ("triples", 4), ("triples", 16)):
            kind, which = (juror.PairCounts, {}) if c == ALL else (juror.TripleCounts, {"triples": c * N})
            count = partial(kind.of_codes, task.codes, task.domain, n_jobs=1, **which)
            # The first call makes the plan; later calls reuse it.
            (counts, first), *later = [timed(count) for _ in range(3)]
            ns = 1e9 * min(seconds for _, seconds in later) / n_rows
            size = size_of(counts.tables, math.comb(N, 2 if c == ALL else 3))
            row = about | {"statistic": statistic, "per_variable": c} | size
            rows.append(row | {"ns_a_row": ns, "ns_a_row_and_table": ns / size["n_tables"], "first_seconds": first})
        # A pass of EM takes a sixth of what seven passes take longer than one; its statistic is as large as the model.
        start = random_model(task.domain.cardinalities, rank, np.random.default_rng(1))
        passes = partial(task.fit, task.codes, "em", init=start, tol=0.0, accelerate=False)
        one, seven = (min(timed(partial(passes, max_iter=n))[1] for _ in range(2)) for n in (1, 7))
        row = about | {"statistic": "em pass", "rank": rank, "n_tables": 0, "bytes": 8 * rank * (1 + N * labels)}
        rows.append(row | {"ns_a_row": 1e9 * (seven - one) / 6 / n_rows})
    tell("\n".join(map(line, rows)))
    return rows


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what some work gives, and the CPU seconds it takes."""
    began = time.process_time()
    return work(), time.process_time() - began


def plan(measured: Sequence[Row], tell: Tell, n_variables: int = 5_000) -> list[Row]:
    """Scale what the widest table measured costs to more columns: pairs by their number, all else by columns."""
    widest, rows = max(row["n_variables"] for row in measured), []
    for row in [row for row in measured if row["n_variables"] == widest]:
        by_pairs = math.comb(n_variables, 2) / math.comb(widest, 2)
        factor = by_pairs if row["statistic"] == "pairs" else n_variables / widest
        about = {"statistic": row["statistic"], "per_variable": row.get("per_variable"), "labels": row["labels"]}
        about |= {"n_variables": n_variables, "measured_at": widest, "rank": row.get("rank")}
        scaled = {name: round(row[name] * factor) for name in ("n_tables", "bytes", "ns_a_row")}
        rows.append(about | scaled | {"core_hours_for_1e9_rows": row["ns_a_row"] * factor / 3600})
    tell("\n".join(map(line, rows)))
    return rows


def line(row: Row) -> str:
    """Write one row of any part as a line of its table."""
    c = row.get("per_variable")
    tables = "–" if not row["n_tables"] else f"{row['n_tables']:,} ({c if c == ALL else f'{c}·N'})"
    if "ns_a_row" in row:
        head = f"N={row['n_variables']:<5} I={row['labels']:<3} {row['statistic']:8} {tables:>18}"
        return f"{head} {row['bytes'] / 1e6:>10,.2f} MB {row['ns_a_row']:>12,.0f} ns a row"
    size = f"N={row['n_variables']:<3} I={row['labels']:<2} F={row['rank']:<2} {row['n_rows']:>9,} rows"
    who = row["who"] + (f" from {row['start']}" if row["start"] else "")
    passes = f"+ {row['em_passes']} EM" if row["em_passes"] else ""
    found = f"loss {row['loss_mean']:.5f}, median {row['loss_median']:.5f}, most {row['loss_most']:.5f}"
    return f"{size}  {who:30} {tables:>12} {passes:6} {found}  {row['seconds_mean']:.1f} s"


def run(sizes: Row, quick: bool, tell: Tell) -> Row:
    """Measure all parts."""
    began = time.monotonic()
    # Compile the kernels first, so that no time includes it.
    for judge in (judge_triples, judge_pairs):
        list(judge(Task(QUICK["pairs"][0], 20_000, 0), 5))
    found: Row = {
        "section": "subsets",
        "quick": quick,
        "machine": {"juror": juror.__version__, "numpy": np.__version__},
        "options": OPTIONS | {"smoothing": SMOOTHING, "fresh_rows": FRESH_ROWS, "rows_searched": SEARCHED_ROWS},
        "triples": simulate(sizes["triples"], judge_triples, tell),
        "pairs": simulate(sizes["pairs"], judge_pairs, tell),
        "costs": costs(**sizes["costs"], tell=tell),
    }
    return found | {"plan": plan(found["costs"], tell), "seconds": time.monotonic() - began}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.subsets", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller settings: seconds, not to be quoted")
    parser.add_argument("-o", "--output", type=Path, help="folder of subsets.json; docs/scale, or results/scale")
    asked = parser.parse_args(arguments)
    path = (asked.output or Path("results" if asked.quick else "docs") / "scale") / "subsets.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    found = run(QUICK if asked.quick else FULL, asked.quick, partial(print, flush=True))
    text = json.dumps(found, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    write_whole(path, lambda stream: stream.write(text.encode()))
    print(f"wrote {path} after {found['seconds']:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
