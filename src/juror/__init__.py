"""The joint distribution of a table of categorical or binned data with holes in it: ask, fill, draw, label."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from juror.errors import DataWarning, FitWarning, JurorError, JurorWarning

if TYPE_CHECKING:
    from juror import compare, datasets, paper, plot
    from juror.answers.pooling import pool
    from juror.counts.counts import PairCounts, TripleCounts
    from juror.counts.projections import Projections
    from juror.domain import Domain
    from juror.domain.evidence import Not, Range
    from juror.domain.law import Law
    from juror.domain.variable import Variable
    from juror.estimators import JointClassifier, JointDensity, JointImputer
    from juror.fitting import fit
    from juror.model import JointPMF, load
    from juror.progress import Progress
    from juror.readers.described import Files, Query
    from juror.record import FitInfo, FitRecord
    from juror.report import Report

__all__ = [
    "DataWarning",
    "Domain",
    "Files",
    "FitInfo",
    "FitRecord",
    "FitWarning",
    "JointClassifier",
    "JointDensity",
    "JointImputer",
    "JointPMF",
    "JurorError",
    "JurorWarning",
    "Law",
    "Not",
    "PairCounts",
    "Progress",
    "Projections",
    "Query",
    "Range",
    "Report",
    "TripleCounts",
    "Variable",
    "compare",
    "datasets",
    "fit",
    "load",
    "paper",
    "plot",
    "pool",
]

_MODULES = ("compare", "datasets", "paper", "plot")
_HOMES = {
    "Domain": "juror.domain",
    "Files": "juror.readers.described",
    "FitInfo": "juror.record",
    "FitRecord": "juror.record",
    "JointClassifier": "juror.estimators",
    "JointDensity": "juror.estimators",
    "JointImputer": "juror.estimators",
    "JointPMF": "juror.model",
    "Law": "juror.domain.law",
    "Not": "juror.domain.evidence",
    "PairCounts": "juror.counts.counts",
    "Progress": "juror.progress",
    "Projections": "juror.counts.projections",
    "Query": "juror.readers.described",
    "Range": "juror.domain.evidence",
    "Report": "juror.report",
    "TripleCounts": "juror.counts.counts",
    "Variable": "juror.domain.variable",
    "fit": "juror.fitting",
    "load": "juror.model",
    "pool": "juror.answers.pooling",
}


def __getattr__(name: str) -> Any:
    # what takes long to import waits until it is asked for: a model that answers needs no solvers, and no name here
    # needs scikit-learn but the estimators
    if name == "__version__":
        return import_module("importlib.metadata").version("juror")
    if name in _MODULES:
        return import_module(f"juror.{name}")
    if name in _HOMES:
        return globals().setdefault(name, getattr(import_module(_HOMES[name]), name))
    raise AttributeError(f"module 'juror' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
