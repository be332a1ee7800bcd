"""Others that draw rows. Each gets a frame, how many rows to draw, its columns of numbers and a seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def by_columns(frame: pd.DataFrame, n: int, numbers: list[str], seed: int) -> pd.DataFrame:
    """Draw every column from its own values, independently of the others."""
    rng = np.random.default_rng(seed)
    return frame.apply(lambda column: column.to_numpy()[rng.integers(0, len(frame), n)])


def by_copula(frame: pd.DataFrame, n: int, numbers: list[str], seed: int) -> pd.DataFrame:
    """Draw from SDV's Gaussian copula."""
    from sdv.single_table import GaussianCopulaSynthesizer

    return _by_sdv(GaussianCopulaSynthesizer, frame, n, numbers)


def by_ctgan(frame: pd.DataFrame, n: int, numbers: list[str], seed: int) -> pd.DataFrame:
    """Draw from SDV's CTGAN."""
    from sdv.single_table import CTGANSynthesizer

    return _by_sdv(CTGANSynthesizer, frame, n, numbers)


def _by_sdv(synthesizer: Any, frame: pd.DataFrame, n: int, numbers: list[str]) -> pd.DataFrame:
    from sdv.metadata import Metadata

    columns = {c: {"sdtype": "numerical" if c in numbers else "categorical"} for c in frame.columns}
    fitted = synthesizer(Metadata.load_from_dict({"tables": {"table": {"columns": columns}}}))
    # Since SDV 2, a single table comes and goes as one of several.
    fitted.fit({"table": frame})
    return fitted.sample(n)["table"]


def by_arf(frame: pd.DataFrame, n: int, numbers: list[str], seed: int) -> pd.DataFrame:
    """Draw from adversarial random forests."""
    from arfpy import arf

    # arfpy 0.1.1 calls a function by a name that NumPy 2.4 has dropped.
    vars(np).setdefault("in1d", np.isin)
    typed = frame.astype({c: float if c in numbers else "category" for c in frame.columns})
    forest = arf.arf(x=typed)
    forest.forde()
    return forest.forge(n=n)


def by_lace(frame: pd.DataFrame, n: int, numbers: list[str], seed: int) -> pd.DataFrame:
    """Draw from Lace's cross-categorisation."""
    typed = frame.astype({c: float if c in numbers else str for c in frame.columns})
    return lace_engine(typed, seed).simulate(list(frame.columns), n=n).to_pandas()


def lace_engine(frame: pd.DataFrame, seed: int) -> Any:
    """Return Lace's engine after as many steps as its tutorial takes."""
    import lace

    engine = lace.Engine.from_df(frame.set_axis([str(i) for i in range(len(frame))]), n_states=4, rng_seed=seed)
    engine.update(100)
    return engine
