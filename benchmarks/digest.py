"""Fit a dozen small tables with every method and print a digest of the parameters of each fit.

Run ``make digest`` before and after a change that must not change results, and compare the two outputs: a line is the
same exactly where the same seed gave the same bits. The number after the digest is the mean log-probability of the
fitted rows; it tells rounding (equal digits, another digest) from another result.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import juror
from juror.testing import random_codes, random_model

_SHORT_CHAIN = {"sweeps": 60, "burnt": 20, "draws": 10}


def _codes(cardinalities: list[int], rank: int, n_rows: int, seed: int, missing: float = 0.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return random_codes(random_model(cardinalities, rank, rng, concentration=0.4), n_rows, rng, missing=missing)


def _labelled() -> pd.DataFrame:
    codes = _codes([3, 4, 2, 3], 3, 300, 5, missing=0.1)
    words = np.array(["a", "b", "c", "d", "?"])
    return pd.DataFrame(words[codes], columns=["one", "two", "three", "four"])


def _numbers() -> pd.DataFrame:
    rng = np.random.default_rng(6)
    age = rng.normal(40, 12, 250).round()
    income = np.exp(rng.normal(10, 0.5, 250) + age / 80)
    return pd.DataFrame({"age": age, "income": income, "owns": rng.random(250) < income / income.max()})


def _ordered() -> pd.DataFrame:
    codes = _codes([3, 3, 5], 2, 240, 7)
    size = pd.Categorical.from_codes(codes[:, 0], ["S", "M", "L"], ordered=True)
    return pd.DataFrame(
        {"size": size, "stars": codes[:, 2], "kind": pd.Categorical.from_codes(codes[:, 1], list("xyz"))}
    )


def tables() -> dict[str, tuple[Any, dict[str, Any]]]:
    """Return every table by name, with the arguments that it is fitted with."""
    weights = np.random.default_rng(4).gamma(2.0, size=200)
    military = juror.datasets.military()
    return {
        "titanic": (juror.datasets.titanic(), {}),
        "complete": (_codes([4, 3, 5, 2], 3, 500, 1), {}),
        "holes": (_codes([4, 3, 5, 2, 3], 3, 500, 2, missing=0.2), {}),
        "weighted": (_codes([3, 3, 4], 2, 200, 3), {"sample_weight": weights}),
        "counted": (military[::8].reset_index(drop=True), {"sample_weight": "count"}),
        "labelled": (_labelled(), {"missing": ["?"]}),
        "numbers": (_numbers(), {}),
        "ordered": (_ordered(), {}),
        "wide": (_codes([2] * 30, 4, 200, 8, missing=0.05), {}),
        "many labels": (_codes([40, 30, 3], 3, 400, 9), {}),
        "tiny": (_codes([2, 3, 2], 2, 12, 10), {}),
        "one label": (np.column_stack([_codes([3, 4, 2], 2, 150, 11), np.zeros(150, dtype=np.int32)]), {}),
    }


# Every method, and the ways through the search: rank, method and options
WAYS: dict[str, tuple[int | str, str, dict[str, Any]]] = {
    "auto": ("auto", "auto", {}),
    "em": (3, "em", {}),
    "em, rank auto": ("auto", "em", {}),
    "em, rank cv": ("cv", "em", {"max_iter": 50}),
    "em, random starts": (3, "em", {"n_init": 2, "smoothing": 0}),
    "em, plain": (2, "em", {"accelerate": False, "max_iter": 30}),
    "em, ensemble": ("auto", "em", {"ensemble": 3}),
    "bayes": (3, "bayes", _SHORT_CHAIN),
    "bayes, rank auto": ("auto", "bayes", _SHORT_CHAIN),
    "spa": (2, "spa", {}),
    "spa-em": (2, "spa-em", {}),
    "ctf": (2, "ctf", {}),
    "ctf, rank auto": ("auto", "ctf", {"max_iter": 60}),
    "juror-a": (2, "juror-a", {"max_iter": 200}),
    "juror-a, rho cv": (2, "juror-a", {"max_iter": 60, "rho": "cv"}),
    "juror-b": (2, "juror-b", {}),
    "juror-b, literal": (2, "juror-b", {"route": "literal", "n_directions": 20}),
    "juror-c": (2, "juror-c", {"max_iter": 200}),
}


def cases() -> Iterator[tuple[str, str, Callable[[], juror.JointPMF]]]:
    """Give every table and way, and what fits it."""
    for table, (data, given) in tables().items():
        for way, (rank, method, options) in WAYS.items():
            yield table, way, lambda a=(data, rank, method), b={**given, **options}: juror.fit(*a, **b)
        target = {"numbers": "owns", "counted": military_target()}.get(table)
        if target is None:
            target = data.columns[0] if isinstance(data, pd.DataFrame) else "x0"
        yield table, "target", lambda a=data, b={**given, "target": target}: juror.fit(a, **b)
        counts = juror.PairCounts.of(data, **given)
        yield table, "pair counts", lambda a=counts: juror.fit(a, 2, "juror-b")
    yield from _sources()


def military_target() -> str:
    """Return the first column of the military table that is not its count."""
    return next(name for name in juror.datasets.military().columns if name != "count")


def _sources() -> Iterator[tuple[str, str, Callable[[], juror.JointPMF]]]:
    """Give one table from files, on disk, and what is made of a fitted model."""
    folder = Path(tempfile.mkdtemp())
    labelled = _labelled()
    labelled.to_csv(folder / "labelled.csv", index=False)
    yield "labelled", "csv file", lambda: juror.fit(folder / "labelled.csv", 3, "em", missing=["?"])
    large = pd.DataFrame(_codes([4, 3, 5, 2, 6, 3], 4, 60_000, 12, missing=0.05)).add_prefix("v").astype("Int8")
    large = large.mask(large < 0)
    large.to_parquet(folder / "large.parquet")
    for name, method, more in (("em", "em", {"max_iter": 40}), ("bayes", "bayes", _SHORT_CHAIN), ("spa", "spa", {}),
                               ("spa-em", "spa-em", {"max_iter": 20}), ("ctf", "ctf", {"max_iter": 40})):  # fmt: skip
        yield (
            "large",
            f"on disk, {name}",
            lambda a=method, b=more: juror.fit(folder / "large.parquet", 3, a, memory="2MB", **b),
        )
    yield "titanic", "compressed", lambda: juror.fit(juror.datasets.titanic(), 4, "bayes", **_SHORT_CHAIN).compress(3)


def digest(model: juror.JointPMF) -> str:
    """Return twelve digits that stand for all bits of weights, parents and tables."""
    numbers = [array for block in model.blocks for array in (block.weights, *block.tables)]
    numbers += [block.parents for block in model.blocks if block.has_edges]
    content = b"".join(np.ascontiguousarray(array).tobytes() for array in numbers)
    return hashlib.sha256(content).hexdigest()[:12]


def main() -> None:
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    together = hashlib.sha256()
    for table, way, fit in cases():
        if wanted not in f"{table}/{way}":
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model = fit()
                info = model.info
                mean = None if info is None or info.log_likelihood is None else info.log_likelihood / info.n_rows
                found = f"{digest(model)}  rank {model.rank:<5} " + ("" if mean is None else f"{mean:.9f}")
            except juror.JurorError as error:
                found = type(error).__name__
        together.update(found.encode())
        print(f"{table:12} {way:20} {found}".rstrip(), flush=True)
    print(f"together {together.hexdigest()[:12]}")


if __name__ == "__main__":
    main()
