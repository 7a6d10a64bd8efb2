"""Published results of the source: tables 6.2 to 6.5, in percent, for comparison with ours."""

from typing import Any

__all__ = ["PUBLISHED_SOURCE", "published"]

PUBLISHED_SOURCE = (
    "Benjelloun, tables 6.2 to 6.5: 100 convolutional neural fabrics on 12 000 images of CIFAR-10, 5% of the labels "
    "made wrong by artificial annotators"
)
PUBLISHED_NOISE = 0.05

#: Type I, type II, agreement; "class" is the source's class 0.
_MAIN = {
    ("accuracy", "overlap"): (1.62, 1.58, 98.39),
    ("accuracy", "worst-case-overlap"): (0.0, 66.82, 71.45),
    ("accuracy", "hard-rows"): (0.0, 52.61, 77.53),
    ("precision", "overlap"): (1.24, 1.50, 98.64),
    ("precision", "worst-case-overlap"): (0.0, 11.94, 94.36),
    ("recall", "overlap"): (1.30, 1.35, 98.68),
    ("recall", "worst-case-overlap"): (0.0, 30.51, 85.57),
}
#: Detected, false alarms: without correction, then corrected with probability .25, .5, .75.
_CLEANED = {
    (0.75, 0.25): ((1.59, 1.32, 98.53), (0.34, 5.79, 97.33), (0.56, 3.90, 98.01), (0.51, 2.34, 98.71)),
    (0.6, 0.1): ((1.53, 1.02, 98.69), (0.71, 2.60, 98.48), (0.76, 2.06, 98.69), (0.86, 1.32, 98.94)),
    (0.9, 0.4): ((2.20, 1.68, 98.02), (0.51, 9.22, 95.77), (0.32, 5.65, 97.40), (0.25, 2.77, 98.68)),
    (0.6, 0.4): ((2.35, 2.32, 97.67), (0.34, 9.39, 95.80), (0.60, 6.08, 97.06), (0.37, 3.05, 98.48)),
    (0.9, 0.6): ((3.02, 3.00, 96.99), (0.18, 16.58, 92.82), (0.39, 8.87, 95.99), (0.42, 4.28, 97.93)),
    (0.4, 0.1): ((1.50, 1.30, 98.59), (0.83, 2.65, 98.39), (0.88, 2.18, 98.57), (1.09, 1.51, 98.73)),
}


def published() -> list[dict[str, Any]]:
    """Return the printed rows: measure, method, noise rate, type I, type II and agreement in percent."""
    rows: list[dict[str, Any]] = [
        {"measure": measure, "method": method, "noise": PUBLISHED_NOISE, **_figures(figures)}
        for (measure, method), figures in _MAIN.items()
    ]
    for (s, e), printed in _CLEANED.items():
        for c, figures in zip((None, 0.25, 0.5, 0.75), printed, strict=True):
            told = f"s={s!r}, e={e!r}" + ("" if c is None else f", c={c!r}")
            rows.append(
                {"measure": "accuracy", "method": f"cleaned({told})", "noise": PUBLISHED_NOISE, **_figures(figures)}
            )
    return rows


def _figures(figures: tuple[float, float, float]) -> dict[str, float]:
    return dict(zip(("type_1", "type_2", "agreement"), figures, strict=True))
