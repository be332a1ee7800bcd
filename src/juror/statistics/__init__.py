"""What solvers need from the rows, one mergeable statistic a file."""
