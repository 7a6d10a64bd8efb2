"""What holds for tests and for the examples in docstrings alike."""

import importlib.util
import os

# Keras fixes its backend when it is imported, and takes tensorflow if it is not told.
os.environ.setdefault("KERAS_BACKEND", "torch")

#: Modules that need a package of their own when they are imported, as the examples in them do.
_NEEDS = {
    "src/demele/adapters/keras.py": ("keras", os.environ["KERAS_BACKEND"]),
}
collect_ignore = [
    path for path, packages in _NEEDS.items() if any(importlib.util.find_spec(name) is None for name in packages)
]
