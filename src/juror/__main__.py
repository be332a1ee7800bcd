"""Run the command line with ``python -m juror``."""

from juror.cli import main

main()
