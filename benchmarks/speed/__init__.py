"""How fast juror is, beside others on the same data: ``python -m benchmarks.speed`` writes ``docs/speed.md``.

A section measures one thing and keeps its facts as JSON beside the page; the page is made of those files alone.
"""
