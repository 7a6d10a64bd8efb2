"""Run the shorter benchmarks, each in a process of its own: ``make bench``, about half an hour.

``python -m benchmarks.run NAME ...`` runs those named, the long ones too; ``python -m benchmarks.run long`` all of
these.
"""

import subprocess
import sys

MODULES = (
    "time_metrics",
    "time_scale",
    "time_sparse",
    "time_streaming",
    "time_images",
    "time_models",
    "time_fabrics",
    "time_irs_general",
    "time_compare",
    "time_assess",
    "causes",
    "quality",
    "audit_interval",
)
#: Simulations of how often comparisons err, and the bench whole: hours together.
LONG = ("sequential_power", "comparison_power", "guarantees", "mmlu_redux", "characterise")


def main() -> None:
    """Run the named modules, by default the shorter ones."""
    asked = sys.argv[1:] or MODULES
    for module in LONG if list(asked) == ["long"] else asked:
        print(f"== {module}", flush=True)
        subprocess.run([sys.executable, "-m", f"benchmarks.{module}"], check=True)


if __name__ == "__main__":
    main()
