"""JointPMF and what belongs to it: the query language and the file."""

from juror.model.joint import Given, JointPMF
from juror.model.loading import load

__all__ = ["Given", "JointPMF", "load"]
