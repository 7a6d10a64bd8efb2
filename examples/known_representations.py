"""What the metrics say of representations whose properties are known, because we made them."""

import numpy as np
import pandas as pd

import demele

N = 2000
METRICS = [
    "mig_sup", "modularity", "dci_forest_modularity", "irs", "z_diff", "z_min_variance",
    "mig", "dci_forest_compactness", "sap",
    "dci_forest_explicitness", "explicitness",
    "dcimig", "jemmig",
]  # fmt: skip

rng = np.random.default_rng(0)
factors = rng.random((N, 4))
noise = rng.random((N, 4))
rotation = np.linalg.qr(rng.normal(size=(4, 4)))[0]
REPRESENTATIONS = {
    "perfect": factors,
    "copies": np.hstack([factors, factors]),
    "mixed": 0.7 * factors + 0.3 * np.roll(factors, -1, axis=1),
    "rotated": factors @ rotation,
    "noisy": 0.7 * factors + 0.3 * noise,
    "noise": noise,
}

columns = {
    name: {score.metric: score.value for score in demele.evaluate(codes, factors, METRICS)}
    for name, codes in REPRESENTATIONS.items()
}
print(pd.DataFrame(columns).to_string(float_format="{:.2f}".format))
