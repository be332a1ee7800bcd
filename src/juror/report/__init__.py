"""The report: facts about a model, and a page that holds the whole model and answers in the browser."""

from juror.report.facts import facts
from juror.report.page import page, write

__all__ = ["facts", "page", "write"]
