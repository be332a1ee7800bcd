"""Which share of each interval's law lies below a number: the plain sum over the pieces of the law."""

import math
from decimal import Decimal

import numpy as np


def position_of(law, number, after):
    """The first position that is at least a number, or above it."""
    if law.grid.decimals is None or math.isinf(number):
        return math.nextafter(number, math.inf) if after else number
    multiple = Decimal(repr(number)).scaleb(law.grid.decimals)
    return float((math.floor(multiple) + 1 if after else math.ceil(multiple)) - law.grid.origin)


def law_below(law, position):
    total = 0.0
    for start, end, mass in zip(law.starts, law.ends, law.masses, strict=True):
        inner = (start < position) if start == end else min(1.0, max(0.0, (position - start) / (end - start)))
        total += mass * inner
    return total


def shares_below(variable, number, after=False):
    """For each label the share of its law below a number, or with ``after``, at or below it; 0 for missing cells."""
    law, last = variable.law, len(variable.present_labels) - 1
    limit = law_below(law, position_of(law, number, after))
    shares = []
    for code in range(variable.cardinality):
        if code > last:
            shares.append(0.0)
            continue
        low = 0.0 if code == 0 else law_below(law, position_of(law, variable.edges[code], False))
        high = 1.0 if code == last else law_below(law, position_of(law, variable.edges[code + 1], False))
        # an interval without mass has no numbers
        shares.append(min(1.0, max(0.0, (limit - low) / (high - low))) if high > low else 0.0)
    return np.array(shares)


def shares_in(variable, low, high):
    """The share of each label's law in [low, high)."""
    present = np.arange(variable.cardinality) < len(variable.present_labels)
    return np.maximum(shares_below(variable, high) - shares_below(variable, low), 0.0) * present
