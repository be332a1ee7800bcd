"""Files that juror writes: atomically, and in one format for models and counts."""
