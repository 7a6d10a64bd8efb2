"""Pack the embedded study for ``demele.lab.study_demo()``.

    demele lab study run --preset embedded --jobs 2 --store STUDY
    python -m tools.make_study_demo STUDY

The folder must hold the whole study: 36 models, each trained or with the reason why not, and all scores.
"""

import sys
from pathlib import Path

from demele import lab
from demele.studies.study import DEMO


def main() -> int:
    """Read the folder, refuse a part of a study, write the rows."""
    found = lab.load_study(Path(sys.argv[1]))
    names = {model.configuration.name for model in found.models}
    missing = [model.configuration.name for model in found.models if model.status == "missing"]
    scores = len(found.models) * len(found.metrics) * (len(found.steps) + len(found.settings["kinds"]) - 1)
    if found.settings["preset"] != "embedded" or len(names) != 36 or missing or len(found.scores) != scores:
        print(f"not the whole embedded study: {found}, {len(found.scores)} of {scores} scores")
        return 1
    print(f"{found.save(DEMO)}: {found}, {DEMO.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
