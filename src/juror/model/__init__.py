"""JointPMF, its query language and its file format."""

from juror.model.asking import Given
from juror.model.joint import JointPMF
from juror.model.loading import load

__all__ = ["Given", "JointPMF", "load"]
