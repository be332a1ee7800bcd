"""The report: facts about a model, and a page that holds the model and computes answers in the browser."""

from juror.report.document import Report

__all__ = ["Report"]
