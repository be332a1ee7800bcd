"""juror beside judges and peers that nobody here wrote: densities, holes filled, rows drawn, labels.

``python -m benchmarks.judges`` (``make judges``) runs the cells that ``docs/judges/cells.jsonl`` does not have yet, and
writes ``docs/judges.md`` of that file alone. A peer that is not installed is left out, and the page says so. Peers that
do not go together can each be run in an environment of their own, as the cells of all runs are kept in one file.
``--only juror --again`` measures juror anew and keeps the cells of peers; ``--only peers`` runs those that are missing.
"""
