"""JointPMF, its query language and its file format."""

from juror.model.joint import Given, JointPMF
from juror.model.loading import load

__all__ = ["Given", "JointPMF", "load"]
