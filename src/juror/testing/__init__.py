"""For tests of juror and of what is built on it: random models, random tables, the dense tensor as an oracle."""

from juror.testing.models import dense, random_codes, random_model

__all__ = ["dense", "random_codes", "random_model"]
