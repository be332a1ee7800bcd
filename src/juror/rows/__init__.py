"""Rows as codes: in memory, on disk or with the workers of a cluster."""
