"""Explicitness by loss and capacity, by its definition: triangles and rectangles under one curve after the other."""

from collections.abc import Sequence


def explicitness(capacity: Sequence[float], losses: Sequence[float], worst: float) -> float:
    """Return 1 - 2 A / ((x_m - x_1) worst), A between the smallest loss so far and the smallest of all."""
    so_far: list[float] = []
    for loss in losses:
        so_far.append(min([loss, worst, *so_far]))
    area = 0.0
    for place in range(1, len(so_far)):
        width = capacity[place] - capacity[place - 1]
        left, right = so_far[place - 1] - so_far[-1], so_far[place] - so_far[-1]
        area += width * right + width * (left - right) / 2
    return 1 - 2 * area / ((capacity[-1] - capacity[0]) * worst)
