"""Helpers for tests of juror and of code built on it: random models, random tables, the dense tensor."""

from juror.testing.models import dense, random_codes, random_forest, random_forest_model, random_model

__all__ = ["dense", "random_codes", "random_forest", "random_forest_model", "random_model"]
