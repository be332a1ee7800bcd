"""The joint distribution of a table of categorical or binned data with holes in it: ask, fill, draw, label."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from juror.errors import DataWarning, FitWarning, JurorError, JurorWarning

if TYPE_CHECKING:
    from juror import compare, datasets, paper, plot
    from juror.domain import Domain
    from juror.estimators import JointClassifier, JointDensity, JointImputer
    from juror.evidence import Not, Range
    from juror.fitting import fit
    from juror.info import FitInfo
    from juror.model import JointPMF, load
    from juror.progress import Progress
    from juror.report import Report
    from juror.sources.described import Files, Query
    from juror.statistics.counts import PairCounts, TripleCounts
    from juror.statistics.projections import Projections
    from juror.variable import Variable

__all__ = [
    "DataWarning",
    "Domain",
    "Files",
    "FitInfo",
    "FitWarning",
    "JointClassifier",
    "JointDensity",
    "JointImputer",
    "JointPMF",
    "JurorError",
    "JurorWarning",
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
]

_MODULES = ("compare", "datasets", "paper", "plot")
_HOMES = {
    "Domain": "juror.domain",
    "Files": "juror.sources.described",
    "FitInfo": "juror.info",
    "JointClassifier": "juror.estimators",
    "JointDensity": "juror.estimators",
    "JointImputer": "juror.estimators",
    "JointPMF": "juror.model",
    "Not": "juror.evidence",
    "PairCounts": "juror.statistics.counts",
    "Progress": "juror.progress",
    "Projections": "juror.statistics.projections",
    "Query": "juror.sources.described",
    "Range": "juror.evidence",
    "Report": "juror.report",
    "TripleCounts": "juror.statistics.counts",
    "Variable": "juror.variable",
    "fit": "juror.fitting",
    "load": "juror.model",
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
