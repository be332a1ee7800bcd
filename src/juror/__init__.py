"""The joint distribution of a table of categorical or binned data with holes in it: ask, fill, draw, label."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from juror import compare, datasets
from juror.domain import Domain
from juror.errors import DataWarning, FitWarning, JurorError, JurorWarning
from juror.evidence import Not, Range
from juror.fitting import fit
from juror.info import FitInfo
from juror.model import JointPMF, load
from juror.progress import Progress
from juror.statistics.counts import PairCounts, TripleCounts
from juror.statistics.projections import Projections
from juror.variable import Variable

if TYPE_CHECKING:
    from juror import paper
    from juror.estimators import JointClassifier, JointDensity, JointImputer

__all__ = [
    "DataWarning",
    "Domain",
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
    "Range",
    "TripleCounts",
    "Variable",
    "compare",
    "datasets",
    "fit",
    "load",
    "paper",
]

_ESTIMATORS = ("JointClassifier", "JointDensity", "JointImputer")


def __getattr__(name: str) -> Any:
    # what takes long to import waits until it is asked for
    if name == "__version__":
        return import_module("importlib.metadata").version("juror")
    if name == "paper":
        return import_module("juror.paper")
    if name in _ESTIMATORS:
        return getattr(import_module("juror.estimators"), name)
    raise AttributeError(f"module 'juror' has no attribute {name!r}")
