"""Run all benchmarks, each in a process of its own: ``make bench``, about half an hour."""

import subprocess
import sys

MODULES = ("time_metrics", "time_scale", "time_irs_general", "time_compare", "profile_metrics", "causes", "quality")


def main() -> None:
    """Run the named modules, all by default."""
    for module in sys.argv[1:] or MODULES:
        print(f"== {module}", flush=True)
        subprocess.run([sys.executable, "-m", f"benchmarks.{module}"], check=True)


if __name__ == "__main__":
    main()
