"""A metric of your own beside the published ones: with an interval, a chance level and a place in the report."""

import numpy as np

import demele


# --8<-- [start:metric]
def mean_best_correlation(codes: np.ndarray, factors: np.ndarray) -> float:
    """Largest absolute correlation of each factor with a code, mean over factors."""
    d = codes.shape[1]
    correlation = np.corrcoef(codes, factors, rowvar=False)[:d, d:]  # (n_codes, n_factors)
    return float(np.abs(correlation).max(axis=0).mean())


# --8<-- [end:metric]

# --8<-- [start:use]
sample = demele.data.load_example()
measured = sample.factors.drop(columns="class")  # a class number is a name: it has no correlation
evaluation = demele.evaluate(sample.codes, measured, ["mig", mean_best_correlation], n_bootstrap=50, n_permutations=20)
for score in evaluation:
    print(f"{score.metric:22}{score.value:.3f}  {score.interval}  chance {score.chance.mean:.3f}")
# --8<-- [end:use]
