"""The same metrics, batch by batch: states that merge in any order, and one accumulator for all metrics.

>>> import numpy as np, demele
>>> factors = np.random.default_rng(0).random((1000, 2))
>>> frame = demele.bins.BinEdges.of(factors, factors)
>>> batches = demele.Accumulator("mig", frame=frame)
>>> for rows in np.split(factors, 10):
...     batches = batches.update(rows, rows)
>>> batches.compute().value == demele.metrics.mig(factors, factors).value
True
"""
