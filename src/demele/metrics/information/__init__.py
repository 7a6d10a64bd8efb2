"""Metrics read off how much codes tell of factors."""

from functools import partial

from demele.metrics.metric import Guards, Metric

#: What most metrics of a table of informations have in common; they share its options.
InformationMetric = partial(
    Metric,
    family="information",
    shares="information",
    native="per factor",
    range=(0.0, 1.0),
    guards=Guards(outliers="leave it", bins=True, fewest_rows=50),
)
