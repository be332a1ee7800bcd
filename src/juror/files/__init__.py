"""Files that juror writes: atomically, and in one format for models and counts."""

# The kinds of statistics in files, and what messages call them
KINDS = {"PairCounts": "counts of pairs", "TripleCounts": "counts of triples", "Projections": "projections of pairs"}
