"""JointPMF, its query language and its file format."""

from juror.model.joint import JointPMF
from juror.model.loading import load
from juror.model.table_answers import Given

__all__ = ["Given", "JointPMF", "load"]
