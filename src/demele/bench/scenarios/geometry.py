"""Codes that hold every factor, with nothing lost, in other directions of space: turned, stretched, twisted."""

import numpy as np

from demele.bench.scenario import Array, Falls, Holds, Scenario
from demele.bench.scenarios.source import M

__all__ = ["GEOMETRY_SCENARIOS", "OBLIQUE", "ROTATION", "TWIST", "rotated"]

#: Distance from the centre to the corner of a pair of factors that run from -1/2 to 1/2.
_CORNER = np.sqrt(0.5)


def _centred(rng: np.random.Generator, n: int) -> Array:
    return rng.uniform(-0.5, 0.5, (n, M))


def _turned(factors: Array, angles: Array | float) -> Array:
    """Turn the pairs of columns (1, 2), (3, 4), ... by an angle for each row and pair, or by one for all."""
    first, second = factors[:, 0::2], factors[:, 1::2]
    codes = np.empty_like(factors)
    codes[:, 0::2] = np.cos(angles) * first - np.sin(angles) * second
    codes[:, 1::2] = np.sin(angles) * first + np.cos(angles) * second
    return codes


def rotated(rng: np.random.Generator, severity: float, n: int) -> tuple[Array, Array]:
    """Return perfect codes whose axes are turned in pairs by a share of 45 degrees."""
    factors = _centred(rng, n)
    return _turned(factors, severity * np.pi / 4), factors


def _oblique(rng: np.random.Generator, severity: float, n: int) -> tuple[Array, Array]:
    # W = U diag(s) U^T with U uniform over all rotations and the logarithms of s evenly spaced, so that their ratio is
    # the severity. Written as identity + U diag(s - 1) U^T, it is the identity to the last bit where s = 1
    factors = _centred(rng, n)
    directions, upper = np.linalg.qr(rng.standard_normal((M, M)))
    directions *= np.sign(np.diag(upper))  # without the signs, a QR decomposition is not uniform
    stretch = severity ** np.linspace(-0.5, 0.5, M)
    return factors @ (np.eye(M) + (directions * (stretch - 1)) @ directions.T), factors


def _twist(rng: np.random.Generator, severity: float, n: int) -> tuple[Array, Array]:
    # the radius stays, so the angle of a row is known from its codes, and the map can be turned back
    factors = _centred(rng, n)
    radius = np.hypot(factors[:, 0::2], factors[:, 1::2])
    return _turned(factors, 2 * np.pi * severity * radius / _CORNER), factors


ROTATION = Scenario(
    name="rotation",
    title="Rotation",
    question="Do modularity and compactness fall, and does explicitness hold, as axes turn by 45 degrees in pairs?",
    sweep="angle, as a share of 45 degrees",
    severities=(0.0, 0.2, 0.4, 0.6, 0.8, 1.0),
    draw=rotated,
    wanted={"modularity": (Falls(0.2),), "compactness": (Falls(0.2),), "explicitness": (Holds(0.1),)},
)

OBLIQUE = Scenario(
    name="oblique",
    title="Oblique",
    question="Do modularity and compactness fall, and does explicitness hold, as space is stretched along random axes?",
    sweep="longest stretch over shortest (condition number)",
    severities=(1.0, 2.0, 5.0, 10.0, 20.0, 50.0),
    draw=_oblique,
    wanted={"modularity": (Falls(0.2),), "compactness": (Falls(0.2),), "explicitness": (Holds(0.1),)},
)

#: Nothing is asked of explicitness: the codes still say all of the factors, but only to a reader of curved relations.
#: Whether explicitness means that any reader or a simple one can find them is a matter of definition.
TWIST = Scenario(
    name="twist",
    title="Twist",
    question="Do modularity and compactness fall as pairs of codes are wound around their centre?",
    sweep="full turns at the corner of a pair",
    severities=(0.0, 0.25, 0.5, 0.75, 1.0),
    draw=_twist,
    wanted={"modularity": (Falls(0.2, every_step=False),), "compactness": (Falls(0.2, every_step=False),)},
)

GEOMETRY_SCENARIOS = (ROTATION, OBLIQUE, TWIST)
