"""How long a fit goes on choosing in a budget of time.

A comparison may begin in the first part of the budget. After that it may begin while it, and then the whole fit, are
expected to end in time, as far as the comparisons before tell. So a small table, which would be fitted long before its
time is spent, has more settings compared. Without a budget nothing here depends on the clock. The size of a comparison
is its share of the rows; the time that it takes is expected to grow with that.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from juror.solvers.solver import Context

# The part of the budget in which any comparison may begin, and the part by which the last must end
_TIME_TO_BEGIN, _TIME_TO_CHOOSE = 0.13, 0.6
# The next comparison may take this many times as long as the longest before: a path of ranks doubles them.
_GROWTH = 2.0


@dataclass
class ChoosingTime:
    """The time for choosing.

    Attributes
    ----------
    whole, context : Context
        That of the whole fit, and that of comparisons, which ends earlier.
    ran_out : bool
        Whether a comparison was left out for lack of time.
    """

    whole: Context
    ran_out: bool = False
    context: Context = field(init=False)
    _first_left: float = field(init=False, default=np.inf)
    _longest: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self.context = self.whole.with_share(_TIME_TO_CHOOSE)
        if self.is_limited:
            self._first_left = self.whole.seconds_left

    @property
    def is_limited(self) -> bool:
        """Whether there is a budget."""
        return bool(np.isfinite(self.whole.until))

    def allows(self, n_after: float, size: float = 1.0) -> bool:
        """Say whether one more comparison of this size may begin, if the fit takes as long as ``n_after`` of size 1."""
        if not self.is_limited or self.ran_out:
            return not self.ran_out
        left = self.whole.seconds_left
        is_early = left >= (1.0 - _TIME_TO_BEGIN) * self._first_left
        is_late = left < self.whole.until - self.context.until
        self.ran_out = not is_early and (is_late or left < _GROWTH * self._longest * (size + n_after))
        return not self.ran_out

    def seconds_left(self) -> float:
        """Return the time left of the whole fit, to measure a comparison by; 0 without a budget."""
        return self.whole.seconds_left if self.is_limited else 0.0

    def took(self, seconds: float, size: float = 1.0) -> None:
        """Remember how long a comparison of this size took."""
        self._longest = max(self._longest, seconds / size)
