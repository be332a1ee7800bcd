"""What data of any size cost: facts behind ``docs/scale.md``, each measured by a module here and kept as JSON."""
