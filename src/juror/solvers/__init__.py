"""Solvers: from a statistic of the rows to the parameters of the model, one method a file."""
