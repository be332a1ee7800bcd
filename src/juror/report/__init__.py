"""The report: facts about a model, and a page that holds the whole model and answers in the browser."""

from juror.report.document import Report

__all__ = ["Report"]
