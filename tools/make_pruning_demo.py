"""Pack the embedded study of pruning for ``demele.lab.pruning_demo()``.

    demele lab study pruning run --jobs 2 --store STUDY
    python -m tools.make_pruning_demo STUDY

The folder must hold the whole study: every fabric, pruned or with the reason why not, and all decisions.
"""

import sys
from pathlib import Path

from demele import lab
from demele.studies.pruning.study import DEMO


def main() -> int:
    """Read the folder, refuse a part of a study, write the rows."""
    found = lab.load_pruning(Path(sys.argv[1]))
    frame = found.to_frame()
    decided = len({key[1:3] for key in found.records if key[0] == "decisions"})
    whole = (
        found.settings["preset"] == "embedded"
        and not (frame.status == "missing").any()
        and decided == len(found.noises) * found.seeds == 15
    )
    if not whole:
        print(f"not the whole embedded study: {found}, {decided} of 15 decided")
        return 1
    print(f"{found.save(DEMO)}: {found}, {DEMO.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
