"""Files that juror writes: whole or not at all, one format for models and counts."""
