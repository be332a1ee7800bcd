"""Statistics of rows that add up: counts of pairs and triples, histograms of projections."""
