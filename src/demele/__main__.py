"""``python -m demele`` is the program ``demele``: for environments whose scripts are not on the path."""

import sys

from demele.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
