"""scikit-learn estimators, thin."""
