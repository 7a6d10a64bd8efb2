"""Keras on torch, unless KERAS_BACKEND names another backend; its tests are left out where it is not installed."""

import importlib.util
import os

os.environ.setdefault("KERAS_BACKEND", "torch")
collect_ignore_glob = [] if importlib.util.find_spec("keras") else ["test_keras*.py"]
