"""Where to draw the nodes of a forest: boxes for names that do not overlap, near to what they are tied to.

Each tree is placed so that the distance of two nodes on paper is near a distance d_ij that grows with the number of
edges between them, by lowering the stress Σ_{i<j} (|p_i − p_j| − d_ij)² / d_ij² (Gansner, Koren and North, 2004). The
start is a radial drawing, in which no edges cross. Then boxes that overlap push each other apart. Everything is
deterministic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from juror.rows.forest import Forest

# All lengths are in pixels of a page, for a font of 12 pixels.
_HEIGHT, _PADDING = 20.0, 16.0
_NARROW, _LETTER, _BROAD = 4.0, 6.8, 9.0
_GAP = np.array([14.0, 10.0])
# What an edge adds to the mean size of a box
_EDGE = np.array([26.0, 30.0])
# Edges of a node with many neighbours are longer by this for each of them; far nodes are drawn nearer: d = length^0.8.
_CROWD, _FAR = 0.07, 0.8
_STRESS_STEPS, _PUSHES, _OFF_EDGES = 150, 400, 40
_BETWEEN = 26.0
_LEAST_WIDTH = 560.0
# A tree that is wider than this is turned to stand upright.
_WIDE = 760.0


@dataclass(frozen=True)
class TreeLayout:
    """Boxes of the nodes of a forest.

    Attributes
    ----------
    centres : numpy.ndarray, (N, 2)
        The middle of every box; y grows downwards.
    widths : numpy.ndarray, (N,)
        Their widths.
    height : float
        The height of every box.
    size : tuple of float
        Width and height of the whole.
    """

    centres: np.ndarray
    widths: np.ndarray
    height: float
    size: tuple[float, float]


def place(forest: Forest, names: Sequence[str]) -> TreeLayout:
    """Return where to draw every node of a forest; a node without a name is a small circle.

    >>> layout = place(Forest((-1, 0, 0)), ["age", "work", "sex"])
    >>> layout.centres.shape, layout.height
    ((3, 2), 20.0)
    """
    widths = np.array([_PADDING + sum(map(_letter, name)) if name else _HEIGHT / 2 for name in names])
    centres = np.zeros((len(names), 2))
    trees = sorted(_trees(forest), key=lambda nodes: (-len(nodes), nodes[0]))
    boxes = []
    for nodes in trees:
        placed = _placed(forest, nodes, widths[nodes])
        half = np.column_stack([widths[nodes], np.full(len(nodes), _HEIGHT)]) / 2
        corner = (placed - half).min(axis=0)
        centres[nodes] = placed - corner
        boxes.append((placed + half).max(axis=0) - corner)
    corners, size = _shelves(np.array(boxes))
    for nodes, corner in zip(trees, corners, strict=True):
        centres[nodes] += corner
    return TreeLayout(centres, widths, _HEIGHT, size)


def _letter(letter: str) -> float:
    """Return about the width of a letter; fonts differ."""
    if letter in "fijlrt.,:;'|!()[] ":
        return _NARROW
    # Letters beyond the Latin ones, such as Chinese ones, may be wide.
    return _BROAD if letter.isupper() or letter in "mw…%&@" or ord(letter) > 0x2000 else _LETTER


def _trees(forest: Forest) -> list[list[int]]:
    """Return the nodes of every tree, each parent before its children."""
    found: dict[int, list[int]] = {}
    root: dict[int, int] = {}
    for node in forest.order:
        parent = forest.parents[node]
        root[node] = node if parent < 0 else root[parent]
        found.setdefault(root[node], []).append(node)
    return list(found.values())


def _placed(forest: Forest, nodes: list[int], widths: np.ndarray) -> np.ndarray:
    """Return the centres of the nodes of one tree, (nodes, 2)."""
    if len(nodes) == 1:
        return np.zeros((1, 2))
    place_of = {node: i for i, node in enumerate(nodes)}
    near: list[list[int]] = [[] for _ in nodes]
    for node in nodes:
        if forest.parents[node] >= 0:
            near[place_of[node]].append(place_of[forest.parents[node]])
            near[place_of[forest.parents[node]]].append(place_of[node])
    lengths = np.array([_lengths_from(start, near) for start in range(len(nodes))])
    start = _radial(int(lengths.max(axis=1).argmin()), near)
    found = _along_the_page(_low_stress(start, lengths**_FAR))
    step = np.array([widths.mean(), _HEIGHT]) + _EDGE
    edges = np.array([(node, other) for node, others in enumerate(near) for other in others if node < other])
    lying = _apart(found * step, widths, edges)
    return lying if np.ptp(lying[:, 0]) <= _WIDE else _apart(found[:, ::-1] * step, widths, edges)


def _lengths_from(start: int, near: list[list[int]]) -> list[float]:
    """Return the length of the way to every node."""
    lengths = [-1.0] * len(near)
    lengths[start], todo = 0.0, [start]
    for node in todo:
        for other in near[node]:
            if lengths[other] < 0:
                lengths[other] = lengths[node] + 1 + _CROWD * max(0, len(near[node]) + len(near[other]) - 5)
                todo.append(other)
    return lengths


def _radial(centre: int, near: list[list[int]]) -> np.ndarray:
    """Draw a tree around a node: every branch has a sector as wide as its number of leaves."""
    leaves = [0] * len(near)
    order: list[tuple[int, int]] = [(centre, -1)]
    for node, parent in order:
        order += [(other, node) for other in near[node] if other != parent]
    for node, parent in reversed(order):
        leaves[node] = max(1, leaves[node])
        if parent >= 0:
            leaves[parent] += leaves[node]
    found, first, depth = np.zeros((len(near), 2)), [0.0] * len(near), [0] * len(near)
    for node, parent in order:
        angle = 2 * np.pi * (first[node] + leaves[node] / 2) / leaves[centre]
        found[node] = depth[node] * np.array([np.cos(angle), np.sin(angle)])
        start = first[node]
        for other in near[node]:
            if other != parent:
                first[other], depth[other] = start, depth[node] + 1
                start += leaves[other]
    return found


def _low_stress(points: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Lower the stress by majorisation: every step solves a linear system with the same matrix."""
    n = len(points)
    np.fill_diagonal(distances, 1.0)
    weights = distances**-2
    np.fill_diagonal(weights, 0.0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.inv(laplacian + np.ones((n, n)) / n) - np.ones((n, n)) / n
    for _ in range(_STRESS_STEPS):
        gaps = np.linalg.norm(points[:, None] - points[None], axis=2)
        pull = -weights * distances / np.maximum(gaps, 1e-9)
        np.fill_diagonal(pull, 0.0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        points = inverse @ (pull @ points)
    return points


def _along_the_page(points: np.ndarray) -> np.ndarray:
    """Turn points so that their longest direction is horizontal, with the first point left of and above the middle."""
    points = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(points, full_matrices=False)
    turned: np.ndarray = points @ axes.T
    return np.asarray(turned * np.where(turned[0] > 0, -1.0, 1.0))


def _apart(centres: np.ndarray, widths: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Push boxes apart and off the edges of others: at first both, at last boxes alone until none overlap."""
    index = np.arange(len(centres))
    needed = np.stack([(widths[:, None] + widths) / 2, np.full((len(widths),) * 2, _HEIGHT)], axis=2) + _GAP
    # Nodes at the same place go apart in the order of their numbers.
    order = np.sign(index[:, None] - index)[:, :, None]
    for step in range(_PUSHES):
        gaps = centres[:, None] - centres[None]
        overlap = needed - np.abs(gaps)
        overlap[index, index] = 0.0
        hit = (overlap > 1e-6).all(axis=2)
        push = np.zeros_like(centres) if step > _OFF_EDGES else _off_edges(centres, widths, edges)
        if not hit.any() and not push.any():
            break
        sideways = overlap[:, :, 0] < overlap[:, :, 1]
        axis = np.stack([sideways, ~sideways], axis=2) & hit[:, :, None]
        push += np.where(axis, np.where(gaps == 0, order, np.sign(gaps)) * overlap / 2, 0.0).sum(axis=1)
        centres = centres + 0.6 * push
    return centres


def _off_edges(centres: np.ndarray, widths: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Return a push for every box that an edge of other nodes runs through, (N, 2)."""
    start, along = centres[edges[:, 0]], centres[edges[:, 1]] - centres[edges[:, 0]]
    from_start = centres[:, None] - start
    share = np.clip((from_start * along).sum(axis=2) / (along**2).sum(axis=1), 0.0, 1.0)
    away = from_start - share[:, :, None] * along
    far = np.linalg.norm(away, axis=2)
    direction = away / np.maximum(far, 1e-9)[:, :, None]
    # How far the box reaches in that direction
    reach = np.abs(direction) @ np.array([0.0, _HEIGHT / 2 + 4]) + np.abs(direction[:, :, 0]) * (
        widths[:, None] / 2 + 4
    )
    own = (edges[None, :, :] == np.arange(len(centres))[:, None, None]).any(axis=2)
    missing = np.where(own | (far >= reach), 0.0, reach - far)
    return np.asarray((np.minimum(missing, 12.0)[:, :, None] * direction).sum(axis=1) / 2)


def _shelves(boxes: np.ndarray) -> tuple[np.ndarray, tuple[float, float]]:
    """Put boxes (n, 2) in rows one below the other; return their corners, and the size of the whole."""
    width = max(float(boxes[:, 0].max()), _LEAST_WIDTH)
    corners, x, y, row = [], 0.0, 0.0, 0.0
    for box in boxes:
        if x > 0 and x + box[0] > width:
            x, y, row = 0.0, y + row + _BETWEEN, 0.0
        corners.append((x, y))
        x, row = x + box[0] + _BETWEEN, max(row, float(box[1]))
    found = np.array(corners)
    return found, (float((found[:, 0] + boxes[:, 0]).max()), y + row)
