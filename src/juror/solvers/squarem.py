"""SQUAREM, the squared extrapolation of a fixed-point iteration (Varadhan and Roland, 2008, scheme S3).

From three successive points θ0, θ1 = M(θ0), θ2 = M(θ1), with r = θ1 − θ0 and v = (θ2 − θ1) − r,

    θ(s) = θ0 + 2 s r + s² v,    s = ‖r‖ / ‖v‖

s = 1 gives θ2. Sums to one survive any s; signs may not, and entries that would fall below a share of θ2's are held
there.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from juror.rows.parameters import Parameters

# An entry may shrink to this share of its plain EM value in one leap, never to zero: zeros are for ever.
_LEAST_SHARE = 0.01


def extrapolate(
    start: Parameters, first: Parameters, second: Parameters, longest: float
) -> tuple[Parameters | None, float]:
    """Leap along two EM steps, from θ0, θ1 and θ2, by at most s = ``longest``; return the point and s.

    The stack of the point is not normalised. There is no point if the leap would be no longer than the two steps.
    """
    r_lam, r_stack = first.lam - start.lam, first.stack - start.stack
    v_lam, v_stack = second.lam - first.lam - r_lam, second.stack - first.stack - r_stack
    curvature = np.sqrt(np.sum(v_lam**2) + np.sum(v_stack**2))
    if curvature == 0.0:
        return None, 1.0
    length = min(float(np.sqrt(np.sum(r_lam**2) + np.sum(r_stack**2)) / curvature), longest)
    if length <= 1.0:
        return None, length
    lam = np.maximum(start.lam + 2 * length * r_lam + length**2 * v_lam, _LEAST_SHARE * second.lam)
    stack = start.stack + 2 * length * r_stack + length**2 * v_stack
    return replace(second, lam=lam / lam.sum(), stack=np.maximum(stack, _LEAST_SHARE * second.stack)), length
