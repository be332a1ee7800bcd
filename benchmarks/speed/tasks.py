"""What contestants are given: rows drawn from a mixture of products, the start of EM, and what must come out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

Task = Mapping[str, np.ndarray]


def load(path: str | Path) -> dict[str, np.ndarray]:
    """Read the arrays of a task."""
    with np.load(path) as arrays:
        return dict(arrays)


def save(path: Path, **arrays: np.ndarray) -> Path:
    """Write the arrays of a task."""
    np.savez(path, **arrays)
    return path


def random_model(cardinalities: Sequence[int], rank: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return class weights (F,) and factors (I_n, F) that are uniform on their simplices, as ``lam, A0, A1, …``."""
    factors = {f"A{n}": rng.dirichlet(np.ones(size), rank).T.copy() for n, size in enumerate(cardinalities)}
    return {"lam": rng.dirichlet(np.full(rank, 5.0)), **factors}


def factors_of(task: Task) -> list[np.ndarray]:
    """Return the factors of a task in order."""
    return [task[f"A{n}"] for n in range(sum(name.startswith("A") for name in task))]


def draw(model: Task, n_rows: int, holes: float, rng: np.random.Generator) -> np.ndarray:
    """Draw codes (n_rows, N) of a model, each cell missing with probability ``holes``, then −1."""
    classes = rng.choice(len(model["lam"]), n_rows, p=model["lam"])
    columns = []
    for factor in factors_of(model):
        steps = np.cumsum(factor, axis=0)[:-1]
        columns.append((rng.random(n_rows)[:, None] > steps.T[classes]).sum(axis=1).astype(np.int8))
    codes = np.stack(columns, axis=1)
    codes[rng.random(codes.shape) < holes] = -1
    return codes


def em_task(
    path: Path, n_rows: int, cardinalities: Sequence[int], rank: int, *, holes: float = 0.0, seed: int = 0
) -> Path:
    """Write rows of one random mixture, and another of the same form as the start."""
    rng = np.random.default_rng([seed, n_rows, len(cardinalities), max(cardinalities), rank])
    truth = random_model(cardinalities, min(rank, 30), rng)
    return save(path, codes=draw(truth, n_rows, holes, rng), **random_model(cardinalities, rank, rng))


def count_task(path: Path, n_rows: int, cardinalities: Sequence[int], *, holes: float, seed: int = 0) -> Path:
    """Write rows of independent columns, and the digest of their pair tables."""
    rng = np.random.default_rng([seed, n_rows, len(cardinalities)])
    columns = [rng.integers(0, size, n_rows, dtype=np.int8) for size in cardinalities]
    codes = np.stack(columns, axis=1)
    codes[rng.random(codes.shape, dtype=np.float32) < holes] = -1
    return save(path, codes=codes, cardinalities=np.asarray(cardinalities))


def bincount_table(codes: np.ndarray, cardinalities: Sequence[int], group: Sequence[int]) -> np.ndarray:
    """Count the labels of a few columns together with NumPy, missing left out, (I_a, I_b, …)."""
    shape = [int(cardinalities[n]) + 1 for n in group]
    joint = np.zeros(len(codes), dtype=np.int32)
    for n, size in zip(group, shape, strict=True):
        joint = joint * np.int32(size) + (codes[:, n] + np.int8(1))
    table = np.bincount(joint, minlength=int(np.prod(shape))).reshape(shape)
    return table[(slice(1, None),) * len(group)]


def bincount_tables(codes: np.ndarray, cardinalities: Sequence[int], size: int = 2) -> list[np.ndarray]:
    """Count all pairs, or groups of another size, in their order."""
    return [bincount_table(codes, cardinalities, g) for g in combinations(range(len(cardinalities)), size)]


def digest(tables: Sequence[np.ndarray]) -> str:
    """Return a fingerprint of tables of counts, equal only where all counts are."""
    together = hashlib.sha256()
    for table in tables:
        together.update(str(table.shape).encode())
        together.update(np.ascontiguousarray(table).astype(np.int64).tobytes())
    return together.hexdigest()[:16]


def mean_log_prob(codes: np.ndarray, lam: np.ndarray, factors: Sequence[np.ndarray]) -> float:
    """Return the mean log-likelihood of rows in double precision, by which every contestant is judged."""
    total = 0.0
    with np.errstate(divide="ignore"):
        logs = [np.log(np.vstack([factor, np.ones((1, len(lam)))]).astype(float)) for factor in factors]
        start = np.log(lam.astype(float))
    for rows in range(0, len(codes), 4096):
        part = codes[rows : rows + 4096]
        # −1 takes the last row, of ones
        joint = start + sum(log[part[:, n]] for n, log in enumerate(logs))
        top = joint.max(axis=1, keepdims=True)
        total += float((top[:, 0] + np.log(np.exp(joint - top).sum(axis=1))).sum())
    return total / len(codes)
