"""Triton kernels of the EM step along a forest, which :mod:`juror.kernels.cuda.card_steps` calls."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n_classes"])
def relative_labels(COUNTS, ONCE, FIRST, SIZE, N_PARENT, OUT, n_classes, class_strength, CLASSES: tl.constexpr):
    """For a label x of a variable and classes: (Σ_y C[y, x, f] + s₀ m[x]) / m[x]."""
    label = tl.program_id(0)
    f = tl.program_id(1) * CLASSES + tl.arange(0, CLASSES)
    live = f < n_classes
    size, once = tl.load(SIZE + label), tl.load(ONCE + label)
    at = COUNTS + tl.load(FIRST + label).to(tl.int64) * n_classes + f
    total = tl.zeros((CLASSES,), tl.float64)
    for _ in range(tl.load(N_PARENT + label)):
        total += tl.load(at, mask=live, other=0.0)
        at += size * n_classes
    tl.store(OUT + label.to(tl.int64) * n_classes + f, (total + class_strength * once) / once, mask=live)


@triton.jit(do_not_specialize=["n_classes"])
def drawn_columns(COUNTS, OWN, RELATIVE, FIRST, SIZE, LABEL, OUT, n_classes, strength, CLASSES: tl.constexpr):
    """For a label y of a parent and classes: the column (C[y, x, f] + s B[y, x, f]) / (Σ_x C[y, x, f] + s).

    LABEL is the first label of the variable, or −1 if it has no parent: B is the forest's own table then.
    """
    column = tl.program_id(0)
    f = tl.program_id(1) * CLASSES + tl.arange(0, CLASSES)
    live = f < n_classes
    first, size, label = tl.load(FIRST + column).to(tl.int64), tl.load(SIZE + column), tl.load(LABEL + column)
    start, of_label = first * n_classes + f, RELATIVE + tl.maximum(label, 0).to(tl.int64) * n_classes + f
    counted, drawn = tl.zeros((CLASSES,), tl.float64), tl.zeros((CLASSES,), tl.float64)
    for x in range(size):
        counted += tl.load(COUNTS + start + x * n_classes, mask=live, other=0.0)
        relative = tl.load(of_label + x * n_classes, mask=live, other=1.0)
        drawn += tl.load(OWN + first + x) * tl.where(label >= 0, relative, 1.0)
    total = counted + strength
    seen = total > 0.0
    for x in range(size):
        own, relative = tl.load(OWN + first + x), tl.load(of_label + x * n_classes, mask=live, other=1.0)
        share = own * tl.where(label >= 0, relative, 1.0) / drawn
        count = tl.load(COUNTS + start + x * n_classes, mask=live, other=0.0)
        found = tl.where(seen, (count + strength * share) / tl.where(seen, total, 1.0), own)
        tl.store(OUT + start + x * n_classes, found, mask=live)
