"""Count how often codes occur together."""

from __future__ import annotations

import numpy as np

from juror.kernels.jit.compiling import kernel, part

# Rows in a block: their joint codes are still in the first-level cache when they are counted.
_BLOCK = 8192
# A cell is crowded if it holds more than one in _CROWDED rows of a block: then four tables are used in turn.
_CROWDED = 4
_WAYS = 4
# Larger tables are never used in turn: they would leave the cache.
_MOST_IN_TURNS = 2**16
_HALF_WORD = np.uint64(0xFFFF)


@part
def _range(codes):
    low, high = codes[0], codes[0]
    for i in range(codes.shape[0]):
        low, high = min(low, codes[i]), max(high, codes[i])
    return low, high


@part
def _start(codes, out):
    for i in range(out.shape[0]):
        out[i] = codes[i] + 1


@part
def _append(codes, levels, shift, out):
    for i in range(out.shape[0]):
        out[i] = out[i] * levels + codes[i] + shift


@kernel
def pack_columns(columns, first, last, sizes, members, bounds, packs):
    """Fill packs with the joint codes of columns; return the first column with a code out of its range, or −1."""
    for start in range(first, last, _BLOCK):
        stop = min(start + _BLOCK, last)
        for p in range(bounds.shape[0] - 1):
            out = packs[p][start - first : stop - first]
            for m in range(bounds[p], bounds[p + 1]):
                codes, size = columns[members[m]][start:stop], sizes[members[m]]
                low, high = _range(codes)
                if low < -1 or high >= size:
                    return members[m]
                if m == bounds[p]:
                    _start(codes, out)
                else:
                    _append(codes, size + 1, 1, out)
    return -1


@part
def _join(left, right, width, out):
    for i in range(out.shape[0]):
        out[i] = left[i] * width + right[i]


@part
def _joint_codes(packs, widths, group, start, stop, out):
    """Return the joint codes of a group in some rows: written to out, or a view of the pack if there is only one."""
    third = packs[group[2]][start:stop]
    if group[1] < 0:
        return third
    joint, second = out[: stop - start], packs[group[1]][start:stop]
    if group[0] < 0:
        _join(second, third, widths[group[2]], joint)
    else:
        _join(packs[group[0]][start:stop], second, widths[group[1]], joint)
        _append(third, widths[group[2]], 0, joint)
    return joint


@part
def _tally(joint, counts):
    """Count joint codes; 16-bit codes are loaded four at a time."""
    done = 0
    if joint.itemsize == 2:
        done = joint.shape[0] // 4 * 4
        for word in joint[:done].view(np.uint64):
            counts[word & _HALF_WORD] += 1
            counts[(word >> np.uint64(16)) & _HALF_WORD] += 1
            counts[(word >> np.uint64(32)) & _HALF_WORD] += 1
            counts[word >> np.uint64(48)] += 1
    for i in range(done, joint.shape[0]):
        counts[joint[i]] += 1


@part
def _tally_in_turns(joint, a, b, c, d):
    """Count joint codes in four tables in turn: repeated writes to one cell would wait for each other."""
    quarter = joint.shape[0] // 4
    for i in range(quarter):
        a[joint[i]] += 1
        b[joint[i + quarter]] += 1
        c[joint[i + 2 * quarter]] += 1
        d[joint[i + 3 * quarter]] += 1
    _tally(joint[4 * quarter :], a)


@part
def _add(source, out):
    for i in range(out.shape[0]):
        out[i] += source[i]


@part
def _count_group(packs, widths, group, tables, cells, joint):
    """Fill the first table with the number of rows of every joint code of a group; the others are scratch."""
    counts = tables[0][:cells]
    counts[:] = 0
    n_rows, in_turns = packs.shape[1], False
    for start in range(0, n_rows, _BLOCK):
        stop = min(start + _BLOCK, n_rows)
        codes = _joint_codes(packs, widths, group, start, stop, joint)
        if in_turns:
            _tally_in_turns(codes, counts, tables[1], tables[2], tables[3])
        else:
            _tally(codes, counts)
        if start == 0 and stop < n_rows and tables.shape[0] == _WAYS and counts.max() > _BLOCK // _CROWDED:
            in_turns = True
            tables[1:, :cells] = 0
    if in_turns:
        for way in range(1, _WAYS):
            _add(tables[way][:cells], counts)


@part
def _weigh_group(packs, weights, widths, group, counts, joint):
    """Fill counts with the sum of the row weights of every joint code of a group."""
    counts[:] = 0.0
    for start in range(0, packs.shape[1], _BLOCK):
        stop = min(start + _BLOCK, packs.shape[1])
        codes = _joint_codes(packs, widths, group, start, stop, joint)
        for i in range(stop - start):
            counts[codes[i]] += weights[start + i]


@part
def _sum_out(source, outer, inner, digits, size, out):
    """Add source (outer, width, inner) to out (outer, size, inner), level v at digits[v], or nowhere if that is −1."""
    width = digits.shape[0]
    for o in range(outer):
        for v in range(width):
            if digits[v] >= 0:
                to, of = (o * size + digits[v]) * inner, (o * width + v) * inner
                if inner == 1:
                    out[to] += source[of]
                else:
                    _add(source[of : of + inner], out[to : to + inner])


@part
def _width(widths, p):
    return widths[p] if p >= 0 else 1


@part
def _fold(counts, widths, group, folds, digits, starts, sizes, one, two, out):
    """Sum the joint table of a group to the tables asked for, and add them to out; one and two are scratch."""
    w0, w1, w2 = _width(widths, group[0]), _width(widths, group[1]), _width(widths, group[2])
    last_a, last_b = -1, -1
    for t in range(folds.shape[0]):
        a, b, c, place = folds[t]
        # Tables come sorted, so that partial sums are shared between neighbours.
        if a != last_a:
            one[: sizes[a] * w1 * w2] = 0
            _sum_out(counts, 1, w1 * w2, digits[starts[a] : starts[a] + w0], sizes[a], one)
        if a != last_a or b != last_b:
            two[: sizes[a] * sizes[b] * w2] = 0
            _sum_out(one, sizes[a], w2, digits[starts[b] : starts[b] + w1], sizes[b], two)
        last_a, last_b = a, b
        outer = sizes[a] * sizes[b]
        _sum_out(two, outer, 1, digits[starts[c] : starts[c] + w2], sizes[c], out[place : place + outer * sizes[c]])


@part
def _cells(widths, group):
    return _width(widths, group[0]) * _width(widths, group[1]) * _width(widths, group[2])


@part
def _most_cells(widths, groups):
    most = 0
    for g in range(groups.shape[0]):
        most = max(most, _cells(widths, groups[g]))
    return most


@kernel
def count_groups(packs, widths, groups, bounds, folds, digits, starts, sizes, out):
    """Count the joint codes of every group of packs, and add to out the tables folded from them."""
    most = _most_cells(widths, groups)
    tables = np.empty((_WAYS if most <= _MOST_IN_TURNS else 1, most), np.uint32)
    one, two = np.empty(most, np.uint32), np.empty(most, np.uint32)
    joint = np.empty(_BLOCK, packs.dtype)
    for g in range(groups.shape[0]):
        group = groups[g]
        _count_group(packs, widths, group, tables, _cells(widths, group), joint)
        _fold(tables[0], widths, group, folds[bounds[g] : bounds[g + 1]], digits, starts, sizes, one, two, out)


@kernel
def weigh_groups(packs, weights, widths, groups, bounds, folds, digits, starts, sizes, out):
    """Add up the weights of the joint codes of every group of packs, and add to out the tables folded from them."""
    most = _most_cells(widths, groups)
    counts, one, two = np.empty(most), np.empty(most), np.empty(most)
    joint = np.empty(_BLOCK, packs.dtype)
    for g in range(groups.shape[0]):
        group = groups[g]
        _weigh_group(packs, weights, widths, group, counts[: _cells(widths, group)], joint)
        _fold(counts, widths, group, folds[bounds[g] : bounds[g + 1]], digits, starts, sizes, one, two, out)
