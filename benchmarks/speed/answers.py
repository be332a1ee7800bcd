"""Answers about many rows: log-probabilities, labels, filled holes and draws; and the arithmetic at a large rank."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from .facts import (
    NOTHING,
    Comparison,
    Goal,
    Row,
    Rows,
    Section,
    Tell,
    at_most,
    check_equal,
    distinct,
    find,
    found,
    markdown,
    megabytes,
    seconds_text,
)
from .pictures import answers as draw
from .race import Job, race
from .tasks import em_task

JUROR, NUMPY, STEPMIX, POMEGRANATE, BAYES = "juror", "NumPy", "StepMix", "pomegranate", "scikit-learn, CategoricalNB"
PRODUCTS = {
    "float64": "matrix product, double",
    "labels": "matrix product and that with the labels, double",
    "float32": "matrix product, single",
}
# what each answer is judged by
_JUDGE = {"log_prob": "float64", "predict_proba": "labels"}
LARGE, NUMPY_LARGE = "large", "`log_prob` in NumPy"
_WITHIN = {NUMPY: 1e-6, JUROR: 1e-6, STEPMIX: 1e-6, BAYES: 1e-6, POMEGRANATE: 1e-4}
# shares of a million draws, which chance moves
_WITHIN_DRAWN = 0.01


def measure(quick: bool, tell: Tell) -> list[Row]:
    """Ask about a million rows at rank 10, and about some at rank 10,000."""
    rounds, seconds = (2, 0.5) if quick else (5, 6.0)
    n_rows, rank = (10_000, 300) if quick else (1_000_000, 10_000)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        complete = em_task(folder / "complete.npz", n_rows, [10] * 10, 10)
        with_holes = em_task(folder / "holes.npz", n_rows, [10] * 10, 10, holes=0.2)
        for what in ("log_prob", "predict_proba", "impute", "sample"):
            tell(f"answers: {what} of {n_rows:,} rows")
            results = race(_jobs(what, complete, with_holes), rounds, seconds, tell)
            _agree(what, results)
            rows += [result | {"what": what, "who": who, "rows": n_rows} for who, result in results.items()]
        for N, n_large in ((10, 1_000),) if quick else ((10, 4_000), (64, 4_000)):
            rows += _large(folder, N, rank, n_large, rounds, seconds, tell)
    return rows


def _jobs(what: str, complete: Path, with_holes: Path) -> dict[str, Job]:
    asked = {"what": what}
    jobs = {JUROR: Job("contestants:answers", with_holes if what == "impute" else complete, asked)}
    if what in ("log_prob", "predict_proba"):
        jobs[NUMPY] = Job("answering:numpy_answers", complete, asked)
    if what == "predict_proba":
        jobs[BAYES] = Job("answering:naive_bayes", complete, asked)
    if what != "impute":
        jobs[STEPMIX] = Job("answering:stepmix_answers", complete, asked)
        jobs[POMEGRANATE] = Job("answering:pomegranate_answers", complete, asked)
    return jobs


def _agree(what: str, results: dict[str, Row]) -> None:
    if what == "impute":
        left = results[JUROR].get("holes", 0)
        check_equal({JUROR: float(left), "none": 0.0}, "none", {JUROR: 0.0, "none": 0.0}, "Holes left by impute")
        return
    answered = {who: result["sum"] for who, result in results.items() if "failed" not in result}
    reference = JUROR if what == "sample" else NUMPY
    within = dict.fromkeys(answered, _WITHIN_DRAWN) if what == "sample" else _WITHIN
    check_equal(answered, reference, within, f"The answers to {what}")


def _large(folder: Path, N: int, rank: int, n_rows: int, rounds: int, seconds: float, tell: Tell) -> list[Row]:
    tell(f"answers: {n_rows:,} rows of {N} variables at rank {rank:,}")
    task = em_task(folder / f"large{N}.npz", n_rows, [10] * N, rank)
    jobs = {
        "log_prob": Job("contestants:answers", task, {"what": "log_prob"}),
        "predict_proba": Job("contestants:label_proba", task),
        NUMPY_LARGE: Job("answering:numpy_answers", task, {"what": "log_prob"}),
    }
    at_once = sorted({min(size, n_rows) for size in (16, 128, n_rows)})
    jobs["products"] = Job("answering:products", task, {"rows_at_once": at_once})
    results = race(jobs, rounds, seconds, tell)
    both = {who: results[who]["sum"] for who in ("log_prob", NUMPY_LARGE) if "failed" not in results[who]}
    check_equal(both, NUMPY_LARGE, dict.fromkeys(both, 1e-6), f"log_prob at rank {rank}")
    operations = 2.0 * n_rows * rank * N
    about = {"what": LARGE, "rows": n_rows, "variables": N, "rank": rank, "operations": operations}
    rows = [result | about | {"who": who} for who, result in results.items() if who != "products"]
    for name, cpu in results["products"].get("times", {}).items():
        product, size = name.split()
        who = f"{PRODUCTS[product]}, {int(size):,} rows at once"
        rows.append(about | {"who": who, "product": product, "cpu": cpu})
    return rows


def product_seconds(rows: Rows, N: int, product: str) -> float | None:
    """Return the seconds of the best way to do a matrix product, of those in ``PRODUCTS``."""
    return min((row["cpu"] for row in found(rows, what=LARGE, variables=N, product=product)), default=None)


def goals(rows: Rows) -> Iterator[Goal]:
    """Judge the answers at a large rank by the matrix product in double precision, at the worst N."""
    large = [row for row in rows if row["what"] == LARGE]
    rank = large[0]["rank"] if large else 10_000
    for who in ("log_prob", "predict_proba"):
        ratios = []
        for N in distinct(large, "variables"):
            answer, product = find(large, who=who, variables=N), product_seconds(rows, N, _JUDGE[who])
            if answer is not None and product is not None:
                ratios.append(answer["cpu"] / product)
        sizes = " and ".join(str(N) for N in distinct(large, "variables"))
        what = f"`{who}`, rank {rank:,}: time over the {PRODUCTS[_JUDGE[who]]} precision, the most of N = {sizes}"
        yield at_most(what, 2, max(ratios, default=None))


def comparisons(rows: Rows) -> Iterator[Comparison]:
    """Compare every answer with those of others, and the large ones with NumPy's; a product is a yardstick only."""
    for row in rows:
        if row.get("failed") is not None:
            continue
        if row["what"] != LARGE:
            juror = find(rows, who=JUROR, what=row["what"])
            if juror and row["who"] != JUROR:
                yield Comparison(f"`{row['what']}`, {row['rows']:,} rows", row["who"], juror["cpu"], row["cpu"])
        elif row["who"] == NUMPY_LARGE:
            juror = find(rows, who="log_prob", what=LARGE, variables=row["variables"])
            if juror:
                about = f"`log_prob`, rank {row['rank']:,}, N = {row['variables']}"
                yield Comparison(about, "NumPy", juror["cpu"], row["cpu"])


def words(rows: Rows) -> Iterator[str]:
    """Tell the seconds of a million answers, and the rate of arithmetic at a large rank."""
    first = rows[0]
    yield f"""{first["rows"]:,} rows of N = 10 variables of I = 10 labels under a model of rank 10, one thread, CPU
seconds, from an array of codes; 20 % of the cells are missing for `impute` and none else. `predict_proba` is of
the class, made a variable of the model, so that StepMix, pomegranate and scikit-learn's CategoricalNB, which has a
class for every label, answer the same question. StepMix has no log-probability of rows; its `score` gives their mean.
Answers are equal to {_WITHIN[JUROR]:g} ({_WITHIN[POMEGRANATE]:g} for pomegranate), and shares of draws
to {_WITHIN_DRAWN:g}."""
    lines = []
    for what in dict.fromkeys(row["what"] for row in rows if row["what"] != LARGE):
        for row in (row for row in rows if row["what"] == what):
            lines.append([f"`{what}`", row["who"], *_told(rows, row)])
    yield markdown(["", "who", "CPU", "runs", "rows a second", "memory of a run", "ratio"], lines)
    yield from _large_words([row for row in rows if row["what"] == LARGE])


def _told(rows: Rows, row: Row) -> list[str]:
    if row.get("failed") is not None:
        return [NOTHING, "0", NOTHING, NOTHING, row["failed"]]
    juror = find(rows, who=JUROR, what=row["what"])
    times = NOTHING if juror is None else f"{row['cpu'] / juror['cpu']:.2f}"
    rate = f"{row['rows'] / row['cpu'] / 1e6:.3g} M"
    return [seconds_text(row["cpu"]), str(row["runs"]), rate, megabytes(row["working"]), times]


def _large_words(large: Rows) -> Iterator[str]:
    if not large:
        return
    yield f"""At rank {large[0]["rank"]:,}, beside a matrix product (rows, N) @ (N, F) in NumPy on one thread, by blocks
of rows as told; rows × F × N multiplications and additions are counted for all, exponentials and logarithms for none.
`predict_proba` is of one of the N variables given the others, and its I = 10 labels need as many more multiplications
and additions a row and class: the matrix product with (F, I) after the other, by which it is judged."""
    lines = []
    for row in large:
        about = [
            f"N = {row['variables']}, {row['rows']:,} rows",
            f"`{row['who']}`" if "," not in row["who"] and "NumPy" not in row["who"] else row["who"],
        ]
        if row.get("failed") is not None:
            lines.append([*about, row["failed"], NOTHING, NOTHING])
            continue
        product = product_seconds(large, row["variables"], _JUDGE.get(row["who"], "float64"))
        over = NOTHING if product is None else f"{row['cpu'] / product:.2f}"
        lines.append([*about, seconds_text(row["cpu"]), f"{row['operations'] / row['cpu'] / 1e9:.2f}", over])
    yield markdown(["", "what", "CPU", "GFLOP/s", "over the product it is judged by"], lines)


SECTION = Section(
    "answers", "Answers", measure, words, goals, comparisons, "Rows a second, on a logarithmic scale", draw
)
