"""The command line: one command a file, thin. Data go to stdout, all else to stderr."""

from juror.cli.app import main

__all__ = ["main"]
