"""Example tables: two that come with the package, and four that are read or fetched by name."""

from juror.datasets.embedded import military, titanic
from juror.datasets.named import load

__all__ = ["load", "military", "titanic"]
