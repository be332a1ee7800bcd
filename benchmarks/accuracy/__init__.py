"""What juror reaches, measured beside references: the numbers behind docs/accuracy.md.

Run ``python -m benchmarks.accuracy`` from the repository's root, or ``make bench-accuracy``. Every measured cell is a
line of ``accuracy/cells.jsonl`` in the output folder, so that a run goes on where it stopped; the page, its tables and
its pictures are made of those lines alone.
"""
