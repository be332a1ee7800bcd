"""scikit-learn estimators, thin: the density, the classifier and the imputer of a joint distribution."""

from juror.estimators.classifier import JointClassifier
from juror.estimators.density import JointDensity
from juror.estimators.imputer import JointImputer

__all__ = ["JointClassifier", "JointDensity", "JointImputer"]
