"""What the Bayesian consensus refuses, and how it says so."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from demele.core.errors import InputError, InputTypeError, NotEnoughData, UnknownNameError
from demele.labels import bayesian_consensus

GOOD = [[0, 1, 1], [0, 1, 0]]
PLAIN = np.array([[1.0], [2.0], [3.0]])


def test_bad_input() -> None:
    for options, error, message in [
        ({"features": [[1], [2]]}, InputError, r"features: expected 3 rows, one per item .* got 2; .*all_items"),
        ({"features": csr_array(np.ones((4, 1)))}, InputError, r"features: expected 3 rows.* got 4"),
        ({"features": [[1, 0], [0, -2], [0, 1]]}, InputError, r"counts.* got 1 other, first -2 at row 1, column 1"),
        ({"features": [[1.0], [0.5], [2.5]]}, InputError, r"got 2 others, first 0.5 at row 1.*feature_model='normal'"),
        ({"features": csr_array([[1.0], [0], [np.nan]])}, InputError, r"got 1 other, first nan at row 2, column 0"),
        ({"features": [[1.0], [np.nan], [2.0]]}, InputError, r"features: 1 non-finite"),
        ({"features": [[1.0], [np.nan], [2.0]], "feature_model": "normal"}, InputError, r"features: 1 non-finite"),
        ({"features": [[0], [0], [0]]}, NotEnoughData, r"at least 1 count above 0"),
        ({"features": [[2], [2], [2]], "feature_model": "normal"}, NotEnoughData, r"at least 1 feature that varies"),
        (
            {"features": [[0.0], [5e-324], [0.0]], "feature_model": "normal"},
            InputError,
            r"column 'z1' varies too little",
        ),
        ({"features": [1, 2, 3]}, InputError, r"features: expected 2 dimensions"),
        ({"features": "words"}, InputTypeError, r"features: expected a table"),
        ({"features": pd.DataFrame(PLAIN, index=[2, 0, 1])}, InputError, r"in another order.*features\.loc"),
        ({"feature_model": "gauss"}, UnknownNameError, r"feature_model: expected 'counts' or 'normal', got 'gau"),
        ({"level": 1.0}, InputError, r"level: expected a number between 0 and 1"),
        ({"level": "95%"}, InputError, r"level: expected a number between 0 and 1"),
        ({"prior_right": 0}, InputError, r"prior_right: expected a finite number above 0, got 0"),
        ({"prior_right": "much"}, InputTypeError, r"prior_right: expected a finite number above 0, got 'much'"),
        ({"prior_other": -1}, InputError, r"prior_other: expected a finite number above 0, got -1"),
        ({"prior_other": math.inf}, InputError, r"prior_other: expected a finite number above 0, got inf"),
        ({"prior_features": math.nan}, InputError, r"prior_features: expected a finite number above 0, got nan"),
        ({"prior_proportions": 0.0}, InputError, r"prior_proportions: expected a finite number above 0"),
        ({"prior_proportions": [1, 2, 3]}, InputError, r"prior_proportions: expected 2 numbers, .* got 3"),
        ({"prior_proportions": [1, 0]}, InputError, r"prior_proportions, class 1: expected .* above 0, got 0"),
        (
            {"prior_proportions": [[1, 2], [1, 2]]},
            InputTypeError,
            r"prior_proportions, class 0: expected a finite number above 0",
        ),
        ({"n_chains": 0}, InputError, r"n_chains: expected a whole number >= 1, got 0"),
        ({"n_chains": True}, InputTypeError, r"n_chains: expected a whole number >= 1, got True"),
        ({"n_samples": 3}, InputError, r"n_samples: expected a whole number >= 4, got 3"),
        ({"n_warmup": -1}, InputError, r"n_warmup: expected a whole number >= 0, got -1"),
        ({"n_warmup": 2.5}, InputTypeError, r"n_warmup: expected a whole number >= 0, got 2.5"),
        ({"seed": -1}, InputError, r"seed: expected a whole number >= 0, got -1"),
        ({"seed": None}, InputTypeError, r"seed: expected a whole number >= 0, got None"),
        ({"n_jobs": 0}, InputError, r"n_jobs: expected a number of processes"),
        ({"classes": [0]}, InputError, r"answers: 3 of 6 values are not among the 1 classes"),
    ]:
        with pytest.raises(error, match=message):
            bayesian_consensus(GOOD, **options)
