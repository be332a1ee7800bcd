"""The command line: one thin module per command. Data go to stdout, everything else to stderr."""

from juror.cli.app import main

__all__ = ["main"]
